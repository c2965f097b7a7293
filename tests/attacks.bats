#!/usr/bin/env bats
# sb-sweep and sb-legacy-heal as root in a directory of a user's, who fights them; and whatever else
# an adversary, a kill or a clock can do to a run. tests/stress/attacks.bats does so for longer.
# shellcheck disable=SC2154,SC2030,SC2031
load common
load sweep
load attacks

setup() {
	need_root
	make_playground
	M=$BATS_TEST_TMPDIR/done
}

teardown() {
	end_started
	remove_playground
}

@test "canaries: root sweeps a user's directory in which all is exchanged for links meanwhile" {
	attack 101 -- "${NAMES[@]}"
	fight 60 20000 "${SWEEP[@]}" --uid="$USER_UID" "$R"
	[ "$(removed_in_all)" -gt 20 ]
}

@test "canaries: the same while binds of them come and go in the entries" {
	attack 102 --mounts -- "${NAMES[@]}"
	fight 40 10000 "${SWEEP[@]}" --uid="$USER_UID" "$R"
	[ "$(removed_in_all)" -gt 10 ]
}

@test "canaries: root heals a user's directory in which all is exchanged for links meanwhile" {
	attack 103 --empty -- "${LEGACY[@]}"
	fight 60 20000 "${HEAL[@]}" --marker="$M" --uid="$USER_UID" "$R"
	[ "$(removed_in_all)" -gt 20 ]
}

@test "canaries: the user sweeps, and fights itself" {
	chmod 711 "$B"
	attack 104 -- "${NAMES[@]}"
	fight 30 10000 "${AS_USER[@]}" "$BIN/sb-sweep" --min-age=0 "$R"
	[ "$(removed_in_all)" -gt 10 ]
}

@test "canaries: two to eight sweeps and heals at once, and two that fight them" {
	local n i pids
	attack 105 -- "${NAMES[@]}"
	attack 106 --empty -- "${LEGACY[@]}"
	for n in 2 3 4 5 6 7 8; do
		pids=()
		for ((i = 0; i < n; i++)); do
			if [ $((i % 2)) = 0 ]; then
				"${SWEEP[@]}" --uid="$USER_UID" "$R" >"$BATS_TEST_TMPDIR/out.$i" 2>&1 3>&- &
			else
				"${HEAL[@]}" --marker="$M" --uid="$USER_UID" "$R" \
					>"$BATS_TEST_TMPDIR/out.$i" 2>&1 3>&- &
			fi
			pids+=($!)
			remember $!
		done
		for i in "${!pids[@]}"; do
			status=0
			wait "${pids[$i]}" || status=$?
			echo "# $n at once: status $status"
			[ "$status" -le 5 ] && [ "$status" != 2 ] || fail "$(cat "$BATS_TEST_TMPDIR/out.$i")"
		done
	done
	all_is_untouched
	end_started
	# In peace all of it goes.
	rm -f "$M"
	run --separate-stderr "${SWEEP[@]}" --uid="$USER_UID" "$R"
	assert_success
	all_is_untouched
	refute [ -e "$R/${NAMES[0]}" ]
}
