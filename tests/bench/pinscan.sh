#!/usr/bin/env bash
# sb-pinscan against reading the mountinfo of every task: 12,600 tasks in 18 mount namespaces of 80
# binds; then with twice the binds, and with twice the tasks. Ratios within this run alone.
#
#   tests/bench/pinscan.sh BUILD_DIR
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?BUILD_DIR}" && pwd)
# shellcheck source=tests/bench/common.bash
. "$here/common.bash"

if [ "${inside:-}" != 1 ]; then
	inside=1 exec unshare --mount --propagation private "$0" "$build"
fi

rounds=5 host=
mount -t tmpfs sb-bench /mnt
mkdir /mnt/root /mnt/target

start_host() { # TASKS NAMESPACES BINDS
	mount -t tmpfs sb-bench /mnt/root
	coproc HOST { exec "$build/helpers/pin-tasks" "$@" /mnt/root /mnt/target kirocrew_sb_; }
	host=$HOST_PID
	read -r _ <&"${HOST[0]}"
}

end_host() {
	kill -KILL "$host"
	wait "$host" 2>/dev/null || true
	# By name, for that finds those too that are dead and not yet reaped: they are listed, and they count.
	while pgrep -x pin-tasks >/dev/null; do sleep 0.1; done
	umount -l /mnt/root
}
trap '[ -z "$host" ] || kill -KILL "$host" 2>/dev/null' EXIT

scan() { # KIND: other tasks of the machine come and go, so it may end unproven
	"$build/bin/sb-pinscan" --quiet --names --evidence="$1" 2>/dev/null || [ $? -eq 3 ]
}

check_all_found() { # KIND COUNT
	local found
	found=$(scan "$1" | wc -l)
	[ "$found" -ge "$2" ] || {
		echo "pinscan.sh: $1 found $found pins of $2" >&2
		exit 1
	}
}

# Medians of several runs, taken in turn, so that what else the machine does falls on all alike.
measure() {
	: >/mnt/peer; : >/mnt/namespaces; : >/mnt/kernel
	for ((i = 0; i < rounds; i++)); do
		[ "$1" != all ] || wall "$build/bench/mountinfo" >>/mnt/peer
		wall scan namespaces >>/mnt/namespaces
		wall scan kernel >>/mnt/kernel
	done
	namespaces=$(median </mnt/namespaces)
	kernel=$(median </mnt/kernel)
}

start_host 12600 18 80
for kind in kernel namespaces mountinfo; do check_all_found "$kind" 1440; done
measure all
peer=$(median </mnt/peer) base_namespaces=$namespaces base_kernel=$kernel
line "sb-pinscan by namespaces, faster than every task's mountinfo by" "$peer" "$namespaces" ">=" 20
line "sb-pinscan by kernel, faster than every task's mountinfo by" "$peer" "$kernel" ">=" 150
end_host

start_host 12600 18 160
check_all_found namespaces 2880
measure few
line "twice the mounts a namespace: time by namespaces" "$namespaces" "$base_namespaces" "<=" 1.3
end_host

start_host 25200 18 80
check_all_found namespaces 1440
measure few
line "twice the tasks: time by namespaces" "$namespaces" "$base_namespaces" "<=" 2.1
line "twice the tasks: time by kernel" "$kernel" "$base_kernel" "<=" 2.1
end_host
exit "$missed"
