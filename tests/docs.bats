#!/usr/bin/env bats
# What the README and the manuals say, held against the commands. Options and exit statuses are
# compared by `make lint`.

load common

COMMANDS="sb-pinscan sb-sweep sb-legacy-heal sb-killstray"

@test "--help fits 80 columns, has groups, tells statuses and the manual" {
	local command line
	for command in $COMMANDS; do
		run --separate-stderr "$command" --help
		assert_success
		[ -z "$stderr" ]
		for line in "${lines[@]}"; do
			[ ${#line} -le 80 ] || fail "too long: $line"
		done
		assert_line --regexp '^ [A-Z][a-z ]+:$'
		assert_line "Exit status:"
		assert_line --partial "See $command(8) and sb-tools(7)."
	done
}

@test "--version tells name, package, version, libmount's, and the evidence here" {
	local command version
	version=$(sed -n 's/^#define SB_VERSION "\(.*\)"/\1/p' "$SB_TOP/common/version.h")
	for command in $COMMANDS; do
		run "$command" --version
		assert_success
		assert_line --index 0 "$command (sb-tools) $version"
		assert_line --index 1 --regexp '^libmount [0-9.]+'
		assert_line --index 2 --regexp '^evidence here: (kernel|namespaces|mountinfo)$'
		[ ${#lines[@]} -eq 3 ]
	done
}

@test "the manuals are clean mdoc" {
	command -v mandoc >/dev/null || skip "needs mandoc"
	local page
	for page in "$SB_TOP"/man/*.[1-9]; do
		run bash -c 'mandoc -T lint "$1" 2>/dev/null | grep -v "referenced manual not found"' _ "$page"
		refute_output
		# groff's, which most readers have, must have nothing to say either.
		run bash -c 'MANWIDTH=80 man --warnings -l "$1" 2>&1 >/dev/null' _ "$page"
		refute_output
	done
}

@test "every manual has its sections" {
	local command section
	for command in $COMMANDS; do
		for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
			grep -qx "\.Sh $section" "$SB_TOP/man/$command.8" ||
				fail "$command.8 has no $section"
		done
	done
	for section in WORDS "WHAT IS NEVER TOUCHED" "EXIT STATUS" JSON RUNBOOK LIMITS SECURITY; do
		grep -qx "\.Sh $section" "$SB_TOP/man/sb-tools.7" || fail "sb-tools.7 has no $section"
	done
}

# The command lines in the EXAMPLES of a manual, or in the RUNBOOK: what stands behind a prompt.
command_lines() { # FILE SECTION
	awk -v section="$2" '/^\.Sh/ { on = substr($0, 5) == section }
		on { sub(/^\.Dl /, "") }
		on && /^[$#] / { sub(/^[$#] (sudo )?/, ""); print }' "$1"
}

@test "examples begin with a dry run" {
	local command
	for command in sb-sweep sb-legacy-heal sb-killstray; do
		run command_lines "$SB_TOP/man/$command.8" EXAMPLES
		[[ ${lines[0]} =~ ^$command\ (.*\ )?(--dry-run|-n)( |$) ]] ||
			fail "$command.8 begins with: ${lines[0]}"
	done
}

# Each option of each sb- command in the text on stdin is one that its --help tells.
options_exist() {
	local line command option
	while read -r line; do
		while [[ $line =~ (sb-(pinscan|sweep|legacy-heal|killstray))((\ +[^|\;\&\>]*)?) ]]; do
			command=${BASH_REMATCH[1]}
			line=${line#*"${BASH_REMATCH[0]}"}
			for option in $(grep -oE -- '(^| )--[a-z-]+' <<<"${BASH_REMATCH[3]}"); do
				"$command" --help | grep -qE -- "$option(=|\$| )" ||
					fail "$command has no $option"
				count=$((count + 1))
			done
		done
	done
}

@test "options in the examples and in the runbook exist" {
	local command count=0
	for command in $COMMANDS; do
		options_exist < <(command_lines "$SB_TOP/man/$command.8" EXAMPLES)
	done
	[ "$count" -gt 10 ]
	options_exist < <(command_lines "$SB_TOP/man/sb-tools.7" RUNBOOK)
	options_exist < <(command_lines "$SB_TOP/man/sb-tools.7" "A FLEET")
	[ "$count" -gt 15 ]
}

@test "what the README calls exists: commands, options, make targets, files" {
	local count=0 target file
	options_exist < <(sed -n '/^```/,/^```/p' "$SB_TOP/README.md")
	[ "$count" -gt 3 ]
	for target in $(grep -oE '(`|^\$ (sudo )?)make [a-z]+' "$SB_TOP/README.md" | awk '{ print $NF }' | sort -u); do
		make -s -C "$SB_TOP" help | grep -qE "^$target " || fail "no make $target"
	done
	while read -r file; do
		assert_exists "$SB_TOP/$file"
	done < <(grep -oE '\]\([a-zA-Z][^):#]*\)' "$SB_TOP/README.md" | tr -d '()]' | sort -u)
}

@test "the README and sb-tools(7) tell of every command" {
	local command
	for command in $COMMANDS; do
		grep -qF "\`$command\`" "$SB_TOP/README.md" || fail "README.md: no $command"
		grep -qE "^\.Xr $command 8" "$SB_TOP/man/sb-tools.7" || fail "sb-tools.7: no $command"
	done
}

@test "no path of a build machine in what is installed" {
	run grep -rnE '/(work|root|home)/' "$SB_TOP/man" "$SB_TOP/completions" "$SB_TOP/README.md"
	refute_output
}

# Which tests a text calls by name: lines FILE: NAME.
named_tests() {
	sed -n '/^\.Pa tests\/.*\.bats :$/ { s/^\.Pa \(.*\) :$/\1/; N; s/\n\.Dq /: /; p }' \
		"$SB_TOP/man/sb-tools.7"
	grep '^| .*`tests/' "$SB_TOP/README.md" | sed 's/^.* | `tests/`tests/; s/ |$//; s/<br>/\n/g' |
		sed 's/^`\([^`]*\)`/\1/'
}

@test "the tests that the promises of safety call by name exist" {
	local line number=0
	while IFS= read -r line; do
		number=$((number + 1))
		grep -qxF -- "@test \"${line#*: }\" {" "$SB_TOP/${line%%: *}" || fail "no such test: $line"
	done < <(named_tests)
	[ "$number" -gt 40 ]
}
