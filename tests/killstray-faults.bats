#!/usr/bin/env bats
# sb-killstray where system calls fail: each at its time, with each errno. Whatever fails, nobody who
# is spared gets a signal, and no status 0 hides a stray that lives.
# shellcheck disable=SC2016,SC2154 # the scripts are for the shell inside; run sets stderr

load common
load killstray

setup() {
	need_root
}

teardown() {
	remove_cgroup
}

# Each of these calls, with each of these errors; further rules of deny in $ALSO.
fail_calls() { # CALLS ERRORS [OPTION...]
	export CALLS=$1 ERRORS=$2 OPTIONS="${*:3}" ALSO=${ALSO:-}
	ns 'source "$SB_TOP/tests/killstray-faults.bash"; make_world
		as_ancestor "for call in $CALLS; do for error in $ERRORS; do
			fail_each \$call \$error $OPTIONS; done; done"'
	assert_success
	sed 's/^/# /' <<<"$output"
}

@test "faults: each pidfd that is opened, and each signal through one" {
	fail_calls pidfd_open "EMFILE ENFILE ENOMEM ENOSYS EPERM EMFILE+ ENOMEM+ ENOSYS+"
	fail_calls pidfd_send_signal "EPERM EINVAL ENOMEM EPERM+ EINVAL+"
	fail_calls ioctl "EIO ENOTTY"
}

@test "faults: each file that is opened" {
	fail_calls openat "EMFILE ENFILE EACCES ENOMEM EIO EINTR EMFILE+"
}

@test "faults: each read" {
	fail_calls read "EIO ENOMEM EINTR EIO+"
}

@test "faults: each listing, each look at a file, each link" {
	fail_calls getdents64 "EIO ENOMEM EIO+"
	fail_calls lseek EIO
	fail_calls statx "EIO ENOMEM ENOSYS EIO+ ENOSYS+ EPERM+"
	fail_calls newfstatat "EACCES ENOMEM"
	fail_calls readlinkat "EACCES ENOMEM"
	fail_calls fstatfs EIO
}

@test "faults: each wait" {
	fail_calls ppoll "EINTR ENOMEM ENOMEM+"
	[ "$(uname -m)" != x86_64 ] || fail_calls poll "EINTR ENOMEM ENOMEM+"
}

@test "faults: each thread that reads arguments, each limit, each write" {
	fail_calls clone3 "EAGAIN ENOMEM EAGAIN+"
	ALSO=clone3=ENOSYS fail_calls clone "EAGAIN EAGAIN+"
	# The sanitizer ends where it learns no limit.
	[[ $SB_BUILD_NAME == *asan* ]] || fail_calls prlimit64 EPERM
	fail_calls write "EIO ENOSPC"
}

@test "faults: each lock" {
	fail_calls flock "EINTR ENOLCK EAGAIN" '--lock=$T/own --lock-wait=1s'
}

@test "faults: without pidfds, each signal, and each read that stands for one" {
	export ALSO=pidfd_open=ENOSYS
	fail_calls kill "EPERM EINVAL EPERM+"
	fail_calls openat "EMFILE EACCES EMFILE+"
	fail_calls read "EIO EIO+"
	fail_calls getdents64 "EIO ENOMEM"
}

@test "faults: memory is refused, a little later each time" {
	[[ $SB_BUILD_NAME != *asan* ]] || skip "the sanitizer needs room of its own"
	ns 'source "$SB_TOP/tests/killstray-faults.bash"; make_world
		as_ancestor "
			good=0 may_be_silent=1 # even words take memory
			for ((kib = 3072; good < 4; kib += 64)); do
				[ \$kib -lt 131072 ] || die never enough memory
				begin_strays; status=0
				prlimit --as=\$((kib * 1024)) sb-killstray --uid=$USER_UID --grace=10ms \
					--keep=\"renamed 305\" --keep-pid=$KEPT <$T/in >$T/out 2>$T/err ||
					status=\$?
				case \$status in
				0) good=\$((good + 1)) ;;
				127 | 139) continue ;; # the loader had not enough
				*) good=0 ;;
				esac
				look_after \"\$kib KiB\" \$status
			done; echo enough with \$kib KiB"'
	assert_success
	echo "# $output"
}

@test "faults: what is read of a cgroup" {
	make_cgroup
	export ALSO="" INTO=$G/below
	ns 'source "$SB_TOP/tests/killstray-faults.bash"; make_world
		as_ancestor "
			for rule in getdents64=EIO getdents64=ENOMEM openat=EMFILE read=EIO write=EPERM statx=ENOMEM; do
				fail_each \${rule%=*} \${rule#*=} --cgroup=$G
			done
			# With a keep-alive in it the kernel goes on telling that somebody lives there.
			echo ${spared[0]#*=} >$G/cgroup.procs
			fail_each getdents64 EIO+ --cgroup=$G"'
	assert_success
	sed 's/^/# /' <<<"$output"
}
