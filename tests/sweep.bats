#!/usr/bin/env bats
# sb-sweep: what is decided about an entry, in the order of the manual, and every default as shipped.
load common
load sweep

setup() {
	make_root
}

teardown() {
	end_started
	unmount_root
}

# When pid 1 started, in seconds since the epoch.
start_of_init() {
	local ticks
	ticks=$(awk '{ print $22 }' /proc/1/stat)
	echo $(($(awk '$1 == "btime" { print $2 }' /proc/stat) + ticks / $(getconf CLK_TCK)))
}

@test "an entry of a dead launcher goes, be it a directory or a file" {
	stage "${P}${DEAD}_dir"
	touch "$R/${P}${DEAD}_file"
	age "2 days" "$R/${P}${DEAD}_file"
	sweep --json "$R"
	assert_success
	assert_counts seen=2 dirs=1 files=1
	assert_left
}

@test "so does that of a child that was waited for just now" {
	stage "${P}$(dead_pid)_dir"
	sweep --json "$R"
	assert_success
	assert_counts seen=1 dirs=1
}

@test "what does not bear the prefix is not even seen" {
	local names=(kirocrew_sx_12_x tmpabcdefgh other "x${P}12_x" .hidden)
	stage "${names[@]}"
	sweep --json "$R"
	assert_success
	assert_counts
	assert_left "${names[@]}"
}

@test "names that are not of the shape are kept as malformed" {
	local names=("${P}0_x" "${P}-1_x" "${P}+5_x" "${P} 5_x" "${P}007_x" "${P}12" "${P}12x_x"
		"${P}_12" "${P}12_" "${P}٣_x" "${P}1٣_x" "${P}" "${P}q12_x" "${P}${P}12_x")
	stage "${names[@]}"
	sweep --json "$R"
	assert_success
	assert_counts seen=14 malformed=14
	assert_left "${names[@]}"
}

@test "a run of digits too long for any process is the shape, and dead" {
	stage "${P}99999999999999999999_x" "${P}2147483648_x" "${P}18446744073709551617_x" \
		"${P}4294967297_x" "${P}9223372036854775808_x"
	# Not so old that a number could have passed to another.
	age "1 hour" "$R"/*
	sweep --json "$R"
	assert_success
	assert_counts seen=5 dirs=5
}

@test "malformed is asked before whose it is" {
	need_root
	stage_as_user "${P}0_x"
	sweep --json "$R"
	assert_success
	assert_counts seen=1 malformed=1
}

@test "an entry of another user's is foreign, before its age is asked" {
	need_root
	stage_as_user "${P}${DEAD}_old" "${P}${DEAD}_new"
	touch "$R/${P}${DEAD}_new"
	sweep --json "$R"
	assert_success
	assert_counts seen=2 foreign=2
	assert_left "${P}${DEAD}_old" "${P}${DEAD}_new"
}

@test "a file of another user's is foreign too" {
	need_root
	touch "$R/${P}${DEAD}_x"
	age "2 days" "$R/${P}${DEAD}_x"
	chown "$USER_UID" "$R/${P}${DEAD}_x"
	sweep --json "$R"
	assert_success
	assert_counts seen=1 foreign=1
}

@test "a root of foreign entries alone is a warning that names the --uid to give" {
	need_root
	stage_as_user "${P}${DEAD}_a" "${P}${DEAD}_b"
	stage "${P}0_malformed"
	sweep --quiet "$R"
	assert_success
	assert_regex "$stderr" "all 2 entries .*--uid=$USER_UID"
	chown "$USER_UID" "$R"
	sweep --quiet --uid="$USER_UID" "$R"
	assert_success
	assert_equal "$stderr" ""
}

@test "a single entry of our own, and there is no such warning" {
	need_root
	stage_as_user "${P}${DEAD}_a"
	stage "${P}${DEAD}_b"
	sweep --quiet "$R"
	assert_success
	assert_equal "$stderr" ""
}

@test "younger than 60 s is young, whoever is dead; by default" {
	stage "${P}${DEAD}_55s" "${P}${DEAD}_61s"
	age "55 seconds" "$R/${P}${DEAD}_55s"
	age "61 seconds" "$R/${P}${DEAD}_61s"
	sweep --json "$R"
	assert_success
	assert_counts seen=2 dirs=1 young=1
	assert_left "${P}${DEAD}_55s"
}

@test "so are files and links" {
	touch "$R/${P}${DEAD}_file"
	ln -s nowhere "$R/${P}${DEAD}_link"
	sweep --json "$R"
	assert_counts seen=2 young=2
	sweep --json --min-age=0 "$R"
	assert_counts seen=2 files=2
}

@test "a stamp in the future is young, even with --min-age=0" {
	stage "${P}${DEAD}_x"
	touch -d 2099-01-01 "$R/${P}${DEAD}_x"
	sweep --json --min-age=0 "$R"
	assert_success
	assert_counts seen=1 young=1
}

@test "a stamp before 1970 is old" {
	stage "${P}${DEAD}_x"
	touch -d 1901-12-13 "$R/${P}${DEAD}_x"
	sweep --json "$R"
	assert_counts seen=1 dirs=1
}

@test "--min-age moves the bound" {
	stage "${P}${DEAD}_x"
	age "2 hours" "$R/${P}${DEAD}_x"
	sweep --json --min-age=3h "$R"
	assert_counts seen=1 young=1
	sweep --json --min-age=1h59min "$R"
	assert_counts seen=1 dirs=1
}

@test "young is asked before the launcher" {
	sleeper
	stage "${P}${SLEEPER}_x"
	touch "$R/${P}${SLEEPER}_x"
	sweep --json "$R"
	assert_counts seen=1 young=1
}

@test "while its launcher lives an entry is kept, and nothing is scanned for it" {
	sleeper
	stage "${P}${SLEEPER}_dir"
	touch "$R/${P}${SLEEPER}_file"
	age "1 hour" "$R/${P}${SLEEPER}_dir" "$R/${P}${SLEEPER}_file"
	sweep --json "$R"
	assert_success
	assert_counts seen=2 alive=2
	assert_equal "$(json .coverage)" null
}

@test "a file that goes needs no scan either" {
	touch "$R/${P}${DEAD}_file"
	age "2 days" "$R/${P}${DEAD}_file"
	sweep --json "$R"
	assert_counts seen=1 files=1
	assert_equal "$(json .coverage)" null
}

@test "EPERM is alive: a user's entries that bear the numbers of root's processes" {
	need_root
	make_root "$USER_UID"
	sleeper
	stage_as_user "${P}1_x" "${P}${SLEEPER}_x"
	as_user touch "$R/${P}1_file" "$R/${P}${SLEEPER}_file"
	age "1 hour" "$R"/*
	sweep_as_user --json "$R"
	assert_success
	assert_counts seen=4 alive=4
}

@test "a zombie still bears its number" {
	hold "$HELPERS/pin-zombies" 1
	local zombie
	zombie=$(cat "/proc/$HOLDER/task/$HOLDER/children")
	zombie=${zombie% }
	stage "${P}${zombie}_x"
	age "1 hour" "$R/${P}${zombie}_x"
	sweep --json "$R"
	assert_counts seen=1 alive=1
}

@test "past 24 h a process that is younger than the entry keeps nothing; by default" {
	sleeper
	stage "${P}${SLEEPER}_23h59" "${P}${SLEEPER}_24h01"
	age "1439 minutes" "$R/${P}${SLEEPER}_23h59"
	age "1441 minutes" "$R/${P}${SLEEPER}_24h01"
	sweep --json "$R"
	assert_success
	assert_counts seen=2 dirs=1 alive=1
	assert_left "${P}${SLEEPER}_23h59"
}

@test "--max-age moves that bound" {
	sleeper
	stage "${P}${SLEEPER}_x"
	sweep --json --max-age=3d "$R"
	assert_counts seen=1 alive=1
	sweep --json --max-age=47h "$R"
	assert_counts seen=1 dirs=1
}

@test "a launcher that is older than its entries keeps them at any age" {
	local stamp
	stamp=$(($(start_of_init) + 5))
	stage "${P}1_x"
	touch -d "@$stamp" "$R/${P}1_x"
	sweep --json --max-age=1s --min-age=0 "$R"
	assert_success
	assert_counts seen=1 alive=1
}

@test "a process that is younger by less than two seconds may be the launcher" {
	sleeper
	stage "${P}${SLEEPER}_close" "${P}${SLEEPER}_far"
	age "1 second" "$R/${P}${SLEEPER}_close"
	age "1 minute" "$R/${P}${SLEEPER}_far"
	sweep --json --max-age=500ms --min-age=0 "$R"
	assert_success
	assert_counts seen=2 dirs=1 alive=1
	assert_left "${P}${SLEEPER}_close"
}

@test "the name of a process may hold blanks and parentheses" {
	cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/x) 1 2 (y"
	"$BATS_TEST_TMPDIR/x) 1 2 (y" 1000 3>&- &
	remember $!
	wait_until grep -qF 'x) 1' "/proc/$!/comm"
	stage "${P}$!_x"
	sweep --json "$R"
	assert_counts seen=1 dirs=1
}

@test "a name that two prefixes read as two numbers is nobody's, in either order" {
	sleeper
	# The launcher lives; its number without the first digit is another's.
	touch "$R/${P}${SLEEPER}_x" "$R/${P}${SLEEPER:0:1}y"
	age "1 hour" "$R"/*
	for order in "${P}${SLEEPER:0:1} $P" "$P ${P}${SLEEPER:0:1}"; do
		# shellcheck disable=SC2086
		set -- $order
		sweep --json -p "$1" -p "$2" "$R"
		assert_success
		assert_counts seen=2 malformed=2
	done
	assert_left "${P}${SLEEPER}_x" "${P}${SLEEPER:0:1}y"
}

@test "a launcher whose directory in /proc is covered by a younger process's is still alive" {
	local stamp
	stamp=$(($(start_of_init) + 5))
	stage "${P}1_x"
	touch -d "@$stamp" "$R/${P}1_x"
	sleeper
	# shellcheck disable=SC2016
	run --separate-stderr unshare --mount --propagation private sh -c '
		mount --bind "/proc/$1" /proc/1 && exec sb-sweep --json --max-age=1s --min-age=0 "$2"' \
		_ "$SLEEPER" "$R"
	assert_counts seen=1 alive=1
	assert_left "${P}1_x"
}

@test "prefixes are matched byte for byte" {
	local prefix kept=()
	for prefix in 'a*' '[x]' '.' '\d' '%s' 'p q'; do
		stage "${prefix}${DEAD}_go"
	done
	kept=("ab${DEAD}_x" "x${DEAD}_x" "z${DEAD}_x" "a${DEAD}_x" "${P}${DEAD}_x")
	stage "${kept[@]}"
	sweep --json -p 'a*' -p '[x]' -p . --prefix='\d' -p '%s' -p 'p q' "$R"
	assert_success
	assert_counts seen=6 dirs=6
	assert_left "${kept[@]}"
}

@test "an empty prefix, and one with a slash, are refused" {
	local prefix
	stage "${P}${DEAD}_x" "${DEAD}_x"
	for prefix in "" / x/ /x; do
		sweep -p "$prefix" "$R"
		assert_equal "$status" 2
		assert_regex "$stderr" "--prefix: '$prefix'"
	done
	assert_left "${P}${DEAD}_x" "${DEAD}_x"
}

@test "each number is asked for itself" {
	local number dead=0
	sleeper
	# Numbers of the same remainder, since answers are kept by that.
	for ((number = SLEEPER % 1024; number < 32768; number += 1024)); do
		[ ! -e "/proc/$number" ] || continue
		touch "$R/${P}${number}_x"
		dead=$((dead + 1))
	done
	touch "$R/${P}${SLEEPER}_a" "$R/${P}${SLEEPER}_c"
	age "1 hour" "$R"/*
	sweep --json "$R"
	assert_counts seen=$((dead + 2)) files="$dead" alive=2
	assert_left "${P}${SLEEPER}_a" "${P}${SLEEPER}_c"
}

@test "a dry run tells the same and touches nothing" {
	sleeper
	stage "${P}${DEAD}_a" "${P}${DEAD}_b" "${P}0_m"
	mkdir "$R/${P}${DEAD}_b/below"
	age "2 days" "$R/${P}${DEAD}_b"
	touch "$R/${P}${DEAD}_f" "$R/${P}${DEAD}_young"
	age "2 days" "$R/${P}${DEAD}_f"
	find "$R" -printf '%p %i %m %u %T@ %C@\n' >"$BATS_TEST_TMPDIR/before"
	sweep --json -n "$R"
	assert_success
	assert_equal "$(json .dry_run)" true
	assert_counts seen=5 dirs=2 files=1 young=1 malformed=1
	find "$R" -printf '%p %i %m %u %T@ %C@\n' | diff - "$BATS_TEST_TMPDIR/before"
	sweep --json "$R"
	assert_equal "$(json .dry_run)" false
	assert_counts seen=5 dirs=2 files=1 young=1 malformed=1
}
