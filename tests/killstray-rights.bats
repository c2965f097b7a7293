#!/usr/bin/env bats
# sb-killstray with the privileges that its manual names, and with fewer; and what no privilege ends.
# shellcheck disable=SC2016,SC2154 # the scripts are for the shell inside; run sets stderr

load common
load killstray

setup() {
	need_root
}

# Root with these capabilities ("+kill,+sys_ptrace") and no other.
WITH='with() { setpriv --bounding-set="-all,$1" --inh-caps=-all "${@:2}"; }
'

@test "privileges: none for one's own processes" {
	ns 'start sleep 300; a=$started; start_stubborn; b=$started; start sleep infinity; c=$started
		setpriv --reuid $USER_UID --regid $USER_UID --clear-groups --no-new-privs \
			--bounding-set=-all --inh-caps=-all \
			bash -c "sb-killstray --grace=100ms | cat; exit \${PIPESTATUS[0]}"
		expect_gone $a; expect_gone $b; expect_lives $c'
	assert_success
	assert_output "stray processes killed: 2"
}

@test "privileges: CAP_KILL ends another user's, and spares its keep-alives" {
	ns "$WITH"'start sleep infinity; kept=$started
		start sleep 300; a=$started; start_stubborn; b=$started
		with +kill sb-killstray --uid=$USER_UID --grace=100ms
		expect_gone $a; expect_gone $b; expect_lives $kept'
	assert_success
	assert_output "stray processes killed: 2"
}

@test "privileges: with CAP_KILL alone what may be another run is left, without a count; CAP_SYS_PTRACE tells" {
	ns "$WITH"'exec 9>$T/l; flock 9; start sb-killstray --lock=$T/l; run=$started
		start sleep 300; a=$started
		s=0; with +kill sb-killstray --uid=$USER_UID --grace=100ms || s=$?
		[ $s = 3 ]; expect_gone $a; expect_lives $run
		start sleep 300; a=$started
		with +kill,+sys_ptrace sb-killstray --uid=$USER_UID --grace=100ms
		expect_gone $a; expect_lives $run'
	assert_success
	assert_output "stray processes killed: 1"
	assert_regex "$stderr" "cannot read process '[0-9]+ \(sb-killstray\)': Permission denied"
}

@test "a stray that calls itself sb-killstray and cannot be looked at: left, and never told as none" {
	ns 'name=sb-killstray start ks-hide sb-killstray
		s=0; setpriv --reuid $USER_UID --regid $USER_UID --clear-groups --no-new-privs \
			--bounding-set=-all --inh-caps=-all sb-killstray --grace=100ms || s=$?
		expect_lives $started; exit $s'
	assert_failure 3
	assert_output ""
}

@test "privileges: without CAP_KILL another user's are survivors, with the reason" {
	ns "$WITH"'start sleep 300
		s=0; with +sys_ptrace sb-killstray --uid=$USER_UID || s=$?; expect_lives $started; exit $s'
	assert_failure 1
	assert_output "stray processes killed: 0"
	assert_regex "$stderr" "cannot end '[0-9]+ \(sleep\)': it cannot be signalled: Operation not permitted"
}

@test "privileges: with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH another user's process at the end of a pipe is seen" {
	ns "$WITH"'mkfifo -m 666 $T/fifo
		exec 7<>$T/fifo; name=cat start bash -c "exec cat <$T/fifo >$T/log 7>&-"
		reader=$started; start sleep 300
		with +kill,+sys_ptrace,+dac_read_search sb-killstray --uid=$USER_UID >$T/fifo
		expect_gone $started; expect_lives $reader; wait_until [ -s $T/log ]
		# Without it nobody can know: the manual says so.
		cp $T/log $T/seen
		with +kill sb-killstray --uid=$USER_UID >$T/fifo || :
		expect_gone $reader; cat $T/seen'
	assert_success
	assert_line --index 0 "stray processes killed: 1"
}

@test "privileges: under hidepid CAP_KILL alone is no proof, with CAP_SYS_PTRACE it is" {
	ns "$WITH"'mount -o remount,hidepid=4 /proc; start sleep 300
		s=0; with +kill sb-killstray --uid=$USER_UID || s=$?; [ $s = 3 ]; expect_lives $started
		with +kill,+sys_ptrace sb-killstray --uid=$USER_UID; expect_gone $started
		# Group 0 sees all that hidepid=2 hides, unless the mount names another.
		mount -o remount,hidepid=2 /proc; start sleep 300
		with +kill sb-killstray --uid=$USER_UID; expect_gone $started
		mount -o remount,hidepid=2,gid=777 /proc; start sleep 300
		s=0; with +kill sb-killstray --uid=$USER_UID || s=$?; [ $s = 3 ]'
	assert_success
	assert_line --index 0 "stray processes killed: 1"
	assert_line --index 1 "stray processes killed: 1"
	assert_equal "${#lines[@]}" 2
	assert_regex "$stderr" "it is mounted with hidepid"
}

# The user, below it another by a setuid program, below that the user again.
BELOW_ANOTHER='below_another() {
	cp "$(command -v setpriv)" $T/su; chmod 4755 $T/su
	as_user bash -c "$T/su --ruid $OTHER_UID bash -p -c \"setpriv --reuid $USER_UID \
		--regid $USER_UID --clear-groups $*; exit \\\$?\"; exit \$?"
}
'

@test "hidepid hides an ancestor: who is above it is spared, as the kernel tells it" {
	ns "$BELOW_ANOTHER"'mount -o remount,hidepid=2,gid=777 /proc; start sleep 300
		s=0; below_another sb-killstray -J || s=$?; expect_gone $started; exit $s'
	assert_failure 3
	assert_equal "$(json '[.spared[] | .comm + " " + .why] | sort | join(",")')" \
		"bash ancestor,sb-killstray self"
}

@test "hidepid hides an ancestor, and this kernel does not tell who is above it: nothing is ended" {
	ns "$BELOW_ANOTHER"'mount -o remount,hidepid=2,gid=777 /proc; start sleep 300
		s=0; below_another deny ioctl:0xc040ff0b=ENOTTY -- sb-killstray || s=$?
		expect_lives $started; exit $s'
	assert_failure 3
	refute_count
	assert_regex "$stderr" "cannot learn our ancestors from '/proc': one is hidden \(hidepid\)"
}

@test "in an uninterruptible sleep (D): named as a survivor in bounded time, and all others go" {
	[ -c /dev/fuse ] || skip "no FUSE"
	ns 'mkdir $T/mute; fuse-mute $T/mute >$T/ready & server=$!
		wait_until grep -q ready $T/ready
		start stat $T/mute/x; victim=$started
		wait_until grep -q request_wait /proc/$victim/wchan
		start sleep 300; a=$started; start_stubborn; b=$started
		s=0; SECONDS=0
		as_user timeout -s KILL 20 sb-killstray -J --grace=200ms || s=$?
		[ $SECONDS -le 10 ] # the grace, 5 s of rounds, and a busy host
		expect_gone $a; expect_gone $b; state_is $victim D
		kill -TERM $server; wait_until gone $victim; exit $s'
	assert_failure 1
	assert_equal "$(json '.survivors | length')" 1
	assert_equal "$(json '.survivors[0] | .comm + " " + .state')" "stat D"
	assert_equal "$(json .killed)" 3
	assert_equal "$(json .ended_by_kill)" 1
	assert_regex "$stderr" "cannot end '[0-9]+ \(stat\)': it is in an uninterruptible sleep in the kernel"
}

@test "a stray that calls itself a keep-alive before it is met lives, as the manual says" {
	ns 'name=sleep start bash -c "exec -a sleep sleep infinity"; a=$started
		start sleep 300; as_user sb-killstray --keep="other 1"; expect_lives $a'
	assert_success
}
