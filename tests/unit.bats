# The unit tests (cmocka), a test for each program: what the library answers, byte for byte.
load common

# SB_UNIT_WITH: what runs them, as valgrind does, which tells of descriptors that are left open.
unit() {
	# shellcheck disable=SC2086
	run ${SB_UNIT_WITH:-} "$SB_TOP/build/unit/test_$1"
	assert_success
	awk '/Open file descriptor/ { getline; left += !/inherited from parent/ }
		END { exit left > 0 }' <<<"$output"
}

# Whose answers are others under what runs it: AddressSanitizer looks after those.
runs_by_itself() { # WHY
	[ -z "${SB_UNIT_WITH:-}" ] || skip "$1"
}

@test "unit: age" {
	unit age
}

@test "unit: clock" {
	unit clock
}

@test "unit: evidence" {
	unit evidence
}

@test "unit: fence" {
	unit fence
}

@test "unit: hidepid" {
	unit hidepid
}

@test "unit: idmap" {
	unit idmap
}

@test "unit: liveness" {
	unit liveness
}

@test "unit: log" {
	runs_by_itself "valgrind needs memory of its own"
	unit log
}

@test "unit: marker" {
	need_root # files of other users are made
	unit marker
}

@test "unit: metrics" {
	unit metrics
}

@test "unit: names" {
	unit names
}

@test "unit: nsfile" {
	runs_by_itself "valgrind 3.19 knows no openat2"
	unit nsfile
}

@test "unit: nsmount" {
	unit nsmount
}

@test "unit: picture" {
	unit picture
}

@test "unit: pile" {
	unit pile
}

@test "unit: pinset" {
	unit pinset
}

@test "unit: proc_stat" {
	unit proc_stat
}

@test "unit: process" {
	runs_by_itself "valgrind 3.19 knows no pidfd_open"
	unit process
}

@test "unit: progress" {
	unit progress
}

@test "unit: proof" {
	runs_by_itself "valgrind has another name for the process"
	unit proof
}

@test "unit: reclaim" {
	unit reclaim
}

@test "unit: status" {
	unit status
}

@test "unit: text" {
	unit text
}

@test "unit: user" {
	need_root # it has to know more than one group
	unit user
	# In more groups than are asked for at first.
	cp /etc/group "$BATS_TEST_TMPDIR/group"
	seq 70001 70100 | sed 's/.*/sb&:x:&:root/' >>"$BATS_TEST_TMPDIR/group"
	# shellcheck disable=SC2016
	unshare --mount --propagation private bash -ec 'mount --bind "$1" /etc/group
		[ "$(id -G root | wc -w)" -gt 100 ] && exec "$2"' \
		_ "$BATS_TEST_TMPDIR/group" "$SB_TOP/build/unit/test_user"
}

@test "unit: sweep" {
	unit sweep
}

@test "unit: every program of tests/unit is run here" {
	for source in "$SB_TOP"/tests/unit/test_*.c; do
		name=${source##*/test_}
		run grep -qx "	unit ${name%.c}" "$SB_TOP/tests/unit.bats"
		assert_success
	done
}
