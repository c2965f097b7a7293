# For the tests of sb-killstray: they run in pid namespaces of their own, and nowhere else.
# shellcheck shell=bash disable=SC2034,SC2154

# Users of these tests alone: limits of processes count all that a user has on the machine.
USER_UID=61400
OTHER_UID=61401

# The sanitizer cannot look for leaks where /proc is another's or the command is traced.
export ASAN_OPTIONS=detect_leaks=0

# Runs a script as pid 1 of a new pid namespace with its own /proc; all that it starts ends with it.
# $status, $output, $stderr and $lines are those of the script. $T is a directory of the test's.
ns() {
	T=$BATS_TEST_TMPDIR/ns
	[ -d "$T" ] || mkdir -m 1777 "$T"
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "${BATS_TEST_TMPDIR%/*}" "$BATS_TEST_TMPDIR"
	export T SB_TOP HELPERS BIN USER_UID OTHER_UID
	run --separate-stderr unshare --mount --pid --fork --kill-child --mount-proc \
		bash -c "set -eu; source '$SB_TOP/tests/killstray-ns.bash'; $1" ns "${@:2}" 3>&-
	echo "stderr: $stderr" # seen when the test fails
}

# A cgroup of version 2 for this test, in $G; skips where there is none.
make_cgroup() {
	local mounted
	mounted=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$mounted" ] && mkdir "$mounted/sb-test-$$-$BATS_TEST_NUMBER" || skip "no cgroup v2 to write to"
	export G=$mounted/sb-test-$$-$BATS_TEST_NUMBER
	mkdir "$G/below"
}

remove_cgroup() {
	[ -z "${G:-}" ] || wait_until rmdir "$G/below"
	[ -z "${G:-}" ] || rmdir "$G"
}

# The last line of standard output, which is the one that runners read.
assert_last_line() {
	assert_equal "${lines[-1]:-}" "$1"
}

# No line that a runner would take for a count.
refute_count() {
	[ -z "$output" ] || refute_line --regexp '^stray processes (killed|found): '
}

# A value of the JSON object on standard output.
json() {
	jq -r "$1" <<<"$output"
}
