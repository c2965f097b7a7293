# Scans while the world moves: what tests/pinscan-races.bats does for a minute and
# tests/stress/pinscan.bats for as long as it takes.
# shellcheck shell=bash disable=SC2034,SC2154

# never_free N WAY NAME: N scans, of which none may say that the pinned NAME is free. Tells how many
# said "pinned" in $seen.
never_free() {
	local round status=0
	seen=0
	for ((round = 0; round < $1; round++)); do
		status=0
		case $2 in
		user-*) "${AS_USER[@]}" sb-pinscan --evidence="${2#user-}" "$3" ;;
		*) sb-pinscan --evidence="$2" "$3" ;;
		esac >/dev/null 2>&1 || status=$?
		case $status in
		7) seen=$((seen + 1)) ;;
		3) ;;
		*) fail "scan $round by $2 ended with $status" ;;
		esac
	done
	echo "# $2: $seen of $1 pinned, the others unproven"
}

# Case 4: a holder that copies its namespace and leaves the old one, on several CPUs.
copying_holder() {
	hold "$HELPERS/pin-hop" copy "$R/$E" "$T1"
	never_free "$1" kernel "$E"
	[ "$seen" -eq "$1" ]
	never_free "$1" namespaces "$E"
	[ "$seen" -gt 0 ]
}

# Case 5: many binds in one namespace, and eight loops that mount and unmount there.
torn_tables() {
	local pages=$2
	pin_hold --flood="$pages:$OWN" "$R/$E" "$T1"
	mount --bind "$EMPTY" "$T3"
	mount --make-private "$T3"
	hold nsenter --target "$HOLDER" --mount "$HELPERS/pin-storm" mount 8 600 "$T2"
	never_free "$1" kernel "$E"
	[ "$seen" -eq "$1" ]
	never_free "$1" namespaces "$E"
	[ "$seen" -eq "$1" ]
	never_free "$1" mountinfo "$E"
}

# Case 7: a hopper that forks and exits, and its likes.
hoppers() {
	local mode way
	for mode in exit thread; do
		hold "$HELPERS/pin-hop" "$mode" "$R/$E" "$T1"
		for way in kernel namespaces mountinfo user-namespaces user-mountinfo; do
			never_free "$1" "$way" "$E"
		done
		let_go
	done
	hold "${AS_USER[@]}" "$HELPERS/pin-hop" exit "$R/$E" "$T1"
	for way in namespaces mountinfo user-namespaces user-mountinfo; do
		never_free "$1" "$way" "$E"
	done
	let_go
	# Without any pause.
	hold "$HELPERS/pin-hop" exit "$R/$E" "$T1" 0
	for way in kernel namespaces mountinfo; do
		never_free "$1" "$way" "$E"
	done
}

# Case 51: spawn loops of the target uid do not keep an ordinary user from being covered. In a pid
# namespace of its own, so that nothing but these loops is on trial.
spawn_loops() {
	# shellcheck disable=SC2016
	run unshare --mount --pid --fork --kill-child --mount-proc bash -c '
		helpers=$1 scans=$2 tasks=$3 root=$4 target=$5 name=$6 uid=$7
		shift 7
		"$helpers/pin-tasks" "$tasks" 6 5 "$root" "$target" "$name." "$uid" >"$root/tasks" &
		"$@" "$helpers/pin-storm" spawn 4 600 >"$root/storm" &
		until [ -s "$root/tasks" ] && [ -s "$root/storm" ]; do sleep 0.01; done
		for ((round = 0; round < scans; round++)); do
			"$@" sb-pinscan --trust-pidns --json "$name" >"$root/json" 2>/dev/null ||
				break
			jq -e .coverage.covered "$root/json" >/dev/null || break
		done
		[ "$round" -eq "$scans" ] || cat "$root/json"
		[ "$round" -eq "$scans" ]' \
		bash "$HELPERS" "$1" "$2" "$R" "$T1" "$F" "$USER_UID" "${AS_USER[@]}"
	assert_success
}

# Case 58: storms of every kind while a big host is scanned: bounded, and honest.
storms() {
	local way
	hold "$HELPERS/pin-tasks" "$2" 18 80 "$R" "$T1" "$E."
	mkdir "$T2/storm"
	hold "$HELPERS/pin-storm" all 4 600 "$T2/storm"
	for way in kernel namespaces mountinfo; do
		never_free "$1" "$way" "$E.18_80"
		sb-pinscan --evidence="$way" --json "$F" >"$BATS_TEST_TMPDIR/json" || true
		# The contract gives the listings 2 s; the first of them is as long as it is.
		run jq -e '.coverage.elapsed_s < 10' "$BATS_TEST_TMPDIR/json"
		assert_success
	done
}

# Moves of the model. Those with threads are left out where a fork among threads can leave the locks
# of the sanitizer's allocator taken for ever.
WALK_MOVES=fptlxcr
[[ $SB_BUILD_NAME != *asan* ]] || WALK_MOVES=fpxcr
ALL_MOVES=${WALK_MOVES}nd

# play WAY SCHEDULES SEED [--moves=LETTERS]: the model against a scan.
play() {
	local way=$1 schedules=$2 seed=$3
	shift 3
	run "$HELPERS/model" --schedules="$schedules" --seed="$seed" --moves="$WALK_MOVES" "$@" "$R/$E" "$T1" -- \
		"$BIN/sb-pinscan" --evidence="$way" "$E"
	echo "# $way, seed $seed: $output"
	assert_success
}

# The same where numbers begin anew all the time: a pid namespace with few of them.
play_with_few_pids() {
	# Before 6.14 there was one pid_max for the whole machine: that is not ours to change.
	if [ "$(printf '%s\n' 6.14 "$(uname -r)" | sort -V | head -1)" != 6.14 ]; then
		skip "needs Linux 6.14, where each pid namespace has its own pid_max"
	fi
	# shellcheck disable=SC2016
	run unshare --mount --pid --fork --kill-child --mount-proc sh -c '
		echo 420 >/proc/sys/kernel/pid_max || exit 99
		way=$1; shift
		exec "$@" --trust-pidns --evidence="$way" "$0"' "$E" "$1" \
		"$HELPERS/model" --schedules="$2" --seed="$3" --moves="$WALK_MOVES" "$R/$E" "$T1" -- \
		"$BIN/sb-pinscan"
	echo "# $1, seed $3, few pids: $output"
	assert_success
}
