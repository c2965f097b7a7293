#!/usr/bin/env bats
# sb-killstray where what it is shown is not what there is.

load common
load killstray

setup() {
	need_root
}

@test "the procfs of an outer pid namespace is refused, even if the numbers are the same by chance" {
	ns 'mkdir $T/outer; mount --bind /proc $T/outer; mkfifo $T/go; start sleep 300
		# Both shells set the last number in theirs and start something then, and nothing before.
		unshare --pid --fork --mount-proc bash -c "read -r <$T/go
			echo 4999 >/proc/sys/kernel/ns_last_pid
			setpriv --reuid $USER_UID --regid $USER_UID --clear-groups \
				sb-killstray --procfs=$T/outer &
			[ \$! = 5000 ] || exit 90
			wait \$!" & inner=$!
		exec 7>$T/go
		echo 4999 >/proc/sys/kernel/ns_last_pid; echo go >&7
		s=0; wait $inner || s=$?
		expect_lives $started; exit $s'
	assert_failure 2
	refute_count
	assert_regex "$stderr" "that of another pid namespace"
}

# A setuid program is hidden from who started it; pid 1, which is the user's own here, is not.
with_own_init() { # HIDEPID COMMAND
	export HIDEPID=$1 COMMAND=$2
	ns 'cp "$(command -v sleep)" $T/suid; chmod 4755 $T/suid
		mount -o "remount,hidepid=$HIDEPID,gid=${GROUP:-0}" /proc
		exec setpriv --reuid $USER_UID --regid $USER_UID --groups ${AS_GROUP:-$USER_UID} bash -c "
			$T/suid 300 &
			[ -d /proc/1 ] || exit 90
			$COMMAND; exit \$?"'
}

@test "hidepid is noticed where pid 1 is the user's own: what is hidden is not told as none" {
	local hidepid
	for hidepid in 2 4; do
		with_own_init $hidepid sb-killstray
		assert_failure 3
		refute_count
		assert_regex "$stderr" "it is mounted with hidepid"
	done
	with_own_init 2 "sb-killstray --dry-run"
	assert_failure 3
	refute_count
}

@test "hidepid that hides nothing is no doubt: off, no access, a group of ours" {
	with_own_init 0 sb-killstray
	assert_success
	assert_output "stray processes killed: 1"
	with_own_init 1 sb-killstray
	refute_regex "$stderr" "mounted with hidepid"
	GROUP=777 AS_GROUP=777 with_own_init 2 sb-killstray
	assert_success
	assert_output "stray processes killed: 1"
	GROUP=777 AS_GROUP=778 with_own_init 2 sb-killstray
	assert_failure 3
}

@test "something mounted over a process: it is not told as gone" {
	ns 'start sleep 300; mount -t tmpfs none /proc/$started
		s=0; as_user sb-killstray || s=$?
		umount /proc/$started; expect_lives $started; exit $s'
	assert_failure 3
	refute_count
}

@test "hidepid is noticed in a user namespace of one's own, where capabilities see nobody more" {
	ns 'mount -o remount,hidepid=2,gid=777 /proc; start sleep 300
		s=0; as_user unshare --user --map-root-user sb-killstray --uid=0 || s=$?
		expect_lives $started; exit $s'
	assert_failure 3
	refute_count
	assert_regex "$stderr" "it is mounted with hidepid"
}

@test "what cannot be read: a third user's is passed over, root's is a doubt" {
	local owner
	for owner in $OTHER_UID 0; do
		ns 'start_other sleep 300; mount -t tmpfs -o uid=$1,mode=0 none /proc/$started
			s=0; as_user deny ioctl:0xc040ff0b=ENOTTY -- sb-killstray || s=$?
			umount /proc/$started; exit $s' "$owner"
		if [ "$owner" = 0 ]; then
			assert_failure 3
			refute_count
			assert_regex "$stderr" "cannot read process '[0-9]+': Permission denied"
		else
			assert_success
			assert_output "stray processes killed: 0"
		fi
	done
}

@test "pid 1 that is no ancestor, of the user's own: spared" {
	# Joined from outside, the command has no parent in there.
	ns 'unshare --pid --fork --mount-proc setpriv --reuid $USER_UID --regid $USER_UID \
			--clear-groups sleep 300 & wait_until pid_of sleep
		inner() { init=$(pid_of sleep); [ -n "$init" ]; }
		wait_until inner
		nsenter --target $init --pid --mount setpriv --reuid $USER_UID --regid $USER_UID \
			--clear-groups sb-killstray -J; expect_lives $init'
	assert_success
	assert_equal "$(json '[.spared[] | select(.pid == 1).why] | join(",")')" init
}

# Dry runs alone: what a fence is to stop shall harm nobody where the fence is missing.
@test "in the initial pid namespace a dry run is refused as well, and root has to be named" {
	[ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ] || skip "not in the initial pid namespace"
	run --separate-stderr as_user sb-killstray --dry-run
	assert_failure 2
	refute_output
	run --separate-stderr sb-killstray --dry-run --pid=999999999
	assert_failure 2
	run --separate-stderr sb-killstray --dry-run --uid=0 --pid=999999999
	assert_success
}

@test "a kernel thread is spared" {
	[ "$(cat /proc/2/comm)" = kthreadd ] || skip "no kernel threads here"
	run --separate-stderr sb-killstray --dry-run --uid=0 --pid=2
	assert_success
	assert_output "stray processes found: 0"
	assert_regex "$stderr" "'2 \(kthreadd\)': spared: a kernel thread"
}

@test "who reads standard error lives as well" {
	ns 'mkfifo -m 666 $T/fifo; exec 7<>$T/fifo
		name=cat start bash -c "exec cat <$T/fifo 7>&-"; reader=$started; start sleep 300
		as_user bash -c "exec sb-killstray 2>$T/fifo 7>&-"
		expect_gone $started; expect_lives $reader'
	assert_success
	assert_output "stray processes killed: 1"
}

@test "who is named by --pid gets SIGKILL after the grace" {
	ns 'start_stubborn; a=$started; start_stubborn
		as_user sb-killstray --pid=$a --grace=100ms; expect_gone $a; expect_lives $started'
	assert_success
	assert_output "stray processes killed: 1"
}

# Without a pipe in sight there is one look before the first signal, and nobody is missed.
APART='exec 5>&1 >$T/all 2>&1 </dev/null
'

@test "with nobody there: one look, and two listings that agree" {
	ns "$APART"'as_user sb-killstray -J; cat $T/all >&5'
	assert_success
	assert_equal "$(json .passes)" 3
}

@test "one that cannot be read is a doubt, and all others go" {
	ns "$APART"'start_other sleep 300; hidden=$started; start sleep 300
		mount -t tmpfs -o mode=0 none /proc/$hidden
		s=0; as_user deny ioctl:0xc040ff0b=ENOTTY -- sb-killstray || s=$?
		umount /proc/$hidden; expect_gone $started; expect_lives $hidden
		cat $T/all >&5; exit $s'
	assert_failure 3
	refute_count
	assert_output --regexp "cannot read process '[0-9]+': Permission denied"
}

@test "hidepid where nothing can be opened to learn of it: never told as none" {
	# One that fails is made up for by another way to learn it; further ones are not.
	with_own_init 2 'for n in $(seq 50); do for more in 0 1 2 3; do
		deny openat@$n+$more=EMFILE -- sb-killstray --grace=0 >/dev/null 2>&1 && exit 9
		done; done; exit 0'
	assert_success
}

# The signal to the newest is held back for as long as the next one is replaced.
@test "a number taken over right before its signal gets none" {
	local rule
	for rule in pidfd_open@999999=EPERM pidfd_open=ENOSYS; do
		ns ': >$T/trace; start sleep 300; a=$started; start sleep 301
			deny $1 -- strace -qq -o $T/trace -e trace=pidfd_send_signal,kill \
				-e inject=pidfd_send_signal:delay_enter=1500000:when=2 \
				-e inject=kill:delay_enter=1500000:when=1 \
				sb-killstray --uid=$USER_UID --grace=100ms >$T/out & tool=$!
			wait_until grep -q SIGTERM $T/trace
			ks-take $a $OTHER_UID $T/n & wait_until runs $! ks-take
			kill -KILL $a; wait_until [ -e $T/n.taken ]
			wait $tool; [ ! -e $T/n.signalled ]; expect_lives $a newcomer
			expect_gone $started; cat $T/out; rm $T/n.taken' "$rule"
		assert_success
		assert_output "stray processes killed: 1"
	done
}
