# sb-pinscan while the world moves, for as long as the contract asks: never a false "free".
load ../common
load ../pinscan
load ../pinscan-races

setup() {
	need_root
	make_entries
}

teardown() {
	end_entries
}

@test "stress: 200 scans of a holder that copies its namespace" {
	copying_holder 200
}

@test "stress: 1,000 scans of tables that change while they are read" {
	torn_tables 1000 3000
}

@test "stress: 500 scans of each hopper" {
	hoppers 500
}

@test "stress: 50 scans of 6,000 tasks and four spawn loops by an ordinary user" {
	spawn_loops 50 6000
}

@test "stress: storms over 12,600 tasks" {
	storms 20 12600
}

@test "stress: 5,000 schedules of the model against namespaces" {
	play namespaces 5000 100001
}

@test "stress: 3,000 schedules of the model against mountinfo" {
	play mountinfo 3000 200001
}

@test "stress: 3,000 schedules of the model against the kernel" {
	play kernel 3000 300001 --moves="$ALL_MOVES"
}

@test "stress: 2,000 schedules of the model for each set of moves that was once too much" {
	for moves in fp fl lx lxp ltp tx; do
		play namespaces 2000 400001 --moves="$moves"
	done
}

@test "stress: 3,000 schedules of the model where numbers begin anew" {
	play_with_few_pids namespaces 2000 500001
	play_with_few_pids mountinfo 1000 600001
}
