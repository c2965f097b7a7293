# The unit tests (cmocka), a test for each program: what the library answers, byte for byte.
load common

unit() {
	run "$SB_TOP/build/unit/test_$1"
	assert_success
}

@test "unit: text" {
	unit text
}

@test "unit: names" {
	unit names
}

@test "unit: clock" {
	unit clock
}

@test "unit: user" {
	unit user
}

@test "unit: evidence" {
	unit evidence
}

@test "unit: status" {
	unit status
}

@test "unit: proc_stat" {
	unit proc_stat
}

@test "unit: age" {
	unit age
}

@test "unit: picture" {
	unit picture
}

@test "unit: progress" {
	unit progress
}

@test "unit: metrics" {
	unit metrics
}

@test "unit: every program of tests/unit is run here" {
	for source in "$SB_TOP"/tests/unit/test_*.c; do
		name=${source##*/test_}
		run grep -qx "	unit ${name%.c}" "$SB_TOP/tests/unit.bats"
		assert_success
	done
}
