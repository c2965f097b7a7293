# What the benchmarks share: wall time of a command, medians, and the lines of the table.
# shellcheck shell=bash

# Microseconds that a command takes; its standard output is dropped.
wall() {
	local from=${EPOCHREALTIME/./}
	"$@" >/dev/null
	echo $((${EPOCHREALTIME/./} - from))
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# A line of the table: line WHAT A B SENSE BAR; A over B, which is to be SENSE (<= or >=) BAR.
missed=0
line() {
	awk -v what="$1" -v a="$2" -v b="$3" -v sense="$4" -v bar="$5" 'BEGIN {
		r = a / b; ok = sense == ">=" ? r >= bar : r <= bar
		printf "%-72s | %7.2f | %s %s | %s\n", what, r, sense, bar, ok ? "ok" : "MISSED"
		exit !ok }' || missed=1
}
