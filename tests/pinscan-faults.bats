# sb-pinscan on hosts where system calls fail: each at its time, with each errno. Whatever fails,
# what is pinned is never called free with a proof.
load common
load pinscan

setup() {
	need_root
	make_entries
}

teardown() {
	end_entries
}

# In a pid namespace of its own there are few tasks, so that few calls are made; trusted, so that a
# fault is all that stands between the scan and a proof.
start_inside() {
	# shellcheck disable=SC2016
	hold unshare --mount --pid --fork --kill-child --mount-proc --propagation private \
		sh -c '"$1/pin-hold" "$2" "$3" & exec "$1/pin-hold" --same-ns --chroot=/' \
		sh "$HELPERS" "$R/$E" "$T1"
	INSIDE=$(pgrep -P "$HOLDER")
	scan_as=(nsenter --target "$INSIDE" --mount --pid)
	wait_until inside_is_pinned
}

# The kernel lists its namespaces for the initial pid namespace alone; that takes few calls anyway.
where_to_scan() {
	inside=()
	[ "$1" = kernel ] || inside=("${scan_as[@]}")
}

inside_is_pinned() {
	scan namespaces --trust-pidns "$E"
	[ "$status" = 7 ]
}

# Makes the Nth call fail, for every N until there are no more.
fail_each() {
	local way=$1 call=$2 error=$3 nth hits=$BATS_TEST_TMPDIR/hits status
	where_to_scan "$way"
	for ((nth = 1; nth < 2000; nth++)); do
		status=0
		"${inside[@]}" "$HELPERS/deny" --hits="$hits" "$call@$nth=$error" -- \
			"$BIN/sb-pinscan" --evidence="$way" --trust-pidns "$E" \
			>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
		[ "$(cat "$hits")" -gt 0 ] || break
		case $status in
		7) ;;
		1 | 3) # unproven or failed, and it is said why
			[ -s "$BATS_TEST_TMPDIR/err" ] || fail "$call@$nth=$error: nothing is said"
			;;
		127) ;; # the loader could not even start it
		*) fail "$way, $call@$nth=$error: status $status: $(cat "$BATS_TEST_TMPDIR/err")" ;;
		esac
	done
	[ "$nth" -gt 1 ] || [ "$4" ] || fail "$call is never called"
	echo "# $way, $call=$error: $((nth - 1)) calls"
}

@test "faults: each open fails in turn" {
	start_inside
	for way in kernel namespaces mountinfo; do
		for error in EMFILE ENFILE EACCES EIO EINTR; do
			fail_each "$way" openat "$error" ""
		done
	done
}

@test "faults: each read fails in turn" {
	start_inside
	for way in namespaces mountinfo; do
		for error in EIO EINTR EINVAL; do
			fail_each "$way" read "$error" ""
		done
	done
}

@test "faults: each link, each stat and each listing fails in turn" {
	start_inside
	for way in namespaces mountinfo; do
		for error in EACCES EIO ENOMEM; do
			fail_each "$way" readlinkat "$error" ""
			fail_each "$way" statx "$error" ""
			fail_each "$way" getdents64 "$error" ""
			fail_each "$way" newfstatat "$error" maybe
			fail_each "$way" lseek "$error" ""
		done
	done
}

@test "faults: each question about namespaces fails in turn" {
	start_inside
	for error in ENOMEM EPERM EINVAL EIO EINTR ENOSYS; do
		for way in kernel namespaces; do
			fail_each "$way" listmount "$error" maybe
			fail_each "$way" statmount "$error" maybe
			fail_each "$way" ioctl "$error" ""
			fail_each "$way" fstat "$error" maybe
		done
	done
}

@test "faults: memory is refused, a little later each time" {
	[[ $SB_BUILD_NAME != *asan* ]] || skip "the sanitizer needs room of its own"
	start_inside
	for way in kernel namespaces mountinfo; do
		loaded=no good=0
		where_to_scan "$way"
		# Too little to load the program at first, in the end more than enough.
		for ((kib = 3072; good < 4; kib += 16)); do
			status=0
			"${inside[@]}" prlimit --as=$((kib * 1024)) "$BIN/sb-pinscan" \
				--evidence="$way" --trust-pidns "$E" >/dev/null 2>&1 || status=$?
			case $status in
			7) good=$((good + 1)) ;;
			1 | 3) loaded=yes good=0 ;;
			127 | 139) [ "$loaded" = no ] || fail "$way: status $status with $kib KiB" ;;
			*) fail "$way: status $status with $kib KiB" ;;
			esac
			[ "$kib" -lt 65536 ] || fail "$way: never enough memory"
		done
		echo "# $way: enough with $kib KiB"
	done
}

@test "faults: a system call that this kernel does not have, and what takes its place" {
	pin_hold "$R/$E" "$T1"
	# What is missing -> what an ordinary scan then rests on.
	declare -A missing=(
		["listmount=ENOSYS"]=mountinfo
		["statmount=ENOSYS"]=mountinfo
		["listmount=ENOSYS statmount=ENOSYS"]=mountinfo
		["listmount=EPERM"]=mountinfo
		["ioctl:NS_MNT_GET_NEXT=EPERM"]="namespaces mountinfo"
		["ioctl:NS_MNT_GET_PREV=EPERM"]="namespaces mountinfo"
		["ioctl:NS_MNT_GET_NEXT=ENOTTY ioctl:NS_MNT_GET_PREV=ENOTTY"]="namespaces mountinfo"
		["ioctl:NS_MNT_GET_INFO=ENOTTY"]=mountinfo
		["pidfd_open=ENOSYS"]=kernel
		["openat2=ENOSYS"]=kernel
		["clone3=ENOSYS"]=kernel
	)
	for rules in "${!missing[@]}"; do
		# shellcheck disable=SC2086
		run --separate-stderr "$HELPERS/deny" $rules -- sb-pinscan --json --prefix="$E"
		assert_status 0
		echo "# $rules: $(json .coverage.evidence)"
		[ "$(json '.pins[0].name')" = "$E" ]
		[[ " ${missing[$rules]} " == *" $(json .coverage.evidence) "* ]]
		# shellcheck disable=SC2086
		run --separate-stderr "$HELPERS/deny" $rules -- sb-pinscan "$E"
		assert_status 7
		# shellcheck disable=SC2086
		run --separate-stderr "$HELPERS/deny" $rules -- sb-pinscan "$F"
		assert_status 0
		# What --version tells of this host is what scans then rest on.
		# shellcheck disable=SC2086
		run "$HELPERS/deny" $rules -- sb-pinscan --version
		assert_line --regexp "^evidence here: (${missing[$rules]// /|})$"
	done
}

@test "faults: no thread to share the work with: one does it all" {
	# To look for leaks takes a thread.
	export ASAN_OPTIONS=detect_leaks=0
	pin_hold "$R/$E" "$T1"
	hold "$HELPERS/pin-tasks" 1500 4 4 "$R" "$T2" "$E."
	for way in namespaces mountinfo; do
		for rules in "clone3=EAGAIN clone=EAGAIN" "clone3@2+=EAGAIN"; do
			# shellcheck disable=SC2086
			run --separate-stderr "$HELPERS/deny" $rules -- sb-pinscan --evidence="$way" --json "$E"
			assert_status 7
			[ "$(json .coverage.tasks)" -ge 1500 ]
		done
	done
}

@test "faults: the kernel's evidence, asked for by name where it cannot be had, proves nothing" {
	pin_hold "$R/$E" "$T1"
	for rules in ioctl:NS_MNT_GET_NEXT=EPERM ioctl:NS_MNT_GET_NEXT=ENOTTY \
		ioctl:NS_MNT_GET_INFO=ENOTTY listmount=ENOSYS statmount=EPERM; do
		run --separate-stderr "$HELPERS/deny" "$rules" -- sb-pinscan --evidence=kernel "$F"
		assert_status 3
		run --separate-stderr "$HELPERS/deny" "$rules" -- sb-pinscan --evidence=kernel "$E"
		assert_status 3 7
	done
	scan_as_user kernel "$F"
	assert_status 3
	[[ $stderr == *root* ]]
}

@test "faults: without mount ids from statx nobody knows what is mounted over /proc" {
	pin_hold "$R/$E" "$T1"
	run --separate-stderr "$HELPERS/deny" statx:0x1000=EINVAL -- \
		sb-pinscan --evidence=namespaces "$F"
	assert_status 3
	run --separate-stderr "$HELPERS/deny" statx:0x1000=EINVAL -- \
		sb-pinscan --evidence=namespaces "$E"
	assert_status 7
}

@test "faults: all that fails from some call on" {
	start_inside
	for way in kernel namespaces mountinfo; do
		where_to_scan "$way"
		for call in openat read readlinkat statx getdents64 ioctl; do
			for nth in 1 5 10 20 30 40 50; do
				status=0
				"${inside[@]}" "$HELPERS/deny" "$call@$nth+=EMFILE" -- \
					"$BIN/sb-pinscan" --evidence="$way" --trust-pidns "$E" \
					>/dev/null 2>&1 || status=$?
				[ "$status" != 0 ]
				[ "$status" -lt 8 ] || [ "$status" = 127 ]
			done
		done
	done
}
