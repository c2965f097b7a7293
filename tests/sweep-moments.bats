#!/usr/bin/env bats
# sb-sweep and sb-legacy-heal: what time does to a run. Launchers seen through another procfs, what
# comes while a run goes on, what a run leaves to the next one.
# shellcheck disable=SC2154
load common
load sweep

setup() {
	make_root
	E=$R/${P}${DEAD}_x
}

teardown() {
	end_started
	unmount_root
	[ -z "${OTHER:-}" ] || umount -l "$OTHER"
}

MANY=100000 # a run over so many can be caught at it

# How many directories are in $R: each has a link to it.
directories() {
	echo "$(($(stat -c %h "$R") - 2))"
}

fewer_than() {
	[ "$(directories)" -lt "$1" ]
}

# In a pid namespace of its own, with a procfs of its own, and the one of the outside at /mnt/host.
inside() {
	mkdir -p /mnt/host
	# shellcheck disable=SC2016
	unshare --mount --propagation private sh -c '
		mount --rbind /proc /mnt/host &&
		exec unshare --pid --fork --mount-proc --kill-child "$@"' sh "$@"
}

@test "--procfs of the outside: a launcher that lives there is alive" {
	sleeper
	stage "$P${SLEEPER}_dir" "$P${DEAD}_dir"
	touch "$R/$P${SLEEPER}_file" "$R/$P${DEAD}_file"
	age "2 hours" "$R"/*
	run --separate-stderr inside sb-sweep --json --trust-pidns --procfs=/mnt/host "$R"
	echo "# $output; $stderr"
	[ -d "$R/$P${SLEEPER}_dir" ]
	[ -e "$R/$P${SLEEPER}_file" ]
	[ ! -e "$R/$P${DEAD}_file" ]
	assert_equal "$(json .totals.kept.alive)" 2
}

@test "--procfs: numbers prove where it and we are in the initial pid namespace" {
	touch "$E"
	age "2 hours" "$E"
	run --separate-stderr inside sb-sweep --json --procfs=/mnt/host "$R"
	assert_counts seen=1 alive=1
	# Where it is another one's.
	mkdir -p /mnt/proc
	hold unshare --pid --fork --kill-child sh -c 'mount -t proc proc /mnt/proc && echo ready
		exec sleep infinity'
	sweep --json --procfs=/mnt/proc "$R"
	umount /mnt/proc
	assert_counts seen=1 alive=1
	# Where it tells a lie of us: kill(2) asks within.
	# shellcheck disable=SC2016
	run --separate-stderr inside sh -c 'read -r pid _ </mnt/host/self/stat
		mount -t tmpfs lie "/mnt/host/$pid" && mkdir "/mnt/host/$pid/ns" &&
		ln -s "pid:[4026531836]" "/mnt/host/$pid/ns/pid" && exec "$@"' sh \
		sb-sweep --json --procfs=/mnt/host "$R"
	assert_counts seen=1 alive=1
	mount --bind /proc /mnt/proc
	sweep --json --procfs=/mnt/proc "$R"
	umount /mnt/proc
	assert_success
	assert_counts seen=1 files=1
}

@test "--procfs that is none of our kernel's, and none that says whose: every number is alive" {
	mkdir "$BATS_TEST_TMPDIR/proc"
	touch "$E"
	age "2 hours" "$E"
	sweep --json --procfs="$BATS_TEST_TMPDIR/proc" "$R"
	assert_counts seen=1 alive=1
}

@test "what grew old while an earlier root was swept is still young" {
	OTHER=$(mktemp -d /mnt/other.XXXXXX)
	mount -t tmpfs -o mode=0700 sb-other "$OTHER"
	"$HELPERS/stage" "$R" "$MANY"
	mkdir "$OTHER/$P${DEAD}_late"
	# 59 s old when the run begins; 60 s and more when it comes to this root.
	age "59 seconds" "$OTHER/$P${DEAD}_late"
	sb-sweep --budget=0 "$R" "$OTHER" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	local pid=$!
	remember "$pid"
	wait_until fewer_than "$MANY"
	kill -STOP "$pid"
	old() { [ "$(($(date +%s) - $(stat -c %Y "$OTHER/$P${DEAD}_late")))" -gt 61 ]; }
	wait_until old
	kill -CONT "$pid"
	wait "$pid"
	cat "$BATS_TEST_TMPDIR/out"
	grep -q "^$OTHER: removed 0 directories, 0 files; kept 1 young" "$BATS_TEST_TMPDIR/out"
	assert_left
}

@test "what cannot be removed does not keep what stands beside it, at any depth" {
	need_root
	local i
	mkdir -p "$E"/{1,2,3,4}/{a,b,c}/{x,y}
	touch "$E"/{1,2,3,4}/{a,b,c}/{x,y}/file
	for i in 2/b/x 3/a 4; do
		chown root:root "$E/$i"
	done
	chown -h -R "$USER_UID:$USER_UID" "$E"/1 "$E"/{2,3,4}/{b,c}
	chown "$USER_UID:$USER_UID" "$R" "$E" "$E"/{2,3} "$E"/2/a "$E"/2/a/{x,y}
	chown root:root "$E/2/b/x"
	age "2 days" "$E"
	sweep --json --uid="$USER_UID" "$R"
	assert_equal "$status" 1
	assert_counts seen=1 failed=1
	assert_equal "$(json '.roots[0].failures[0].error')" "Permission denied"
	# All that is left is below what is root's, or leads there.
	assert_equal "$(cd "$E" && find . -mindepth 1 -path ./1 -o -path './2/c*' -o -path './2/b/y*' \
		-o -path './3/b*' -o -path './3/c*')" ""
	[ -e "$E/2/b/x/file" ]
	[ -d "$E/3/a" ]
	[ -d "$E/4/a" ]
}

@test "a directory with thousands of populated ones is listed no more than it takes" {
	export ASAN_OPTIONS=detect_leaks=0
	mkdir "$E"
	(cd "$E" && seq 4000 | sed 's,$,/x,' | xargs mkdir -p)
	age "2 days" "$E"
	run strace -e trace=getdents64 -o "$BATS_TEST_TMPDIR/calls" sb-sweep "$R"
	assert_success
	assert_left
	# A listing of 4,000 names takes 100 KB; one for each name would be 400 MB.
	[ "$(awk '{ bytes += $NF } END { print bytes }' "$BATS_TEST_TMPDIR/calls")" -lt 10000000 ]
}

@test "a budget that ends within a pile leaves a whole pile to the next run, or nothing" {
	local n left marker=$BATS_TEST_TMPDIR/done
	for n in 64 65 127 128 129 500; do
		rm -f "$marker"
		"$HELPERS/stage" --legacy "$R" "$n"
		while :; do
			run --separate-stderr sb-legacy-heal --json --budget=1ms --marker="$marker" "$R"
			left=$(find "$R" -mindepth 1 | wc -l)
			echo "# $n: status $status, $left left"
			# What is seen is what is decided.
			assert_equal "$(json '.totals | .seen - .removed.dirs - ([.kept[]] | add)')" 0
			[ "$status" = 4 ] || break
			[ "$left" -ge 64 ]
			[ ! -e "$marker" ]
		done
		assert_equal "$status" 0
		assert_equal "$left" 0
		[ -e "$marker" ]
	done
}

@test "a signal while a pile goes: what went is told, no marker, and the next run ends it" {
	local marker=$BATS_TEST_TMPDIR/done
	"$HELPERS/stage" --legacy "$R" "$MANY"
	sb-legacy-heal --json --budget=0 --marker="$marker" "$R" >"$BATS_TEST_TMPDIR/out" 3>&- &
	local pid=$!
	remember "$pid"
	wait_until fewer_than "$MANY"
	kill -TERM "$pid"
	wait "$pid" || status=$?
	output=$(cat "$BATS_TEST_TMPDIR/out")
	assert_equal "$(json .exit_status)" 4
	assert_equal "$(json .marker.state)" withheld
	assert_equal "$(json .totals.removed.dirs)" "$((MANY - $(directories)))"
	[ ! -e "$marker" ]
	run --separate-stderr sb-legacy-heal --budget=0 --marker="$marker" "$R"
	assert_success
	assert_left
}
