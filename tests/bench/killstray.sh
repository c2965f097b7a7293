#!/usr/bin/env bash
# sb-killstray against a program that knows the numbers of the strays, and against a polling shell
# loop, in turn, in a pid namespace of its own. Prints medians and their ratios.
#
#   tests/bench/killstray.sh BUILD_DIR [ROUNDS]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?BUILD_DIR}" && pwd)
rounds=${2:-11}

if [ "${inside:-}" != 1 ]; then
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	# An ordinary user runs what is measured, so it has to be where that user can reach it.
	cp "$build/bin/sb-killstray" "$build/bench/killstray" "$here/killstray-loop.sh" "$scratch/"
	chmod -R a+rX "$scratch"
	chmod 1777 "$scratch"
	inside=1 scratch=$scratch unshare --mount --pid --fork --kill-child --mount-proc \
		"$0" "$build" "$rounds"
	exit
fi

cd "$scratch"
as_user() {
	setpriv --reuid 61402 --regid 61402 --clear-groups "$@"
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# One run of a way to end 200 strays, of which one takes that long: its microseconds.
measure() { # LATE_MS COMMAND...
	as_user ./killstray strays 200 "$scratch/pids" "$1"
	sleep 0.05 # the strays have to be at rest
	as_user ./killstray time "${@:2}" 2>"$scratch/took" >"$scratch/said"
	cat "$scratch/took"
	grep -qx "stray processes killed: 200" "$scratch/said" || {
		echo "not all were ended: $(cat "$scratch/said")" >&2
		exit 1
	}
	while pgrep -u 61402 >/dev/null; do sleep 0.01; done
	rm -f "$scratch/pids"
}

status=0
ratio() { # NAME ONE OTHER BAR: ONE over OTHER, which may be BAR at most
	awk -v name="$1" -v a="$2" -v b="$3" -v bar="$4" -v above="$5" 'BEGIN {
		r = a / b; ok = above ? r >= bar : r <= bar
		printf "%-62s %6.2f x  (bar %s %s)%s\n", name, r, above ? ">=" : "<=", bar, ok ? "" : "  MISSED"
		exit !ok }' || status=1
}

for late in 0 30; do
	: >tool; : >know; : >loop
	for ((i = 0; i < rounds; i++)); do
		measure $late ./sb-killstray >>tool
		measure $late ./killstray know "$scratch/pids" >>know
		[ $((i % 3)) -ne 0 ] || measure $late ./killstray-loop.sh >>loop
	done
	tool=$(median <tool) know=$(median <know) loop=$(median <loop)
	printf '200 strays, one leaves after %d ms: sb-killstray %.1f ms, knowing %.1f ms, loop %.1f ms\n' \
		$late "$((tool))e-3" "$((know))e-3" "$((loop))e-3"
	if [ $late -eq 0 ]; then
		ratio "sb-killstray / a program that knows the pids" "$tool" "$know" 2 0
		ratio "ps + awk + kill loop / sb-killstray" "$loop" "$tool" 1.5 1
	else
		ratio "ps + awk + kill loop / sb-killstray, one takes $late ms" "$loop" "$tool" 2 1
	fi
done
exit $status
