#!/usr/bin/env bats
# sb-sweep: which roots, what it shows, and the status it ends with.
load common
load sweep

setup() {
	make_root
}

teardown() {
	end_started
	unmount_root
	rm -rf /run/user/* "/dev/shm/${P}"* "/tmp/${P}"* /tmp/others
}

@test "the default roots are /run/user/UID, /dev/shm and /tmp" {
	mkdir -m 700 /run/user/0 /run/user/1
	local dir
	for dir in /run/user/0 /run/user/1 /dev/shm /tmp; do
		mkdir "$dir/${P}${DEAD}_x"
		age "2 days" "$dir/${P}${DEAD}_x"
	done
	run --separate-stderr env -u TMPDIR sb-sweep --json
	assert_success
	assert_counts seen=3 dirs=3
	assert_equal "$(json '.roots[].path')" $'/run/user/0\n/dev/shm\n/tmp'
	assert_dir_exist "/run/user/1/${P}${DEAD}_x"
}

@test "TMPDIR stands for /tmp; an empty one does not" {
	mkdir /tmp/others
	TMPDIR=/tmp/others sweep --json
	assert_equal "$(json '.roots[].path')" $'/run/user/0\n/dev/shm\n/tmp/others'
	TMPDIR="" sweep --json
	assert_equal "$(json '.roots[].path')" $'/run/user/0\n/dev/shm\n/tmp'
}

@test "default roots of another user" {
	need_root
	mkdir -m 700 "/run/user/$USER_UID"
	chown "$USER_UID" "/run/user/$USER_UID"
	mkdir "/run/user/$USER_UID/${P}${DEAD}_x"
	age "2 days" "/run/user/$USER_UID/${P}${DEAD}_x"
	chown "$USER_UID" "/run/user/$USER_UID/${P}${DEAD}_x"
	sweep --json --uid="$USER_UID"
	assert_success
	assert_counts seen=1 dirs=1
	assert_equal "$(json '.roots[0].path')" "/run/user/$USER_UID"
	assert_equal "$(json .uid)" "$USER_UID"
}

@test "default roots that are absent are passed over" {
	TMPDIR=/nowhere sweep --json
	assert_success
	assert_equal "$(json '.roots[] | "\(.path) \(.present) \(.error)"')" \
		$'/run/user/0 false null\n/dev/shm true null\n/nowhere false null'
}

@test "a ROOT that is absent is status 1, and the others still run" {
	stage "${P}${DEAD}_x"
	sweep --json /nowhere "$R"
	assert_failure 1
	assert_equal "$(json .exit_status)" 1
	assert_counts seen=1 dirs=1
	assert_equal "$(json '.roots[0] | "\(.present) \(.error)"')" "false No such file or directory"
	assert_regex "$stderr" "^sb-sweep: cannot sweep '/nowhere': No such file or directory"
}

@test "a ROOT that is a file, a link, a fifo: status 1, no hang, nothing followed" {
	stage "${P}${DEAD}_x"
	touch "$BATS_TEST_TMPDIR/file"
	ln -s "$R" "$BATS_TEST_TMPDIR/link"
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	local name
	for name in file fifo; do
		sweep "$BATS_TEST_TMPDIR/$name"
		assert_failure 1
		assert_regex "$stderr" "cannot sweep '.*/$name': Not a directory"
	done
	for name in link link/; do
		sweep "$BATS_TEST_TMPDIR/$name"
		assert_failure 1
		assert_regex "$stderr" "cannot sweep '.*/$name': it is a symbolic link"
	done
	assert_left "${P}${DEAD}_x"
}

@test "a ROOT that may not be read is status 1" {
	need_root
	run --separate-stderr as_user sb-sweep --json "$R"
	assert_failure 1
	assert_equal "$(json '.roots[0].error')" "Permission denied"
}

@test "the same directory twice, by two names, is swept once" {
	stage "${P}${DEAD}_x" "${P}0_m"
	mkdir "$BATS_TEST_TMPDIR/bound"
	mount --bind "$R" "$BATS_TEST_TMPDIR/bound"
	sweep --json "$R" "$R/." "$R/../${R##*/}" "$BATS_TEST_TMPDIR/bound"
	umount "$BATS_TEST_TMPDIR/bound"
	assert_success
	assert_counts seen=2 dirs=1 malformed=1
	assert_equal "$(json '.roots | length')" 1
}

@test "--all-users sweeps each runtime directory for its owner, with one scan" {
	need_root
	local uid
	mkdir -m 700 /run/user/0 "/run/user/$USER_UID" "/run/user/$OTHER_UID" /run/user/name
	for uid in 0 "$USER_UID" "$OTHER_UID" name; do
		mkdir "/run/user/$uid/${P}${DEAD}_x"
		age "2 days" "/run/user/$uid/${P}${DEAD}_x"
		[ "$uid" = name ] || chown -R "$uid" "/run/user/$uid"
	done
	ln -s /tmp /run/user/61002
	mkdir "/run/user/$USER_UID/${P}${DEAD}_roots"
	age "2 days" "/run/user/$USER_UID/${P}${DEAD}_roots"
	sweep --json --all-users
	assert_success
	assert_counts seen=4 dirs=3 foreign=1
	assert_equal "$(json .uid)" null
	assert_equal "$(json '.roots[] | "\(.path) \(.uid)"' | LC_ALL=C sort)" \
		"$(printf '/run/user/%s %s\n' 0 0 "$USER_UID" "$USER_UID" "$OTHER_UID" "$OTHER_UID")"
	assert_equal "$(json .coverage.level)" complete
	assert_dir_exist "/run/user/name/${P}${DEAD}_x"
}

@test "--all-users with nothing in /run/user is done at once" {
	sweep --json --all-users
	assert_success
	assert_equal "$(json '.roots | length')" 0
	# And where there is no such directory.
	# shellcheck disable=SC2016
	run --separate-stderr unshare --mount --propagation private sh -c 'mount -t tmpfs sb-run /run &&
		exec "$1" --json --all-users' sh "$BIN/sb-sweep"
	assert_success
	assert_equal "$(json '.roots | length')" 0
}

@test "--all-users is for root alone, and goes with neither ROOT nor --uid" {
	need_root
	run --separate-stderr as_user sb-sweep --all-users
	assert_failure 2
	sweep --all-users "$R"
	assert_failure 2
	sweep --all-users --uid=0
	assert_failure 2
}

@test "a line a root: what went, what was kept and why, and the inodes" {
	unmount_root
	make_root 0 0700 nr_inodes=10
	stage "${P}${DEAD}_a" "${P}${DEAD}_b" "${P}0_m"
	touch "$R/${P}${DEAD}_f" "$R/${P}${DEAD}_y"
	age "2 days" "$R/${P}${DEAD}_f"
	sweep "$R"
	assert_success
	assert_output "$R: removed 2 directories, 1 file; kept 1 young, 1 malformed; inodes 60% -> 30%"
	assert_equal "$stderr" ""
}

@test "the line when there was nothing to do" {
	unmount_root
	make_root 0 0700 nr_inodes=10
	sweep "$R"
	assert_output "$R: removed 0 directories, 0 files; inodes 10% -> 10%"
}

@test "JSON: its keys, all of them" {
	stage "${P}${DEAD}_x"
	sweep --json "$R"
	assert_success
	assert_equal "$(json 'keys_unsorted | sort | join(" ")')" \
		"budget_s coverage dry_run elapsed_s exit_status host roots schema tool totals uid version"
	assert_equal "$(json '.roots[0] | keys | join(" ")')" \
		"error failed failures finished inodes kept path present removed seen uid"
	assert_equal "$(json '.roots[0].kept | keys | join(" ")')" \
		"alive foreign malformed mounted pinned unproven vanished young"
	assert_equal "$(json '.roots[0].removed | keys | join(" ")')" "dirs files"
	assert_equal "$(json '.roots[0].inodes | keys | join(" ")')" "total used_after used_before"
	assert_equal "$(json '.totals | keys | join(" ")')" "failed kept removed seen"
	assert_equal "$(json '"\(.tool) \(.schema) \(.uid) \(.exit_status) \(.dry_run)"')" \
		"sb-sweep 1 0 0 false"
	assert_equal "$(json .host)" "$(uname -n)"
	assert_equal "$(json '.roots[0] | "\(.path) \(.uid) \(.present) \(.error) \(.finished)"')" \
		"$R 0 true null true"
	assert_equal "$(json '.roots[0].inodes.used_before - .roots[0].inodes.used_after')" 1
}

@test "JSON: totals are the sums of the roots" {
	local first=$R
	stage "${P}${DEAD}_a" "${P}0_m"
	make_root
	stage "${P}${DEAD}_b" "${P}0_m"
	sweep --json "$first" "$R"
	umount -l "$first"
	assert_counts seen=4 dirs=2 malformed=2
	assert_equal "$(json '[.roots[].removed.dirs] | join(" ")')" "1 1"
}

@test "the budget is 10 s by default; --budget is told as it is given; 0 is none" {
	sweep --json "$R"
	assert_equal "$(json '.budget_s | tostring | tonumber')" 10
	sweep --json --budget=1500ms "$R"
	assert_equal "$(json '.budget_s | tostring | tonumber')" 1.5
	sweep --json --budget=0 "$R"
	assert_equal "$(json '.budget_s | tostring | tonumber')" 0
}

@test "a SPAN that is none is a usage error that names it, and nothing is touched" {
	local option span
	stage "${P}${DEAD}_x"
	for option in max-age min-age budget; do
		for span in "" -1 1x "1 h" 1h2h3 h 1.5h 99999999999999999999 " 1" 1ms5; do
			sweep "--$option=$span" "$R"
			assert_failure 2
			assert_regex "$stderr" "^sb-sweep: --$option: '$span'"
			assert_output ""
		done
	done
	assert_left "${P}${DEAD}_x"
}

@test "other wrong usage: 2, and nothing is touched" {
	local wrong
	stage "${P}${DEAD}_x"
	for wrong in --no-such-option --uid=nobody-of-that-name --uid=-1 --uid=4294967295 \
		--require=unproven --evidence=faith --progress=maybe --procfs= ""; do
		sweep "$R" "$wrong"
		assert_failure 2
		assert_output ""
	done
	assert_left "${P}${DEAD}_x"
}

@test "--help tells the statuses and the manual; -h and -? do the same" {
	sweep --help
	assert_success
	assert_output --partial "Exit status:"
	assert_output --partial "See sb-sweep(8)"
	local help=$output
	sweep -h
	assert_equal "$output" "$help"
	sweep -?
	assert_equal "$output" "$help"
	sweep --usage
	assert_success
	sweep --version
	assert_line --regexp '^sb-sweep \(sb-tools\) [0-9]+\.[0-9]+\.[0-9]+'
}

@test "-v names every entry and what became of it" {
	stage "${P}${DEAD}_x" "${P}0_m"
	sweep -v "$R"
	assert_regex "$stderr" "sb-sweep: '$R/${P}${DEAD}_x': removed"
	stage "${P}${DEAD}_x"
	run --separate-stderr sb-sweep -n -v "$R"
	assert_regex "$stderr" "sb-sweep: '$R/${P}${DEAD}_x': would be removed"
	assert_regex "$stderr" "sb-sweep: '$R/${P}0_m': kept: malformed"
}

@test "names with any byte forge nothing" {
	local name
	name="${P}0_"$'\n<3>\e[31m\\x41\xff\t\x7f'
	stage "$name"
	sweep -v "$R"
	assert_equal "${#stderr_lines[@]}" 1
	assert_regex "$stderr" "${P}0_"'\\x0a<3>\\x1b\[31m\\x5cx41\\xff\\x09\\x7f'
}

@test "a root whose name holds odd bytes is told with its bytes in JSON" {
	local root=$BATS_TEST_TMPDIR/$'odd\xff\n'
	mkdir "$root"
	sweep --json "$root"
	assert_success
	assert_equal "$(json '.roots[0].path_hex | ascii_downcase')" \
		"$(printf %s "$root" | od -An -tx1 | tr -d ' \n')"
	sweep "$root"
	assert_equal "${#lines[@]}" 1
	assert_output --partial 'odd\xff\x0a: removed'
}

@test "a file of output that may not grow: status 1, and all of it was done" {
	stage "${P}${DEAD}_a" "${P}${DEAD}_b" "${P}${DEAD}_c"
	run bash -c 'ulimit -f 0; exec sb-sweep -v "$1" >"$2/out" 2>"$2/err"' _ "$R" "$BATS_TEST_TMPDIR"
	assert_failure 1
	assert_left
	run bash -c 'ulimit -f 0; exec sb-pinscan --json >"$1/out"' _ "$BATS_TEST_TMPDIR"
	assert_failure 1
	assert_output --partial "cannot write 'standard output': File too large"
	stage "${P}${DEAD}_a"
	run bash -c 'ulimit -f 0; exec sb-sweep --metrics="$2/m.prom" "$1" | cat' _ "$R" "$BATS_TEST_TMPDIR"
	assert_output --partial "cannot write '$BATS_TEST_TMPDIR/m.prom': File too large"
	run ls "$BATS_TEST_TMPDIR"
	refute_output --partial m.prom
}

@test "a procfs that cannot be opened: nothing is removed, and that is status 3" {
	stage "${P}${DEAD}_a"
	run --separate-stderr sb-sweep --procfs=/mnt/nowhere "$R"
	assert_failure 3
	assert_regex "$stderr" "kept 1 as alive, for /mnt/nowhere cannot be opened: No such file"
	assert_left "${P}${DEAD}_a"
}

@test "wrong usage repeats no byte that a terminal or the journal would obey" {
	local argument journal=$BATS_TEST_TMPDIR/journal
	for argument in $'--budget=\e[2J\n<0>kernel: forged' $'--nothing\e[2J\n<0>forged' \
		$'--uid=\e\n<0>forged' $'--prefix=/\e\n<0>forged' $'--evidence=\e\n<0>forged'; do
		exec 9>"$journal"
		run --separate-stderr env JOURNAL_STREAM="$(stat -L -c %d:%i "/proc/$BASHPID/fd/9")" \
			sh -c 'exec sb-sweep "$1" 2>&9' _ "$argument"
		assert_failure 2
		exec 9>&-
		run cat -v "$journal"
		assert_line --index 0 --regexp '^<3>sb-sweep: .*\\x1b'
		refute_line --regexp '^[^<]|^<0>|\^\['
	done
}

@test "stdout closed, or full: status 1, said so, and the entries went" {
	stage "${P}${DEAD}_a" "${P}${DEAD}_b"
	run --separate-stderr sh -c 'sb-sweep "$0" >/dev/full' "$R"
	assert_failure 1
	assert_regex "$stderr" "cannot write 'standard output': No space left"
	assert_left
	stage "${P}${DEAD}_a" "${P}${DEAD}_b"
	run --separate-stderr sh -c 'sb-sweep "$0" >&-' "$R"
	assert_failure 1
	assert_left
	run --separate-stderr sh -c 'sb-sweep --json "$0" >/dev/full' "$R"
	assert_failure 1
	run --separate-stderr sh -c 'sb-sweep --help >/dev/full'
	assert_failure 1
}

@test "all three standard descriptors closed: no file of a root takes their place" {
	stage "${P}${DEAD}_a"
	run sh -c 'sb-sweep "$0" <&- >&- 2>&-' "$R"
	assert_failure 1
	assert_left
}

@test "to the journal each line starts with its level" {
	need_root
	stage_as_user "${P}${DEAD}_x"
	# shellcheck disable=SC2016
	run --separate-stderr sh -c 'exec 2>"$1"; JOURNAL_STREAM=$(stat -c %d:%i "$1") sb-sweep -v "$0" /nowhere' \
		"$R" "$BATS_TEST_TMPDIR/journal"
	run cat "$BATS_TEST_TMPDIR/journal"
	assert_line --regexp "^<7>sb-sweep: .*kept: foreign"
	assert_line --regexp "^<4>sb-sweep: .*--uid=$USER_UID"
	assert_line --regexp "^<3>sb-sweep: cannot sweep '/nowhere'"
	refute_line --regexp '^[^<]'
}

@test "a JOURNAL_STREAM that is not stderr changes nothing" {
	need_root
	stage_as_user "${P}${DEAD}_x"
	JOURNAL_STREAM=1:2 sweep "$R"
	assert_regex "$stderr" '^sb-sweep: '
}

@test "-q leaves warnings and errors" {
	local quiet
	stage "${P}${DEAD}_x"
	hold "$HELPERS/pin-hold" "$R/${P}${DEAD}_x" "$BATS_TEST_TMPDIR"
	sweep "$R"
	assert_regex "$stderr" "kept 1 pinned"
	for quiet in -q --quiet; do
		sweep "$quiet" "$R"
		assert_success
		assert_equal "$stderr" ""
	done
}
