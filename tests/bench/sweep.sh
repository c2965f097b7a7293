#!/usr/bin/env bash
# sb-sweep and sb-legacy-heal over a million empty directories on a tmpfs, against a loop that does
# nothing but list and remove them, and against find -delete. Taken in turn, so that what else the
# machine does falls on all alike; medians; ratios within this run alone.
#
#   tests/bench/sweep.sh BUILD_DIR [ENTRIES [ROUNDS]]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?BUILD_DIR}" && pwd)
entries=${2:-1000000}
rounds=${3:-3}
# shellcheck source=tests/bench/common.bash
. "$here/common.bash"

if [ "${inside:-}" != 1 ]; then
	inside=1 exec unshare --mount --propagation private "$0" "$build" "$entries" "$rounds"
fi

mount -t tmpfs sb-bench /mnt
mkdir /mnt/root /mnt/times
bench=$build/bench/sweep

# One run over fresh entries: measure NAME COUNT STAGE-OPTION COMMAND... The tmpfs is a new one each
# time, for an old one is faster; where its pages lie is no part of the question.
measure() {
	local name=$1 count=$2 kind=$3
	shift 3
	mount -t tmpfs -o mode=0700,size=90%,nr_inodes=0 sb-bench /mnt/root
	"$build/helpers/stage" ${kind:+"$kind"} /mnt/root "$count"
	"$bench" time "$@" 2>>"/mnt/times/$name" >/dev/null || {
		echo "sweep.sh: failed: $*" >&2
		exit 1
	}
	[ "$(stat -c %h /mnt/root)" -eq 2 ] || {
		echo "sweep.sh: not all went: $*" >&2
		exit 1
	}
	umount /mnt/root
}

of() { # NAME FIELD: the median of a field of a run's lines
	cut -d' ' -f"$2" "/mnt/times/$1" | median
}

heal() {
	measure "$1" "$2" --legacy "$build/bin/sb-legacy-heal" --quiet --budget=0 --ignore-marker \
		--marker=/mnt/times/marker /mnt/root
	rm /mnt/times/marker
}

for ((i = 0; i < rounds; i++)); do
	measure bare "$entries" "" "$bench" bare /mnt/root
	measure sweep "$entries" "" "$build/bin/sb-sweep" --quiet --budget=0 /mnt/root
	measure find "$entries" "" find /mnt/root -mindepth 1 -maxdepth 1 -type d \
		-name 'kirocrew_sb_*' -mmin +1440 -delete
	measure bare-legacy "$entries" --legacy "$bench" bare /mnt/root
	heal heal "$entries"
done
measure sweep-tenth $((entries / 10)) "" "$build/bin/sb-sweep" --quiet --budget=0 /mnt/root
heal heal-tenth $((entries / 10))

line "sb-sweep, $entries entries, against the bare loop" "$(of sweep 1)" "$(of bare 1)" "<=" 1.15
line "sb-sweep, faster than find -delete by" "$(of find 1)" "$(of sweep 1)" ">=" 1.3
line "sb-legacy-heal, $entries entries, against the bare loop" "$(of heal 1)" \
	"$(of bare-legacy 1)" "<=" 1.15
# Peaks are told by the page; the libraries' own differ by some pages from run to run.
for tool in sweep heal; do
	line "peak memory of sb-$tool, in KiB, against 8 MiB" "$(of $tool 2)" 8192 "<=" 1
	line "the same against a tenth of the entries" "$(of $tool 2)" "$(of $tool-tenth 2)" "<=" 1.05
done
exit "$missed"
