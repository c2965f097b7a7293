#!/usr/bin/env bats
# make demo plays the incident and checks its own outcomes; here it must find them all right, as
# root and as an ordinary user, and leave nothing.

load common

# What a run could change around it: mounts, entries of the places it covers, processes.
around() {
	sort /proc/self/mountinfo
	find /run/user /dev/shm /tmp -mindepth 1 -maxdepth 1 -not -name 'bats-run-*' | sort
	# Whatever the demo started carries its mark.
	local environment
	for environment in /proc/[0-9]*/environ; do
		! grep -qs "SB_DEMO_MARK=$BATS_SUITE_TEST_NUMBER" "$environment" || echo "$environment"
	done
}

plays() {
	local before
	before=$(around)
	run env "SB_DEMO_MARK=$BATS_SUITE_TEST_NUMBER" "$@" "$SB_TOP/tests/demo" "$SB_TOP/build"
	assert_success
	assert_line --regexp '^demo: all [0-9]+ outcomes were as they should be'
	refute_line --partial '!!!'
	assert_line "mkdir: cannot create directory ‘/run/user/0/new-sandbox’: No space left on device"
	assert_line "stray processes killed: 2"
	assert_equal "$(around)" "$before"
}

@test "demo: as whoever runs the tests" {
	LC_ALL=C.UTF-8 plays env
}

@test "demo: as an ordinary user, in a user namespace" {
	need_root
	LC_ALL=C.UTF-8 plays setpriv --reuid "$USER_UID" --regid "$USER_UID" --clear-groups
}

@test "demo: in a pid namespace, where proof has to be asked for" {
	LC_ALL=C.UTF-8 plays unshare --pid --fork --mount --mount-proc
}

@test "demo: a wrong outcome is a failure" {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	cp "$SB_TOP"/build/bin/* "$BATS_TEST_TMPDIR/bin/"
	printf '#!/bin/sh\nexit 0\n' >"$BATS_TEST_TMPDIR/bin/sb-sweep"
	run "$SB_TOP/tests/demo" "$BATS_TEST_TMPDIR"
	assert_failure 1
	assert_line --partial "!!! not as it should be: mkdir works again"
	assert_line --regexp '^demo: [0-9]+ of [0-9]+ outcomes were not as they should be$'
}

@test "demo: on a busy host it retries, as status 3 says" {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	cp "$SB_TOP"/build/bin/* "$BATS_TEST_TMPDIR/bin/"
	mv "$BATS_TEST_TMPDIR/bin/sb-sweep" "$BATS_TEST_TMPDIR/bin/real"
	cat >"$BATS_TEST_TMPDIR/bin/sb-sweep" <<-'END'
		#!/bin/sh
		[ -e /tmp/asked ] || { touch /tmp/asked && exit 3; }
		exec "${0%/*}/real" "$@"
	END
	chmod 755 "$BATS_TEST_TMPDIR/bin/sb-sweep"
	run "$SB_TOP/tests/demo" "$BATS_TEST_TMPDIR"
	assert_success
	assert_line --partial "Status 3"
}
