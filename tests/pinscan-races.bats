# sb-pinscan while the world moves: never "free" for what is held throughout. A minute of it;
# tests/stress/pinscan.bats has the rest.
load common
load pinscan
load pinscan-races

setup() {
	need_root
	make_entries
}

teardown() {
	end_entries
}

@test "races: a holder that copies its namespace and leaves the old one" {
	copying_holder 50
}

@test "races: tables that change while they are read" {
	torn_tables 25 3000
}

@test "races: hoppers that fork and exit, or pass from thread to thread" {
	hoppers 20
}

# slowly CALL MICROSECONDS WAY ARG...: a scan that is held up before each such call.
slowly() {
	local call=$1 delay=$2 way=$3
	shift 3
	run --separate-stderr env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o /dev/null \
		-e trace="$call" -e inject="$call:delay_enter=$delay" \
		sb-pinscan --evidence="$way" "$@"
	echo "# $way: status $status, $stderr"
}

@test "races: a holder that is gone whenever it is looked at leaves it unproven" {
	hold "$HELPERS/pin-hop" exit "$R/$E" "$T1" 0
	for way in namespaces mountinfo; do
		for round in 1 2; do
			slowly readlinkat 3000 "$way" "$E"
			assert_status 3 7
			[ "$status" = 7 ] || [[ $stderr == *"came and went"* ]]
		done
	done
}

@test "races: a table that changes at each reading is not whole" {
	pin_hold --flood="1000:$OWN" "$R/$E" "$T1"
	mount --bind "$EMPTY" "$T3"
	mount --make-private "$T3"
	hold nsenter --target "$HOLDER" --mount "$HELPERS/pin-storm" mount 1 600 "$T2"
	slowly read 3000 mountinfo --json "$F"
	assert_status 3
	[[ $(json '.coverage.gaps[].reason') == *"changed at each reading"* ]]
}

@test "races: where namespaces keep appearing, the kernel's list is not whole" {
	pin_hold "$R/$E" "$T1"
	# Each lives long enough to be met, and there is a new one before the list is at its end.
	hold sh -c 'echo ready; while sleep 0.01; do unshare --mount sleep 0.2 & done'
	slowly ioctl 2000 kernel --json "$F"
	assert_status 3
	[[ $(json '.coverage.gaps[].reason') == *"kept appearing"* ]]
	slowly ioctl 2000 kernel "$E"
	assert_status 7
}

@test "races: spawn loops of the target uid do not keep it from being covered" {
	spawn_loops 10 1500
}

@test "races: storms of every kind" {
	storms 5 1500
}

@test "races: the model against namespaces" {
	play namespaces 300 1
}

@test "races: the model against mountinfo" {
	play mountinfo 200 1001
}

@test "races: the model against the kernel, with setns and namespaces kept by descriptors" {
	play kernel 300 2001 --moves="$ALL_MOVES"
}

@test "races: the model where numbers begin anew all the time" {
	play_with_few_pids namespaces 200 3001
	play_with_few_pids mountinfo 100 4001
}

@test "races: the model notices a scan that is wrong" {
	run "$HELPERS/model" --schedules=3 --seed=7 "$R/$E" "$T1" -- true
	assert_status 1
	assert_output --partial "seed 7: status 0 after"
	assert_output --partial "3 wrong"
}
