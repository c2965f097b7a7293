# The parsers against the kept corpora, and a short while of new inputs; `make fuzz` takes longer.
load common

fuzz() {
	local found=$BATS_TEST_TMPDIR/found
	mkdir "$found"
	run "$SB_TOP/build/fuzz/$1" -runs=20000 -max_total_time=10 -verbosity=0 \
		-artifact_prefix="$BATS_TEST_TMPDIR/" "$found" "$SB_TOP/tests/fuzz/corpus/$1"
	assert_success
}

@test "fuzz: mountinfo tables" {
	fuzz mountinfo
}

@test "fuzz: stat and status" {
	fuzz stat
}

@test "fuzz: SPANs, names and escapes" {
	fuzz text
}
