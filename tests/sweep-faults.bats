#!/usr/bin/env bats
# sb-sweep and sb-legacy-heal on hosts where system calls fail: each at its time, with each errno.
# What must stay stays, the status is of the contract, it is said what failed and why, and what can
# go goes. And with less privilege than root has.
# shellcheck disable=SC2154,SC2030,SC2031
load common
load sweep

setup() {
	need_root
	make_root "$USER_UID"
	M=$BATS_TEST_TMPDIR/state/sb-tools/done
	sleeper "${AS_USER[@]}"
	# Each is kept for one reason alone.
	mkdir "$R/$P${SLEEPER}_alive" "$R/$P${DEAD}_foreign" "$R/$P${DEAD}_mounted" "$R/$P${DEAD}_pinned"
	KEPT=("$P${SLEEPER}_alive" "$P${DEAD}_foreign" "$P${DEAD}_mounted" "$P${DEAD}_pinned" tmpyoung__01)
	chown "$USER_UID" "$R"/*
	chown root "$R/$P${DEAD}_foreign"
	touch "$R/$P${DEAD}_foreign/file"
	age "2 hours" "$R"/*
	age "2 hours" "$R/$P${SLEEPER}_alive"
	mount -t tmpfs sb-inner "$R/$P${DEAD}_mounted"
	mkdir "$R/tmpyoung__01" "$R/$P${DEAD}_young"
	chown "$USER_UID" "$R/tmpyoung__01" "$R/$P${DEAD}_young"
	touch -d "+1 hour" "$R/tmpyoung__01" "$R/$P${DEAD}_young"
	KEPT+=("$P${DEAD}_young")
	hold "$HELPERS/pin-hold" "$R/$P${DEAD}_pinned" "$(mktemp -d)"
	restage
}

teardown() {
	end_started
	unmount_root
}

# What may go: a tree, an empty one, a file.
restage() {
	local name
	mkdir -p "$R/$P${DEAD}_tree"/{a,b}/c
	touch "$R/$P${DEAD}_tree"/{a,b}/{f,g} "$R/$P${DEAD}_file"
	mkdir -p "$R/$P${DEAD}_empty"
	for name in tree file empty; do
		chown -R "$USER_UID:$USER_UID" "$R/$P${DEAD}_$name"
		age "2 hours" "$R/$P${DEAD}_$name"
	done
}

kept_are_there() {
	local name
	for name in "${KEPT[@]}"; do
		[ -d "$R/$name" ] || fail "$1: $name is gone"
	done
	[ -e "$R/$P${DEAD}_foreign/file" ] || fail "$1: the foreign file is gone"
}

# sweep_denied RULE...: as root for the user; status, out and err in files, for speed.
sweep_denied() {
	sweep_denied_with --json "$@"
}

# sweep_denied_with OPTION RULE...
sweep_denied_with() {
	status=0
	"$HELPERS/deny" --hits="$BATS_TEST_TMPDIR/hits" "${@:2}" -- "$BIN/sb-sweep" "$1" \
		--uid="$USER_UID" "$R" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
	hits=$(cat "$BATS_TEST_TMPDIR/hits" 2>/dev/null || echo 0)
	said=$(cat "$BATS_TEST_TMPDIR/err")
}

# left_over: of the three that may go, how many did not.
left_over() {
	local name n=0
	for name in tree file empty; do
		[ ! -e "$R/$P${DEAD}_$name" ] || n=$((n + 1))
	done
	echo "$n"
}

# fail_each CALL ERRNO [LEAST]: the Nth fails, for each N. A run that ends 0 has removed all.
fail_each() {
	local call=$1 error=$2 nth what
	for ((nth = 1; nth < 1000; nth++)); do
		restage
		sweep_denied "$call@$nth=$error"
		[ "$hits" -gt 0 ] || break
		what="$call@$nth=$error: status $status: $said"
		kept_are_there "$what"
		case $status in
		0) [ "$(left_over)" = 0 ] || [[ $said == *"as alive, for a pid proves nothing"* ]] ||
			fail "$what: something is left" ;;
		1) [[ $said == *"cannot "*"'"*"': "* ]] || fail "$what: not said what and why" ;;
		3) [[ $said == *"'$R': kept "* ]] || fail "$what: not said what is kept" ;;
		4 | 127) ;; # 127: the loader could not even start it
		*) fail "$what" ;;
		esac
		[ "$status" != 0 ] || [ "$(jq .exit_status "$BATS_TEST_TMPDIR/out")" = 0 ] || fail "$what"
	done
	echo "# $call=$error: $((nth - 1)) calls"
	[ "$nth" -gt "${3:-1}" ] || fail "$call is never called"
}

@test "faults: each removal fails in turn" {
	local error
	for error in EIO EACCES EROFS ENOMEM; do
		fail_each unlinkat "$error" 8
	done
}

@test "faults: a removal that fails keeps nothing from going but what it concerns" {
	local nth error
	for error in EIO EACCES EROFS; do
		for nth in 1 2 3 4 5 6 7; do
			restage
			sweep_denied "unlinkat@$nth=$error"
			assert_equal "$status" 1
			assert_equal "$(left_over)" 1
			assert_equal "$(jq -c '[.totals.failed, .roots[0].finished]' "$BATS_TEST_TMPDIR/out")" "[1,true]"
			assert_regex "$said" "cannot remove '$R/$P${DEAD}_[a-z]*': (Input|Permission|Read-only)"
		done
	done
	# All of them: all three are told.
	restage
	sweep_denied unlinkat@1+=EROFS
	assert_equal "$status" 1
	assert_equal "$(left_over)" 3
	assert_equal "$(grep -c "cannot remove '$R/.*Read-only file system" <<<"$said")" 3
}

@test "faults: EINTR from a removal is tried again" {
	fail_each unlinkat EINTR 8
	assert_equal "$(left_over)" 0
}

@test "faults: each listing fails in turn" {
	fail_each getdents64 EIO 4
	fail_each getdents64 ENOMEM 4
}

@test "faults: each open fails in turn" {
	local error
	for error in EMFILE ENFILE ENOMEM EIO EACCES; do
		fail_each openat "$error" 10
	done
}

@test "faults: each look fails in turn" {
	fail_each statx EIO 10
	fail_each statx ENOMEM 10
}

@test "faults: each change of credentials fails in turn, and nothing is touched without them" {
	local call
	for call in setgroups setfsuid setfsgid capset prctl:38; do
		fail_each "$call" EPERM 1
	done
	# With the thread that looks ahead running.
	"$HELPERS/stage" --uid="$USER_UID" --age=7200 "$R" 2000
	for call in setgroups setfsuid capset; do
		for nth in 1 2 3 4 5; do
			sweep_denied "$call@$nth=EPERM"
			kept_are_there "$call@$nth"
			[ "$status" -le 4 ] || fail "$call@$nth: status $status: $said"
		done
	done
}

@test "faults: no second thread, and no figures of the file system: it goes on without" {
	local rules
	# To look for leaks takes a thread.
	export ASAN_OPTIONS=detect_leaks=0
	for rules in "clone3=EAGAIN clone=EAGAIN" fstatfs@2=EIO fstatfs@3=ENOSYS; do
		"$HELPERS/stage" --uid="$USER_UID" --age=7200 "$R" 2000
		restage
		# shellcheck disable=SC2086
		run --separate-stderr "$HELPERS/deny" $rules -- sb-sweep --json --uid="$USER_UID" "$R"
		echo "# $rules: $status $stderr"
		assert_success
		assert_equal "$(json .totals.removed.dirs)" 2002
		kept_are_there "$rules"
	done
}

@test "faults: output that cannot be written is status 1, and is said" {
	local error nth told
	for error in ENOSPC EIO; do
		told=0
		for ((nth = 1; nth < 20; nth++)); do
			restage
			sweep_denied "write@$nth=$error"
			[ "$hits" -gt 0 ] || break
			assert_equal "$(left_over)" 0
			kept_are_there "$error"
			# Of a message that cannot be told nobody can be told.
			[ "$status" != 1 ] || told=$((told + 1))
			[ "$status" != 1 ] || assert_regex "$said" "cannot write 'standard output': "
			[ -s "$BATS_TEST_TMPDIR/out" ] || assert_equal "$status" 1
		done
		[ "$told" -gt 0 ]
	done
}

@test "faults: what is said on stderr is said, though a signal comes between" {
	run --separate-stderr "$HELPERS/deny" write@1=EINTR -- sb-sweep "$R/missing"
	assert_failure 1
	assert_regex "$stderr" "cannot sweep '$R/missing': No such file"
	# The line of progress comes back, too; but not where nobody reads it.
	"$HELPERS/stage" --uid="$USER_UID" --age=7200 "$R" 60000
	run --separate-stderr "$HELPERS/deny" write@1=EINTR -- \
		sb-sweep --progress=always --uid="$USER_UID" "$R"
	assert_success
	assert_regex "$stderr" " seen, "
	"$HELPERS/stage" --uid="$USER_UID" --age=7200 "$R" 60000
	run --separate-stderr "$HELPERS/deny" write@1=EIO -- \
		sb-sweep --progress=always --uid="$USER_UID" "$R"
	assert_success
	[[ $stderr != *" seen, "* ]]
}

@test "faults: what fails is named, entry by entry, with -v" {
	sweep_denied_with -v unlinkat@1=EIO
	assert_equal "$status" 1
	assert_regex "$said" "'$R/$P${DEAD}_[a-z]+': failed: Input/output error"
}

@test "faults: the metrics: each call that makes them fails in turn; the file is the old one or the new one" {
	local call file=$BATS_TEST_TMPDIR/m.prom told
	for call in write=ENOSPC write=EIO fsync=EIO fchmod=EPERM rename=EIO openat=EIO openat=EROFS; do
		told=0
		for ((nth = 1; nth < 200; nth++)); do
			restage
			echo old >"$file"
			sweep_denied_with "--metrics=$file" "${call%=*}@$nth=${call#*=}"
			[ "$hits" -gt 0 ] || break
			kept_are_there "$call"
			assert_equal "$(find "$BATS_TEST_TMPDIR" -name 'm.prom*')" "$file"
			if [ "$(cat "$file")" = old ]; then
				[ "$status" != 0 ] || fail "$call@$nth: status 0, and no metrics"
			else
				assert_equal "$(grep -c '^sb_sweep_exit_status ' "$file")" 1
			fi
			[[ $said != *"cannot write '$file': "* ]] || told=$((told + 1))
		done
		[ "$nth" -gt 1 ] && [ "$told" -gt 0 ] || fail "$call: never told"
	done
	# A write that is interrupted is done again; a directory that cannot be read cannot be synced.
	for call in write@1=EINTR fsync@2=EINVAL; do
		restage
		sweep_denied_with "--metrics=$file" "$call"
		assert_equal "$status $hits" "0 1"
	done
}

pile() {
	"$HELPERS/stage" --legacy --uid="$USER_UID" "$R" 66
}

# heal_denied RULE...: likewise; the young one is taken away, for the marker.
heal_denied() {
	status=0
	"$HELPERS/deny" --hits="$BATS_TEST_TMPDIR/hits" "$@" -- "$BIN/sb-legacy-heal" --json \
		--marker="$M" --uid="$USER_UID" "$R" \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
	hits=$(cat "$BATS_TEST_TMPDIR/hits" 2>/dev/null || echo 0)
	said=$(cat "$BATS_TEST_TMPDIR/err")
}

# The marker is there after a 0, and then whole; after anything else it is not, but when the write
# of the result alone failed.
marker_is_right() {
	if [ -e "$M" ]; then
		grep -qxE '[0-9]+ removed=[0-9]+' "$M" || fail "$1: half a marker"
		[ "$status" = 0 ] || [[ $said == *"standard output"* || $said == *stdout* ]] ||
			fail "$1: status $status, and a marker"
	else
		[ "$status" != 0 ] || fail "$1: no marker"
	fi
	[ -z "$(find "${M%/*}" -name '*.new' 2>/dev/null)" ] || fail "$1: something is left beside it"
}

heal_fail_each() {
	local call=$1 error=$2 nth what
	refusals=0
	for ((nth = 1; nth < 400; nth++)); do
		[ "${bare:-}" ] || pile 2>/dev/null || true
		rm -rf "$BATS_TEST_TMPDIR/state"
		heal_denied "$call@$nth=$error"
		[ "$hits" -gt 0 ] || break
		what="$call@$nth=$error: status $status: $said"
		marker_is_right "$what"
		[[ $said != *"cannot create the marker"* ]] || refusals=$((refusals + 1))
		case $status in
		0 | 3 | 4 | 127) ;;
		1 | 2) [[ $said == *"cannot "* ]] || fail "$what: not said" ;;
		*) fail "$what" ;;
		esac
	done
	echo "# $call=$error: $((nth - 1)) calls"
	[ "$nth" -gt "${3:-1}" ] || fail "$call is never called"
	kept_are_there "$call=$error"
}

@test "faults: the marker: each call that makes it fails in turn; whole or not at all" {
	local error
	rmdir "$R/tmpyoung__01"
	KEPT=("${KEPT[@]/tmpyoung__01/}")
	for error in EIO ENOSPC EROFS EDQUOT; do
		heal_fail_each mkdir "$error" 2
		heal_fail_each fchmod "$error"
		heal_fail_each fsync "$error" 2
		heal_fail_each renameat2 "$error"
		heal_fail_each write "$error"
	done
	heal_fail_each openat EIO 10
	heal_fail_each openat EROFS 10
	heal_fail_each close EIO
	# Where nothing has to be scanned, each run makes the same calls: one of these is the marker's.
	find "$R" -maxdepth 1 -name 'tmp*' -empty -delete
	bare=yes heal_fail_each close EIO
	assert_equal "$refusals" 1
	heal_fail_each newfstatat EIO
	heal_fail_each getrandom EIO
}

@test "faults: the marker: where it cannot even be taken back, what stands there is no marker" {
	rmdir "$R/tmpyoung__01"
	for rule in write@1=ENOSPC fsync@1=EIO; do
		rm -rf "$BATS_TEST_TMPDIR/state"
		heal_denied "$rule" unlinkat:0=EIO
		assert_equal "$status" 1
		assert_not_exist "$M"
	done
	# Where nothing can be renamed without replacing, it is linked.
	rm -rf "$BATS_TEST_TMPDIR/state"
	run --separate-stderr "$HELPERS/deny" renameat2=EINVAL -- \
		sb-legacy-heal --marker="$M" --uid="$USER_UID" "$R"
	assert_success
	status=0 said='' marker_is_right linked
}

@test "faults: healing: each removal, listing and look fails in turn; no marker when one did" {
	local error
	rmdir "$R/tmpyoung__01"
	KEPT=("${KEPT[@]/tmpyoung__01/}")
	for nth in 1 2 33 64 65 66; do
		for error in EIO EACCES EROFS; do
			pile 2>/dev/null || true
			rm -rf "$BATS_TEST_TMPDIR/state"
			heal_denied "unlinkat@$nth=$error"
			assert_equal "$status" 1
			assert_not_exist "$M"
			assert_equal "$(jq -c '[.totals.failed, .totals.removed.dirs >= 60]' "$BATS_TEST_TMPDIR/out")" "[1,true]"
			rmdir "$R"/tmp*
		done
	done
	heal_fail_each getdents64 EIO
}

@test "faults: a dry run of a heal does not promise what it cannot look into" {
	rmdir "$R/tmpyoung__01"
	pile
	# The root's own listing comes last but for those of the entries.
	run --separate-stderr "$HELPERS/deny" getdents64@80+=EIO -- sb-legacy-heal --json -n \
		--evidence=kernel --marker="$M" --uid="$USER_UID" "$R"
	echo "# $status $output $stderr"
	assert_equal "$status" 1
	[ "$(json .totals.failed)" -gt 0 ] || [ "$(json '.roots[0].error')" != null ]
}

# held COMMAND...: starts it, and stops it in the midst of removing, when the thread that looks ahead
# has been at work; its pid is in $STOPPED.
held() {
	stop_at unlinkat 6000 "$@"
}

# capabilities TASK FIELD: their names, as setpriv(1) spells them.
capabilities() {
	local bits names
	bits=$(sed -n "s/^$2:\t*//p" "/proc/$STOPPED/task/$1/status")
	names=$(capsh --decode="$bits")
	echo "${names#*=}"
}

@test "privileges: what root holds while it removes for a user, in each thread" {
	local command tid only=cap_dac_override,cap_dac_read_search,cap_setgid,cap_setuid,cap_sys_ptrace,cap_sys_admin
	command -v capsh >/dev/null || skip "needs capsh"
	for command in sb-sweep sb-legacy-heal; do
		"$HELPERS/stage" --uid="$USER_UID" "$R" 9000
		"$HELPERS/stage" --uid="$USER_UID" --legacy "$R" 9000
		held "$command" --uid="$USER_UID" "$R"
		assert_equal "$(capabilities "$STOPPED" CapPrm)" "$only"
		assert_equal "$(capabilities "$STOPPED" CapEff)" cap_setgid,cap_setuid
		for tid in "/proc/$STOPPED/task"/*; do
			tid=${tid##*/}
			assert_equal "$(capabilities "$tid" CapInh)" ""
			assert_equal "$(capabilities "$tid" CapAmb)" ""
			assert_equal "$(sed -n 's/^NoNewPrivs:\t//p' "/proc/$STOPPED/task/$tid/status")" 1
			# Real, effective, saved, and that of the file system.
			assert_equal "$(sed -n 's/^Uid:\t//p' "/proc/$STOPPED/task/$tid/status")" \
				"0	0	0	$USER_UID"
			assert_equal "$(sed -n 's/^Gid:\t//p' "/proc/$STOPPED/task/$tid/status")" \
				"0	0	0	$USER_UID"
			assert_equal "$(sed -n 's/^Groups:[\t ]*//p' "/proc/$STOPPED/task/$tid/status")" ""
			[ "$tid" != "$STOPPED" ] || continue
			# The one that looks ahead can do nothing at all.
			assert_equal "$(capabilities "$tid" CapPrm)" ""
			assert_equal "$(capabilities "$tid" CapEff)" ""
		done
		[ "$(find "/proc/$STOPPED/task" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ] || fail "no second thread to be looked at"
		end_started
		find "$R" -mindepth 1 -maxdepth 1 \( -name "${P}[0-9]*_[0-9]*" -o -name 'tmp*' \) \
			-type d -empty -delete
	done
}

NEEDED=+setuid,+setgid,+sys_ptrace,+sys_admin,+dac_read_search

@test "privileges: as root for a user, exactly the capabilities of the manual suffice" {
	run --separate-stderr setpriv --bounding-set "-all,$NEEDED" sb-sweep --json --uid="$USER_UID" "$R"
	echo "# $status $output $stderr"
	assert_success
	assert_equal "$(left_over)" 0
	assert_equal "$(json .coverage.level)" complete
	kept_are_there all
	pile
	rmdir "$R/tmpyoung__01"
	run --separate-stderr setpriv --bounding-set "-all,$NEEDED" \
		sb-legacy-heal --marker=/run/done --uid="$USER_UID" "$R"
	rm -f /run/done
	assert_success
}

@test "privileges: each of them taken away: the right status, and nothing goes that should not" {
	local cap command
	rmdir "$R/tmpyoung__01"
	KEPT=("${KEPT[@]/tmpyoung__01/}")
	for cap in setuid setgid dac_read_search sys_ptrace sys_admin; do
		for command in sb-sweep sb-legacy-heal; do
			restage
			pile 2>/dev/null || true
			rm -f /run/done
			set --
			[ "$command" = sb-sweep ] || set -- --marker=/run/done
			run --separate-stderr setpriv --bounding-set "-all,${NEEDED/+$cap/-$cap}" \
				"$command" --json "$@" --uid="$USER_UID" "$R"
			echo "# $command without $cap: $status $stderr; $(json '.totals.removed, .coverage.level')"
			kept_are_there "$cap"
			case $cap in
			setuid | setgid)
				assert_equal "$status" 1
				assert_regex "$stderr" "cannot sweep '$R': Operation not permitted"
				assert_equal "$(left_over)" 3
				;;
			dac_read_search)
				assert_equal "$status" 1
				assert_regex "$stderr" "cannot sweep '$R': Permission denied"
				assert_equal "$(left_over)" 3
				;;
			*) # less is seen: proven by other evidence, or kept and told
				[[ $status = 0 || $status = 3 ]] || fail "status $status"
				[ "$status" = 0 ] || assert_regex "$stderr" "kept [0-9]+ director.* for lack of proof"
				;;
			esac
			[ "$status" = 0 ] || assert_not_exist /run/done
		done
	done
	rm -f /run/done
}

@test "privileges: a user with none, and none to be gained" {
	for _ in $(seq 20); do
		run --separate-stderr "${AS_USER[@]}" --bounding-set -all --no-new-privs \
			sb-sweep --json "$R"
		kept_are_there user
		[ "$status" = 3 ] || break
	done
	echo "# $status $stderr"
	assert_success
	assert_equal "$(left_over)" 0
}

# at_the_end COMMAND...: stopped when it first writes, the marker or the report; descriptors, and KiB of memory.
at_the_end() {
	local log=$BATS_TEST_TMPDIR/calls
	rm -f "$log"
	strace -qq -o "$log" -e trace=write \
		-e inject=write:signal=STOP:when=1 "$@" >"$BATS_TEST_TMPDIR/report" 2>/dev/null 3>&- &
	STRACE=$!
	remember "$STRACE"
	until grep -q 'stopped by SIGSTOP' "$log" 2>/dev/null; do
		kill -0 "$STRACE" || fail "it never wrote its report"
		sleep 0.05
	done
	STOPPED=$(cat "/proc/$STRACE/task/$STRACE/children")
	STOPPED=${STOPPED%% *}
	DESCRIPTORS=$(find "/proc/$STOPPED/fd" -type l -printf '%l\n' |
		sed 's/[0-9a-f]*\.new$/new/' | LC_ALL=C sort)
	MEMORY=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$STOPPED/status")
	kill -CONT "$STOPPED"
	wait "$STRACE"
}

@test "leaks: over 100,000 entries no descriptor is left open, and memory does not grow" {
	local command few memory another
	[[ $SB_BUILD_NAME != *asan* ]] || skip "the sanitizer keeps what is freed"
	make_root
	another=$R
	make_root
	for command in sb-sweep sb-legacy-heal; do
		set -- --budget=0 --json
		[ "$command" = sb-sweep ] || set -- "$@" --ignore-marker --marker="$M"
		for n in 1000 34000; do
			find "$R" "$another" -mindepth 1 -delete
			"$HELPERS/stage" "$R" "$n"
			"$HELPERS/stage" --legacy "$another" "$n"
			"$HELPERS/stage" --legacy "$R" "$n"
			# Every fiftieth is populated.
			(cd "$R" && seq 0 50 "$((n - 1))" | awk -v p="$P" -v d="$DEAD" \
				'{ printf "%s%d_%d/a/b/c\n", p, d + int($1 / 8), $1 }' | xargs mkdir -p &&
				age "2 days" ./*_*0)
			at_the_end "$command" "$@" "$R" "$another"
			echo "# $command, $n: $MEMORY KiB, $(wc -l <<<"$DESCRIPTORS") descriptors"
			if [ "$n" = 1000 ]; then
				few=$DESCRIPTORS memory=$MEMORY
			fi
		done
		assert_equal "$DESCRIPTORS" "$few"
		[ "$((MEMORY - memory))" -lt 512 ] || fail "$command: $memory KiB, then $MEMORY"
		assert_equal "$(jq -c .totals.failed "$BATS_TEST_TMPDIR/report")" 0
	done
	R=$another unmount_root
}
