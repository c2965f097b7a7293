# What the tests of sb-pinscan have in common: entries, holders, and scans by each evidence.
# shellcheck shell=bash disable=SC2034,SC2154

# For commands that go to the background: a function would put a shell in between.
AS_USER=(setpriv --reuid "$USER_UID" --regid "$USER_UID" --clear-groups)

# A root $R of the ordinary user's with one dead entry $E in it, a free one $F, and directories to
# bind on: $T1 to $T3, an empty one $EMPTY, and one with its own filesystem, $OWN.
make_entries() {
	local dead owner=$USER_UID
	dead=$(dead_pid)
	# In the user namespace of an ordinary user there is no other uid.
	[ "$SB_TEST_PRIVILEGED" = 1 ] || owner=0
	make_root "$owner"
	E=${P}${dead}_pin${BASHPID}x$RANDOM
	F=${P}${dead}_free${BASHPID}x$RANDOM
	D=$(mktemp -d /mnt/places.XXXXXX)
	chmod 755 "$D"
	T1=$D/1 T2=$D/2 T3=$D/3 EMPTY=$D/empty OWN=$D/own
	mkdir "$T1" "$T2" "$T3" "$EMPTY" "$OWN"
	mkdir "$R/$E" "$R/$F"
	chown -R "$owner:$owner" "$D" "$R"
}

end_entries() {
	end_started
	unmount_root
	# A setup that failed has no places: below "/" is everything.
	[ -n "${D:-}" ] || return 0
	# What a test that failed left mounted would keep its namespaces for the next one.
	local point
	while point=$(awk -v dir="$D/" 'index($5, dir) == 1 { p = $5 } END { print p }' \
		/proc/self/mountinfo) && [ -n "$point" ]; do
		umount -l "$point" || break
	done
}

pin_hold() {
	hold "$HELPERS/pin-hold" "$@"
}

user_pin_hold() {
	hold "${AS_USER[@]}" "$HELPERS/pin-hold" --userns "$@"
}

# The ways to come by an answer. The fallbacks are those that older kernels take.
ROOT_WAYS="auto kernel namespaces no-ids by-text mountinfo"
WALK_WAYS="namespaces no-ids by-text mountinfo"

# scan WAY ARG...: runs sb-pinscan that way; output, stderr and status as with run.
scan() {
	local way=$1 deny=()
	shift
	case $way in
	auto) set -- sb-pinscan "$@" ;;
	by-text)
		# before 6.8
		deny=(listmount=ENOSYS statmount=ENOSYS)
		set -- sb-pinscan --evidence=namespaces "$@"
		;;
	no-ids)
		# before 6.12
		deny=(ioctl:NS_MNT_GET_INFO=ENOTTY ioctl:NS_MNT_GET_NEXT=ENOTTY
			ioctl:NS_MNT_GET_PREV=ENOTTY)
		set -- sb-pinscan --evidence=namespaces "$@"
		;;
	*) set -- sb-pinscan --evidence="$way" "$@" ;;
	esac
	[ ${#deny[@]} -eq 0 ] || set -- "$HELPERS/deny" "${deny[@]}" -- "$@"
	run --separate-stderr "${scan_as[@]}" "$@"
	echo "# $way: status $status, $stderr"
}
scan_as=()

scan_as_user() {
	local scan_as=("${AS_USER[@]}")
	scan "$@"
}

# assert_status N...: the scan's status is one of these.
assert_status() {
	local wanted
	for wanted in "$@"; do
		[ "$status" != "$wanted" ] || return 0
	done
	fail "status $status is none of: $*; stdout: $output; stderr: $stderr"
}

assert_pinned_by() {
	local way
	for way in $1; do
		scan "$way" "$2"
		assert_status 7
	done
}

# Others on this machine may come and go, or sit in a namespace that nobody can read, so a proof may
# take more than one scan. assert_free_by WAYS ARG...
assert_free_by() {
	local way
	for way in $1; do
		wait_until is_free_by "$way" "${@:2}"
	done
}

is_free_by() {
	scan "$@"
	[ "$status" != 7 ] || fail "pinned by $*: $stderr"
	[ "$status" = 0 ]
}

# json FILTER: of the last scan's JSON.
json() {
	jq -r "$1" <<<"$output"
}

# Runs a command with a procfs of our own pid namespace mounted with these options.
with_proc() {
	local options=$1
	shift
	# shellcheck disable=SC2016
	unshare --mount --propagation private \
		sh -c 'mount -t proc -o "$0" proc /proc && exec "$@"' "$options" "$@"
}
