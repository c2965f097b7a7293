# sb-sweep and sb-legacy-heal against adversaries, for longer; and a million entries of others.
# shellcheck disable=SC2154
load ../common
load ../sweep
load ../attacks

setup() {
	need_root
	make_playground
	M=$BATS_TEST_TMPDIR/done
}

teardown() {
	end_started
	remove_playground
}

@test "stress: canaries: 2,000 sweeps and a million exchanges, with binds that come and go" {
	attack 201 -- "${NAMES[@]}"
	attack 202 --mounts -- "${NAMES[@]}"
	fight 2000 1000000 "${SWEEP[@]}" --uid="$USER_UID" "$R"
}

@test "stress: canaries: 2,000 heals and a million exchanges" {
	attack 203 --empty -- "${LEGACY[@]}"
	attack 204 --empty -- "${LEGACY[@]}"
	fight 2000 1000000 "${HEAL[@]}" --marker="$M" --uid="$USER_UID" "$R"
}

@test "stress: a million foreign entries in a sticky directory: ours go in the same pass" {
	chown root:root "$R"
	chmod 1777 "$R"
	"$HELPERS/stage" --uid="$OTHER_UID" "$R" 1000000
	"$HELPERS/stage" --uid="$USER_UID" --prefix=ours_ "$R" 100
	run --separate-stderr sb-sweep --json --budget=0 --prefix="$P" --prefix=ours_ \
		--uid="$USER_UID" "$R"
	assert_success
	assert_counts seen=1000100 foreign=1000000 dirs=100
	all_is_untouched
}
