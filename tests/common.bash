# What every bats file loads: libraries, paths, and the ways to build the states under test.
# shellcheck shell=bash disable=SC2034

bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert
bats_load_library bats-file

BIN=$SB_TOP/build/bin
HELPERS=$SB_TOP/build/helpers
PATH=$BIN:$PATH
P=kirocrew_sb_
USER_UID=61000 # an ordinary user that no account of the machine is
OTHER_UID=61001

# A test that needs real root: elsewhere it is skipped, in CI it fails.
need_root() {
	[ "$SB_TEST_PRIVILEGED" = 1 ] && return 0
	[ -z "${CI:-}" ] || fail "CI must run the tests as root"
	skip "needs root"
}

# Runs a command as the ordinary user.
as_user() {
	setpriv --reuid "$USER_UID" --regid "$USER_UID" --clear-groups "$@"
}

as_other() {
	setpriv --reuid "$OTHER_UID" --regid "$OTHER_UID" --clear-groups "$@"
}

# A pid that is gone: of a child that was waited for.
dead_pid() {
	sh -c 'echo $$'
}

# A fresh tmpfs at $R, owned by uid $1 (default: root), mode $2 (default: 0700); further mount
# options as $3.
make_root() {
	R=$(mktemp -d /mnt/root.XXXXXX) # not below bats' own directory, which only root may enter
	mount -t tmpfs -o "mode=${2:-0700},uid=${1:-0},gid=${1:-0}${3:+,$3}" sb-root "$R"
}

# Ages files: age SPAN FILE...; SPAN as in date(1): "2 days", "90 seconds".
age() {
	local span=$1
	shift
	touch --no-dereference --date="-$span" -- "$@"
}

# Waits until a command succeeds, for ten seconds at most; never hopes by sleeping once.
wait_until() {
	local end=$((SECONDS + 10))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || fail "never came true: $*"
		sleep 0.01
	done
}

# Remembers a process of ours, to be ended by its exact pid in teardown.
started=()
remember() {
	started+=("$@")
}

end_started() {
	local pid
	for pid in ${started[@]+"${started[@]}"}; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	started=()
}

held=0
# Starts a command that says "ready", waits until it has, and leaves its pid in $HOLDER.
hold() {
	local out=$BATS_TEST_TMPDIR/hold.$((++held))
	"$@" >"$out" 2>&1 3>&- &
	HOLDER=$!
	remember "$HOLDER"
	until grep -q '^ready' "$out"; do
		kill -0 "$HOLDER" 2>/dev/null || fail "no holder: $(cat "$out")"
		sleep 0.01
	done
}

# Ends the last holder before the end of the test.
let_go() {
	kill -KILL "$HOLDER"
	wait "$HOLDER" || true
}

# Lets go of what make_root mounted, and of anything mounted below it.
unmount_root() {
	[ -z "${R:-}" ] || umount -R -l "$R" 2>/dev/null || true
}
