#!/usr/bin/env bats
# What a sweep shows to the eye and to a monitor: the picture of a dry run, the progress line, and
# the metrics file. The drawing itself is tested character by character in tests/unit.

load common

setup() {
	make_root "$(id -u)"
	dead=$(dead_pid)
	mkdir "$R/$P${dead}_a" "$R/$P${dead}_b" "$R/$P${dead}_c" "$R/$P${BASHPID}_alive"
	age "2 days" "$R/$P${dead}"_[ab]
	age "30 minutes" "$R/$P${dead}_c"
	age "2 hours" "$R/$P${BASHPID}_alive"
	sweep=(sb-sweep --trust-pidns)
}

teardown() {
	unmount_root
}

# Runs a command on a terminal of $cols columns, or 80: output as the terminal gets it, \r\n for a newline.
on_terminal() {
	local command
	printf -v command '%q ' "$@"
	run script -qec "stty cols ${cols:-80} rows 24; $command" /dev/null </dev/null
}

@test "-n in a pipe: plain lines below the line of the root" {
	run --separate-stderr "${sweep[@]}" -n "$R"
	assert_success
	assert_line --index 0 --regexp "^$R: would remove 3 directories, 0 files; kept 1 alive"
	assert_line --index 1 --regexp '^  inodes: [0-9]+ used now, [0-9]+ afterwards, of [0-9]+$'
	assert_line "  would go: 3 (1 under an hour, 2 under a week)"
	assert_line "  alive: 1 (1 under a day)"
	refute_output --partial $'\033'
	[ ${#lines[@]} -eq 4 ]
	[ "$(find "$R" -mindepth 1 | wc -l)" -eq 4 ]
}

@test "-n afterwards is what a sweep then makes of it" {
	local foretold
	foretold=$("${sweep[@]}" -n "$R" 2>/dev/null | sed -n 's/.*now, \([0-9]*\) afterwards.*/\1/p')
	run --separate-stderr "${sweep[@]}" --json "$R"
	assert_success
	assert_equal "$(jq '.roots[0].inodes.used_after' <<<"$output")" "$foretold"
}

@test "-n on a terminal: bars, in colour, in the characters of the locale" {
	export TERM=xterm LC_ALL=C.UTF-8
	unset NO_COLOR
	on_terminal "${sweep[@]}" -n "$R"
	assert_success
	assert_line --regexp $'would go +3 \033\\[32m█+\033\\[0m'
	assert_line --regexp $'alive +1 \033\\[33m▓+[▏▎▍▌▋▊▉]?\033\\[0m'
	assert_line --regexp '  inodes now, [0-9]+% +[0-9]+ '
	assert_line --regexp '  inodes after, [0-9]+% +[0-9]+ '
	assert_line --regexp '  under a week +2 '
}

@test "-n on a terminal: ASCII where the locale is not UTF-8" {
	export TERM=xterm LC_ALL=C
	on_terminal "${sweep[@]}" -n "$R"
	assert_success
	assert_line --regexp $'would go +3 \033\\[32m#+\033\\[0m'
	run env LC_ALL=C grep -c $'[\x80-\xff]' <<<"$output"
	assert_output 0
}

@test "-n on a terminal: no colour with NO_COLOR, nor with TERM=dumb" {
	export LC_ALL=C.UTF-8
	NO_COLOR=1 TERM=xterm on_terminal "${sweep[@]}" -n "$R"
	assert_line --regexp 'would go +3 █+'
	refute_output --partial $'\033'
	TERM=dumb on_terminal "${sweep[@]}" -n "$R"
	assert_line --regexp 'would go +3 █+'
	refute_output --partial $'\033'
	# An empty NO_COLOR is none.
	NO_COLOR='' TERM=xterm on_terminal "${sweep[@]}" -n "$R"
	assert_output --partial $'\033[32m'
}

@test "-n on a terminal: no line is longer than the terminal" {
	export LC_ALL=C NO_COLOR=1
	on_terminal "${sweep[@]}" -n -q "$R"
	local line
	for line in "${lines[@]}"; do
		line=${line%$'\r'}
		[[ $line == "$R:"* ]] || [ ${#line} -le 80 ] || fail "too long: $line"
	done
}

@test "only a dry run draws; JSON never" {
	run --separate-stderr "${sweep[@]}" -n --json "$R"
	assert_success
	[ ${#lines[@]} -eq 1 ]
	run --separate-stderr "${sweep[@]}" "$R"
	assert_success
	[ ${#lines[@]} -eq 1 ]
}

# Enough to do for a line to show: the first comes after a tenth of a second.
make_many() {
	(cd "$R" && seq -f "$P${dead}_%g" 60000 | xargs mkdir &&
		find . -mindepth 1 -maxdepth 1 -exec touch -d "-2 days" {} +)
}

@test "progress: always, and erased at the end" {
	make_many
	run --separate-stderr "${sweep[@]}" --progress=always "$R"
	assert_success
	[[ $stderr == *$'\rsb-sweep: '*' seen, '*' removed, '*'/s, '*' s left'* ]]
	# The last thing written takes the line away: blanks, and back to the start.
	local erased=$'\r +\r$'
	[[ $stderr =~ $erased ]]
}

@test "progress: the line keeps to its terminal, be it narrow or wide" {
	local cols
	for cols in 30 500; do
		make_many
		cols=$cols on_terminal "${sweep[@]}" "$R"
		assert_success
		assert_output --partial " seen"
		run awk -v RS='\r' -v cols="$cols" 'length($0) >= cols' <<<"${output%%"$R"*}"
		refute_output
	done
	# Where not even the command's name has room.
	make_many
	cols=8 on_terminal "${sweep[@]}" "$R"
	assert_success
	refute_output --partial " seen"
}

@test "progress: auto is silent where stderr is no terminal, never everywhere" {
	make_many
	run --separate-stderr "${sweep[@]}" "$R"
	assert_success
	[ -z "$stderr" ]
	make_many
	on_terminal "${sweep[@]}" --progress=never "$R"
	assert_success
	refute_output --partial " seen, "
}

@test "progress: auto shows on a terminal" {
	make_many
	on_terminal "${sweep[@]}" "$R"
	assert_success
	assert_output --partial " seen, "
	assert_output --partial "removed 6000"
}

metric() { # NAME: its value
	awk -v name="$1" '$1 == name { print $2 }' "$BATS_TEST_TMPDIR/sb.prom"
}

@test "metrics: promtool has nothing to say" {
	command -v promtool >/dev/null || skip "needs promtool"
	"${sweep[@]}" --metrics="$BATS_TEST_TMPDIR/sb.prom" "$R" 2>/dev/null
	run promtool check metrics <"$BATS_TEST_TMPDIR/sb.prom"
	assert_success
	refute_output
	# It does find fault where there is one.
	run promtool check metrics <<<"sb_x_total{ 1"
	assert_failure
}

@test "metrics: the counts, by root and reason" {
	"${sweep[@]}" --metrics="$BATS_TEST_TMPDIR/sb.prom" "$R" 2>/dev/null
	assert_equal "$(metric "sb_sweep_entries_seen{root=\"$R\"}")" 4
	assert_equal "$(metric "sb_sweep_entries_removed{root=\"$R\",kind=\"directory\"}")" 3
	assert_equal "$(metric "sb_sweep_entries_removed{root=\"$R\",kind=\"file\"}")" 0
	assert_equal "$(metric "sb_sweep_entries_kept{root=\"$R\",reason=\"alive\"}")" 1
	assert_equal "$(metric "sb_sweep_entries_kept{root=\"$R\",reason=\"pinned\"}")" 0
	assert_equal "$(metric "sb_sweep_finished{root=\"$R\"}")" 1
	assert_equal "$(metric sb_sweep_exit_status)" 0
	assert_equal "$(metric 'sb_sweep_coverage{level="unproven"}')" 0
	assert_equal "$(stat -c %a "$BATS_TEST_TMPDIR/sb.prom")" 644
	[ "$(find "$BATS_TEST_TMPDIR" -name 'sb.prom*' | wc -l)" -eq 1 ]
}

@test "metrics: a root that is not there is in the status, not in the counts" {
	run "${sweep[@]}" --metrics="$BATS_TEST_TMPDIR/sb.prom" "$R/missing"
	assert_failure 1
	assert_equal "$(metric sb_sweep_exit_status)" 1
	run grep -c 'root=' "$BATS_TEST_TMPDIR/sb.prom"
	assert_output 0
}

@test "metrics: a dry run writes none" {
	"${sweep[@]}" -n --metrics="$BATS_TEST_TMPDIR/sb.prom" "$R" 2>/dev/null
	assert_not_exists "$BATS_TEST_TMPDIR/sb.prom"
}

@test "metrics: a file that cannot be written is said, status 1, and the sweep is done" {
	run --separate-stderr "${sweep[@]}" --metrics=/mnt/missing/sb.prom --json "$R"
	assert_failure 1
	[[ $stderr == *"sb-sweep: cannot write '/mnt/missing/sb.prom': No such file or directory"* ]]
	assert_equal "$(jq .exit_status <<<"$output")" 1
	assert_equal "$(jq .totals.removed.dirs <<<"$output")" 3
	run "${sweep[@]}" --metrics= "$R"
	assert_failure 2
}

@test "metrics: what is there and no regular file stays, and nothing is done" {
	local there=$BATS_TEST_TMPDIR/there
	# In a user namespace there are no devices to be made.
	[ "$SB_TEST_PRIVILEGED" != 1 ] || mknod "$there.device" c 1 3
	mkfifo "$there.fifo"
	ln -s /dev/null "$there.link"
	mkdir "$there.directory"
	for file in "$there".*; do
		kind=$(stat -c %F "$file")
		run "${sweep[@]}" --metrics="$file" "$R"
		assert_failure 2
		assert_output --partial "'$file' is there, and no regular file"
		assert_equal "$(stat -c %F "$file")" "$kind"
	done
	assert [ "$(ls "$R" | wc -l)" -gt 3 ]
}

@test "sb-legacy-heal draws, shows progress and writes metrics alike" {
	local name
	for name in $(seq -f tmp%08g 70); do
		mkdir -m 700 "$R/$name"
	done
	age "2 days" "$R"/tmp*
	run --separate-stderr sb-legacy-heal --trust-pidns -n --marker="$BATS_TEST_TMPDIR/m" "$R"
	assert_success
	assert_line --index 0 --regexp "^$R: would remove 70 directories, 0 files"
	assert_line "  would go: 70 (70 under a week)"
	run --separate-stderr sb-legacy-heal --trust-pidns --marker="$BATS_TEST_TMPDIR/m" \
		--progress=always --metrics="$BATS_TEST_TMPDIR/sb.prom" "$R"
	assert_success
	assert_equal "$(metric "sb_legacy_heal_entries_removed{root=\"$R\",kind=\"directory\"}")" 70
	assert_equal "$(metric "sb_legacy_heal_entries_kept{root=\"$R\",reason=\"below_threshold\"}")" 0
	run promtool check metrics <"$BATS_TEST_TMPDIR/sb.prom"
	assert_success
	# With the marker there, the metrics tell that it ran, and of no root.
	run sb-legacy-heal --trust-pidns --marker="$BATS_TEST_TMPDIR/m" \
		--metrics="$BATS_TEST_TMPDIR/sb.prom" "$R"
	assert_success
	assert_equal "$(metric sb_legacy_heal_exit_status)" 0
	run grep -c 'root=' "$BATS_TEST_TMPDIR/sb.prom"
	assert_output 0
}
