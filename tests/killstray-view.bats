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
