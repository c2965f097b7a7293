# Adversaries at work while root sweeps or heals a user's directory, and what must not have changed
# when they are through. Needs common and sweep.
# shellcheck shell=bash disable=SC2034,SC2154

# All on one file system: nothing but the rules of the walk keeps it out of the canaries. $R is the
# directory that is swept; $B is what lies around it.
make_playground() {
	local canary
	B=$(mktemp -d /mnt/attack.XXXXXX)
	mount -t tmpfs -o mode=0755 sb-attack "$B"
	R=$B/root
	mkdir -m 700 "$R" "$B/hoard"
	for canary in canary-user canary-root; do
		mkdir -p "$B/$canary"/{a,b}/{c,d}
		# Names that a walk which went astray would know from the entries.
		mkdir -p "$B/$canary/0/0/0" "$B/$canary"/{${P}${DEAD}_x,tmpabcdefg0}
		echo precious | tee "$B/$canary"/{file,victim,a/file,b/d/file,0/file,0/0/0/file} >/dev/null
		ln -s /etc "$B/$canary/link"
		mkfifo "$B/$canary/a/fifo"
		find "$B/$canary" -exec touch --no-dereference --date="-3 days" {} +
	done
	echo precious >"$B/victim"
	chown -R -h "$USER_UID:$USER_UID" "$R" "$B/hoard" "$B/canary-user" "$B/victim"
	describe_canaries >"$BATS_TEST_TMPDIR/canaries"
	describe_victim >"$BATS_TEST_TMPDIR/victim"
	COUNTS=$(mktemp -d /mnt/counts.XXXXXX)
	chmod 777 "$COUNTS"
	NAMES=()
	for i in 1 2 3 4 5 6; do NAMES+=("${P}${DEAD}_$i"); done
	LEGACY=()
	for i in 1 2 3 4 5 6; do LEGACY+=("tmpabcdefg$i"); done
}

remove_playground() {
	[ -z "${B:-}" ] || umount -l "$B"
}

# Every path, inode, mode, owner, links, size, and the times of its content and of itself; and all
# the bytes there are.
describe_canaries() {
	(cd "$B" && find canary-user canary-root \
		-printf '%p %y %i %#m %U %G %n %s %T@ %C@ %l\n' | LC_ALL=C sort &&
		find canary-user canary-root -type f -exec sha256sum {} + | LC_ALL=C sort)
}

# Its links, and with them the time of its inode, change as they are made and removed.
describe_victim() {
	stat -c '%i %a %u %g %s %y' "$B/victim" && sha256sum "$B/victim"
}

all_is_untouched() {
	describe_canaries | diff "$BATS_TEST_TMPDIR/canaries" - || fail "a canary was touched"
	describe_victim | diff "$BATS_TEST_TMPDIR/victim" - || fail "the victim was touched"
}

# attack SEED OPTION... -- ENTRY...: starts an adversary; its pid is in $HOLDER.
attack() {
	local seed=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	echo "# attacker: seed $seed"
	hold "${AS_USER[@]}" "$HELPERS/attacker" ${options[@]+"${options[@]}"} \
		"$B" "$R" "$seed" "$COUNTS/$seed" "$@"
}

exchanges() {
	local file sum=0
	for file in "$COUNTS"/*; do sum=$((sum + 10#$(cat "$file"))); done
	echo "$sum"
}

# What a run may come to while it is fought: done, something failed, unproven, more to do, young.
fought() {
	status=0
	"$@" >>"$BATS_TEST_TMPDIR/out" 2>>"$BATS_TEST_TMPDIR/err" || status=$?
	case $status in
	0 | 1 | 3 | 4 | 5) ;;
	*) fail "$*: status $status: $(tail -n 3 "$BATS_TEST_TMPDIR/err")" ;;
	esac
}

# fight RUNS EXCHANGES COMMAND...: over and over, until there were so many of both.
fight() {
	local runs=0 least=$1 swaps=$2
	shift 2
	while [ "$runs" -lt "$least" ] || [ "$(exchanges)" -lt "$swaps" ]; do
		kill -0 "$HOLDER" || fail "the attacker is gone: $(cat "$BATS_TEST_TMPDIR"/hold.*)"
		fought "$@"
		runs=$((runs + 1))
	done
	echo "# $runs runs, $(exchanges) exchanges; removed: $(removed_in_all)"
	all_is_untouched
}

removed_in_all() {
	sed -n 's/^.*: removed \([0-9]*\) director[a-z]*, \([0-9]*\) file.*$/\1 \2/p' \
		"$BATS_TEST_TMPDIR/out" | awk '{ dirs += $1; files += $2 } END { print dirs + files + 0 }'
}

# Sweep and heal are root's run for the user; --min-age and --max-age leave no rest to the entries.
SWEEP=(sb-sweep --min-age=0)
HEAL=(sb-legacy-heal --ignore-marker --threshold=1 --max-age=0)
