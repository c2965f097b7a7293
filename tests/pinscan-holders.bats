# sb-pinscan: who may hold a pin, and how: every kind of holder is found, or the answer is
# "unproven".
load common
load pinscan

setup() {
	need_root
	make_entries
}

teardown() {
	end_entries
}

@test "holders: a parent that never waits leaves zombies, which cost a listing, not the verdict" {
	hold "$HELPERS/pin-zombies" 4 "$USER_UID"
	hold "${AS_USER[@]}" "$HELPERS/pin-zombies" 4
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" --json --require=complete "$F"
		assert_status 0
		[ "$(json .coverage.level)" = complete ]
		[ "$(json '.coverage.passes > 1')" = true ]
		scan_as_user "$way" "$F"
		assert_status 0
	done
	assert_free_by kernel "$F"
}

@test "holders: zombies whose links are closed to the one who asks are zombies all the same" {
	hold "$HELPERS/pin-zombies" 4
	hold "$HELPERS/pin-zombies" 4 "$OTHER_UID"
	for way in $WALK_WAYS; do
		scan_as_user "$way" "$F"
		assert_status 0
	done
}

@test "holders: a thread that left its leader's namespace" {
	pin_hold --thread "$R/$E" "$T1"
	assert_pinned_by "$ROOT_WAYS" "$E"
	assert_free_by "$ROOT_WAYS" "$F"
	let_go
	user_pin_hold --thread "$R/$E" "$T1"
	for way in $WALK_WAYS; do
		scan_as_user "$way" "$E"
		assert_status 7
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 7
	done
}

@test "holders: a thread is named as the holder" {
	pin_hold --thread "$R/$E" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" --json --holders "$E"
		[ "$(json '.pins[0].holders | length')" = 1 ]
		[ "$(json '.pins[0].holders[0].pid')" = "$HOLDER" ]
		[ "$(json '.pins[0].holders[0].tid')" != "$HOLDER" ]
	done
}

@test "holders: a thread whose leader has exited, and is a zombie" {
	pin_hold --thread --leader-exit "$R/$E" "$T1"
	assert_pinned_by "$ROOT_WAYS" "$E"
	# All of its threads were read: nothing is in doubt.
	assert_free_by "$ROOT_WAYS" "$F"
	let_go
	user_pin_hold --thread --leader-exit "$R/$E" "$T1"
	for way in $WALK_WAYS; do
		scan_as_user "$way" "$E"
		assert_status 7
		scan_as_user "$way" "$F"
		assert_status 0
	done
}

@test "holders: a thread behind another user's exited leader, which nothing else would show" {
	# The other user's from the start: a leader that has exited changes its uid no more.
	chmod 755 "$R"
	hold setpriv --reuid "$OTHER_UID" --regid "$OTHER_UID" --clear-groups \
		"$HELPERS/pin-hold" --userns --thread --leader-exit "$R/$E" "$T1"
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 7
	done
}

@test "holders: a task whose uid cannot be learnt could hold it" {
	pin_hold --thread --drop="$OTHER_UID" "$R/$E" "$T1"
	scan_as=("$HELPERS/deny" statx=EACCES --)
	for way in namespaces mountinfo; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 7
	done
}

@test "holders: threads of other users need no reading, those of possible holders do" {
	# What shows that they were not read: a pin that only such a thread has.
	pin_hold --thread --drop="$OTHER_UID" "$R/$E" "$T1"
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 0
		scan "$way" --uid="$OTHER_UID" "$E"
		assert_status 7
	done
	let_go
	pin_hold --thread "$R/$E" "$T1"
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$E" # root may hold anything
		assert_status 7
	done
}

@test "holders: tasks of subordinate uids are possible holders" {
	printf '%s:100000:65536\n' "$USER_UID" >"$BATS_TEST_TMPDIR/subuid"
	chmod 644 "$BATS_TEST_TMPDIR/subuid"
	touch /etc/subuid
	pin_hold --thread --drop=100005 "$R/$E" "$T1"
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 0
	done
	mount --bind "$BATS_TEST_TMPDIR/subuid" /etc/subuid
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 7
		scan "$way" --uid="$OTHER_UID" "$E"
		assert_status 0
	done
	umount /etc/subuid
}

@test "holders: a file of subordinate uids that cannot be read leaves it unproven" {
	touch /etc/subuid
	mount --bind "$D" /etc 2>/dev/null || fail "cannot cover /etc"
	for kind in "mkdir" "mkfifo"; do # opens, and cannot be read; would be waited for
		"$kind" "$D/subuid"
		for way in $WALK_WAYS; do
			scan "$way" --uid="$USER_UID" "$F"
			assert_status 3
			[[ $stderr == *subuid* ]]
		done
		rm -r "$D/subuid"
	done
	umount /etc
}

@test "holders: tasks of the overflow uid are possible holders, whatever its number" {
	pin_hold --thread --drop=65534 "$R/$E" "$T1"
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 7
	done
	let_go
	pin_hold --thread --drop="$OTHER_UID" "$R/$E" "$T1"
	echo "$OTHER_UID" >"$BATS_TEST_TMPDIR/overflowuid"
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 0
	done
	mount --bind "$BATS_TEST_TMPDIR/overflowuid" /proc/sys/kernel/overflowuid
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 7
	done
	# One that cannot be learnt leaves it unproven.
	echo many >"$BATS_TEST_TMPDIR/overflowuid"
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$F"
		assert_status 3
	done
	umount /proc/sys/kernel/overflowuid
}

@test "holders: root holds it, and an ordinary user asks" {
	pin_hold "$R/$E" "$T1"
	for way in $WALK_WAYS; do
		scan_as_user "$way" "$E"
		assert_status 7
		scan_as_user "$way" "$F"
		assert_status 0
		# Its root is closed to the user: the line for "/" is taken at its word.
		scan_as_user "$way" --json --require=complete "$F"
		[ "$(json ".coverage.gaps[] | select(.pid == $HOLDER)")" = "" ]
	done
}

@test "holders: a sandbox in a user namespace" {
	user_pin_hold "$R/$E" "$T1"
	assert_pinned_by "$ROOT_WAYS" "$E"
	for way in $WALK_WAYS; do
		scan_as_user "$way" "$E"
		assert_status 7
		scan_as_user "$way" "$F"
		assert_status 0
	done
}

@test "holders: a sandbox that is not dumpable, in a user namespace" {
	user_pin_hold --no-dump "$R/$E" "$T1"
	assert_pinned_by "$ROOT_WAYS" "$E"
	for way in $WALK_WAYS; do
		scan_as_user "$way" "$E"
		assert_status 7
	done
}

@test "holders: another user's" {
	pin_hold --drop="$OTHER_UID" "$R/$E" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 7
	done
	scan_as_user auto "$E"
	assert_status 7
}

@test "holders: chrooted into a plain directory, its table is empty" {
	pin_hold --chroot="$EMPTY" "$R/$E" "$T1"
	[ -z "$(cat "/proc/$HOLDER/mountinfo")" ]
	assert_pinned_by "auto kernel namespaces" "$E"
	# Without its id a namespace is asked about through its tasks, and none of them shows it whole.
	for way in no-ids by-text mountinfo; do
		scan "$way" "$E"
		assert_status 3
		scan "$way" "$F"
		assert_status 3
		scan "$way" --json "$E"
		[ "$(json .coverage.level)" = unproven ]
		[ "$(json ".coverage.gaps[0].pid")" = "$HOLDER" ]
	done
}

@test "holders: chrooted into a mount, its table is short, not empty" {
	mount -t tmpfs -o mode=755 own "$OWN"
	mkdir "$OWN/within"
	mount --bind "$EMPTY" "$OWN/within"
	pin_hold --chroot="$OWN" "$R/$E" "$T1"
	[ "$(wc -l <"/proc/$HOLDER/mountinfo")" -eq 2 ]
	assert_pinned_by "auto kernel namespaces" "$E"
	for way in by-text mountinfo; do
		scan "$way" "$E"
		assert_status 3
		scan "$way" "$F"
		assert_status 3
	done
	# The same by a user: its own namespace is read whole all the same.
	let_go
	user_pin_hold --chroot="$OWN" "$R/$E" "$T1"
	scan_as_user namespaces "$E"
	assert_status 7
	for way in by-text mountinfo; do
		scan_as_user "$way" "$E"
		assert_status 3
	done
	umount -R "$OWN"
}

@test "holders: chrooted, but another task shows the whole namespace" {
	pin_hold "$R/$E" "$T1"
	whole=$HOLDER
	hold nsenter --target "$whole" --mount "$HELPERS/pin-hold" --same-ns --chroot="$EMPTY"
	assert_pinned_by "$ROOT_WAYS" "$E"
	assert_free_by "$ROOT_WAYS" "$F"
}

@test "holders: a chrooted task in the namespace that all share makes nothing unproven" {
	pin_hold --same-ns --chroot="$EMPTY"
	pin_hold --same-ns --chroot="$EMPTY" --drop="$USER_UID"
	for way in $ROOT_WAYS; do
		scan "$way" --require=complete "$F"
		assert_status 0
	done
}

@test "holders: a browser's renderer: not dumpable, chrooted into nothing" {
	pin_hold --same-ns --chroot="$EMPTY" --drop="$USER_UID" --no-dump
	for way in $WALK_WAYS; do
		scan_as_user "$way" --json "$F"
		assert_status 0
		[ "$(json .coverage.covered)" = true ]
		[ "$(json .coverage.complete)" = false ]
		[ "$(json ".coverage.gaps[] | select(.pid == $HOLDER) | .comm")" = pin-hold ]
		scan_as_user "$way" --require=complete "$F"
		assert_status 3
	done
	# Root sees whose namespace that is.
	for way in $WALK_WAYS; do
		scan "$way" --require=complete "$F"
		assert_status 0
	done
}

@test "holders: a partial table that shares its mounts with a whole one belongs to that" {
	mount -t tmpfs -o mode=755 own "$OWN"
	pin_hold --same-ns --chroot="$OWN" --drop="$USER_UID" --no-dump
	[ "$(cat "/proc/$HOLDER/mountinfo")" != "" ]
	for way in $WALK_WAYS; do
		scan_as_user "$way" --json --require=complete "$F"
		[ "$(json ".coverage.gaps[] | select(.pid == $HOLDER)")" = "" ]
	done
	let_go
	umount "$OWN"
	# The same without a line for "/": a plain directory with a mount in it.
	mkdir "$OWN/within"
	mount -t tmpfs own "$OWN/within"
	pin_hold --same-ns --chroot="$OWN" --drop="$USER_UID" --no-dump
	[ "$(wc -l <"/proc/$HOLDER/mountinfo")" -eq 1 ]
	for way in $WALK_WAYS; do
		scan_as_user "$way" --json --require=complete "$F"
		[ "$(json ".coverage.gaps[] | select(.pid == $HOLDER)")" = "" ]
	done
	let_go
	umount "$OWN/within"
}

@test "holders: a partial table whose mounts no whole one has belongs to none" {
	# A plain directory with a mount in it: not empty, and without a line for "/".
	mkdir "$OWN/within"
	mount -t tmpfs own "$OWN/within"
	pin_hold --chroot="$OWN" --drop="$OTHER_UID" --no-dump "$R/$E" "$T1"
	[ "$(wc -l <"/proc/$HOLDER/mountinfo")" -eq 1 ]
	for way in $WALK_WAYS; do
		scan_as_user "$way" --json --require=complete "$E"
		assert_status 3
		[ "$(json ".coverage.gaps[] | select(.pid == $HOLDER).uid")" = "$OTHER_UID" ]
	done
	let_go
	umount "$OWN/within"
}

@test "holders: a namespace that no process is in, kept by a file" {
	# On one CPU: a namespace can be kept in another only if its id is higher, and each CPU
	# hands out its own.
	# shellcheck disable=SC2016
	hold taskset -c 0 unshare --mount --propagation private sh -c '
		mount -t tmpfs own "$3" && touch "$3/ns" && unshare --mount="$3/ns" \
			mount --bind "$1" "$2" && echo ready && exec sleep infinity' \
		sh "$R/$E" "$T1" "$OWN"
	scan kernel "$E"
	assert_status 7
	scan auto "$E"
	assert_status 7
	for way in $WALK_WAYS; do
		# With the privilege to, the file is opened; or else the target uid 0 is not covered.
		scan "$way" "$E"
		assert_status 7 3
		scan "$way" --require=complete --uid="$USER_UID" "$E"
		assert_status 7 3
	done
	for way in $WALK_WAYS; do
		scan_as_user "$way" --require=complete --json "$F"
		assert_status 3
		[ "$(json .coverage.complete)" = false ]
	done
	# An ordinary user's sandbox is not in there: root made it.
	scan_as_user auto "$F"
	assert_status 0
	# Before 5.12 nothing is asked of the cache alone.
	run --separate-stderr "$HELPERS/deny" openat2@1=EINVAL -- sb-pinscan --evidence=namespaces "$E"
	assert_status 7
}

@test "holders: a user's own namespace that no process is in" {
	# shellcheck disable=SC2016
	hold "${AS_USER[@]}" taskset -c 0 unshare --user --map-root-user --mount \
		--propagation private sh -c '
		mount -t tmpfs own "$3" && touch "$3/ns" && unshare --mount="$3/ns" \
			mount --bind "$1" "$2" && echo ready && exec sleep infinity' \
		sh "$R/$E" "$T1" "$OWN"
	scan kernel "$E"
	assert_status 7
	for way in $WALK_WAYS; do
		scan "$way" --uid="$USER_UID" "$E"
		assert_status 7 3
		scan_as_user "$way" "$E"
		assert_status 7 3
		# Root may have entered any.
		scan "$way" "$E"
		assert_status 7 3
	done
	scan mountinfo "$E"
	assert_status 3
	# Another user's it is not.
	scan mountinfo --uid="$OTHER_UID" "$F"
	assert_status 0
}

@test "holders: the kernel's list goes both ways, and is walked until nothing is new" {
	# On one CPU, where ids ascend: one namespace before ours, one after it.
	hold taskset -c 0 "$HELPERS/pin-hold" "$R/$E" "$T1"
	# shellcheck disable=SC2016
	scan_as=(taskset -c 0 unshare --mount --propagation private sh -c '
		"$0" "$1" "$2" >"$3" & read -r _ <"$3"; shift 3; "$@"; exit $?'
		"$HELPERS/pin-hold" "$R/$F" "$T2" "$BATS_TEST_TMPDIR/fifo")
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	scan kernel --json --prefix="${E%%_pin*}_"
	[ "$(json '[.pins[].name] | sort | join(" ")')" = "$F $E" ]
	[ "$(json '.coverage.passes >= 2')" = true ]
}

@test "holders: a namespace that only a descriptor keeps is seen by the kernel's list" {
	pin_hold --by-fd "$R/$E" "$T1"
	scan kernel "$E"
	assert_status 7
	scan auto "$E"
	assert_status 7
}

@test "holders: something is mounted over the holder's directory in /proc" {
	pin_hold "$R/$E" "$T1"
	for way in $WALK_WAYS; do
		# shellcheck disable=SC2016
		scan_as=(unshare --mount --propagation private sh -c
			'mount --bind "$0" "/proc/$1" && shift && exec "$@"' "$EMPTY" "$HOLDER")
		scan "$way" "$E"
		assert_status 3
		# Over any other process's, or below it, no less.
		scan_as[-1]=$$
		scan "$way" "$F"
		assert_status 3
		# shellcheck disable=SC2016
		scan_as=(unshare --mount --propagation private sh -c
			'mount --bind "$0" "/proc/$1/task" && shift && exec "$@"' "$EMPTY" "$HOLDER")
		scan "$way" "$F"
		assert_status 3
		# The holder's procfs files, by another's, whose table is whole and shows nothing.
		# shellcheck disable=SC2016
		scan_as=(unshare --mount --propagation private sh -c
			'mount --bind /proc/self/mountinfo "/proc/$0/mountinfo" && exec "$@"' "$HOLDER")
		scan "$way" "$E"
		assert_status 7 3
		# A procfs, but of other processes.
		# shellcheck disable=SC2016
		scan_as=(unshare --mount --propagation private sh -c
			'mount --bind /proc/$$ "/proc/$0" && exec "$@"' "$HOLDER")
		scan "$way" "$E"
		assert_status 3
	done
	scan kernel "$E"
	assert_status 3 7
	scan_as=()
	scan kernel "$E"
	assert_status 7
}

@test "holders: a whole procfs of another kind mounted over /proc" {
	pin_hold "$R/$E" "$T1"
	# An empty tmpfs, and one that looks like a host with nothing on it.
	for way in $WALK_WAYS; do
		# shellcheck disable=SC2016
		scan_as=(unshare --mount --propagation private sh -c
			'mount -t tmpfs none /proc && exec "$@"' sh)
		scan "$way" "$E"
		assert_status 3 1
	done
}

@test "holders: hidepid and subset=pid: what can be read pins, the rest is unproven" {
	for options in hidepid=1 hidepid=2 hidepid=4 subset=pid; do
		echo "# $options"
		for drop in 0 "$OTHER_UID"; do
			pin_hold --drop="$drop" "$R/$E" "$T1"
			for way in $WALK_WAYS; do
				scan_as=(with_proc "$options" "${AS_USER[@]}")
				scan "$way" "$E"
				assert_status 3 7
				[ "$options" = subset=pid ] || assert_status 3
				scan "$way" "$F"
				assert_status 3
			done
			let_go
		done
		user_pin_hold "$R/$E" "$T1"
		for way in $WALK_WAYS; do
			scan "$way" "$E"
			assert_status 7
			scan "$way" "$F"
			assert_status 3
		done
		let_go
		user_pin_hold --no-dump "$R/$E" "$T1"
		for way in $WALK_WAYS; do
			scan "$way" "$E"
			assert_status 3 7
		done
		let_go
	done
}

@test "holders: hidepid is named as the cause" {
	scan_as=(with_proc hidepid=2 "${AS_USER[@]}")
	scan auto "$F"
	assert_status 3
	[[ $stderr == *hidepid* ]]
	# Listed and closed: each task is a gap, and so are its threads.
	pin_hold "$R/$E" "$T1"
	scan_as=(with_proc hidepid=1 "${AS_USER[@]}")
	for way in namespaces mountinfo; do
		scan "$way" --json "$F"
		assert_status 3
		[[ $(json '.coverage.gaps[].reason') == *"its mounts could not be read"*"run as root"* ]]
		[[ $(json '.coverage.gaps[].reason') == *"its threads could not be listed"* ]]
	done
}

@test "holders: hidepid is found in a table that is longer than most" {
	local i
	for i in $(seq 300); do
		mount --bind "$OWN" "$OWN"
	done
	scan_as=(with_proc hidepid=2 "${AS_USER[@]}")
	scan auto "$F"
	assert_status 3
	[[ $stderr == *hidepid* ]]
	umount -R "$OWN"
}

@test "holders: hidepid hides where pid 1 is the user's own, too" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	# As the user with no privilege, and as root of a user namespace whose privileges end there.
	for as in "" "unshare --user --map-root-user"; do
		for options in hidepid=2 hidepid=4 hidepid=0; do
			wanted=3
			[ "$options" != hidepid=0 ] || wanted=7
			for way in namespaces mountinfo; do
				# shellcheck disable=SC2086,SC2016
				run --separate-stderr unshare --mount --pid --fork --kill-child sh -c '
					mount -t proc -o "$1" proc /proc || exit 99
					"$0" "$2" "$3" >"$4" & read -r _ <"$4"; shift 4; exec "$@"' \
					"$HELPERS/pin-hold" "$options" "$R/$E" "$T1" "$fifo" \
					"${AS_USER[@]}" sh -c '"$@"; exit $?' sh $as \
					sb-pinscan --trust-pidns --evidence="$way" "$E"
				echo "# $as $options $way: status $status, $stderr"
				assert_status "$wanted"
				[ "$wanted" = 7 ] || [[ $stderr == *hidepid* ]]
			done
		done
	done
}

@test "holders: where the number given last cannot be learnt, nothing is proven" {
	local cover='mount --bind "$1" /proc/loadavg || exit 99
		[ ! -e /proc/sys/kernel/ns_last_pid ] || [ "$2" = "" ] ||
			mount --bind "$2" /proc/sys/kernel/ns_last_pid || exit 99
		shift 2; exec "$@"'
	mkdir "$D/files"
	printf '0.00 0.00 0.00 1/99 400\n' >"$D/files/of-another-kind"
	: >"$D/files/empty"
	pin_hold "$R/$E" "$T1"
	for file in "$D"/files/* /proc/version /proc/uptime; do
		scan_as=(unshare --mount --propagation private sh -c "$cover" sh "$file" "$file")
		for way in $WALK_WAYS; do
			scan "$way" "$F"
			assert_status 3
			[[ $stderr == *loadavg* ]]
			scan "$way" "$E"
			assert_status 7
		done
		# The kernel's list needs no numbers.
		scan kernel "$F"
		assert_status 0
	done
	# Where the kernel tells the same number elsewhere, that will do.
	[ -e /proc/sys/kernel/ns_last_pid ] || return 0
	scan_as=(unshare --mount --propagation private sh -c "$cover" sh "$D/files/empty" "")
	assert_free_by "$WALK_WAYS" "$F"
}

@test "holders: in another pid namespace nothing is proven, unless it is trusted" {
	pin_hold "$R/$E" "$T1"
	for way in auto $WALK_WAYS; do
		scan_as=(unshare --mount --pid --fork --mount-proc)
		scan "$way" "$E"
		assert_status 3 7 # 7: a kernel that lists namespaces even there
		scan "$way" "$F"
		assert_status 3
		[[ $stderr == *--trust-pidns* ]]
		scan "$way" --trust-pidns "$F"
		assert_status 0
		# A holder inside is seen.
		# shellcheck disable=SC2016
		scan_as=(unshare --mount --pid --fork --mount-proc sh -c '
			unshare --mount sh -c "mount --bind $0 $1; echo >\"$2\"; sleep infinity" &
			until [ -s "$2" ]; do sleep 0.01; done; shift 2; "$@"; exit $?'
			"$R/$F" "$T1" "$BATS_TEST_TMPDIR/inside.$way")
		scan "$way" --trust-pidns "$F"
		assert_status 7
	done
}

@test "holders: /proc named as a procfs is as good as /proc" {
	# That it is of the initial pid namespace is learnt though pid 1 be closed to the user.
	scan_as=("${AS_USER[@]}")
	assert_free_by "namespaces mountinfo" --procfs=/proc "$F"
}

@test "holders: /proc of another pid namespace than ours proves nothing" {
	# Ours is a child, /proc that of the parent: a number there is not ours.
	[[ $SB_BUILD_NAME != *asan* ]] || skip "the sanitizer needs a /proc of its own"
	scan_as=(unshare --pid --fork)
	for way in $WALK_WAYS; do
		scan "$way" "$F"
		assert_status 3
		scan "$way" --trust-pidns "$F"
		assert_status 3
	done
	# We are in the initial one, and /proc shows a container's.
	hold unshare --mount --pid --fork --kill-child --mount-proc sh -c 'echo ready; exec sleep infinity'
	inside=$(pgrep -P "$HOLDER")
	pin_hold "$R/$E" "$T1"
	scan_as=(nsenter --target "$inside" --mount)
	for way in $WALK_WAYS; do
		scan "$way" "$E"
		assert_status 3
	done
}

@test "holders: --procfs=DIR asks that directory's pid 1" {
	mkdir "$D/proc"
	# Of the initial pid namespace, as we are, or as its pid 1 says to who is in another one.
	mount -t proc proc "$D/proc"
	pin_hold "$R/$E" "$T1"
	scan auto --procfs="$D/proc" "$E"
	assert_status 7
	assert_free_by auto --procfs="$D/proc" "$F"
	wanted=3
	[ "$(readlink "$D/proc/1/ns/pid" 2>/dev/null)" != 'pid:[4026531836]' ] || wanted=0
	scan_as=(unshare --pid --fork --kill-child)
	scan auto --procfs="$D/proc" "$F"
	assert_status "$wanted"
	# What says so is believed that; that it was mounted there is a gap of its own.
	# shellcheck disable=SC2016
	scan_as=(unshare --mount --pid --fork --kill-child sh -c 'mount -t tmpfs lie "$0/1" &&
		mkdir "$0/1/ns" && ln -s "pid:[4026531836]" "$0/1/ns/pid" && exec "$@"' "$D/proc")
	scan namespaces --procfs="$D/proc" --json "$F"
	assert_status 3
	[[ $(json '.coverage.gaps[].reason') == *"mounted over"* ]]
	[[ $(json '.coverage.gaps[].reason') != *"pid namespace"* ]]
	scan_as=()
	scan auto --procfs="$D/proc" --trust-pidns --json "$F"
	assert_status 0
	# It might be of another host's tasks: our kernel is not asked.
	[ "$(json .coverage.evidence)" != kernel ]
	umount "$D/proc"
	# Of a container's.
	hold unshare --pid --fork --kill-child sh -c 'echo ready; exec sleep infinity'
	inside=$(pgrep -P "$HOLDER")
	nsenter --target "$inside" --pid mount -t proc proc "$D/proc"
	[ "$(readlink "$D/proc/1/ns/pid")" != 'pid:[4026531836]' ]
	scan auto --procfs="$D/proc" "$E"
	assert_status 3
	scan auto --procfs="$D/proc" --trust-pidns "$E"
	assert_status 0
	umount "$D/proc"
}

# A test tree: one process in namespace 4026532999 with this mountinfo.
make_tree() {
	TREE=$D/tree
	mkdir -p "$TREE/1/ns" "$TREE/sys/kernel" "$TREE/1/task/1/ns"
	echo 65534 >"$TREE/sys/kernel/overflowuid"
	for dir in "$TREE/1" "$TREE/1/task/1"; do
		printf '%s\n' "$@" >"$dir/mountinfo"
		ln -s 'mnt:[4026532999]' "$dir/ns/mnt"
		ln -s 'pid:[4026531836]' "$dir/ns/pid"
		ln -s / "$dir/root"
		echo init >"$dir/comm"
		printf 'Name:\tinit\nState:\tS (sleeping)\nUid:\t0\t0\t0\t0\n' >"$dir/status"
		echo '1 (init) S 0' >"$dir/stat"
	done
}

@test "holders: --procfs of a test tree: pins count, nothing is proven" {
	make_tree "20 1 0:20 / / rw - tmpfs tmpfs rw" \
		"21 20 0:21 /$E /mnt/x rw shared:1 - tmpfs tmpfs rw"
	for way in auto namespaces mountinfo; do
		scan "$way" --procfs="$TREE" "$E"
		assert_status 7
		scan "$way" --procfs="$TREE" "$F"
		assert_status 3
		scan "$way" --procfs="$TREE" --trust-pidns "$F"
		assert_status 3
		scan "$way" --procfs="$TREE" --json --prefix="$E"
		assert_status 3
		[ "$(json '.pins[0].name')" = "$E" ]
		[ "$(json '.pins[0].namespaces | join(" ")')" = 4026532999 ]
		[ "$(json '.coverage.level')" = unproven ]
		# Whatever was asked for: this is what it rests on.
		[ "$(json '.coverage.evidence')" = mountinfo ]
	done
}

@test "holders: a test tree's escapes, deleted sources and odd lines" {
	make_tree "20 1 0:20 / / rw - tmpfs tmpfs rw" \
		"21 20 0:21 /$E\\040a/below //x rw - tmpfs tmpfs rw" \
		"22 20 0:21 /$E\\134b//deleted /x rw - tmpfs tmpfs rw" \
		"23 20 0:21 /$E\\0112//deleted//deleted /x rw - tmpfs tmpfs rw"
	scan mountinfo --procfs="$TREE" --json --prefix="$E"
	[ "$(json '[.pins[].name] | join("|")')" = "$E\\x092|$E a|$E\\x5cb" ]
	[ "$(json '[.pins[].deleted] | join("|")')" = "true|false|true" ]
	scan mountinfo --procfs="$TREE" "$E a"
	assert_status 7
	scan mountinfo --procfs="$TREE" "$E\\b"
	assert_status 7
	scan mountinfo --procfs="$TREE" "$E"$'\t2'
	assert_status 7
	scan mountinfo --procfs="$TREE" "$E\\040a"
	assert_status 3
}

@test "holders: a thread that does not read behind an exited leader is a gap" {
	make_tree "20 1 0:20 / / rw - tmpfs tmpfs rw"
	# Neither of them has a namespace any more.
	mkdir -p "$TREE/7/task/7/ns" "$TREE/7/task/8/ns" "$TREE/7/ns"
	scan namespaces --procfs="$TREE" --json --prefix="$E"
	assert_status 3
	[[ $(json '.coverage.gaps[] | select(.tid == 8).reason') == *"leader that has exited"* ]]
	[ "$(json '.coverage.gaps[] | select(.tid == 8).pid')" = 7 ]
}

@test "holders: a procfs that does not list pid 1 is filtered" {
	make_tree "20 1 0:20 / / rw - tmpfs tmpfs rw"
	scan mountinfo --procfs="$TREE" --json --prefix="$E"
	[ "$(json '[.coverage.gaps[] | select(.reason | contains("pid 1 is not"))] | length')" = 0 ]
	mv "$TREE/1" "$TREE/2"
	scan mountinfo --procfs="$TREE" --json --prefix="$E"
	assert_status 3
	[[ $(json '.coverage.gaps[].reason') == *"pid 1 is not listed"* ]]
}

@test "holders: hidepid of a procfs that is given, and of another pid namespace" {
	mkdir "$D/proc"
	# Its first process is the user's, and listed.
	# The change of uid takes away the signal that --kill-child arranges for.
	hold unshare --pid --fork --kill-child "${AS_USER[@]}" --pdeathsig KILL \
		sh -c 'echo ready; exec sleep infinity'
	inside=$(pgrep -P "$HOLDER")
	for options in hidepid=2 hidepid=0; do
		nsenter --target "$inside" --pid mount -t proc -o "$options" proc "$D/proc"
		hold nsenter --target "$inside" --pid "$HELPERS/pin-hold" "$R/$E" "$T1"
		wanted=3
		[ "$options" = hidepid=2 ] || wanted=7
		for way in namespaces mountinfo; do
			scan_as_user "$way" --procfs="$D/proc" --trust-pidns "$E"
			assert_status "$wanted"
		done
		let_go
		umount "$D/proc"
	done
}

@test "holders: a task whose root cannot be learnt shows no namespace whole" {
	make_tree "20 1 0:20 / / rw - tmpfs tmpfs rw"
	scan mountinfo --procfs="$TREE" --json --prefix="$E"
	[ "$(json '[.coverage.gaps[] | select(.reason | contains("4026532999"))] | length')" = 0 ]
	for root in none /elsewhere; do
		rm -f "$TREE/1/root"
		[ "$root" = none ] || ln -s "$root" "$TREE/1/root"
		rm -f "$TREE/1/task/1/root"
		scan mountinfo --procfs="$TREE" --json --prefix="$E"
		[[ $(json '.coverage.gaps[].reason') == *"namespace 4026532999; run as root"* ]]
	done
}

@test "holders: a line that cannot be parsed is a gap, and hides no other pin" {
	make_tree "20 1 0:20 / / rw - tmpfs tmpfs rw" "nonsense"
	mkdir -p "$TREE/2/ns"
	cp -a "$TREE/1/." "$TREE/2/"
	printf '%s\n' "20 1 0:20 / / rw - tmpfs tmpfs rw" \
		"21 20 0:21 /$E /x rw - tmpfs tmpfs rw" >"$TREE/2/mountinfo"
	ln -sfn 'mnt:[4026533000]' "$TREE/2/ns/mnt"
	scan mountinfo --procfs="$TREE" "$E"
	assert_status 7
	scan mountinfo --procfs="$TREE" --json
	[[ $(json '.coverage.gaps[].reason') == *"cannot be parsed"* ]]
}
