#!/usr/bin/env bats
# sb-killstray: who goes, who is spared, and what is said of it.
# shellcheck disable=SC2016,SC2154 # the scripts are for the shell inside; run sets stderr

load common
load killstray

setup() {
	need_root
}

# Each of these runs with calls that fail as on older kernels.
WITHOUT=("pidfd_open=ENOSYS" "pidfd_send_signal=ENOSYS" "ioctl:0xc040ff0b=ENOTTY" "pidfd_open=EPERM")

teardown() {
	remove_cgroup
}

@test "strays end, a keep-alive lives, the last line tells the number" {
	ns 'start sleep 300; a=$started
		start sleep infinity; b=$started
		start_stubborn; c=$started
		as_user sb-killstray --grace=300ms
		expect_gone $a; expect_lives $b; expect_gone $c'
	assert_success
	assert_output "stray processes killed: 2"
	refute_regex "$stderr" sb-killstray
}

@test "with nothing to end: 0, at once" {
	ns 'as_user sb-killstray --grace=1h'
	assert_success
	assert_output "stray processes killed: 0"
}

@test "a dry run names them and touches nothing" {
	ns 'start sleep 300; echo $started; as_user sb-killstray -n; expect_lives $started'
	assert_success
	assert_line --index 1 "would end ${lines[0]} (sleep)"
	assert_last_line "stray processes found: 1"
}

@test "JSON tells all of it" {
	ns 'start sleep 300; start sleep infinity; start_stubborn
		as_user sb-killstray -J --grace=500ms'
	assert_success
	assert_equal "$(json .tool)" sb-killstray
	assert_equal "$(json .uid)" "$USER_UID"
	assert_equal "$(json .dry_run)" false
	assert_equal "$(json .found)" 2
	assert_equal "$(json .killed)" 2
	assert_equal "$(json .ended_by_term)" 1
	assert_equal "$(json .ended_by_kill)" 1
	assert_equal "$(json '.survivors | length')" 0
	assert_equal "$(json '[.spared[] | .comm + " " + .why] | sort | join(",")')" \
		"sb-killstray self,sleep keep-alive"
	assert_equal "$(json .grace_s)" 0.5
	assert_equal "$(json .exit_status)" 0
	[ "$(json .passes)" -ge 3 ]
}

@test "the grace is 2 s" {
	ns 'as_user sb-killstray -J'
	assert_equal "$(json .grace_s)" 2
}

# --- whose ----------------------------------------------------------------------------------------

@test "other users' processes are not touched" {
	ns 'start_other sleep 300; a=$started
		sleep 300 & b=$!
		as_user sb-killstray; expect_lives $a; expect_lives $b'
	assert_success
	assert_output "stray processes killed: 0"
}

@test "root acts for a user by --uid" {
	ns 'start sleep 300; a=$started; sleep 300 & sb-killstray --uid=$USER_UID; expect_gone $a; expect_lives $!'
	assert_success
	assert_output "stray processes killed: 1"
}

@test "the saved uid makes it the uid's, the effective one alone does not" {
	ns 'python3 -c "import os,time; os.setresuid(0, $USER_UID, 0); time.sleep(300)" & a=$!
		wait_until grep -q "^Uid:.0.$USER_UID.0" /proc/$a/status
		python3 -c "import os,time; os.setresuid(0, 0, $USER_UID); time.sleep(300)" & b=$!
		wait_until grep -q "^Uid:.0.0.$USER_UID" /proc/$b/status
		python3 -c "import os,time; os.setresuid($USER_UID, 0, 0); time.sleep(300)" & c=$!
		wait_until grep -q "^Uid:.$USER_UID.0.0" /proc/$c/status
		sb-killstray --uid=$USER_UID
		expect_lives $a effective; expect_gone $b saved; expect_gone $c real'
	assert_success
	assert_output "stray processes killed: 2"
}

@test "a setuid program that the uid started is found" {
	ns 'cp "$(command -v sleep)" $T/setuid; chmod 4755 $T/setuid
		start $T/setuid 300; grep -q "^Uid:.$USER_UID.0.0" /proc/$started/status
		as_user sb-killstray; expect_gone $started'
	assert_success
	assert_output "stray processes killed: 1"
}

@test "what may not be signalled is a survivor: status 1, named with reason" {
	ns 'start_other sleep 300
		as_user sb-killstray --uid=$OTHER_UID || s=$?; expect_lives $started; exit ${s:-0}'
	assert_failure 1
	assert_last_line "stray processes killed: 0"
	assert_regex "$stderr" "cannot end '[0-9]+ \(sleep\)': it cannot be signalled: Operation not permitted"
}

# --- ancestors and their like ---------------------------------------------------------------------

@test "through su -c, as root of another: the chain lives, its strays do not" {
	getent passwd nobody >/dev/null || skip "nobody has an account here"
	ns 'nobody=$(id -u nobody); start_as $nobody sleep 300
		su -s /bin/sh -c "$BIN/sb-killstray; echo after" nobody; expect_gone $started
		start_as $nobody sleep 300
		su -s /bin/sh -c "exec $BIN/sb-killstray" nobody; expect_gone $started'
	assert_success
	assert_output "stray processes killed: 1
after
stray processes killed: 1"
}

@test "through sh -c, timeout, env, setsid, su -c: a status other than 0 comes through" {
	local chain
	for chain in "sh -c 'sb-killstray --uid=$OTHER_UID; exit \$?'" \
		"sh -c 'exec sb-killstray --uid=$OTHER_UID'" "timeout 60 sb-killstray --uid=$OTHER_UID" \
		"env A=b sb-killstray --uid=$OTHER_UID" "setsid --wait sb-killstray --uid=$OTHER_UID" \
		"timeout 60 env A=b sh -c 'sb-killstray --uid=$OTHER_UID'"; do
		ns 'start_other sleep 300; eval "as_user $1" || s=$?; expect_lives $started; exit ${s:-0}' "$chain"
		assert_failure 1
		assert_line "stray processes killed: 0"
	done
	getent passwd nobody >/dev/null || return 0
	ns 'start_other sleep 300
		su -s /bin/sh -c "$BIN/sb-killstray --uid=$OTHER_UID" nobody || s=$?
		expect_lives $started; exit ${s:-0}'
	assert_failure 1
}

@test "through sh -c, timeout, env, setsid: the chain lives, its strays do not" {
	local chain
	for chain in "sh -c 'sb-killstray; exit \$?'" "timeout 60 sb-killstray" "env A=b sb-killstray" \
		"setsid --wait sb-killstray" "bash -c 'timeout 60 sh -c \"sb-killstray; :\"; echo after'"; do
		ns "start sleep 300; as_user bash -c '$(printf %s "$chain" | sed "s/'/'\\\\''/g"); true'; expect_gone \$started"
		assert_success
		assert_line "stray processes killed: 1"
	done
}

@test "ancestors through another uid" {
	ns 'cat >$T/outer <<-"END"
			trap "echo hit >$T/hit" TERM
			"$@"
		END
		chmod 755 $T/outer
		as_user bash $T/outer setpriv --reuid $USER_UID true
		python3 - $USER_UID $OTHER_UID <<-"END"
			import os, sys, subprocess
			user, other = int(sys.argv[1]), int(sys.argv[2])
			# user, below it another uid, below that the user again
			top = os.fork()
			if top == 0:
			    os.setresuid(user, 0, 0)
			    middle = os.fork()
			    if middle == 0:
			        os.setresuid(other, 0, 0)
			        os.seteuid(0)
			        sys.exit(subprocess.call(["setpriv", "--reuid", str(user), "--regid", str(user),
			            "--clear-groups", "sb-killstray", "-J"]))
			    sys.exit(os.waitstatus_to_exitcode(os.waitpid(middle, 0)[1]))
			sys.exit(os.waitstatus_to_exitcode(os.waitpid(top, 0)[1]))
		END'
	assert_success
	assert_equal "$(json .killed)" 0
	assert_equal "$(json '[.spared[].why] | sort | join(",")')" ancestor,self
}

@test "its own children are strays, the shell that became it is itself" {
	ns 'as_user bash -c "sleep 300 & echo \$!; exec sb-killstray" >$T/out; cat $T/out; expect_gone $(head -1 $T/out)'
	assert_success
	assert_last_line "stray processes killed: 1"
}

@test "an ancestor with 200 unreaped children: at once, 0" {
	ns 'as_user ks-zombies 200 sb-killstray -J --grace=1h'
	assert_success
	assert_equal "$(json .killed)" 0
	assert_equal "$(json '[.spared[] | select(.why == "zombie")] | length')" 200
}

@test "a zombie leader with a live thread is a stray" {
	ns 'for kind in leader stubborn; do
			setpriv --reuid $USER_UID ks-zombies $kind & a=$!
			wait_until state_is $a Z
			[ "$(ls /proc/$a/task | wc -l)" = 2 ]
			as_user sb-killstray --grace=300ms
			wait_until absent $a
		done'
	assert_success
	assert_line --index 0 "stray processes killed: 1"
	assert_line --index 1 "stray processes killed: 1"
}

@test "another run of this program is spared, and both end 0" {
	ns 'start_stubborn
		as_user sb-killstray --grace=1s >$T/1 & a=$!
		wait_until is_waiting sb-killstray
		as_user sb-killstray --grace=2s -J >$T/2 & b=$!
		wait $a; wait $b; expect_gone $started; cat $T/2 $T/1'
	assert_success
	assert_last_line "stray processes killed: 1"
	output=${lines[0]}
	assert_equal "$(json '[.spared[] | select(.why == "another-run").comm] | join(",")')" sb-killstray
}

@test "a second run finds nothing" {
	ns 'start sleep 300; as_user sb-killstray; as_user sb-killstray'
	assert_success
	assert_line --index 0 "stray processes killed: 1"
	assert_line --index 1 "stray processes killed: 0"
}

# --- keep-alives ----------------------------------------------------------------------------------

@test "keep-alives by the whole argv, without the directory of the program" {
	ns 'start sleep infinity; a=$started; start /usr/bin/sleep infinity; b=$started
		start sleep infinity 1; c=$started; start sleep 300; d=$started
		as_user sb-killstray
		expect_lives $a; expect_lives $b; expect_gone $c; expect_gone $d'
	assert_success
	assert_output "stray processes killed: 2"
}

@test "--keep adds, --no-keep takes the default away" {
	ns 'start sleep infinity; a=$started; start sleep 300; b=$started; start sleep 301; c=$started
		as_user sb-killstray --keep="a-name-longer-than-comm 1" --keep="sleep 300" --keep="/x/sleep 999"
		expect_lives $a; expect_lives $b; expect_gone $c
		as_user sb-killstray --no-keep --keep="sleep 300"
		expect_gone $a; expect_lives $b'
	assert_success
	assert_line --index 0 "stray processes killed: 1"
	assert_line --index 1 "stray processes killed: 1"
}

@test "--keep is compared without the directory of the program, as it is given too" {
	ns 'start sleep 300; a=$started; start sleep 301; b=$started
		as_user sb-killstray --keep="/some/where/sleep 300" --keep="sleep 30"
		expect_lives $a; expect_gone $b'
	assert_success
	assert_output "stray processes killed: 1"
}

@test "--keep finds who calls itself something else" {
	ns 'start sleep 1; { exec -a keep/me setpriv --reuid $USER_UID --regid $USER_UID --clear-groups bash -c "exec -a keep/me sleep 303"; } & b=$!
		wait_until runs $b sleep
		as_user sb-killstray --keep="me 303"; expect_lives $b'
	assert_success
}

@test "what becomes a keep-alive on TERM has not saved itself" {
	ns 'for keep in infinity 301; do
			start bash -c "trap \"exec sleep $keep\" TERM; echo >$T/set; while :; do sleep 0.05; done"
			wait_until [ -e $T/set ]; rm $T/set
			as_user sb-killstray --keep="sleep 301" --grace=500ms; expect_gone $started
		done'
	assert_success
}

@test "--keep-pid" {
	ns 'start sleep 300; a=$started; start sleep 300; b=$started
		as_user sb-killstray --keep-pid=$a; expect_lives $a; expect_gone $b'
	assert_success
	assert_output "stray processes killed: 1"
	# A number that nobody has, and one that somebody had.
	ns 'true & a=$!; wait $a; start sleep 300; b=$started
		as_user sb-killstray --keep-pid=$a --keep-pid=4194303; expect_gone $b'
	assert_success
	assert_output "stray processes killed: 1"
}

@test "--pid: these alone" {
	ns 'start sleep 300; a=$started; start sleep 300; b=$started; start sleep 300; c=$started
		as_user sb-killstray --pid=$a,$c; expect_gone $a; expect_lives $b; expect_gone $c'
	assert_success
	assert_output "stray processes killed: 2"
}

@test "--pid: another user's, a keep-alive and nobody are told, not ended" {
	ns 'start_other sleep 300; a=$started; start sleep infinity; b=$started
		echo $a $b; as_user sb-killstray --pid=$a --pid=$b,99999; expect_lives $a; expect_lives $b'
	assert_success
	assert_last_line "stray processes killed: 0"
	assert_regex "$stderr" "'${lines[0]% *}': no process of uid $USER_UID has this number"
	assert_regex "$stderr" "'${lines[0]#* } \(sleep\)': spared: a keep-alive"
	assert_regex "$stderr" "'99999': no process of uid"
}

# --- how ------------------------------------------------------------------------------------------

@test "one leaves at once, one needs most of the grace, one ignores TERM" {
	ns 'start sleep 300
		start bash -c "trap \"sleep 0.7; echo saved >$T/saved; exit\" TERM; echo >$T/set; while :; do sleep 0.05; done"
		start_stubborn
		wait_until [ -e $T/set ]
		as_user sb-killstray --grace=1s >$T/out; cat $T/saved $T/out'
	assert_success
	assert_line --index 0 saved
}

@test "the rest gets KILL right after the grace: it is all that is waited for in between" {
	ns 'start_stubborn; start_stubborn
		as_user env ASAN_OPTIONS=detect_leaks=0 strace -qq -o $T/calls sb-killstray --grace=300ms'
	assert_success
	# As the kernel was told, so that no load of this machine moves it: how long the waits were that
	# ran out between the first TERM and the first KILL, in ms, and what else waited there. Under load
	# the grace may be over before there is anything to wait for.
	run awk '/pidfd_send_signal\(.*SIGTERM/ && !begun { begun = 1; next }
		/pidfd_send_signal\(.*SIGKILL/ { exit }
		begun && /ppoll\(.*Timeout/ {
			if (!match($0, /tv_sec=[0-9]+, tv_nsec=[0-9]+/)) print
			split(substr($0, RSTART, RLENGTH), part, /[=,]/)
			waited += part[2] * 1000 + part[4] / 1000000
		}
		begun && /sleep\(|select6?\(|timer|epoll/ { print }
		END { print begun, (waited <= 300) }' "$BATS_TEST_TMPDIR/ns/calls"
	assert_output "1 1"
}

@test "a stopped one is woken to act on TERM, and needs no KILL" {
	ns 'start bash -c "trap \"echo saved >$T/f; exit\" TERM; kill -STOP \$\$; while :; do sleep 0.05; done"
		wait_until state_is $started T
		as_user sb-killstray -J --grace=10s; expect_gone $started; [ "$(cat $T/f)" = saved ]'
	assert_success
	assert_equal "$(json .ended_by_kill)" 0
}

@test "a number taken over within the grace is not signalled" {
	ns 'start sleep 300; a=$started
		start_stubborn
		ks-take $a $OTHER_UID $T/n & wait_until runs $! ks-take
		sb-killstray --uid=$USER_UID --grace=1500ms
		[ -e $T/n.taken ]; [ ! -e $T/n.signalled ]; expect_lives $a newcomer'
	assert_success
}

# --- pipes ----------------------------------------------------------------------------------------

@test "script | tee log: the reader lives, its log is whole, what inherited the pipe goes" {
	ns 'as_user timeout 10 bash -c "{ sleep 300 & echo \$! >$T/stray; n=\$(sb-killstray); echo \"got \$n\"; echo end; } | tee $T/log" >$T/out
		cat $T/log; expect_gone $(cat $T/stray)'
	assert_success
	assert_line --index 0 "got stray processes killed: 1"
	assert_line --index 1 end
}

@test "sb-killstray | tee | cat: every reader lives, time and again" {
	ns 'for i in $(seq 40); do
			as_user bash -c "sb-killstray | tee $T/f | cat >$T/g; echo \${PIPESTATUS[*]}" >$T/s
			[ "$(cat $T/s)" = "0 0 0" ] || { echo "round $i: $(cat $T/s)" >&2; exit 95; }
			[ "$(cat $T/g)" = "stray processes killed: 0" ]
		done'
	assert_success
}

@test "a writer into its standard input lives" {
	ns 'as_user bash -c "sleep 2 | sb-killstray -J; exit \${PIPESTATUS[0]}"'
	assert_success
	assert_equal "$(json '[.spared[] | select(.why == "pipe").comm] | join(",")')" sleep
}

@test "a pipe on other descriptors, an unrelated one, a fifo opened for both spare nobody" {
	ns 'mkfifo -m 666 $T/fifo
		name=sleep start bash -c "exec 7<>$T/fifo 0<&7; exec sleep 300 <&7"; a=$started
		as_user bash -c "exec <>$T/fifo; sb-killstray" ; expect_gone $a both
		exec 8<>$T/fifo
		name=sleep start bash -c "exec sleep 300 >$T/fifo"; a=$started
		as_user bash -c "exec <>$T/fifo 8>&-; sb-killstray" ; expect_gone $a "ours was opened for both"
		name=sleep start bash -c "exec sleep 300 <>$T/fifo"; a=$started
		as_user bash -c "exec 8>&-; exec sb-killstray >$T/fifo" || true; expect_gone $a "its was"
		exec 8>&-
		as_user bash -c "sleep 301 | sleep 302" & wait_until count_is sleep 2
		as_user sb-killstray; [ "$(count_of sleep)" = 0 ]
		start bash -c "exec 9<$T/fifo; exec sleep 303"
		as_user bash -c "exec sb-killstray >$T/fifo" || true; expect_gone $started ninth'
	assert_success
	assert_line --index 0 "stray processes killed: 1"
	assert_line --index 1 "stray processes killed: 1"
	assert_line --index 2 --regexp "^stray processes killed: [23]$"
}

@test "a named fifo is a pipe" {
	ns 'mkfifo -m 666 $T/fifo
		start bash -c "exec cat <$T/fifo >$T/log"; a=$started # it waits for a writer
		as_user bash -c "sb-killstray -J >$T/fifo"
		wait_until gone $a; cat $T/log'
	assert_success
	# On a busy host the shell that opens the fifo is met before it becomes cat.
	assert_regex "$(json '[.spared[] | select(.why == "pipe").comm] | join(",")')" "^(cat|bash)$"
}

# --- storms ---------------------------------------------------------------------------------------

@test "twenty hoppers that never pause are gone, or it says 3; never a false 0" {
	ns 'as_user ks-swarm hop 20; sleep 0.1
		as_user sb-killstray --grace=100ms || s=$?
		[ "${s:-0}" = 3 ] || [ "$(count_of ks-swarm)" = 0 ]; exit "${s:-0}"'
	case $status in
	0) refute_output "stray processes killed: 0" ;;
	3) refute_count ;;
	*) fail "status $status" ;;
	esac
}

@test "hoppers that are always gone when they are read: 3, no count" {
	ns 'as_user ks-swarm hop 2; sleep 0.1
		as_user strace -qq -o /dev/null -e trace=pidfd_open -e inject=pidfd_open:delay_enter=4000 \
			sb-killstray --grace=0 || s=$?
		[ "${s:-0}" = 3 ] || [ "$(count_of ks-swarm)" = 0 ]; exit "${s:-0}"'
	case $status in
	0) refute_output "stray processes killed: 0" ;;
	3) refute_count ;;
	*) fail "status $status" ;;
	esac
}

@test "200 that spin and ignore TERM" {
	ns 'as_user ks-swarm spin 200
		as_user sb-killstray --grace=100ms; [ "$(count_of ks-swarm)" = 0 ]'
	assert_success
	assert_output "stray processes killed: 200"
}

@test "a bomb bounded by ulimit -u" {
	ns 'as_user bash -c "ulimit -u 60; exec ks-swarm bomb"; wait_until [ -e /proc/50 ]
		as_user sb-killstray --grace=100ms; [ "$(count_of ks-swarm)" = 0 ]'
	assert_success
}

# --- honesty --------------------------------------------------------------------------------------

@test "hidepid=2: what is seen goes, status 3, no count, hidepid is named" {
	ns 'mount -o remount,hidepid=2 /proc; start sleep 300; a=$started
		as_user sb-killstray >$T/out 2>$T/err || s=$?; expect_gone $a; cat $T/out; cat $T/err >&2
		[ ! -s $T/out ]; exit $s'
	assert_failure 3
	assert_regex "$stderr" "hidepid"
}

@test "no room for descriptors: never a clean 0 while a stray lives" {
	ns 'for n in 3 4 5 6 7 8 9 10 12 16; do
			start sleep 300
			s=0; as_user bash -c "ulimit -n $n; exec sb-killstray" >$T/out 2>$T/err || s=$?
			[ "$s" != 0 ] || gone $started || { echo "$n: $(cat $T/out)" >&2; exit 1; }
			[ "$s" = 0 ] || ! grep -q "killed: 0" $T/out || exit 96
			kill -KILL $started 2>/dev/null || true
		done'
	assert_success
}

@test "more strays than descriptors" {
	ns 'as_user ks-swarm sleep 100; as_user bash -c "trap \"\" TERM; ks-swarm sleep 20"
		as_user bash -c "ulimit -n 20; exec sb-killstray --grace=500ms"; [ "$(count_of ks-swarm)" = 0 ]'
	assert_success
	assert_output "stray processes killed: 120"
}

@test "an empty /proc is refused" {
	[[ $SB_BUILD_NAME != *asan* ]] || skip "the sanitizer needs a /proc of its own"
	ns 'mount -t tmpfs none /proc; as_user sb-killstray'
	assert_failure 2
	refute_count
}

@test "the procfs of another pid namespace is refused" {
	mkdir "$BATS_TEST_TMPDIR/outer"
	mount --bind /proc "$BATS_TEST_TMPDIR/outer"
	ns "start sleep 300; as_user sb-killstray --procfs=$BATS_TEST_TMPDIR/outer || s=\$?; expect_lives \$started; exit \$s"
	umount "$BATS_TEST_TMPDIR/outer"
	assert_failure 2
	refute_count
}

@test "the initial pid namespace is refused, root there must be named" {
	[ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ] || skip "not in the initial pid namespace"
	run --separate-stderr as_user sb-killstray
	assert_failure 2
	refute_output
	assert_regex "$stderr" "say --host, --pid or --cgroup"
	assert_regex "$stderr" "it would have ended [0-9]+ processes of uid $USER_UID"
	run --separate-stderr sb-killstray --pid=999999999
	assert_failure 2
	assert_regex "$stderr" "--uid=0"
}

@test "standard output closed, full, or its reader gone: the strays go, status 1" {
	ns 'start sleep 300; s=0; as_user sb-killstray >&- || s=$?; [ $s = 1 ]; expect_gone $started
		start sleep 300; s=0; as_user sb-killstray >/dev/full || s=$?; [ $s = 1 ]; expect_gone $started
		start sleep 300
		as_user bash -c "(sleep 0.1; sb-killstray; echo \$? >$T/s) | exec 0<&-" ; wait_until [ -s $T/s ]
		[ "$(cat $T/s)" = 1 ]; expect_gone $started'
	assert_success
}

@test "held by a tracer that does not serve it: a survivor with its state and its tracer" {
	ns 'start sleep 300; a=$started
		ks-trace $a $T/held & t=$!; wait_until [ -e $T/held ]
		kill -STOP $t; echo $a $t
		as_user sb-killstray -J --grace=100ms || s=$?; exit ${s:-0}'
	assert_failure 1
	output=${lines[1]}
	assert_equal "$(json '.survivors | length')" 1
	assert_equal "$(json '.survivors[0].state')" t
	assert_equal "$(json '.survivors[0].reason')" "it is held by pid ${lines[0]#* }, which traces it"
}

@test "nothing stays stopped" {
	ns 'start bash -c "kill -STOP \$\$; sleep 300"; wait_until state_is $started T
		as_user sb-killstray; expect_gone $started'
	assert_success
}

# --- interruptions --------------------------------------------------------------------------------

@test "SIGTERM and SIGINT end it with 4, without a count; SIGHUP and SIGPIPE do not" {
	ns 'for signal in TERM INT; do
			start_stubborn
			as_user sb-killstray --grace=1h >$T/out & a=$!
			wait_until is_waiting sb-killstray; p=$(pid_of sb-killstray)
			wait_until is_waiting sb-killstray
			kill -HUP $p; kill -PIPE $p
			kill -$signal $p; s=0; wait $a || s=$?
			[ $s = 4 ] || exit $((100 + s))
			[ ! -s $T/out ]; expect_lives $started; kill -KILL $started
		done'
	assert_success
}

# --- the lock -------------------------------------------------------------------------------------

@test "--lock: while another holds it, --lock-wait ends the wait: 6, nothing ended" {
	ns 'start sleep 300; flock $T/l sleep 100 & wait_until runs $! flock
		wait_until sh -c "! flock -n $T/l true"
		s=0; as_user sb-killstray --lock=$T/l --lock-wait=300ms || s=$?; expect_lives $started
		[ $s = 6 ]
		s=0; as_user sb-killstray --lock=$T/l --lock-wait=0 || s=$?; [ $s = 6 ]
		as_user sb-killstray -n --lock=$T/l --lock-wait=0'
	assert_success
	assert_last_line "stray processes found: 1"
	assert_line --index 0 --partial "would end"
}

@test "--lock: waits, sweeps with it held, is made if need be" {
	ns 'start sleep 300; a=$started; flock $T/l sleep 0.5 & sleep 0.1
		as_user sb-killstray --lock=$T/l; expect_gone $a; wait $!
		as_user sb-killstray --lock=$T/new; [ -e $T/new ]
		start_stubborn; as_user sb-killstray --grace=1500ms --lock=$T/new & b=$!
		wait_until is_waiting sb-killstray; not flock -n $T/new true; wait $b; expect_gone $started'
	assert_success
}

@test "--lock: a signal ends the wait: 6" {
	[[ $SB_BUILD_NAME != *asan* ]] || skip "the sanitizer catches signals of its own"
	ns 'start sleep 300; flock $T/l sleep 100 & wait_until sh -c "! flock -n $T/l true"
		as_user sb-killstray --lock=$T/l & a=$!
		wait_until is_queueing sb-killstray; p=$(pid_of sb-killstray)
		kill -TERM $p; s=0; wait $a || s=$?; expect_lives $started; exit $s'
	assert_failure 6
	refute_count
}

@test "--lock: said once after 5 s" {
	ns 'flock $T/l sleep 5.6 & wait_until sh -c "! flock -n $T/l true"; as_user sb-killstray --lock=$T/l'
	assert_success
	assert_equal "$(grep -c "waiting for the lock" <<<"$stderr")" 1
}

@test "--lock: one that cannot be opened: 1, nothing ended" {
	ns 'start sleep 300; as_user sb-killstray --lock=$T/none/l || s=$?; expect_lives $started; exit $s'
	assert_failure 1
	refute_count
}

# --- kernels without ------------------------------------------------------------------------------

@test "without pidfds, or what they tell: the same strays go, the same are spared" {
	local denied
	for denied in "${WITHOUT[@]}"; do
		ns 'start sleep 300; a=$started; start sleep infinity; b=$started
			start_other sleep 300; c=$started; start_stubborn; d=$started
			start bash -c "kill -STOP \$\$; sleep 300"; wait_until state_is $started T; e=$started
			as_user deny $1 -- sb-killstray --grace=300ms
			expect_gone $a; expect_lives $b; expect_lives $c; expect_gone $d; expect_gone $e' "$denied"
		assert_success
		assert_last_line "stray processes killed: 3"
	done
}

@test "without pidfds: a number taken over within the grace is not signalled" {
	ns 'start sleep 300; a=$started
		start_stubborn
		ks-take $a $OTHER_UID $T/n & wait_until runs $! ks-take
		deny pidfd_open=ENOSYS -- sb-killstray --uid=$USER_UID --grace=1500ms
		[ -e $T/n.taken ]; [ ! -e $T/n.signalled ]; expect_lives $a newcomer'
	assert_success
}

@test "without pidfds it returns at once when all are gone" {
	ns 'start sleep 300; as_user deny pidfd_open=ENOSYS -- sb-killstray --grace=1h'
	assert_success
}

@test "without pidfds: twenty hoppers" {
	ns 'as_user ks-swarm hop 20; sleep 0.1
		as_user deny pidfd_open=ENOSYS -- sb-killstray --grace=100ms || s=$?
		[ "${s:-0}" = 3 ] || [ "$(count_of ks-swarm)" = 0 ]; exit "${s:-0}"'
	case $status in
	0) refute_output "stray processes killed: 0" ;;
	3) refute_count ;;
	*) fail "status $status" ;;
	esac
}

@test "no signal but through a pidfd, none to 0, 1 or a negative number, and nothing is run" {
	ns 'makes_processes() { grep -E "(fork|clone3?|execveat)\(" $T/calls | grep -v CLONE_THREAD; }
		start sleep 300; start_stubborn
		as_user strace -f -qq -o $T/calls sb-killstray --grace=100ms
		grep -q "pidfd_send_signal(.*SIGTERM" $T/calls; grep -q "pidfd_send_signal(.*SIGKILL" $T/calls
		not grep -E "(^|[^a-z_])(kill|tkill|tgkill|rt_sigqueueinfo|rt_tgsigqueueinfo)\(" $T/calls
		[ "$(grep -c "execve(" $T/calls)" = 1 ]; not makes_processes
		start sleep 300
		as_user deny pidfd_open=ENOSYS -- strace -f -qq -o $T/calls2 sb-killstray --grace=100ms
		grep -E "kill\($started, SIGTERM" $T/calls2; not grep -E "kill\((-|0|1,)" $T/calls2'
	assert_success
}

# --- cgroups --------------------------------------------------------------------------------------

@test "--cgroup: only those in the subtree, by cgroup.kill" {
	make_cgroup
	ns 'start sleep 300; a=$started; start sleep 300; b=$started; start_stubborn; c=$started
		echo $a >$G/cgroup.procs; echo $c >$G/below/cgroup.procs
		strace -qq -o $T/calls sb-killstray --uid=$USER_UID --cgroup=$G --grace=300ms
		expect_gone $a; expect_lives $b; expect_gone $c
		grep -q "\"cgroup.kill\"" $T/calls; grep -q "populated 0" $G/cgroup.events'
	assert_success
	assert_output "stray processes killed: 2"
}

@test "--cgroup: with somebody else in it only the strays go, by KILL" {
	make_cgroup
	ns 'start_other sleep 300; a=$started; start sleep infinity; b=$started; start_stubborn; c=$started
		for p in $a $b $c; do echo $p >$G/below/cgroup.procs; done
		sb-killstray --uid=$USER_UID --cgroup=$G --grace=300ms
		expect_lives $a; expect_lives $b; expect_gone $c; kill -KILL $a $b'
	assert_success
	assert_output "stray processes killed: 1"
}

@test "--cgroup: hoppers end for good" {
	make_cgroup
	ns 'start bash -c "until [ -e $T/in ]; do sleep 0.01; done; exec ks-swarm hop 10"
		echo $started >$G/cgroup.procs; touch $T/in; wait_until gone $started; sleep 0.1
		sb-killstray --uid=$USER_UID --cgroup=$G --grace=100ms; grep -q "populated 0" $G/cgroup.events'
	assert_success
}

@test "--cgroup: anything but version 2 is refused" {
	ns 'start sleep 300; s=0; as_user sb-killstray --cgroup=$T || s=$?; expect_lives $started; exit $s'
	assert_failure 2
	refute_count
	ns 'as_user sb-killstray --cgroup=$T/none'
	assert_failure 2
	if [ -d /sys/fs/cgroup/pids ]; then
		ns 'as_user sb-killstray --cgroup=/sys/fs/cgroup/pids'
		assert_failure 2
	fi
}

@test "--cgroup: processes outside of the pid namespace leave it unproven" {
	make_cgroup
	sleep 100 3>&- &
	echo $! >"$G/cgroup.procs"
	ns 'start sleep 300; echo $started >$G/cgroup.procs
		sb-killstray --uid=$USER_UID --cgroup=$G || s=$?; expect_gone $started; exit $s'
	kill -KILL $!
	wait $! || true
	assert_failure 3
	refute_count
	assert_regex "$stderr" "other pid namespaces"
}

@test "what is frozen cannot be ended, is named, and counted as signalled" {
	local freezer=/sys/fs/cgroup/freezer
	mkdir "$freezer/sb-test-$$" 2>/dev/null || skip "no freezer of cgroup v1"
	ns 'start sleep 300; echo $started >'"$freezer/sb-test-$$"'/tasks
		echo FROZEN >'"$freezer/sb-test-$$"'/freezer.state; wait_until state_is $started D
		s=0; as_user sb-killstray -J --grace=100ms || s=$?
		echo THAWED >'"$freezer/sb-test-$$"'/freezer.state; exit $s'
	wait_until rmdir "$freezer/sb-test-$$"
	assert_failure 1
	assert_equal "$(json '.survivors[0].state')" D
	assert_equal "$(json '.survivors[0].comm')" sleep
	assert_equal "$(json .killed)" 1
}

@test "--host spares the service manager, by its name and its scope" {
	make_cgroup
	ns 'mkdir -p $G/below/user@$USER_UID.service/init.scope; S=$G/below/user@$USER_UID.service/init.scope
		cp "$(command -v sleep)" $T/systemd; cp "$(command -v sleep)" $T/other
		start $T/systemd 300; a=$started; start $T/systemd 300; b=$started; start $T/other 300; c=$started
		echo $a >$S/cgroup.procs; echo $c >$S/cgroup.procs
		s=0; as_user sb-killstray --host -J || s=$?; expect_lives $a; expect_gone $b; expect_gone $c
		as_user sb-killstray; expect_gone $a; exit $s'
	rmdir "$G/below/user@$USER_UID.service/init.scope" "$G/below/user@$USER_UID.service"
	assert_success
	output=${lines[0]}
	assert_equal "$(json '[.spared[] | select(.why == "service-manager").comm] | join(",")')" systemd
}

# --- arguments that cannot be read ----------------------------------------------------------------

@test "arguments that cannot be read hang nothing: a likely keep-alive is left, with 3; any other goes" {
	[ -c /dev/fuse ] || skip "no FUSE"
	local name
	for name in sleep other; do
		# In the foreground of its own session and with a limit: a hang has to fail, not to hang.
		ns 'mkdir -p $T/fuse; ks-stuck $T/fuse $USER_UID $1 $T/pid 2>$T/err &
			wait_until [ -s $T/pid ]; p=$(cat $T/pid)
			not timeout 0.3 cat /proc/$p/cmdline >/dev/null
			start sleep 300
			s=0; as_user timeout -s KILL 20 sb-killstray || s=$?; expect_gone $started
			if [ $1 = sleep ]; then expect_lives $p; else expect_gone $p; fi; exit $s' "$name"
		if [ "$name" = sleep ]; then
			assert_failure 3
			refute_count
			assert_regex "$stderr" "cannot read process '[0-9]+ \(sleep\)': its arguments"
		else
			assert_success
			assert_output "stray processes killed: 2"
		fi
		rm -f "$T/pid"
	done
}
