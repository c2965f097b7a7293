#!/usr/bin/env bats
# sb-sweep: many entries, little room, little time, and others at work at the same time.
load common
load sweep

setup() {
	make_root
}

teardown() {
	end_started
	unmount_root
}

@test "a tmpfs without a free inode: they come back, and nothing had to be created" {
	need_root
	make_root "$USER_UID" 0700 nr_inodes=20000
	run "$HELPERS/stage" --uid="$USER_UID" "$R" 30000
	assert_failure
	assert_output --partial "No space left on device"
	assert_equal "$(stat -f -c %d "$R")" 0
	sweep_as_user --json "$R"
	assert_success
	# Room was left for the root directory alone.
	assert_counts seen=19999 dirs=19999
	assert_equal "$(json '.roots[0].inodes | "\(.total) \(.used_before) \(.used_after)"')" "20000 20000 1"
	assert_equal "$(stat -f -c %d "$R")" 19999
}

@test "a tmpfs without a free byte" {
	make_root 0 0700 size=64k
	stage "${P}${DEAD}_x"
	dd if=/dev/zero of="$R/full" bs=4k 2>/dev/null || true
	sweep --json "$R"
	assert_success
	assert_counts seen=1 dirs=1
}

@test "nothing is ever created in a root" {
	mkdir -p "$R/${P}${DEAD}_x/a/b"
	age "2 days" "$R"/*
	run --separate-stderr strace -f -e trace=file -o "$BATS_TEST_TMPDIR/trace" env ASAN_OPTIONS=detect_leaks=0 sb-sweep "$R"
	assert_success
	# A build that counts coverage writes its counts (*.gcda), elsewhere.
	run grep -vF .gcda "$BATS_TEST_TMPDIR/trace"
	assert_success
	refute_line --regexp '(^|[ :])(mkdir|mknod|symlink|rename|link|linkat|open)[a-z0-9]*\(.*O_CREAT'
	refute_line --regexp '(^|[ :])(mkdir|mkdirat|mknod|mknodat|symlink|symlinkat|rename|renameat2?|link|linkat)\('
}

@test "100,000 foreign entries do not keep ours from going in the same pass" {
	need_root
	make_root "$USER_UID" 1777
	"$HELPERS/stage" --uid="$USER_UID" --prefix="${P}1" "$R" 100
	"$HELPERS/stage" --uid="$OTHER_UID" "$R" 100000
	"$HELPERS/stage" --uid="$USER_UID" --prefix="${P}2" "$R" 100
	sweep --json --uid="$USER_UID" "$R"
	assert_success
	assert_counts seen=100200 dirs=200 foreign=100000
}

@test "eight sweeps at once over 200,000 entries: all end 0, and the removals add up" {
	local i pids=()
	"$HELPERS/stage" "$R" 200000
	for i in $(seq 8); do
		sb-sweep --json --budget=0 "$R" >"$BATS_TEST_TMPDIR/$i" 2>&1 3>&- &
		pids+=($!)
		remember $!
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	assert_left
	assert_equal "$(cat "$BATS_TEST_TMPDIR"/[1-8] | jq -s 'map(.totals.removed.dirs) | add')" 200000
	assert_equal "$(cat "$BATS_TEST_TMPDIR"/[1-8] | jq -s 'map(.totals.failed) | add')" 0
}

@test "two at once on the same populated entries: no failure, and nothing else goes" {
	local i
	for i in $(seq 300); do
		mkdir -p "$R/${P}${DEAD}_$i/a/b/c" "$R/${P}${DEAD}_$i/d/e"
		: >"$R/${P}${DEAD}_$i/a/b/f"
	done
	stage neighbour
	age "2 days" "$R"/*
	sb-sweep --json "$R" >"$BATS_TEST_TMPDIR/1" 2>&1 3>&- &
	remember $!
	sweep --json "$R"
	assert_success
	wait "${started[0]}"
	assert_left neighbour
	assert_equal "$(cat "$BATS_TEST_TMPDIR/1" - <<<"$output" | jq -s 'map(.totals.removed.dirs) | add')" 300
}

@test "the budget: a pass that it ends says so, ends 4, and the next one goes on" {
	local passes=0
	"$HELPERS/stage" "$R" 3000
	while sweep --json --budget=1ms "$R" && [ "$status" = 4 ]; do
		passes=$((passes + 1))
		assert_equal "$(json '.roots[0].finished')" false
		assert_equal "$(json .exit_status)" 4
		assert [ "$(json .totals.removed.dirs)" -gt 0 ]
		[ "$passes" -lt 1000 ]
	done
	assert_success
	assert_equal "$(json '.roots[0].finished')" true
	assert [ "$passes" -gt 0 ]
	assert_left
}

@test "the budget in words" {
	"$HELPERS/stage" "$R" 3000
	sweep --budget=1ms "$R"
	assert_failure 4
	assert_output --partial "; not finished; "
	assert_regex "$stderr" "not finished \(the budget is spent\); run again"
}

@test "a pass never ends with nothing removed: entries that are kept stand in front" {
	local passes=0
	sleeper
	# Listings of a tmpfs start with what came last.
	"$HELPERS/stage" "$R" 200
	seq -f "$R/${P}${SLEEPER}_%g" 3000 | xargs mkdir
	seq -f "$R/${P}0_%g" 3000 | xargs mkdir
	find "$R" -mindepth 1 -name "${P}${SLEEPER}_*" -exec touch -d '-1 hour' {} +
	sweep --json --budget=1ms "$R"
	assert [ "$(json .totals.removed.dirs)" -gt 0 ]
	while [ "$status" = 4 ] && [ $((++passes)) -lt 200 ]; do
		sweep --json --budget=1ms "$R"
	done
	assert_success
	assert_counts seen=6000 alive=3000 malformed=3000 || assert [ "$(json .totals.removed.dirs)" -gt 0 ]
	assert_equal "$(find "$R" -name "${P}4*" | wc -l)" 0
}

@test "nor when each pass begins with an entry that cannot be removed" {
	need_root
	local passes=0
	"$HELPERS/stage" --uid="$USER_UID" "$R" 200
	seq -f "$R/${P}${DEAD}_bad%g/closed/inner" 200 | xargs mkdir -p
	chmod 500 "$R"/*/closed
	chown -R "$USER_UID" "$R"
	age "2 days" "$R"/*
	chown "$USER_UID" "$R"
	run --separate-stderr true
	status=4
	while [ -n "$(find "$R" -maxdepth 1 -name "${P}4*" ! -name '*bad*')" ]; do
		[ $((++passes)) -lt 200 ] || fail "no end"
		sweep --json --budget=1ms --uid="$USER_UID" "$R"
		assert [ "$(json .totals.removed.dirs)" -gt 0 ]
	done
	assert_equal "$(find "$R" -maxdepth 1 -name "*bad*" | wc -l)" 200
}

@test "nor on the way down a deep tree, where nothing is removed yet" {
	local passes=0 before after
	"$HELPERS/stage" --deep "$R" 5000
	before=$(stat -f -c %d "$R")
	while sweep --json --budget=1ms "$R" && [ "$status" = 4 ]; do
		after=$(stat -f -c %d "$R")
		assert [ "$after" -gt "$before" ]
		before=$after
		[ $((++passes)) -lt 400 ]
	done
	assert_success
	assert_left
}

@test "a slow scan is not taken from the budget" {
	local options=(-f -o /dev/null -e trace=readlinkat)
	"$HELPERS/stage" "$R" 100
	run --separate-stderr strace "${options[@]}" -e inject=readlinkat:delay_enter=200000:when=1..10 \
		env ASAN_OPTIONS=detect_leaks=0 sb-sweep --json --evidence=namespaces --budget=1s "$R"
	assert_success
	assert_counts seen=100 dirs=100
	assert [ "$(json '.coverage.elapsed_s > 1.5')" = true ]
}

@test "without a budget there is no end but the end" {
	"$HELPERS/stage" "$R" 3000
	sweep --json --budget=0 "$R"
	assert_success
	assert_counts seen=3000 dirs=3000
}

@test "SIGINT and SIGTERM: it ends between two entries, reports, and ends 4" {
	local signal
	for signal in INT TERM; do
		"$HELPERS/stage" --prefix="$P$signal" "$R" 20000
		"$HELPERS/stage" "$R" 20000
		interrupt "$signal" sb-sweep --json --budget=0 "$R"
		assert_equal "$status" 4
		assert_equal "$(json '"\(.exit_status) \(.roots[0].finished)"')" "4 false"
		assert_regex "$stderr" "not finished \(stopped by a signal\)"
		assert [ "$(json .totals.removed.dirs)" -gt 0 ]
		assert_equal "$(json '.totals | .seen == .removed.dirs + .kept.malformed')" true
		sweep --json "$R"
		assert_success
		find "$R" -mindepth 1 -delete
	done
}

@test "a signal inside an entry: the entry is finished, the next one is not begun" {
	local i
	for i in 1 2; do
		mkdir "$R/${P}${DEAD}_$i"
		"$HELPERS/stage" "$R/${P}${DEAD}_$i" 20000
	done
	age "2 days" "$R"/*
	interrupt TERM sb-sweep --json --budget=0 "$R"
	assert_equal "$status" 4
	assert_counts seen=1 dirs=1
	assert_equal "$(find "$R" -mindepth 1 | wc -l)" 20001
}

@test "a signal and two roots: the second is not begun, and that is said" {
	local first=$R
	"$HELPERS/stage" "$R" 20000
	make_root
	stage "${P}${DEAD}_second"
	local second=$R
	R=$first
	interrupt TERM sb-sweep --json --budget=0 "$R" "$second"
	assert_equal "$status" 4
	assert_equal "$(grep -c 'stopped by a signal' <<<"$stderr")" 2
	assert_equal "$(json '.roots[1] | "\(.seen) \(.finished)"')" "0 false"
	assert_dir_exist "$second/${P}${DEAD}_second"
	umount -l "$second"
}

@test "storms of short processes: all is reclaimed within a few passes" {
	need_root
	local i
	make_root "$USER_UID"
	"$HELPERS/stage" --uid="$USER_UID" "$R" 2000
	for i in 1 2; do
		"${AS_USER[@]}" sh -c 'while :; do /bin/true; done' 3>&- &
		remember $!
	done
	for i in 1 2 3 4 5; do
		run --separate-stderr as_user sb-sweep --json "$R"
		[ "$status" != 0 ] || break
	done
	assert_success
	assert_left
}
