#!/usr/bin/env bats
# sb-legacy-heal: nine fences, each with a fixture that passes all the others, and the marker.
load common
load sweep

setup() {
	make_root
	M=$BATS_TEST_TMPDIR/state/sb-tools/legacy-heal.done
	export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
}

teardown() {
	end_started
	unmount_root
	rm -rf /run/user/* /var/lib/sb-tools/legacy-heal.61000.done
}

heal() {
	run --separate-stderr sb-legacy-heal "$@"
	echo "# sb-legacy-heal $*: status $status; $output; $stderr"
}

# pile N: that many perfect candidates.
pile() {
	"$HELPERS/stage" --legacy "$R" "$1"
}

# The 64 of a pile but one, and a fixture in its place that passes every fence but one.
pile_but_one() {
	pile 63
}

X=tmpzzzzzzz9

perfect() {
	mkdir -m 700 "$R/$X"
	age "2 days" "$R/$X"
}

marker_state() {
	json .marker.state
}

@test "a pile of 64 goes, the marker is stamped; by default" {
	pile 64
	heal --json "$R"
	assert_success
	assert_counts seen=64 dirs=64
	assert_equal "$(json '"\(.threshold) \(.engaged) \(.marker.path) \(.marker.state)"')" \
		"64 true $M stamped"
	assert_regex "$(cat "$M")" '^[0-9]+ removed=64$'
	assert_equal "$(stat -c '%a %F' "$M")" "600 regular file"
	assert_equal "$(stat -c %a "${M%/*}")" 700
}

@test "63 are no pile: none goes, and the marker is stamped" {
	pile 63
	heal --json "$R"
	assert_success
	assert_counts seen=63 below_threshold=63
	assert_equal "$(json '"\(.engaged) \(.marker.state)"')" "false stamped"
	assert_regex "$(cat "$M")" '^[0-9]+ removed=0$'
}

@test "65: those that were held back until there were 64 go too" {
	pile 65
	heal --json "$R"
	assert_success
	assert_counts seen=65 dirs=65
	assert_regex "$(cat "$M")" '^[0-9]+ removed=65$'
}

@test "63 and a perfect one are a pile: what the fences below are measured against" {
	pile_but_one
	perfect
	heal --json "$R"
	assert_counts seen=64 dirs=64
}

@test "fence 1: a root of another mode is refused, and nothing is touched" {
	local mode
	pile 100
	for mode in 0755 1777 0701 0710 0600 0500 1700 2700 4700 0770; do
		chmod "$mode" "$R"
		heal --json "$R"
		assert_failure 2
		assert_equal "$(json '"\(.exit_status) \(.totals.seen) \(.marker.state)"')" "2 0 withheld"
		assert_regex "$stderr" "cannot heal '$R': its mode is not 0700"
		assert_equal "$(json '.roots[0].error')" "its mode is not 0700"
		assert_not_exist "$M"
	done
	assert_equal "$(left | wc -l)" 100
}

@test "fence 1: a root of another user is refused" {
	need_root
	pile 100
	chown "$USER_UID" "$R"
	heal "$R"
	assert_failure 2
	assert_regex "$stderr" "cannot heal '$R': it does not belong to the user acted for"
	chown 0 "$R"
	heal --uid="$USER_UID" "$R"
	assert_failure 2
	assert_equal "$(left | wc -l)" 100
}

@test "fence 1: a root that is a link, a file or a fifo is refused; one bad root stops all" {
	pile 64
	local name
	ln -s "$R" "$BATS_TEST_TMPDIR/link"
	touch "$BATS_TEST_TMPDIR/file"
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	for name in link file fifo; do
		heal "$R" "$BATS_TEST_TMPDIR/$name"
		assert_failure 2
		assert_output ""
	done
	heal /tmp /dev/shm
	assert_failure 2
	assert_equal "$(left | wc -l)" 64
	assert_not_exist "$M"
}

@test "fence 2: other shapes of names are not even seen" {
	local names=(tmpabcdefg tmpabcdefghi tmpABCDEFGH tmpabcdefg- tmpabcdefg. Tmpabcdefgh xtmpabcdefgh
		tmpabcdéfg "tmpabcdefg " tmp "${P}${DEAD}_x")
	pile_but_one
	stage "${names[@]}"
	heal --json "$R"
	assert_success
	assert_counts seen=63 below_threshold=63
	stage tmp________ tmp01234567
	heal --json --ignore-marker "$R"
	assert_counts seen=65 dirs=65
	assert_left "${names[@]}"
}

@test "fence 3: what is no directory" {
	pile_but_one
	touch "$R/$X"
	chmod 700 "$R/$X"
	ln -s "$R" "$R/tmpzzzzzzz8"
	mkfifo -m 700 "$R/tmpzzzzzzz7"
	age "2 days" "$R/$X" "$R/tmpzzzzzzz8" "$R/tmpzzzzzzz7"
	heal --json "$R"
	assert_success
	assert_counts seen=66 below_threshold=63 not_directory=3
	heal --json --ignore-marker --threshold=1 "$R"
	assert_equal "$(json .totals.kept.not_directory)" 3
	assert_left "$X" tmpzzzzzzz8 tmpzzzzzzz7
}

@test "fence 4: another owner" {
	need_root
	pile_but_one
	perfect
	chown "$USER_UID" "$R/$X"
	heal --json "$R"
	assert_success
	assert_counts seen=64 below_threshold=63 foreign=1
	heal --json --ignore-marker --threshold=63 "$R"
	assert_counts seen=64 dirs=63 foreign=1
	assert_left "$X"
}

@test "fence 5: any other mode" {
	local mode n=0
	pile_but_one
	for mode in 0755 0711 0701 0710 0500 0600 0000 1700 2700 4700 0777 0740; do
		n=$((n + 1))
		mkdir "$R/tmpmode__$(printf %02d $n)"
		age "2 days" "$R/tmpmode__$(printf %02d $n)"
		chmod "$mode" "$R/tmpmode__$(printf %02d $n)"
	done
	heal --json "$R"
	assert_success
	assert_counts seen=75 below_threshold=63 wrong_mode=12
	heal --json --ignore-marker --threshold=63 "$R"
	assert_counts seen=75 dirs=63 wrong_mode=12
}

@test "fence 6: not older than 24 h, by default; status 5 and no marker" {
	pile_but_one
	perfect
	age "1439 minutes" "$R/$X"
	heal --json "$R"
	assert_failure 5
	assert_counts seen=64 below_threshold=63 young=1
	assert_equal "$(marker_state)" withheld
	assert_not_exist "$M"
	age "1441 minutes" "$R/$X"
	heal --json "$R"
	assert_success
	assert_counts seen=64 dirs=64
}

@test "fence 6: --max-age moves it; the future is young" {
	pile 64
	perfect
	heal --json --max-age=3d "$R"
	assert_failure 5
	assert_counts seen=65 young=65
	touch -d 2099-01-01 "$R/$X"
	heal --json --max-age=1s "$R"
	assert_failure 5
	assert_counts seen=65 dirs=64 young=1
}

heal_99_of_100() {
	pile 99
	perfect
	age "23 hours" "$R/$X"
	heal --json "$R"
	assert_failure 5
	assert_counts seen=100 dirs=99 young=1
	assert_equal "$(marker_state)" withheld
	assert_not_exist "$M"
}

@test "100 candidates, one of them 23 h old: 99 go, status 5, no marker; the one is no pile a day later" {
	heal_99_of_100
	# A day later it is old enough, but alone it proves nothing any more: it stays, for good.
	age "25 hours" "$R/$X"
	heal --json "$R"
	assert_success
	assert_counts seen=1 below_threshold=1
	assert_equal "$(json '"\(.engaged) \(.marker.state)"')" "false stamped"
	assert_regex "$(cat "$M")" '^[0-9]+ removed=0$'
	heal --json "$R"
	assert_equal "$(marker_state)" present
	assert_left "$X"
}

@test "100 candidates, one of them 23 h old: with --threshold=1 a day later the rest goes too" {
	heal_99_of_100
	age "25 hours" "$R/$X"
	heal --json --threshold=1 "$R"
	assert_success
	assert_counts seen=1 dirs=1
	assert_equal "$(marker_state)" stamped
	assert_regex "$(cat "$M")" '^[0-9]+ removed=1$'
	assert_left
}

@test "fence 7: pinned" {
	local target=$BATS_TEST_TMPDIR/target
	mkdir "$target"
	pile_but_one
	perfect
	hold "$HELPERS/pin-hold" "$R/$X" "$target"
	heal --json "$R"
	assert_success
	assert_counts seen=64 below_threshold=63 pinned=1
	heal --json --ignore-marker --threshold=63 "$R"
	assert_counts seen=64 dirs=63 pinned=1
	touch "/proc/$HOLDER/root$target/created"
}

@test "fence 7: without proof all is kept, with a warning: status 3, no marker; with it, healed" {
	need_root
	make_root "$USER_UID"
	"$HELPERS/stage" --legacy --uid="$USER_UID" "$R" 100
	mkdir "$BATS_TEST_TMPDIR/own"
	chown "$USER_UID" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/own"
	chmod 755 /tmp/bats-run-* "$BATS_TEST_TMPDIR/.." "$BATS_TEST_TMPDIR"
	run --separate-stderr with_proc hidepid=2 "${AS_USER[@]}" \
		sb-legacy-heal --json --quiet --marker="$BATS_TEST_TMPDIR/own/m" "$R"
	assert_failure 3
	assert_counts seen=100 unproven=100
	assert_equal "$(marker_state)" withheld
	assert_regex "$stderr" "kept 100 directories for lack of proof"
	assert_not_exist "$BATS_TEST_TMPDIR/own/m"
	heal --json --uid="$USER_UID" --marker="$BATS_TEST_TMPDIR/own/m" "$R"
	assert_success
	assert_counts seen=100 dirs=100
	assert_equal "$(marker_state)" stamped
}

@test "fence 8: the pile is counted in each root for itself" {
	local first=$R
	pile 63
	make_root
	pile 64
	heal --json "$first" "$R"
	umount -l "$first"
	assert_success
	assert_counts seen=127 dirs=64 below_threshold=63
}

@test "fence 8: --threshold moves it; 0 and what is no number are refused" {
	pile 5
	heal --json --threshold=6 "$R"
	assert_counts seen=5 below_threshold=5
	local wrong
	for wrong in 0 -1 x "" 1x 99999999999999999999; do
		heal --threshold="$wrong" "$R"
		assert_failure 2
	done
	heal --json --ignore-marker --threshold=5 "$R"
	assert_counts seen=5 dirs=5
	perfect
	heal --json --ignore-marker --threshold=1 "$R"
	assert_counts seen=1 dirs=1
}

@test "fence 9: a populated one survives, whole, and is no failure" {
	pile 64
	perfect
	mkdir "$R/$X/below"
	touch "$R/$X/file"
	age "2 days" "$R/$X"
	heal --json "$R"
	assert_success
	assert_counts seen=65 dirs=64 populated=1
	assert_equal "$(marker_state)" stamped
	assert_dir_exist "$R/$X/below"
	assert_file_exist "$R/$X/file"
}

@test "something mounted on one: mounted, kept, no failure" {
	pile 64
	perfect
	mount --bind "$BATS_TEST_TMPDIR" "$R/$X"
	heal --json "$R"
	umount "$R/$X"
	assert_success
	assert_counts seen=65 dirs=64 mounted=1
	assert_equal "$(marker_state)" stamped
}

@test "the default root is /run/user/UID alone" {
	local dir
	for dir in /run/user/0 /dev/shm/legacy /tmp/legacy; do
		mkdir -m 700 "$dir"
		"$HELPERS/stage" --legacy "$dir" 64
	done
	heal --json
	assert_success
	assert_counts seen=64 dirs=64
	assert_equal "$(json '.roots[].path')" /run/user/0
	rm -r /dev/shm/legacy /tmp/legacy
}

@test "no root there: status 0, no marker" {
	heal --json
	assert_success
	assert_equal "$(json '"\(.roots[0].present) \(.marker.state)"')" "false withheld"
	assert_not_exist "$M"
	heal --json /nowhere
	assert_success
	assert_not_exist "$M"
}

@test "with the marker present it looks at nothing else, and says so" {
	[[ $SB_BUILD_NAME != *asan* ]] || skip "the sanitizer looks at /proc"
	mkdir -p "${M%/*}"
	touch "$M"
	chmod 600 "$M"
	pile 64
	run --separate-stderr strace -f -o "$BATS_TEST_TMPDIR/trace" sb-legacy-heal "$R"
	assert_success
	assert_output ""
	assert_regex "$stderr" "'$M': present"
	run grep -cE "$R|/proc/[0-9s]|/run/user" <(grep -v ' execve(' "$BATS_TEST_TMPDIR/trace")
	assert_output 0
	assert_equal "$(grep -c 'legacy-heal.done' "$BATS_TEST_TMPDIR/trace")" 1
	heal --json "$R"
	assert_equal "$(json '"\(.marker.state) \(.coverage) \(.roots | length)"')" "present null 0"
	heal -q "$R"
	assert_equal "$stderr" ""
	assert_equal "$(left | wc -l)" 64
}

@test "--ignore-marker heals again, and leaves the marker as it is" {
	mkdir -p "${M%/*}"
	echo before >"$M"
	chmod 600 "$M"
	pile 64
	heal --json --ignore-marker "$R"
	assert_success
	assert_counts seen=64 dirs=64
	assert_equal "$(cat "$M")" before
}

# What stands in the marker's place is not trusted: the healing goes on, it is said, status 1.
refused() {
	pile 64
	run --separate-stderr timeout 20 sb-legacy-heal --json "$R"
	assert_failure 1
	assert_counts seen=64 dirs=64
	assert_equal "$(marker_state)" refused
	assert_regex "$stderr" "cannot trust the marker '$M': $1"
}

@test "the marker is a link: to a file, dangling, to a directory: refused, not followed" {
	mkdir -p "${M%/*}"
	local to
	echo victim >"$BATS_TEST_TMPDIR/victim"
	for to in "$BATS_TEST_TMPDIR/victim" "$BATS_TEST_TMPDIR/nothing" "$BATS_TEST_TMPDIR" "$M"; do
		ln -s "$to" "$M"
		refused "it is no regular file"
		assert_equal "$(readlink "$M")" "$to"
		rm "$M"
	done
	assert_equal "$(cat "$BATS_TEST_TMPDIR/victim")" victim
	assert_not_exist "$BATS_TEST_TMPDIR/nothing"
}

@test "the marker is a directory, a fifo, a device: refused, no hang" {
	need_root
	mkdir -p "$M"
	refused "it is no regular file"
	rmdir "$M"
	mkfifo "$M"
	refused "it is no regular file"
	rm "$M"
	mknod "$M" c 1 3
	refused "it is no regular file"
}

@test "the marker belongs to another user, or others may write to it: refused" {
	need_root
	local mode
	mkdir -p "${M%/*}"
	echo theirs >"$M"
	chmod 600 "$M"
	chown "$OTHER_UID" "$M"
	refused "it belongs to another user"
	chown 0 "$M"
	for mode in 620 602 666 777; do
		chmod "$mode" "$M"
		refused "others may write to it"
	done
	assert_equal "$(cat "$M")" theirs
	for mode in 600 644 400 755; do
		chmod "$mode" "$M"
		heal --json "$R"
		assert_equal "$(marker_state)" present
	done
}

@test "root's marker counts for the user, and so does the user's own" {
	need_root
	local own=$BATS_TEST_TMPDIR/m
	chmod 700 "$R"
	chown "$USER_UID" "$R"
	"$HELPERS/stage" --legacy --uid="$USER_UID" "$R" 64
	touch "$own"
	chmod 600 "$own"
	heal --json --uid="$USER_UID" --marker="$own" "$R"
	assert_equal "$(marker_state)" present
	chown "$USER_UID" "$own"
	heal --json --uid="$USER_UID" --marker="$own" "$R"
	assert_equal "$(marker_state)" present
	chown "$OTHER_UID" "$own"
	heal --json --uid="$USER_UID" --marker="$own" "$R"
	assert_failure 1
	assert_equal "$(marker_state)" refused
}

@test "the marker's place: XDG_STATE_HOME, else ~/.local/state; relative ones are ignored" {
	local home=$BATS_TEST_TMPDIR/home
	mkdir "$home"
	pile 64
	run --separate-stderr env -u XDG_STATE_HOME HOME="$home" sb-legacy-heal --json "$R"
	assert_success
	assert_equal "$(json .marker.path)" "$home/.local/state/sb-tools/legacy-heal.done"
	assert_file_exist "$home/.local/state/sb-tools/legacy-heal.done"
	assert_equal "$(stat -c %a "$home/.local" "$home/.local/state" "$home/.local/state/sb-tools" | sort -u)" 700
	rm -r "$home/.local"
	run --separate-stderr env XDG_STATE_HOME=relative HOME="$home" sb-legacy-heal --json "$R"
	assert_equal "$(json .marker.path)" "$home/.local/state/sb-tools/legacy-heal.done"
	rm -r "$home/.local"
	run --separate-stderr env XDG_STATE_HOME="" HOME="$home" sb-legacy-heal --json "$R"
	assert_equal "$(json .marker.path)" "$home/.local/state/sb-tools/legacy-heal.done"
	run --separate-stderr env -u XDG_STATE_HOME -u HOME sb-legacy-heal --json -n "$R"
	assert_equal "$(json .marker.path)" \
		"$(getent passwd 0 | cut -d: -f6)/.local/state/sb-tools/legacy-heal.done"
}

@test "the marker's place when root acts for another user: /var/lib/sb-tools" {
	need_root
	make_root "$USER_UID"
	"$HELPERS/stage" --legacy --uid="$USER_UID" "$R" 64
	mount -t tmpfs -o mode=755 sb-tests /var/lib
	heal --json --uid="$USER_UID" "$R"
	local path=/var/lib/sb-tools/legacy-heal.$USER_UID.done found
	found=$(stat -c '%a %u' "$path" /var/lib/sb-tools)
	umount -l /var/lib
	assert_success
	assert_equal "$(json '"\(.marker.path) \(.marker.state)"')" "$path stamped"
	assert_equal "$found" $'600 0\n700 0'
}

@test "no place for the marker: status 2, nothing is touched" {
	need_root
	pile 64
	run --separate-stderr setpriv --reuid 61002 --clear-groups \
		env -u XDG_STATE_HOME -u HOME sb-legacy-heal "$R"
	assert_failure 2
	assert_regex "$stderr" "give --marker=FILE"
	heal --marker= "$R"
	assert_failure 2
	assert_equal "$(left | wc -l)" 64
}

@test "a umask changes nothing about the marker" {
	pile 64
	# shellcheck disable=SC2016
	run --separate-stderr sh -c 'umask 0777; sb-legacy-heal --marker="$1" "$0"' "$R" "$BATS_TEST_TMPDIR/m"
	assert_success
	assert_equal "$(stat -c %a "$BATS_TEST_TMPDIR/m")" 600
}

@test "no free inode where the marker goes: healed, it is said, and the next run repeats" {
	mkdir "$BATS_TEST_TMPDIR/full"
	mount -t tmpfs -o nr_inodes=2 full "$BATS_TEST_TMPDIR/full"
	touch "$BATS_TEST_TMPDIR/full/last"
	pile 64
	heal --json --marker="$BATS_TEST_TMPDIR/full/m" "$R"
	assert_failure 1
	assert_counts seen=64 dirs=64
	assert_equal "$(marker_state)" refused
	assert_regex "$stderr" "cannot create the marker '.*/full/m': No space left on device"
	heal --json --marker="$BATS_TEST_TMPDIR/full/m" "$R"
	assert_failure 1
	rm "$BATS_TEST_TMPDIR/full/last"
	heal --json --marker="$BATS_TEST_TMPDIR/full/m" "$R"
	assert_success
	assert_equal "$(marker_state)" stamped
	umount -l "$BATS_TEST_TMPDIR/full"
}

@test "no free byte where the marker goes: no empty marker is left to be trusted" {
	mkdir "$BATS_TEST_TMPDIR/full"
	mount -t tmpfs -o size=4k full "$BATS_TEST_TMPDIR/full"
	dd if=/dev/zero of="$BATS_TEST_TMPDIR/full/fill" bs=4k 2>/dev/null || true
	pile 64
	heal --json --marker="$BATS_TEST_TMPDIR/full/m" "$R"
	assert_failure 1
	assert_equal "$(marker_state)" refused
	assert_not_exist "$BATS_TEST_TMPDIR/full/m"
	umount -l "$BATS_TEST_TMPDIR/full"
}

@test "the budget is 10 s by default; spent: status 4, no marker, and the next one goes on" {
	local passes=0
	heal --json "$R"
	assert_equal "$(json '.budget_s | tostring | tonumber')" 10
	rm "$M"
	pile 3000
	while heal --json --budget=1ms "$R" && [ "$status" = 4 ]; do
		assert_equal "$(marker_state)" withheld
		assert [ "$(json .totals.removed.dirs)" -gt 0 ]
		[ $((++passes)) -lt 1000 ]
	done
	assert [ "$passes" -gt 0 ]
	assert_success
	assert_file_exist "$M"
}

@test "a signal in the middle: the rest of the pile stays, uncounted, and there is no marker" {
	pile 200
	run --separate-stderr env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o /dev/null \
		-e trace=unlinkat -e inject=unlinkat:signal=SIGTERM:when=10 sb-legacy-heal --json "$R"
	assert_failure 4
	assert_equal "$(json '.totals | "\(.seen) \(.removed.dirs)"')" "10 10"
	assert_equal "$(marker_state)" withheld
	assert_not_exist "$M"
	assert_equal "$(left | wc -l)" 190
}

@test "killed in the middle: no marker, and a later run ends what it began" {
	pile 20000
	interrupt KILL sb-legacy-heal --budget=0 "$R"
	assert_not_exist "$M"
	assert [ "$(left | wc -l)" -gt 0 ]
	heal --json "$R"
	assert_success
	assert_left
	assert_file_exist "$M"
}

@test "a dry run tells the same, touches nothing and stamps nothing" {
	pile 64
	perfect
	mkdir "$R/$X/below"
	age "2 days" "$R/$X"
	heal --json -n "$R"
	assert_success
	assert_counts seen=65 dirs=64 populated=1
	assert_equal "$(json '"\(.dry_run) \(.marker.state)"')" "true dry-run"
	assert_equal "$(left | wc -l)" 65
	assert_not_exist "$M"
	assert_not_exist "${M%/*}"
}

@test "a user heals the user's own" {
	need_root
	local state=$BATS_TEST_TMPDIR/state
	make_root "$USER_UID"
	"$HELPERS/stage" --legacy --uid="$USER_UID" "$R" 64
	mkdir "$state"
	chown "$USER_UID" "$state"
	chmod 755 /tmp/bats-run-* "$BATS_TEST_TMPDIR/.." "$BATS_TEST_TMPDIR"
	local i
	for i in $(seq 20); do
		run --separate-stderr as_user sb-legacy-heal --json "$R"
		[ "$status" = 3 ] || break
	done
	assert_success
	assert_counts seen=64 dirs=64
	assert_equal "$(stat -c '%a %u' "$M")" "600 $USER_UID"
}

@test "an entry that cannot be removed is a failure: status 1, no marker" {
	pile 64
	perfect
	chattr +i "$R/$X" 2>/dev/null || skip "tmpfs here knows no immutable directories"
	heal --json "$R"
	chattr -i "$R/$X"
	assert_failure 1
	assert_counts seen=65 dirs=64 failed=1
	assert_equal "$(marker_state)" withheld
	assert_not_exist "$M"
}

@test "JSON: its keys, all of them" {
	pile 64
	heal --json "$R"
	assert_equal "$(json 'keys_unsorted | sort | join(" ")')" \
		"budget_s coverage dry_run elapsed_s engaged exit_status host marker roots schema threshold tool totals uid version"
	assert_equal "$(json '.roots[0].kept | keys | join(" ")')" \
		"below_threshold foreign mounted not_directory pinned populated unproven vanished wrong_mode young"
	assert_equal "$(json '.marker | keys | join(" ")')" "path state"
}

@test "the line on stdout" {
	unmount_root
	make_root 0 0700 nr_inodes=100
	pile 64
	heal "$R"
	assert_output "$R: removed 64 directories, 0 files; inodes 65% -> 1%"
}
