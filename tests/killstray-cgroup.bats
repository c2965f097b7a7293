#!/usr/bin/env bats
# sb-killstray --cgroup: what is in it, and what only seems to be.

load common
load killstray

setup() {
	need_root
	local top
	top=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[ -n "$top" ] || skip "needs cgroup v2"
	CG=$top/sb-test-$$-cgroup-$BATS_TEST_NUMBER
	mkdir "$CG" 2>/dev/null || skip "needs a cgroup v2 that can be written to"
	mkdir -p "$CG/a/b" "$CG/c"
	export CG
}

teardown() {
	[ -d "${CG:-}" ] || return 0
	# The namespace of the test ended with all that was in it.
	wait_until grep -q "populated 0" "$CG/cgroup.events"
	find "$CG" -depth -type d -exec rmdir {} \;
}

IN_CGROUP='into() { echo "$1" >"$2/cgroup.procs"; }
kill_was_used() { grep -q "cgroup.kill.*= [0-9]" $T/trace; }
traced() { strace -f -qq -e trace=openat -o $T/trace "$@"; }
'

@test "a part of a cgroup is no more than that part" {
	ns "$IN_CGROUP"'
		start sleep 301; a=$started; into $a $CG/a/b
		start sleep 302; b=$started; into $b $CG/c
		as_user sb-killstray --cgroup=$CG/a
		expect_gone $a; expect_lives $b'
	assert_success
	assert_output "stray processes killed: 1"
}

@test "nothing but strays in it: the kernel is asked; another user's, a keep-alive or the command: not" {
	ns "$IN_CGROUP"'
		start_stubborn; into $started $CG/a/b
		traced sb-killstray --uid=$USER_UID --cgroup=$CG --grace=100ms
		expect_gone $started; kill_was_used

		start_other sleep 300; other=$started; into $other $CG/c
		start_stubborn; into $started $CG/a
		traced sb-killstray --uid=$USER_UID --cgroup=$CG --grace=100ms
		expect_gone $started; expect_lives $other; not kill_was_used
		kill -KILL $other; wait_until gone $other

		start sleep infinity; kept=$started; into $kept $CG/a
		start_stubborn; into $started $CG/a
		traced sb-killstray --uid=$USER_UID --cgroup=$CG --grace=100ms
		expect_gone $started; expect_lives $kept; not kill_was_used
		kill -KILL $kept; wait_until gone $kept

		start_stubborn; into $started $CG/a
		bash -c "echo 0 >$CG/a/cgroup.procs; exec setpriv --reuid $USER_UID --regid $USER_UID \
			--clear-groups sb-killstray --cgroup=$CG --grace=100ms"
		expect_gone $started'
	assert_success
	assert_equal "$(sort -u <<<"$output")" "stray processes killed: 1"
	[ "${#lines[@]}" -eq 4 ]
}

@test "without the right to cgroup.kill: listed and killed" {
	ns "$IN_CGROUP"'
		start_stubborn; into $started $CG/a/b
		as_user sb-killstray --cgroup=$CG --grace=100ms
		expect_gone $started; grep -q "populated 0" $CG/cgroup.events'
	assert_success
	assert_output "stray processes killed: 1"
}

@test "a dry run touches nothing; an empty cgroup is 0" {
	ns "$IN_CGROUP"'
		start sleep 300; into $started $CG/a
		as_user sb-killstray -n --cgroup=$CG; expect_lives $started
		as_user sb-killstray --cgroup=$CG/c'
	assert_success
	assert_line "stray processes found: 1"
	assert_last_line "stray processes killed: 0"
}

@test "a threaded cgroup is refused" {
	echo threaded >"$CG/a/b/cgroup.type"
	ns 'as_user sb-killstray --cgroup=$CG/a/b'
	assert_failure 2
	assert_regex "$stderr" threaded
}

@test "a number taken over before it was looked at, by a process outside, is left alone" {
	ns "$IN_CGROUP"'
		start sleep 300; a=$started; into $a $CG/a
		# The first pidfd is its own, to see whether there are any; the second is held back.
		: >$T/trace
		strace -qq -o $T/trace -e inject=pidfd_open:delay_enter=1500000:when=2 \
			sb-killstray --uid=$USER_UID --cgroup=$CG --grace=100ms >$T/out & tool=$!
		held() { [ "$(grep -c pidfd_open $T/trace)" = 2 ]; }
		wait_until held
		ks-take $a $USER_UID $T/n & wait_until runs $! ks-take
		kill -KILL $a
		wait $tool
		[ -e $T/n.taken ]; [ ! -e $T/n.signalled ]; expect_lives $a newcomer; cat $T/out'
	assert_success
	assert_output "stray processes killed: 0"
}

@test "somebody lives in it whom the kernel does not list: no count, status 3" {
	# A leader that had ended when its group was moved stays where it was; its thread does not.
	ns "$IN_CGROUP"'
		setpriv --reuid $USER_UID --regid $USER_UID --clear-groups ks-zombies stubborn & a=$!
		wait_until state_is $a Z; into $a $CG/a
		grep -q "populated 1" $CG/cgroup.events; [ -z "$(cat $CG/a/cgroup.procs)" ]
		as_user sb-killstray --cgroup=$CG --grace=0'
	assert_failure 3
	refute_count
	assert_regex "$stderr" "somebody lives in it whom the kernel does not list"
}
