#!/usr/bin/env bats
# The systemd units, as make install writes them, by systemd-analyze.

load common

# The exposure, in tenths, that the units stay under. They cannot come lower: what lowers it more is
# what would blind the command; each unit says so.
SYSTEM_EXPOSURE=44
USER_EXPOSURE=62

setup_file() {
	export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/run
	mkdir -p "$XDG_RUNTIME_DIR"
	export UNITS=$BATS_FILE_TMPDIR
	"$SB_TOP/.ci/install-files" install "$UNITS" "$SB_TOP/build" bin=/mnt/sb/build/bin \
		man=/man doc=/doc bash=/bash zsh=/zsh fish=/fish system=/system user=/user
	local unit
	for unit in "$UNITS"/system/*@.*; do
		cp "$unit" "${unit/@./@1000.}"
	done
}

teardown() {
	unmount_root
}

setting() { # FILE KEY: its values, one a line
	sed -n "s/^$2=//p" "$1"
}

@test "there are user units and system templates for both commands" {
	local command
	for command in sb-sweep sb-legacy-heal; do
		assert_file_exists "$UNITS/user/$command.service"
		assert_file_exists "$UNITS/user/$command.timer"
		assert_file_exists "$UNITS/system/$command@.service"
		assert_file_exists "$UNITS/system/$command@.timer"
	done
}

@test "systemd-analyze verify finds nothing to say" {
	local command
	for command in sb-sweep sb-legacy-heal; do
		run systemd-analyze verify --man=no "$UNITS/system/$command@1000.service" \
			"$UNITS/system/$command@1000.timer"
		assert_success
		refute_output
		run systemd-analyze verify --user --man=no "$UNITS/user/$command.service" \
			"$UNITS/user/$command.timer"
		assert_success
		refute_output
	done
}

@test "verify does notice a wrong setting" {
	cp "$UNITS/user/sb-sweep.service" "$BATS_TEST_TMPDIR/x.service"
	echo "NoSuchSetting=1" >>"$BATS_TEST_TMPDIR/x.service"
	run systemd-analyze verify --user --man=no "$BATS_TEST_TMPDIR/x.service"
	assert_output --partial NoSuchSetting
}

@test "exposure stays under the stated numbers" {
	local command
	for command in sb-sweep sb-legacy-heal; do
		run systemd-analyze security --offline=yes --no-pager --threshold="$SYSTEM_EXPOSURE" \
			"$UNITS/system/$command@1000.service"
		assert_success
		run systemd-analyze security --offline=yes --no-pager --threshold="$USER_EXPOSURE" \
			"$UNITS/user/$command.service"
		assert_success
	done
}

@test "nothing that would blind the command is set, and the reason is told" {
	local blinding="ProtectHome PrivateTmp ProtectProc ProcSubset DynamicUser PrivateUsers \
		PrivateMounts PrivateDevices PrivateIPC PrivatePIDs ProtectSystem ReadWritePaths \
		ReadOnlyPaths InaccessiblePaths ExecPaths NoExecPaths TemporaryFileSystem BindPaths \
		BindReadOnlyPaths RootDirectory RootImage MountImages ExtensionImages MountFlags \
		ProtectKernelTunables ProtectKernelModules ProtectKernelLogs ProtectControlGroups \
		MountAPIVFS LogNamespace JoinsNamespaceOf"
	local unit key
	for unit in "$UNITS"/user/*.service "$UNITS"/system/*@.service; do
		for key in $blinding; do
			run setting "$unit" "$key"
			refute_output
		done
		run grep -c '^# .*ProtectHome=, PrivateTmp=, ProtectProc=, ProcSubset=' "$unit"
		assert_output 1
	done
}

@test "what the commands say of themselves agrees with the units" {
	local unit
	for unit in "$UNITS"/user/*.service "$UNITS"/system/*@.service; do
		assert_equal "$(setting "$unit" Type)" oneshot
		assert_equal "$(setting "$unit" IOSchedulingClass)" idle
		assert_equal "$(setting "$unit" CPUWeight)" 10
		assert_equal "$(setting "$unit" TimeoutStartSec)" 5min # the budget is 10 s
		run setting "$unit" ExecStart
		assert_output --regexp '^/mnt/sb/build/bin/sb-(sweep|legacy-heal)( --uid=%i)?$'
		case $unit in
		*sb-sweep*) assert_equal "$(setting "$unit" SuccessExitStatus)" 4 ;;
		*) assert_equal "$(setting "$unit" SuccessExitStatus)" "4 5" ;;
		esac
		case $unit in
		*@.service) run grep -c '^ExecStart=.* --uid=%i$' "$unit" ;;
		*) run grep -c '^ExecStart=[^ ]*$' "$unit" ;;
		esac
		assert_output 1
	done
}

@test "timers: right after login, then every ten minutes, with a spread" {
	local timer
	for timer in "$UNITS"/user/*.timer; do
		assert_equal "$(setting "$timer" OnStartupSec)" 1s
	done
	for timer in "$UNITS"/user/*.timer "$UNITS"/system/*@.timer; do
		assert_equal "$(setting "$timer" OnUnitActiveSec)" 10min
		run setting "$timer" RandomizedDelaySec
		assert_output --regexp '^[0-9]+(s|min)$'
		assert_equal "$(setting "$timer" WantedBy)" timers.target
	done
}

@test "the capabilities of the system unit suffice to sweep for a user" {
	need_root
	local unit=$UNITS/system/sb-sweep@.service entry set
	set=$(setting "$unit" CapabilityBoundingSet)
	assert_equal "$set" "CAP_SETUID CAP_SETGID CAP_SYS_PTRACE CAP_SYS_ADMIN CAP_DAC_READ_SEARCH"
	assert_equal "$set" "$(setting "$UNITS/system/sb-legacy-heal@.service" CapabilityBoundingSet)"
	set=${set//CAP_/+} set=${set// /,}
	make_root "$USER_UID"
	entry=$R/$P$(dead_pid)_a
	as_user mkdir "$entry"
	as_user touch "$entry/file"
	age "2 hours" "$entry"
	run setpriv --bounding-set "-all,${set,,}" sb-sweep --uid="$USER_UID" --trust-pidns "$R"
	assert_success
	assert_not_exists "$entry"
}

@test "the commands make no system call that the units deny" {
	local command unit denied calls
	command -v strace >/dev/null || skip "needs strace"
	make_root "$(id -u)"
	for command in sb-sweep sb-legacy-heal; do
		mkdir "$R/$P$(dead_pid)_$command"
		age "2 days" "$R"/*
		unit=$UNITS/user/$command.service
		calls=$BATS_TEST_TMPDIR/$command
		ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o "$calls" "$command" --trust-pidns \
			--ignore-marker --marker="$BATS_TEST_TMPDIR/marker" "$R" ||
			ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o "$calls" "$command" --trust-pidns "$R"
		denied=$(setting "$unit" SystemCallFilter)
		assert_equal "${denied:0:1}" "~"
		# shellcheck disable=SC2086 # the groups are words
		systemd-analyze syscall-filter ${denied:1} |
			sed -n 's/^ *\([a-z_0-9]*\)$/\1/p' | sort -u >"$BATS_TEST_TMPDIR/denied"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/denied")" -gt 50 ]
		sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' "$calls" | sort -u >"$calls.names"
		[ "$(wc -l <"$calls.names")" -gt 10 ]
		run comm -12 "$calls.names" "$BATS_TEST_TMPDIR/denied"
		refute_output
	done
}
