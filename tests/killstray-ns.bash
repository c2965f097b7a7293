# What scripts inside the pid namespace of a test of sb-killstray have at hand.
# shellcheck shell=bash

PATH=$BIN:$HELPERS:$PATH

as_user() {
	setpriv --reuid "$USER_UID" --regid "$USER_UID" --clear-groups "$@"
}

wait_until() {
	local end=$((SECONDS + 5))
	until "$@"; do
		if [ "$SECONDS" -ge "$end" ]; then
			echo "never came true: $*" >&2
			exit 99
		fi
		sleep 0.01
	done
}

# Has to be told "no": a plain "! command" is exempt from set -e, and would never fail.
not() {
	local told=0
	"$@" || told=$?
	[ "$told" -ne 0 ] && [ "$told" -ne 126 ] && [ "$told" -ne 127 ]
}

# Whether that process runs a program of that name, and has not ended.
runs() { # PID NAME
	[ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] && lives "$1"
}

lives() {
	local state
	state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)
	[ -n "$state" ] && [ "$state" != Z ] && [ "$state" != X ]
}

gone() {
	! lives "$1"
}

absent() {
	[ ! -e "/proc/$1" ]
}

state_is() { # PID STATE
	[ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status")" = "$2" ]
}

# How many processes of that name live.
count_of() {
	local comm count=0
	for comm in /proc/[0-9]*/comm; do
		[ "$(cat "$comm" 2>/dev/null)" != "$1" ] || ! lives "$(cut -d / -f 3 <<<"$comm")" ||
			count=$((count + 1))
	done
	echo "$count"
}

count_is() { # NAME NUMBER
	[ "$(count_of "$1")" = "$2" ]
}

# The one process of that name.
pid_of() {
	local comm
	for comm in /proc/[0-9]*/comm; do
		[ "$(cat "$comm" 2>/dev/null)" != "$1" ] || cut -d / -f 3 <<<"$comm"
	done
}

# Whether that command has sent its SIGTERMs, and waits for who got them.
is_waiting() { # NAME
	local pid
	pid=$(pid_of "$1")
	[ -n "$pid" ] && [[ $(cat "/proc/$pid/wchan") = poll_schedule* ]]
}

# Whether it waits for a lock: SIGALRM wakes it from time to time.
is_queueing() { # NAME
	local pid
	pid=$(pid_of "$1")
	[ -n "$pid" ] && grep -q '^SigCgt:.*6002$' "/proc/$pid/status"
}

# Starts a command as a user in the background, as a child of pid 1, and waits until it runs.
# Its number is in $started. With name=NAME it waits until it runs under that name.
start_as() { # UID COMMAND [ARG...]
	{ exec setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; } </dev/null >/dev/null 2>&1 &
	started=$!
	wait_until runs "$started" "${name:-$(basename "$2" | head -c 15)}"
}

start() {
	start_as "$USER_UID" "$@"
}

# One that ignores SIGTERM.
start_stubborn() {
	trap '' TERM
	start sleep 333
	trap - TERM
}

start_other() {
	start_as "$OTHER_UID" "$@"
}

expect_lives() {
	lives "$1" || {
		echo "$1 does not live any more: ${2:-}" >&2
		exit 98
	}
}

expect_gone() {
	gone "$1" || {
		echo "$1 still lives: ${2:-}" >&2
		exit 97
	}
}
