#!/usr/bin/env bash
# sb-sweep and sb-legacy-heal against a loop of nothing but getdents64 and unlinkat, and sb-sweep
# against find -delete: 1,000,000 empty directories on a tmpfs, two days old; and how much memory
# they take. In turn, so that what else the machine does falls on all alike.
#
#   tests/bench/sweep.sh BUILD_DIR [COUNT [ROUNDS]]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?BUILD_DIR}" && pwd)
count=${2:-1000000} rounds=${3:-3}
# shellcheck source=tests/bench/common.bash
. "$here/common.bash"

if [ "${inside:-}" != 1 ]; then
	inside=1 exec unshare --mount --propagation private "$0" "$build" "$count" "$rounds"
fi

root=/mnt/root
mount -t tmpfs sb-bench /mnt
mkdir -m 700 "$root"
export XDG_STATE_HOME=/mnt/state

sweep() {
	"$build/bin/sb-sweep" --quiet --budget=0 "$root"
}

heal() {
	"$build/bin/sb-legacy-heal" --quiet --budget=0 --ignore-marker "$root"
}

bare() {
	"$build/bench/bare-unlink" "$root"
}

delete_by_find() {
	find "$root" -mindepth 1 -maxdepth 1 -type d -name 'kirocrew_sb_*' -mmin +1440 -delete
}

fill() { # COUNT [OPTION...]
	mount -t tmpfs -o mode=700,nr_inodes=0 sb-bench "$root"
	"$build/helpers/stage" "${@:2}" "$root" "$1"
}

drain() {
	[ -z "$(ls -A "$root")" ] || {
		echo "sweep.sh: not all is gone" >&2
		exit 1
	}
	umount "$root"
}

# A measure: measure FILE COMMAND..., of what fill was told.
measure() {
	fill "$count" "${kind[@]}"
	wall "${@:2}" >>"/mnt/$1"
	drain
}

kind=()
for ((i = 0; i < rounds; i++)); do
	measure bare bare
	measure sweep sweep
	measure find delete_by_find
done
bare=$(median </mnt/bare) sweep=$(median </mnt/sweep) find=$(median </mnt/find)
line "sb-sweep, $count directories: time over getdents64 + unlinkat" "$sweep" "$bare" "<=" 1.15
line "sb-sweep, $count directories: faster than find -delete by" "$find" "$sweep" ">=" 1.3

kind=(--legacy)
for ((i = 0; i < rounds; i++)); do
	measure bare-legacy bare
	measure heal heal
done
line "sb-legacy-heal, $count directories: time over getdents64 + unlinkat" \
	"$(median </mnt/heal)" "$(median </mnt/bare-legacy)" "<=" 1.15

# Peaks in KiB. Which pages of the libraries come in is a matter of chance, so the few are run three
# times: their largest peak is what the many are held against.
peak() { # COUNT COMMAND...
	fill "$1" "${kind[@]}"
	"$build/bench/peak" "${@:2}"
	drain
}
for tool in sb-sweep sb-legacy-heal; do
	kind=() options=()
	[ $tool = sb-sweep ] || kind=(--legacy) options=(--ignore-marker)
	few=$(for i in 1 2 3; do
		peak $((count / 10)) "$build/bin/$tool" --quiet --budget=0 "${options[@]}" "$root"
	done | sort -n | tail -n 1)
	many=$(peak "$count" "$build/bin/$tool" --quiet --budget=0 "${options[@]}" "$root")
	line "$tool, $count directories: peak of memory in MiB" "$many" 1024 "<=" 8
	line "$tool: that peak over the one for $((count / 10))" "$many" "$few" "<=" 1.05
done
exit "$missed"
