# What the tests of sb-sweep and sb-legacy-heal have in common.
# shellcheck shell=bash disable=SC2034,SC2154

# Above the kernel's PID_MAX_LIMIT: dead, and no storm of processes brings the number back.
DEAD=4194999

# For commands that go to the background: a function would put a shell in between.
AS_USER=(setpriv --reuid "$USER_UID" --regid "$USER_UID" --clear-groups)

sweep() {
	run --separate-stderr sb-sweep "$@"
	echo "# sb-sweep $*: status $status; $output; $stderr"
}

# A user's scan depends on what others do on this host meanwhile; nothing goes without proof, so
# that it can be asked for again, as the status says.
sweep_as_user() {
	local i
	for i in $(seq 20); do
		run --separate-stderr as_user sb-sweep "$@"
		echo "# as user: sb-sweep $*: status $status; $output; $stderr"
		[ "$status" = 3 ] || break
	done
}

# stage NAME...: directories of dead sandboxes in $R, two days old.
stage() {
	local name
	for name in "$@"; do
		mkdir -m 700 -- "$R/$name"
		age "2 days" "$R/$name"
	done
}

stage_as_user() {
	stage "$@"
	(cd "$R" && chown -h "$USER_UID:$USER_UID" -- "$@")
}

# json FILTER: of what the last command showed.
json() {
	jq -r "$1" <<<"$output"
}

# assert_counts NAME=N...: the totals of the last JSON; what is not named is 0. dirs and files are
# what was removed.
assert_counts() {
	assert_equal \
		"$(jq -r '.totals
			| {seen, failed, dirs: .removed.dirs, files: .removed.files} + .kept
			| to_entries | map(select(.value != 0) | "\(.key)=\(.value)") | sort | join(" ")' \
			<<<"$output")" \
		"$(printf '%s\n' "$@" | LC_ALL=C sort | paste -sd' ')"
}

# What is left in $R, one a line.
left() {
	(cd "$R" && find . -mindepth 1 -maxdepth 1 -printf '%f\n' | LC_ALL=C sort)
}

assert_left() {
	assert_equal "$(left)" "$([ $# -eq 0 ] || printf '%s\n' "$@" | LC_ALL=C sort)"
}

# A process that does nothing until it is ended; its pid is in $SLEEPER.
sleeper() {
	"$@" sleep 1000 3>&- &
	SLEEPER=$!
	remember "$SLEEPER"
	wait_until grep -qx sleep "/proc/$SLEEPER/comm"
}

# Runs a command with a procfs of our own pid namespace mounted with these options.
with_proc() {
	local options=$1
	shift
	# shellcheck disable=SC2016
	unshare --mount --propagation private \
		sh -c 'mount -t proc -o "$0" proc /proc && exec "$@"' "$options" "$@"
}

# stop_at CALL N COMMAND...: starts a command and waits until it has made its Nth such call and
# stands; its pid is in $STOPPED, its tracer's in $STRACE, its output in files of the test's. The
# sanitizer cannot look for leaks in what is traced.
stop_at() {
	local call=$1 n=$2 log=$BATS_TEST_TMPDIR/calls
	shift 2
	rm -f "$log" # that of the run before
	ASAN_OPTIONS=detect_leaks=0 strace -qq -o "$log" -e "trace=$call" \
		-e "inject=$call:signal=STOP:when=$n" \
		"$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	STRACE=$!
	remember "$STRACE"
	wait_until grep -q 'stopped by SIGSTOP' "$log"
	STOPPED=$(cat "/proc/$STRACE/task/$STRACE/children")
	STOPPED=${STOPPED%% *}
	remember "$STOPPED"
}

# interrupt SIGNAL COMMAND...: starts a sweep of $R that is slowed down, and sends it the signal once
# something went; its end as with run.
interrupt() {
	local before pid
	before=$(stat -f -c %d "$R")
	"$HELPERS/deny" unlinkat@10000000=EIO -- "${@:2}" \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	remember $!
	until [ "$(stat -f -c %d "$R")" -gt "$before" ]; do
		kill -0 "${started[-1]}"
	done
	pid=$(cat "/proc/${started[-1]}/task/${started[-1]}/children")
	kill -"$1" "${pid% }"
	status=0
	wait "${started[-1]}" || status=$?
	output=$(cat "$BATS_TEST_TMPDIR/out")
	stderr=$(cat "$BATS_TEST_TMPDIR/err")
}
