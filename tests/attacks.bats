#!/usr/bin/env bats
# sb-sweep and sb-legacy-heal as root in a directory of a user's, who fights them; and whatever else
# an adversary, a kill or a clock can do to a run. tests/stress/attacks.bats does so for longer.
# shellcheck disable=SC2154,SC2030,SC2031
load common
load sweep
load attacks

setup() {
	need_root
	make_playground
	M=$BATS_TEST_TMPDIR/done
}

teardown() {
	end_started
	remove_playground
}

@test "canaries: root sweeps a user's directory in which all is exchanged for links meanwhile" {
	attack 101 -- "${NAMES[@]}"
	fight 60 20000 "${SWEEP[@]}" --uid="$USER_UID" "$R"
	[ "$(removed_in_all)" -gt 20 ]
}

@test "canaries: the same while binds of them come and go in the entries" {
	attack 102 --mounts -- "${NAMES[@]}"
	fight 40 10000 "${SWEEP[@]}" --uid="$USER_UID" "$R"
	[ "$(removed_in_all)" -gt 10 ]
}

@test "canaries: root heals a user's directory in which all is exchanged for links meanwhile" {
	attack 103 --empty -- "${LEGACY[@]}"
	fight 60 20000 "${HEAL[@]}" --marker="$M" --uid="$USER_UID" "$R"
	[ "$(removed_in_all)" -gt 20 ]
}

@test "canaries: the user sweeps, and fights itself" {
	chmod 711 "$B"
	attack 104 -- "${NAMES[@]}"
	fight 30 10000 "${AS_USER[@]}" "$BIN/sb-sweep" --min-age=0 "$R"
	[ "$(removed_in_all)" -gt 10 ]
}

@test "canaries: two to eight sweeps and heals at once, and two that fight them" {
	local n i pids
	attack 105 -- "${NAMES[@]}"
	attack 106 --empty -- "${LEGACY[@]}"
	for n in 2 3 4 5 6 7 8; do
		pids=()
		for ((i = 0; i < n; i++)); do
			if [ $((i % 2)) = 0 ]; then
				"${SWEEP[@]}" --uid="$USER_UID" "$R" >"$BATS_TEST_TMPDIR/out.$i" 2>&1 3>&- &
			else
				"${HEAL[@]}" --marker="$M" --uid="$USER_UID" "$R" \
					>"$BATS_TEST_TMPDIR/out.$i" 2>&1 3>&- &
			fi
			pids+=($!)
			remember $!
		done
		for i in "${!pids[@]}"; do
			status=0
			wait "${pids[$i]}" || status=$?
			echo "# $n at once: status $status"
			[ "$status" -le 5 ] && [ "$status" != 2 ] || fail "$(cat "$BATS_TEST_TMPDIR/out.$i")"
		done
	done
	all_is_untouched
	end_started
	# In peace all of it goes.
	rm -f "$M"
	run --separate-stderr "${SWEEP[@]}" --uid="$USER_UID" "$R"
	assert_success
	all_is_untouched
	refute [ -e "$R/${NAMES[0]}" ]
}

# populate N: entries with trees in them, for both commands, of the user's.
populate() {
	local i
	for ((i = 0; i < $1; i++)); do
		mkdir -p "$R/${P}${DEAD}_k$i"/{0,1,2}/{0,1}
		echo x >"$R/${P}${DEAD}_k$i/1/file"
		ln -s "$B/canary-user" "$R/${P}${DEAD}_k$i/0/link"
		ln "$B/victim" "$R/${P}${DEAD}_k$i/2/victim"
	done
	chown -R -h "$USER_UID:$USER_UID" "$R"
	age "2 days" "$R"/*
	"$HELPERS/stage" --legacy --uid="$USER_UID" "$R" 70
}

# killed_after CALL N COMMAND...: it is killed when its Nth call is through; 1: it made no so many.
killed_after() {
	local call=$1 n=$2 ended=0
	shift 2
	ASAN_OPTIONS=detect_leaks=0 strace -qq -o /dev/null -e trace="$call" \
		-e inject="$call:signal=KILL:when=$n" "$@" >/dev/null 2>&1 || ended=$?
	[ "$ended" = 137 ]
}

@test "kill -9: at random calls of sweeps and heals; nothing else is touched, and the next run ends it" {
	local i kills=0
	RANDOM=4711
	echo "# seed 4711"
	for i in $(seq 20); do
		populate 5
		! killed_after unlinkat "$((RANDOM % 90 + 1))" sb-sweep --uid="$USER_UID" "$R" ||
			kills=$((kills + 1))
		! killed_after unlinkat "$((RANDOM % 70 + 1))" \
			sb-legacy-heal --marker="$M" --uid="$USER_UID" "$R" || kills=$((kills + 1))
		assert_not_exist "$M"
		all_is_untouched
		# What it was at has become young, for a minute: a kill lets nobody give it back its age.
		run --separate-stderr sb-sweep --min-age=0 --uid="$USER_UID" "$R"
		assert_success
		# The rest of a pile may be none any more: a killed run can tell the next one nothing.
		run --separate-stderr sb-legacy-heal --threshold=1 --marker="$M" --uid="$USER_UID" "$R"
		assert_success
		assert_left
		assert_file_exist "$M"
		rm "$M"
	done
	echo "# $kills kills"
	[ "$kills" -ge 30 ]
	all_is_untouched
}

@test "kill -9: after each call that makes the marker; there is none, or a whole one" {
	local call n made=0
	for call in mkdir openat fchmod write fsync renameat2 close unlinkat; do
		for ((n = 1; n < 400; n++)); do
			rm -rf "$BATS_TEST_TMPDIR/state"
			M=$BATS_TEST_TMPDIR/state/sb-tools/done
			killed_after "$call" "$n" sb-legacy-heal --marker="$M" --uid="$USER_UID" "$R" || break
			[ ! -e "$M" ] || {
				assert_regex "$(cat "$M")" '^[0-9]+ removed=0$'
				made=$((made + 1))
			}
		done
		echo "# $call: $((n - 1)) kills, $made whole markers so far"
	done
	[ "$made" -gt 0 ]
}

@test "FUSE: a mount that never answers, in an entry and on one, keeps it; the rest goes on" {
	local what
	[ -c /dev/fuse ] || skip "needs /dev/fuse"
	populate 3
	# Right below an entry, on one, deep in one; on a legacy one.
	for what in "${P}${DEAD}_k0/0" "${P}${DEAD}_on" "${P}${DEAD}_k1/1/0" tmpzzzzzzz9; do
		mkdir -p "$R/$what"
		chmod 700 "$R/$what"
		chown "$USER_UID:$USER_UID" "$R/$what"
		age "2 days" "$R/${what%%/*}"
		hold "$HELPERS/fuse-mute" "$R/$what"
	done
	# Of which nobody else, be it root, learns anything.
	what=${P}${DEAD}_theirs
	mkdir "$R/$what"
	chown "$USER_UID:$USER_UID" "$R/$what"
	age "2 days" "$R/$what"
	hold "$HELPERS/fuse-mute" "$R/$what" "$OTHER_UID"
	run stat "$R/$what"
	assert_failure
	run --separate-stderr timeout 60 sb-pinscan --all
	assert_equal "$status" 0
	run --separate-stderr timeout 60 sb-sweep --json --uid="$USER_UID" "$R"
	echo "# $status $output $stderr"
	assert_equal "$status" 0
	assert_counts seen=5 dirs=1 mounted=4
	assert_dir_exist "$R/${P}${DEAD}_k0/1"
	assert_dir_exist "$R/${P}${DEAD}_k1/0"
	run --separate-stderr timeout 60 sb-legacy-heal --json --marker="$M" --uid="$USER_UID" "$R"
	echo "# $status $output $stderr"
	assert_equal "$status" 0
	assert_counts seen=71 dirs=70 mounted=1
	chmod 711 "$B"
	run --separate-stderr timeout 60 "${AS_USER[@]}" "$BIN/sb-sweep" --json "$R"
	echo "# $status $output $stderr"
	assert_equal "$(json '.totals.kept.mounted > 0 and .totals.failed == 0')" true
	# By the mount tables it would be no different.
	run --separate-stderr timeout 60 sb-sweep --json --evidence=mountinfo --trust-pidns \
		--uid="$USER_UID" "$R"
	assert_counts seen=4 mounted=4
	all_is_untouched
	end_started
	# Their servers are gone, the mounts are not: whoever asks is told that nobody is connected.
	run --separate-stderr timeout 60 sb-sweep --json --uid="$USER_UID" "$R"
	assert_equal "$status" 0
	assert_counts seen=4 mounted=4
	umount -l "$R/${P}${DEAD}_theirs" "$R/${P}${DEAD}_k0/0" "$R/${P}${DEAD}_on" "$R/${P}${DEAD}_k1/1/0" "$R/tmpzzzzzzz9"
	run --separate-stderr sb-sweep --json --uid="$USER_UID" "$R"
	assert_success
	assert_counts seen=4 dirs=4
}

@test "clocks: stamps of any time, and a host that booted at another time, free nobody's entry" {
	local offset
	sleeper "${AS_USER[@]}"
	mkdir "$R/$P${SLEEPER}_now" "$R/$P${DEAD}_future" "$R/$P${SLEEPER}_future"
	touch -d "-25 hours" "$R/$P${SLEEPER}_now"
	# Launchers are as old as what they made: the entry is made old, and stays the launcher's.
	touch -d "2099-01-01" "$R/$P${DEAD}_future" "$R/$P${SLEEPER}_future"
	mkdir "$R/$P${DEAD}_past"
	touch -d "1901-12-14" "$R/$P${DEAD}_past"
	chown "$USER_UID" "$R"/*
	# The launcher started right when the entry was made, 2 s the margin.
	touch -d "@$(($(date +%s) - 86000))" "$R/$P${SLEEPER}_now"
	for offset in 0 100000000 "-$(($(cut -d. -f1 /proc/uptime) - 5))"; do
		run --separate-stderr unshare --time --boottime="$offset" --fork \
			sb-sweep --json -n --max-age=1h --uid="$USER_UID" "$R"
		echo "# $offset: $status $output"
		assert_equal "$(json '"\(.totals.kept.young) \(.totals.removed.dirs)"')" "2 2"
		# An hour old and more, of a process that started just now: a recycled number. One second
		# old, of the same: its launcher, whatever the clock since boot says.
		touch -d "-1 second" "$R/$P${SLEEPER}_now"
		run --separate-stderr unshare --time --boottime="$offset" --fork \
			sb-sweep --json -n --min-age=0 --max-age=0 --uid="$USER_UID" "$R"
		assert_equal "$(json '"\(.totals.kept.alive) \(.totals.removed.dirs)"')" "1 1"
		touch -d "-2 hours" "$R/$P${SLEEPER}_now"
	done
}
