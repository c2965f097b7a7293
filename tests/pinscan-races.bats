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
