#!/usr/bin/env bats
# sb-sweep: what a live mount uses stays, and without proof that none does nothing goes.
load common
load sweep

setup() {
	make_root
	N=${P}${DEAD}_held
	F=${P}${DEAD}_free
	stage "$N" "$F"
	T=$(mktemp -d /mnt/target.XXXXXX)
	chmod 755 "$T"
}

teardown() {
	end_started
	unmount_root
	rmdir "$T" 2>/dev/null || true
}

assert_held() {
	assert_dir_exist "$R/$N"
	assert_not_exist "$R/$F"
}

@test "a bound entry is kept, and its mount goes on working; the message says how to learn whose" {
	hold "$HELPERS/pin-hold" "$R/$N" "$T"
	sweep --json "$R"
	assert_success
	assert_counts seen=2 dirs=1 pinned=1
	assert_held
	touch "/proc/$HOLDER/root$T/created"
	assert_file_exist "$R/$N/created"
	assert_regex "$stderr" "kept 1 pinned.*sb-pinscan --holders"
	let_go
	age "2 days" "$R/$N"
	sweep --json "$R"
	assert_counts seen=1 dirs=1
}

@test "by each kind of evidence" {
	need_root
	local kind
	hold "$HELPERS/pin-hold" "$R/$N" "$T"
	for kind in kernel namespaces mountinfo; do
		stage "$kind" 2>/dev/null && rmdir "$R/$kind"
		sweep --json --evidence="$kind" "$R"
		assert_equal "$(json .coverage.evidence)" "$kind"
		assert_equal "$(json .totals.kept.pinned)" 1
		assert_held
	done
}

@test "a user's entry that a sandbox of the user's holds" {
	need_root
	make_root "$USER_UID"
	stage_as_user "$N" "$F"
	hold "${AS_USER[@]}" "$HELPERS/pin-hold" --userns "$R/$N" "$T"
	sweep_as_user --json "$R"
	assert_success
	assert_counts seen=2 dirs=1 pinned=1
	assert_held
	stage_as_user "$F"
	sweep --json --uid="$USER_UID" "$R"
	assert_success
	assert_counts seen=2 dirs=1 pinned=1
	assert_held
}

@test "a dead launcher is not a dead namespace: its background command keeps the entry" {
	local pid
	# shellcheck disable=SC2016
	unshare --mount --propagation private sh -c '
		mount --bind "$0" "$1" && { setsid sleep 1000 >/dev/null 2>&1 3>&- & echo $! >"$2"; }' \
		"$R/$N" "$T" "$BATS_TEST_TMPDIR/pid"
	pid=$(cat "$BATS_TEST_TMPDIR/pid")
	remember "$pid"
	sweep --json "$R"
	assert_success
	assert_counts seen=2 dirs=1 pinned=1
	touch "/proc/$pid/root$T/created"
}

@test "a bind of something below the entry holds it" {
	mkdir "$R/$N/below"
	age "2 days" "$R/$N"
	hold "$HELPERS/pin-hold" "$R/$N/below" "$T"
	sweep --json "$R"
	assert_counts seen=2 dirs=1 pinned=1
}

@test "a mount on the entry, or below it, in another namespace holds it" {
	mkdir "$R/$N/below"
	age "2 days" "$R/$N"
	hold "$HELPERS/pin-hold" "$T" "$R/$N/below"
	sweep --json "$R"
	assert_counts seen=2 dirs=1 pinned=1
	let_go
	stage "$F"
	hold "$HELPERS/pin-hold" "$T" "$R/$N"
	sweep --json "$R"
	assert_counts seen=2 dirs=1 pinned=1
}

@test "an overlay with a layer in the entry holds it" {
	mkdir "$R/$N/lower" "$R/lower"
	age "2 days" "$R/$N"
	mount -t overlay -o "lowerdir=$R/$N/lower:$R/lower" overlay "$T" || skip "no overlayfs here"
	sweep --json "$R"
	umount "$T"
	assert_counts seen=2 dirs=1 pinned=1
}

@test "the same name bound on another filesystem keeps it too: the safe error" {
	local first=$R
	make_root
	stage "$N"
	hold "$HELPERS/pin-hold" "$R/$N" "$T"
	sweep --json "$first"
	umount -l "$first"
	assert_counts seen=2 dirs=1 pinned=1
}

@test "zombies of the target uid cost a listing, never the verdict" {
	hold "$HELPERS/pin-zombies" 4
	rmdir "$R/$N"
	sweep --json --evidence=namespaces --require=complete "$R"
	assert_success
	assert_counts seen=1 dirs=1
	assert_equal "$(json .coverage.level)" complete
}

@test "a launcher dies, its child binds later: young in between, pinned then" {
	local launcher
	launcher=$(dead_pid)
	mkdir "$R/${P}${launcher}_late"
	sweep --json "$R"
	assert_counts seen=3 dirs=2 young=1
	hold "$HELPERS/pin-hold" "$R/${P}${launcher}_late" "$T"
	age "2 days" "$R/${P}${launcher}_late"
	sweep --json "$R"
	assert_counts seen=1 pinned=1
}

@test "past the age and with a recycled number, a pin still keeps" {
	sleeper
	stage "${P}${SLEEPER}_x"
	hold "$HELPERS/pin-hold" "$R/${P}${SLEEPER}_x" "$T"
	sweep --json "$R"
	assert_counts seen=3 dirs=2 pinned=1
}

@test "a dry run scans too" {
	hold "$HELPERS/pin-hold" "$R/$N" "$T"
	sweep --json -n "$R"
	assert_counts seen=2 dirs=1 pinned=1
	assert_dir_exist "$R/$F"
}

@test "hidepid: directories are kept as unproven with a warning, status 3; files go" {
	need_root
	make_root "$USER_UID"
	stage_as_user "$N" "$F"
	touch "$R/${P}${DEAD}_file"
	chown "$USER_UID" "$R/${P}${DEAD}_file"
	age "2 days" "$R/${P}${DEAD}_file"
	run --separate-stderr with_proc hidepid=2 "${AS_USER[@]}" sb-sweep --json --quiet "$R"
	assert_failure 3
	assert_counts seen=3 files=1 unproven=2
	assert_equal "$(json '"\(.coverage.level) \(.exit_status)"')" "unproven 3"
	assert_regex "$stderr" "kept 2 directories for lack of proof"
	assert_regex "$stderr" "gap: "
	assert_left "$N" "$F"
}

@test "hidepid and nothing that needs proof: status 0" {
	need_root
	make_root "$USER_UID"
	sleeper
	stage_as_user "${P}0_m" "${P}${SLEEPER}_x"
	age "1 hour" "$R/${P}${SLEEPER}_x"
	run --separate-stderr with_proc hidepid=2 "${AS_USER[@]}" sb-sweep --json "$R"
	assert_success
	assert_counts seen=2 alive=1 malformed=1
	assert_equal "$(json .coverage)" null
}

@test "to the journal unproven is a warning, pinned an information" {
	need_root
	make_root "$USER_UID"
	stage_as_user "$N"
	touch "$BATS_TEST_TMPDIR/out"
	# shellcheck disable=SC2016
	JOURNAL_STREAM=$(stat -c %d:%i "$BATS_TEST_TMPDIR/out") \
		with_proc hidepid=2 "${AS_USER[@]}" sb-sweep "$R" 2>"$BATS_TEST_TMPDIR/out" || true
	run grep -c '^<4>sb-sweep: .*lack of proof' "$BATS_TEST_TMPDIR/out"
	assert_output 1
	hold "${AS_USER[@]}" "$HELPERS/pin-hold" --userns "$R/$N" "$T"
	JOURNAL_STREAM=$(stat -c %d:%i "$BATS_TEST_TMPDIR/out") \
		sb-sweep --uid="$USER_UID" "$R" 2>"$BATS_TEST_TMPDIR/out"
	run cat "$BATS_TEST_TMPDIR/out"
	assert_output --regexp '^<6>sb-sweep: .*kept 1 pinned'
}

@test "--require=complete is not content with covered" {
	need_root
	make_root "$USER_UID"
	stage_as_user "$F"
	# A task of another user's that shows nothing: complete is out of reach for the user.
	mkdir "$R/empty" "$R/source"
	hold "$HELPERS/pin-hold" --chroot="$R/empty" --drop="$OTHER_UID" --no-dump "$R/source" "$T"
	run --separate-stderr as_user sb-sweep --json --require=complete "$R"
	assert_failure 3
	assert_counts seen=1 unproven=1
	assert_regex "$stderr" "complete was required"
}

@test "in a child pid namespace numbers prove nothing: the owner may live outside" {
	sleeper
	stage "${P}${SLEEPER}_x"
	run --separate-stderr unshare --pid --fork --mount-proc sb-sweep --json "$R"
	assert_success
	assert_counts seen=3 alive=3
}

@test "there, what no process can be called is dead, but its directory is unproven" {
	rmdir "$R/$N" "$R/$F"
	stage "${P}99999999999999999999_x"
	run --separate-stderr unshare --pid --fork --mount-proc sb-sweep --json --evidence=namespaces "$R"
	assert_failure 3
	assert_counts seen=1 unproven=1
}

@test "--trust-pidns: the roots are private to this one, and dead is dead" {
	hold "$HELPERS/pin-hold" "$R/$N" "$T"
	# shellcheck disable=SC2016
	run --separate-stderr unshare --pid --fork --mount-proc sh -c '
		sleep 1000 & mkdir "$0/$1$!_x"; touch -d "-1 hour" "$0/$1$!_x"
		"$2" "$0/$3" /mnt >"$4" & until grep -q ready "$4"; do sleep 0.01; done
		sb-sweep --json --trust-pidns "$0"' \
		"$R" "$P" "$HELPERS/pin-hold" "$N" "$BATS_TEST_TMPDIR/ready"
	assert_success
	assert_counts seen=3 dirs=1 alive=1 pinned=1
}

@test "a procfs that is none proves neither who is dead nor what is free" {
	stage "${P}99999999999999999999_x"
	mkdir "$BATS_TEST_TMPDIR/proc"
	sweep --json --procfs="$BATS_TEST_TMPDIR/proc" "$R"
	assert_failure 3
	assert_counts seen=3 alive=2 unproven=1
	sweep --json --procfs=/nowhere "$R"
	assert_failure 3
	assert_counts seen=3 alive=2 unproven=1
}

@test "few descriptors: the pinned entry stays, whatever else comes of it" {
	local limit
	hold "$HELPERS/pin-hold" "$R/$N" "$T"
	for limit in $(seq 3 14); do
		[ -d "$R/$F" ] || stage "$F"
		status=0
		bash -c 'ulimit -n "$1"; exec sb-sweep --json "$0"' "$R" "$limit" || status=$?
		assert_dir_exist "$R/$N"
		# Either all was done, or it says that it was not.
		[ "$status" -ne 0 ] || assert_not_exist "$R/$F"
		[ "$status" -eq 0 ] || assert_dir_exist "$R/$F"
	done
	assert_equal "$status" 0
}

# Each call of a kind fails once, one run after the other, until there is no such call any more.
each_call_fails() {
	local call=$1 error=$2 way=$3 n hits=1 least=$4
	for ((n = 1; hits > 0; n++)); do
		[ -d "$R/$F" ] || stage "$F"
		status=0
		"$HELPERS/deny" --hits="$BATS_TEST_TMPDIR/hits" "$call@$n=$error" -- \
			sb-sweep --json --evidence="$way" "$R" >"$BATS_TEST_TMPDIR/out" 2>&1 || status=$?
		hits=$(cat "$BATS_TEST_TMPDIR/hits")
		[ -d "$R/$N" ] || fail "$call number $n failed with $error, and the pinned entry went"
		[ "$status" -lt 128 ] || fail "$call number $n failed with $error: status $status"
		[ "$n" -lt 400 ] || break
	done
	[ "$n" -gt "$least" ] || fail "only $n runs"
}

@test "whichever call fails, the pinned entry stays: open" {
	hold "$HELPERS/pin-hold" "$R/$N" "$T"
	each_call_fails openat EMFILE kernel 4
	each_call_fails openat ENFILE mountinfo 10
}

@test "whichever call fails, the pinned entry stays: read" {
	hold "$HELPERS/pin-hold" "$R/$N" "$T"
	each_call_fails read EIO mountinfo 10
}

@test "whichever call fails, the pinned entry stays: lists, links, the kernel's own answers" {
	need_root
	hold "$HELPERS/pin-hold" "$R/$N" "$T"
	each_call_fails getdents64 ENOMEM namespaces 3
	each_call_fails ioctl ENOTTY kernel 3
	each_call_fails listmount ENOMEM kernel 2
	each_call_fails statmount ENOMEM kernel 2
	each_call_fails readlinkat EACCES namespaces 3
	each_call_fails statx EIO kernel 2
}

@test "acting for a user: without the user's credentials nothing is touched" {
	need_root
	local rule
	make_root "$USER_UID" 0777
	stage_as_user "$N" "$F"
	touch "$R/${P}${DEAD}_file"
	age "2 days" "$R/${P}${DEAD}_file"
	chown "$USER_UID" "$R/${P}${DEAD}_file"
	for rule in setgroups=EPERM setfsuid=EPERM setfsgid=EPERM; do
		run --separate-stderr "$HELPERS/deny" "$rule" -- sb-sweep --json --uid="$USER_UID" "$R"
		assert_failure 1
		assert_counts
		assert_regex "$stderr" "cannot sweep '$R': Operation not permitted"
		assert_left "$N" "$F" "${P}${DEAD}_file"
	done
}

@test "acting for a user: capabilities that outlive the change of uid override nothing" {
	need_root
	make_root "$USER_UID" 0777
	stage_as_user "$F"
	mkdir -m 700 "$R/$F/theirs"
	echo precious >"$R/$F/theirs/file"
	chown -R "$OTHER_UID" "$R/$F/theirs"
	age "2 days" "$R/$F"
	run --separate-stderr setpriv --securebits +no_setuid_fixup sb-sweep --json --uid="$USER_UID" "$R"
	assert_failure 1
	assert_counts seen=1 failed=1
	assert_equal "$(cat "$R/$F/theirs/file")" precious
	# Acting for oneself needs no change.
	stage "$N"
	run --separate-stderr setpriv --securebits +no_setuid_fixup sb-sweep --json "$R"
	assert_success
	assert_counts seen=2 dirs=1 foreign=1
}

@test "acting for a user: capabilities that cannot be given up: nothing is touched" {
	need_root
	local n
	make_root "$USER_UID"
	stage_as_user "$F"
	touch "$R/$F/file"
	age "2 days" "$R/$F"
	# To confine itself, to be the user, to be root for the scan.
	for n in 1 2 3; do
		run --separate-stderr "$HELPERS/deny" "capset@$n+=EPERM" -- \
			sb-sweep --json --uid="$USER_UID" "$R"
		echo "# $n: $status $output $stderr"
		assert_failure 1
		assert_equal "$(json '.totals.removed | .dirs + .files')" 0
		assert_regex "$stderr" "cannot (give up 'privileges'|sweep '$R'): Operation not permitted"
		assert_file_exist "$R/$F/file"
	done
}

@test "acting for a user: credentials that cannot be had again after the scan end the pass" {
	need_root
	local n
	make_root "$USER_UID" 0777
	# What only its owner may empty, and what root could without any privilege.
	mkdir -m 1777 "$R/$F" "$R/$F/theirs"
	echo precious >"$R/$F/theirs/file"
	chown -R "$OTHER_UID" "$R/$F/theirs"
	mkdir "$R/$F/roots"
	echo precious >"$R/$F/roots/file"
	age "2 days" "$R/$F"
	chown "$USER_UID" "$R/$F"
	for n in $(seq 1 8); do
		run --separate-stderr "$HELPERS/deny" "setfsuid@$n=EPERM" "setgroups@$n=EPERM" -- \
			sb-sweep --json --uid="$USER_UID" "$R"
		echo "# $n: $status $output $stderr"
		assert_equal "$(cat "$R/$F/theirs/file")" precious
		assert_equal "$(cat "$R/$F/roots/file")" precious
		assert_not_equal "$status" 0
	done
}

@test "an ordinary user cannot act for another" {
	need_root
	make_root "$USER_UID"
	stage_as_user "$F"
	run --separate-stderr as_other sb-sweep --uid="$USER_UID" "$R"
	assert_failure 2
	chmod 777 "$R"
	run --separate-stderr as_other sb-sweep --uid="$USER_UID" "$R"
	assert_failure 2
	assert_left "$F"
}
