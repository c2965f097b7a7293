#!/usr/bin/env bats
# sb-sweep: what others do to a tree while it is being removed. The tool is stopped after a chosen
# call, the tree is changed, and the tool goes on: no luck is needed to meet the moment.
# shellcheck disable=SC2154,SC2030,SC2031
load common
load sweep

setup() {
	need_root
	# The sanitizer cannot look for leaks in what is traced.
	export ASAN_OPTIONS=detect_leaks=0
	make_root
	E=$R/${P}${DEAD}_x
	# On the same filesystem, so that nothing but the rules of the walk keeps it out of it.
	V=$R/victim
	mkdir -p "$V/dir" "$E/a/b"
	echo precious >"$V/file"
	echo precious >"$V/dir/file"
	touch "$E/a/b/file"
	describe >"$BATS_TEST_TMPDIR/victim"
	age "2 days" "$E"
}

teardown() {
	end_started
	unmount_root
}

# The times of $V itself change with what is moved in there.
describe() {
	(cd "$V" && find . -mindepth 1 -printf '%p %i %m %u %g %n %s %T@\n' | LC_ALL=C sort &&
		cat file dir/file)
}

victim_is_untouched() {
	describe | diff "$BATS_TEST_TMPDIR/victim" -
}

# stop_after N COMMAND...: starts a sweep, and waits until it has made its Nth unlinkat and stands.
# The first two are at the entry itself, which is judged again when it turns out to be populated.
# With CALL it is another one.
stop_after() {
	stop_at "${CALL:-unlinkat}" "$@"
	cat "$BATS_TEST_TMPDIR/calls"
}

# Lets it go on to its end: output, status and stderr as with run.
go_on() {
	kill -CONT "$STOPPED"
	status=0
	wait "$STRACE" || status=$?
	output=$(cat "$BATS_TEST_TMPDIR/out")
	stderr=$(cat "$BATS_TEST_TMPDIR/err")
	echo "# status $status; $output; $stderr"
	cat "$BATS_TEST_TMPDIR/calls"
}

@test "the entry is exchanged for another directory before it is opened: not emptied" {
	stop_after 2 sb-sweep --json "$R"
	mv "$E" "$R/elsewhere"
	mv "$V" "$E"
	go_on
	V=$E
	victim_is_untouched
	[ -e "$R/elsewhere/a/b/file" ]
	assert_equal "$status" 0
	assert_counts seen=1 vanished=1
}

@test "the entry is exchanged for a link before it is opened: not followed" {
	stop_after 2 sb-sweep --json "$R"
	mv "$E" "$R/elsewhere"
	ln -s victim "$E"
	go_on
	victim_is_untouched
	[ -L "$E" ]
	[ -e "$R/elsewhere/a/b/file" ]
}

@test "a directory in the entry is exchanged for a link before it is opened: not followed" {
	stop_after 3 sb-sweep --json "$R"
	mv "$E/a" "$R/elsewhere"
	ln -s "$V" "$E/a"
	go_on
	victim_is_untouched
	[ -e "$R/elsewhere/b/file" ]
}

@test "a bind of the same filesystem comes up in the entry before it is opened: not entered" {
	stop_after 3 sb-sweep --json "$R"
	mount --bind "$V" "$E/a"
	go_on
	victim_is_untouched
	umount "$E/a"
	assert_equal "$status" 0
	assert_counts seen=1 mounted=1
}

@test "the same where the kernel tells no mount ids" {
	stop_after 3 "$HELPERS/deny" statx:0x1000=ENOSYS -- sb-sweep --json "$R"
	mount --bind "$V" "$E/a"
	go_on
	victim_is_untouched
	umount "$E/a"
	assert_counts seen=1 mounted=1
}

@test "a mount comes up on an entry after it was looked at for the last time: mounted" {
	local n
	rm -r "$E/a"
	age "2 days" "$E"
	n=$(strace -qq -e trace=statx,unlinkat sb-sweep "$R" 2>&1 >/dev/null | sed '/unlinkat/Q' |
		grep -c statx)
	mkdir "$E"
	age "2 days" "$E"
	CALL=statx stop_after "$n" sb-sweep --json "$R"
	mount --bind "$V" "$E"
	go_on
	umount "$E"
	victim_is_untouched
	assert_equal "$status" 0
	assert_counts seen=1 mounted=1
}

@test "where the kernel tells no mount ids a populated entry goes all the same" {
	run --separate-stderr "$HELPERS/deny" statx:0x1000=ENOSYS -- sb-sweep --json "$R"
	assert_success
	assert_counts seen=1 dirs=1
	[ ! -e "$E" ]
}

@test "where nothing tells them it is not entered" {
	stop_after 2 unshare --mount --propagation private \
		"$HELPERS/deny" statx:0x1000=ENOSYS -- sb-sweep --json "$R"
	nsenter --mount="/proc/$STOPPED/ns/mnt" mount -t tmpfs none /proc
	go_on
	assert_equal "$status" 1
	assert_counts seen=1 failed=1
	[ -e "$E/a/b/file" ]
}

@test "a directory is moved out while it is emptied: what is around its new place stays" {
	stop_after 5 sb-sweep --json "$R"
	mv "$E/a/b" "$V/b"
	go_on
	rmdir "$V/b"
	victim_is_untouched
	assert_equal "$status" 1
	assert_counts seen=1 failed=1
	run --separate-stderr sb-sweep --json "$R"
	assert_success
	assert_counts seen=1 dirs=1
}

@test "a directory moves deeper in while it is emptied: nothing is lost, and the next run ends it" {
	stop_after 5 sb-sweep --json "$R"
	mkdir "$E/c"
	mv "$E/a/b" "$E/c/b"
	go_on
	victim_is_untouched
	age "2 days" "$E"
	run --separate-stderr sb-sweep --json "$R"
	assert_success
	[ ! -e "$E" ]
}

@test "a directory that never gets empty: given up after some rounds, and told" {
	rm "$E/a/b/file"
	run --separate-stderr timeout 60 "$HELPERS/deny" unlinkat@3+=ENOTEMPTY -- sb-sweep --json "$R"
	echo "# status $status; $output; $stderr"
	assert_equal "$status" 1
	assert_counts seen=1 failed=1
	assert_equal "$(json '.roots[0].failures[0].error')" "Directory not empty"
}

@test "what is put into an entry while it goes, goes with it" {
	stop_after 5 sb-sweep --json "$R"
	mkdir "$E/a/new"
	touch "$E/new" "$E/a/new/file" "$E/a/b/new"
	go_on
	[ ! -e "$E" ]
	assert_counts seen=1 dirs=1
	victim_is_untouched
}
