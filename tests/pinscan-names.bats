# sb-pinscan: which mounts use which entry: sources, mount points and layers, under any name.
load common
load pinscan

setup() {
	need_root
	make_entries
}

teardown() {
	end_entries
}

@test "names: every odd byte, under the true name, and one line a name" {
	names=("$E a" "$E\\b" "$E"$'\t'"c" "$E"$'\n'"d" "$E\\040" "$E"$'\n'"012" "$E 7" "$E\\"
		"$E"$'\x0b\x0c\x0d' "$E"$'\x01\x1b[31m\x7f' "$E"$'\xff\xfe' "$E"$'\xc3\xa4' "$E#"
		"$E//deleted" "$E,x" "$E:y" "$E\"'" "$E "$'\xe2\x80\xae'"z")
	pairs=()
	i=0
	for name in "${names[@]}"; do
		[[ $name != *//* ]] || name=${name//\//_}
		mkdir "$R/$name" "$EMPTY/$i"
		pairs+=("$R/$name" "$EMPTY/$i")
		i=$((i + 1))
	done
	pin_hold "${pairs[@]}"
	for way in $ROOT_WAYS; do
		for name in "${names[@]}"; do
			[[ $name != *//* ]] || name=${name//\//_}
			scan "$way" "$name"
			assert_status 7
		done
		scan "$way" "$E"
		assert_status 0
		scan "$way" "$E\\x20a"
		assert_status 0
		scan "$way" --names --prefix="$E"
		[ "${#lines[@]}" -eq "${#names[@]}" ]
		assert_line "$E"'\x09c'
		assert_line "$E"'\x0ad'
		assert_line "$E"'\x5c040'
		assert_line "$E"'\x0a012'
		assert_line "$E"'\x0b\x0c\x0d'
		assert_line "$E"'\xff\xfe'
		assert_line "$E"$'\xc3\xa4'
		refute_output --partial $'\x1b'
		scan "$way" --json --prefix="$E"
		[ "$(json '.pins | length')" = "${#names[@]}" ]
		[ "$(json '.pins[] | select(.name | endswith("xfe")).name_hex')" = \
			"$(printf '%s\xff\xfe' "$E" | od -An -v -tx1 | tr -d ' \n')" ]
		[ "$(json '.pins[] | select(.name | endswith(" a")) | has("name_hex")')" = false ]
		scan "$way" --prefix="$E" --no-headings -o NAME
		[ "${#lines[@]}" -eq "${#names[@]}" ]
	done
	scan_as_user auto "$E"$'\n'"d"
	assert_status 7
}

@test "names: all bytes that a name can hold" {
	all=$E
	for ((c = 1; c < 256; c++)); do
		[ "$c" -eq 47 ] || all+=$(printf '%b' "\\x$(printf %02x "$c")x")
		if [ "${#all}" -gt 120 ] || [ "$c" -eq 255 ]; then
			mkdir "$R/$all" "$EMPTY/$c"
			printf '%s\0%s\0' "$R/$all" "$EMPTY/$c" >>"$BATS_TEST_TMPDIR/pairs"
			printf '%s\0' "$all" >>"$BATS_TEST_TMPDIR/names"
			all=$E
		fi
	done
	mapfile -d '' pairs <"$BATS_TEST_TMPDIR/pairs"
	mapfile -d '' names <"$BATS_TEST_TMPDIR/names"
	pin_hold "${pairs[@]}"
	for way in $ROOT_WAYS; do
		for name in "${names[@]}"; do
			scan "$way" "$name"
			assert_status 7
		done
		scan "$way" --names --prefix="$E"
		[ "${#lines[@]}" -eq "${#names[@]}" ]
	done
}

@test "names: a source that was removed while bound pins its name" {
	pin_hold "$R/$E" "$T1"
	rmdir "$R/$E"
	grep -q "$E//deleted" "/proc/$HOLDER/mountinfo"
	for way in $ROOT_WAYS; do
		scan "$way" --json "$E"
		assert_status 7
		[ "$(json '.pins[0].name')" = "$E" ]
		[ "$(json '.pins[0].deleted')" = true ]
	done
	run sb-pinscan --prefix="$E"
	assert_line --regexp "^$E +source +[0-9]+ +yes *\$"
	# Made again: the same name, kept, for nobody can tell which of them is meant.
	mkdir "$R/$E"
	assert_pinned_by "$ROOT_WAYS" "$E"
	# Bound once more: not every mount of it is deleted.
	pin_hold "$R/$E" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" --json "$E"
		[ "$(json '.pins | length')" = 1 ]
		[ "$(json '.pins[0].deleted')" = false ]
	done
}

@test "names: a source that was renamed while bound pins its new name" {
	pin_hold "$R/$E" "$T1"
	mv "$R/$E" "$R/${E}new"
	assert_pinned_by "$ROOT_WAYS" "${E}new"
	assert_free_by "$ROOT_WAYS" "$E"
}

@test "names: a directory that is called deleted" {
	mkdir -p "$R/$E/deleted"
	pin_hold "$R/$E/deleted" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" --json "$E"
		assert_status 7
		[ "$(json '.pins[0].deleted')" = false ]
	done
	rmdir "$R/$E/deleted"
	for way in $ROOT_WAYS; do
		scan "$way" --json "$E"
		assert_status 7
		[ "$(json '.pins[0].deleted')" = true ]
	done
}

@test "names: what is bound from below an entry, or as a file, or deep in a root" {
	mkdir -p "$R/$E/a/b/c" "$R/x/y/${E}deep/z"
	touch "$R/${E}file" "$D/file"
	pin_hold "$R/$E/a/b/c" "$T1" "$R/${E}file" "$D/file" "$R/x/y/${E}deep/z" "$T2"
	for name in "$E" "${E}file" "${E}deep"; do
		assert_pinned_by "$ROOT_WAYS" "$name"
	done
	rm "$R/${E}file"
	assert_pinned_by "$ROOT_WAYS" "${E}file"
}

@test "names: mount points, on an entry or below it, in another namespace" {
	mkdir -p "$R/$E/below/it" "$R/${E}on"
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private sh -c '
		mount -t tmpfs own "$0/below/it" && mount -t tmpfs own "$1" && echo ready &&
		exec sleep infinity' "$R/$E" "$R/${E}on"
	for name in "$E" "${E}on"; do
		for way in $ROOT_WAYS; do
			scan "$way" --json "$name"
			assert_status 7
			[ "$(json '.pins[0].as')" = mountpoint ]
			[ "$(json '.pins[0].deleted')" = false ]
		done
		scan_as_user auto "$name"
		assert_status 7
	done
	# rmdir(2) from here would succeed, and detach it there: that is why.
	rmdir "$R/${E}on"
	run grep "${E}on" "/proc/$HOLDER/mountinfo"
	assert_failure
}

@test "names: mount points in our own namespace" {
	mount -t tmpfs own "$R/$E"
	assert_pinned_by "$ROOT_WAYS" "$E"
	umount "$R/$E"
	assert_free_by "$ROOT_WAYS" "$E"
}

@test "names: a mount point seen through a bind of the root's directory" {
	# The root is bound elsewhere there, and the entry mounted on through that.
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private sh -c '
		mount --bind "$0" "$2" && mount -t tmpfs own "$2/$1" && umount -l "$0" &&
		echo ready && exec sleep infinity' "$R" "$E" "$T1"
	assert_pinned_by "$ROOT_WAYS" "$E"
}

@test "names: mount points on the filesystem of a default root, be it a tmpfs or not" {
	disk=$(mktemp -d /var/tmp/sb.XXXXXX)
	mkdir -p "$disk/$E" "$disk/in/${E}in"
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private sh -c '
		mount -t tmpfs own "$0" && mount -t tmpfs own "$1" && echo ready && exec sleep infinity' \
		"$disk/$E" "$disk/in/${E}in"
	export TMPDIR=$disk
	for name in "$E" "${E}in"; do
		for way in $ROOT_WAYS; do
			scan "$way" "$name"
			[ "$status" = 7 ] || break 2
		done
	done
	unset TMPDIR
	let_go
	rm -r "$disk"
	assert_status 7
}

@test "names: a mount point on another filesystem that merely has the name" {
	# A directory of the root filesystem, which is no tmpfs.
	other=$(mktemp -d /var/tmp/sb.XXXXXX)
	mkdir "$other/$E"
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private sh -c '
		mount -t tmpfs own "$0" && echo ready && exec sleep infinity' "$other/$E"
	for way in $ROOT_WAYS; do
		scan "$way" "$E"
		[ "$status" = 0 ] || break
	done
	let_go
	rm -r "$other"
	assert_status 0
}

@test "names: a second filesystem with an entry of the same name" {
	mount -t tmpfs own "$OWN"
	mkdir "$OWN/$E"
	pin_hold "$OWN/$E" "$T1"
	assert_pinned_by "$ROOT_WAYS" "$E"
	umount "$OWN"
}

@test "names: layers of an overlay" {
	for layer in lower upper work; do
		mkdir -p "$R/$E$layer/dir" "$EMPTY/$layer/lower" "$EMPTY/$layer/upper" \
			"$EMPTY/$layer/work" "$EMPTY/$layer/on"
	done
	mkdir -p "$R/${E}upper/work" "$R/${E}work/upper" "$R/$E:colon" "$R/${E}second" "$D/plain"
	# Upper and work directories have to be on one filesystem.
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private sh -c '
		R=$0 E=$1 EMPTY=$2 D=$3
		mount -t overlay none -o "lowerdir=$R/${E}lower/dir:$D/plain" "$EMPTY/lower/on" &&
		mount -t overlay none -o "lowerdir=$D/plain,upperdir=$R/${E}upper/dir,workdir=$R/${E}upper/work" "$EMPTY/upper/on" &&
		mount -t overlay none -o "lowerdir=$R/$E\\:colon:$R/${E}second" "$EMPTY/work/on" &&
		echo ready && exec sleep infinity' "$R" "$E" "$EMPTY" "$D"
	for name in "${E}lower" "${E}upper" "$E:colon" "${E}second"; do
		for way in $ROOT_WAYS; do
			scan "$way" --json "$name"
			assert_status 7
			[ "$(json '.pins[0].as')" = layer ]
		done
	done
	scan_as_user auto "${E}lower"
	assert_status 7
}

@test "names: the work directory of an overlay alone" {
	mkdir -p "$R/outside" "$R/$E/work" "$D/lower"
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private sh -c '
		mount -t overlay none -o "lowerdir=$2,upperdir=$0/outside,workdir=$0/$1/work" "$3" &&
		echo ready && exec sleep infinity' "$R" "$E" "$D/lower" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" --json "$E"
		assert_status 7
		[ "$(json '.pins[0].as')" = layer ]
	done
}

@test "names: layers whose names hold a comma, a blank, a backslash" {
	mkdir "$R/$E,comma" "$R/$E blank" "$R/$E\\back" "$D/other"
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private python3 -c '
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def check(r):
    if r < 0: raise OSError(ctypes.get_errno(), "overlay")
    return r
names, target = [n.encode() for n in sys.argv[1:-1]], sys.argv[-1].encode()
fs = check(libc.syscall(430, b"overlay", 0))
for name in names:
    check(libc.syscall(431, fs, 1, b"lowerdir+", name, 0))
check(libc.syscall(431, fs, 6, None, None, 0))
mnt = check(libc.syscall(432, fs, 0, 0))
check(libc.syscall(429, mnt, b"", -100, target, 4))
print("ready", flush=True)
time.sleep(1e6)' "$R/$E,comma" "$R/$E blank" "$R/$E\\back" "$D/other" "$T1"
	for name in "$E,comma" "$E blank" "$E\\back"; do
		assert_pinned_by "$ROOT_WAYS" "$name"
	done
}

@test "names: an entry that is several things at once says the strongest" {
	mkdir "$D/plain"
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private sh -c '
		mount -t overlay none -o "lowerdir=$0:$2" "$1" &&
		mount -t tmpfs own "$0" && echo ready && exec sleep infinity' \
		"$R/$E" "$T1" "$D/plain"
	for way in $ROOT_WAYS; do
		scan "$way" --json "$E"
		[ "$(json '.pins[0].as')" = mountpoint ]
	done
	pin_hold "$R/$E" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" --json "$E"
		[ "$(json '.pins | length')" = 1 ]
		[ "$(json '.pins[0].as')" = source ]
	done
}

@test "names: one namespace with 20,000 mounts" {
	pin_hold --flood=20000:"$OWN" "$R/$E" "$T1"
	for way in auto kernel namespaces mountinfo; do
		scan "$way" "$E"
		assert_status 7
		scan "$way" "$F"
		assert_status 0
	done
}

@test "names: mounts that were moved, and mounts on mounts" {
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private sh -c '
		mkdir "$2/a" && mount --bind "$0" "$2/a" && mount -t tmpfs own "$1" &&
		mkdir "$1/b" && mount --move "$2/a" "$1/b" && mount -t tmpfs over "$1" &&
		mount -t tmpfs over "$1" && echo ready && exec sleep infinity' "$R/$E" "$T1" "$D"
	assert_pinned_by "$ROOT_WAYS" "$E"
	assert_free_by "$ROOT_WAYS" "$F"
}

@test "names: a pin below a root that was changed by pivot_root" {
	mkdir "$OWN/old" "$OWN/bound"
	# The old root goes, and with it the directory that the entry was bound by.
	# shellcheck disable=SC2016
	hold unshare --mount --propagation private bash -c '
		mount -t tmpfs -o mode=755 own "$1" && cd "$1" && mkdir old bound bin lib lib64 usr proc &&
		for dir in bin lib lib64 usr; do mount --rbind "/$dir" "$dir"; done &&
		mount --bind "$0" bound && mount -t proc proc proc &&
		pivot_root . old && umount -l old && echo ready && exec sleep infinity' "$R/$E" "$OWN"
	assert_pinned_by "$ROOT_WAYS" "$E"
	assert_free_by "auto kernel namespaces" "$F"
}

@test "names: pins that the scan's own root does not reach" {
	mount --rbind / "$OWN"
	mount --make-rprivate "$OWN"
	# Bound after that, and outside of it.
	pin_hold --same-ns "$R/$E" "$T1"
	# With the right to look above its root, and without any.
	for caps in +all -all; do
		# shellcheck disable=SC2054 # chroot's own right is spent by then
		scan_as=(chroot "$OWN" setpriv --bounding-set="$caps")
		for way in kernel namespaces mountinfo; do
			[ "$caps" != -all ] || [ "$way" != kernel ] || continue
			scan "$way" "$E"
			assert_status 7 3
		done
		[ "$caps" != -all ] || assert_status 7 # others show what it does not reach
	done
	umount "$T1"
	# What stands on an entry is seen only by where it stands.
	mount -t tmpfs own "$R/$E"
	for way in kernel namespaces mountinfo; do
		scan_as=(chroot "$OWN")
		scan "$way" "$E"
		assert_status 7 3
	done
	umount "$R/$E"
	umount -l "$OWN"
}

@test "names: pins in the scan's own namespace, that nobody else is in and its root does not reach" {
	for caps in +all -all; do
		# shellcheck disable=SC2016
		scan_as=(unshare --mount --propagation private sh -c '
			mount --rbind / "$2" && mount --make-rprivate "$2" && mount --bind "$0" "$1" &&
			caps=$3 dir=$2 && shift 3 &&
			exec chroot "$dir" setpriv --bounding-set="$caps" "$@"' \
			"$R/$E" "$T1" "$OWN" "$caps")
		for way in kernel namespaces mountinfo; do
			scan "$way" "$E"
			assert_status 7 3
		done
	done
}

@test "names: a pin on a mount that was covered later, in a namespace of a chroot" {
	mount -t tmpfs -o mode=755 own "$OWN"
	pin_hold --chroot="$OWN" "$R/$E" "$T1"
	scan namespaces "$E"
	assert_status 7
	umount "$OWN"
}
