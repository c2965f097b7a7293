# sb-pinscan from the outside: what it lists, how it answers, what it refuses.
load common
load pinscan

setup() {
	make_entries
}

teardown() {
	end_entries
}

@test "pinscan: a bound entry is listed, with its use and namespace" {
	need_root
	pin_hold "$R/$E" "$T1"
	inode=$(stat -L -c %i "/proc/$HOLDER/ns/mnt")
	run --separate-stderr sb-pinscan
	assert_success
	assert_line --index 0 --regexp '^NAME +USE +NAMESPACES +DELETED *$'
	assert_line --regexp "^$E +source +$inode +no *\$"
	refute_output --partial "$F"
}

@test "pinscan: the summary is one line on stderr" {
	need_root
	pin_hold "$R/$E" "$T1"
	run --separate-stderr sb-pinscan --prefix="$E"
	assert_success
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ ${stderr_lines[0]} =~ ^sb-pinscan:\ 1\ name\ pinned\ in\ [0-9]+\ mount\ namespaces\;\ [0-9]+\ tasks\ in\ [0-9]+\.[0-9]+\ s\;\ coverage:\ complete\ \(kernel\)$ ]]
}

@test "pinscan: nothing pinned is no output, and proven" {
	need_root
	run --separate-stderr sb-pinscan --prefix="$F"
	assert_success
	assert_output ""
	[[ $stderr == *": 0 names pinned in "* ]]
}

@test "pinscan: NAME answers by status: 7 pinned, 0 free, 7 if any is" {
	need_root
	pin_hold "$R/$E" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" "$E"
		assert_status 7
		scan "$way" "$F"
		assert_status 0
		scan "$way" "$F" "$E"
		assert_status 7
	done
}

@test "pinscan: NAME is compared literally and whole, whatever its shape" {
	need_root
	mkdir "$R/plain" "$R/plainer" "$R/a*"
	pin_hold "$R/plain" "$T1" "$R/a*" "$T2"
	assert_pinned_by "$ROOT_WAYS" plain
	assert_pinned_by auto 'a*'
	assert_free_by auto plainer
	assert_free_by auto plai
	assert_free_by auto 'ab'
	assert_free_by auto 'plain*'
	assert_free_by auto PLAIN
	assert_free_by auto "$P"
}

@test "pinscan: a NAME with a slash, or empty, is a usage error" {
	for name in "/run/user/1000/$E" "$E/" "/" "./$E" "." ".." ""; do
		run --separate-stderr sb-pinscan "$name"
		assert_status 2
		assert_output ""
		[[ $stderr == *"NAME"* ]]
		[ -z "$name" ] || [[ $stderr == *"'$name'"* ]]
	done
	run --separate-stderr sb-pinscan "$E" "$R/$E"
	assert_status 2
}

@test "pinscan: NAME after -- may start with a dash" {
	need_root
	mkdir "$R/-J"
	pin_hold "$R/-J" "$T1"
	run sb-pinscan -- -J
	assert_status 7
}

@test "pinscan: --names prints bare names, one a line" {
	need_root
	mkdir "$R/${E}b"
	pin_hold "$R/${E}b" "$T2" "$R/$E" "$T1"
	run --separate-stderr sb-pinscan --names --prefix="$E"
	assert_success
	assert_output "$E
${E}b"
}

@test "pinscan: an entry that several namespaces pin is one row" {
	need_root
	pin_hold "$R/$E" "$T1"
	first=$(stat -L -c %i "/proc/$HOLDER/ns/mnt")
	pin_hold "$R/$E" "$T1" "$R/$E" "$T2"
	second=$(stat -L -c %i "/proc/$HOLDER/ns/mnt")
	for way in $ROOT_WAYS; do
		scan "$way" --json --prefix="$E"
		assert_status 0
		[ "$(json '.pins | length')" = 1 ]
		[ "$(json '.pins[0].namespaces | sort | join(" ")')" = \
			"$(printf '%s\n' "$first" "$second" | sort -n | paste -sd ' ')" ]
	done
}

@test "pinscan: --no-headings and --output choose what the table shows" {
	need_root
	pin_hold "$R/$E" "$T1"
	run --separate-stderr sb-pinscan --no-headings --prefix="$E"
	assert_success
	[ "${#lines[@]}" -eq 1 ]
	run --separate-stderr sb-pinscan -o name,use --prefix="$E"
	assert_success
	assert_line --index 0 --regexp '^NAME +USE *$'
	assert_line --index 1 --regexp "^$E +source *\$"
	run --separate-stderr sb-pinscan --no-headings --output=NAME --prefix="$E"
	assert_success
	assert_output "$E"
	run --separate-stderr sb-pinscan --output=NAME,COLOUR
	assert_status 2
	[[ $stderr == *"'COLOUR'"* ]]
	run --separate-stderr sb-pinscan --output=
	assert_status 2
	run --separate-stderr sb-pinscan --output=NAME,NAME,NAME,NAME,NAME,NAME,NAME
	assert_status 0 2
}

@test "pinscan: long names are not cut, anywhere" {
	need_root
	long=$E$(printf 'x%.0s' {1..255})
	long=${long:0:255}
	mkdir "$R/$long"
	pin_hold "$R/$long" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" --prefix="$E" --no-headings -o NAME
		assert_status 0
		assert_output "$long"
		scan "$way" --prefix="$E" --names
		assert_output "$long"
		scan "$way" "$long"
		assert_status 7
	done
}

@test "pinscan: --json is one object with all that the manual promises" {
	need_root
	pin_hold "$R/$E" "$T1"
	inode=$(stat -L -c %i "/proc/$HOLDER/ns/mnt")
	for way in $ROOT_WAYS; do
		scan "$way" --json --require=complete --prefix="$E"
		assert_status 0
		[ "${#lines[@]}" -eq 1 ]
		[ "$(json .tool)" = sb-pinscan ]
		[ "$(json .schema)" = 1 ]
		[ "$(json .host)" = "$(uname -n)" ]
		[ "$(json .uid)" = 0 ]
		[ "$(json .exit_status)" = 0 ]
		[ "$(json '.elapsed_s | type')" = number ]
		[ "$(json '.version | type')" = string ]
		[ "$(json '. | has("dry_run")')" = false ]
		[ "$(json '.pins[0].name')" = "$E" ]
		[ "$(json '.pins[0] | has("name_hex")')" = false ]
		[ "$(json '.pins[0] | has("holders")')" = false ]
		[ "$(json '.pins[0].deleted')" = false ]
		[ "$(json '.pins[0].as')" = source ]
		[ "$(json '.pins[0].namespaces | join(" ")')" = "$inode" ]
		[ "$(json '.coverage | keys | join(" ")')" = \
			"complete covered elapsed_s evidence gap_count gaps level namespaces passes tasks" ]
		[ "$(json '.coverage.level')" = complete ]
		[ "$(json '.coverage.complete and .coverage.covered')" = true ]
		[ "$(json '.coverage.gap_count')" = 0 ]
		[ "$(json '.coverage.gaps | length')" = 0 ]
		[ "$(json '.coverage.namespaces >= 2')" = true ]
		[ "$(json '.coverage.passes >= 1')" = true ]
	done
}

@test "pinscan: --json tells the status that it ends with" {
	need_root
	pin_hold "$R/$E" "$T1"
	run --separate-stderr sb-pinscan --json "$E"
	assert_status 7
	[ "$(json .exit_status)" = 7 ]
	run --separate-stderr unshare --pid --fork --mount-proc sb-pinscan --json "$F"
	assert_status 3
	[ "$(json .exit_status)" = 3 ]
	[ "$(json .coverage.level)" = unproven ]
}

@test "pinscan: the evidence told is the one that was used" {
	need_root
	scan auto --json
	[ "$(json .coverage.evidence)" = kernel ]
	scan kernel --json
	[ "$(json .coverage.evidence)" = kernel ]
	scan namespaces --json
	# Where pid 1 hides its links even from root, its table had to be read as text.
	if readlink /proc/1/ns/mnt >/dev/null 2>&1; then
		[ "$(json .coverage.evidence)" = namespaces ]
	else
		[[ $(json .coverage.evidence) =~ ^(namespaces|mountinfo)$ ]]
	fi
	for way in by-text mountinfo; do
		scan "$way" --json
		[ "$(json .coverage.evidence)" = mountinfo ]
	done
}

@test "pinscan: --prefix replaces the default, may be repeated, and is literal" {
	need_root
	mkdir "$R/a*1_x" "$R/ab1_x" "$R/[z]1_x"
	pin_hold "$R/$E" "$T1" "$R/a*1_x" "$T2" "$R/[z]1_x" "$T3"
	run --separate-stderr sb-pinscan --names -p 'a*' -p '[z]'
	assert_success
	assert_output "[z]1_x
a*1_x"
	run --separate-stderr sb-pinscan --names --prefix=ab
	assert_success
	assert_output ""
	run --separate-stderr sb-pinscan --names
	assert_success
	assert_line "$E"
	refute_line 'a*1_x'
}

@test "pinscan: an empty prefix, or one with a slash, is refused" {
	for prefix in "" "/" "x/" "a/b"; do
		run --separate-stderr sb-pinscan --prefix="$prefix"
		assert_status 2
		assert_output ""
		[[ $stderr == *"--prefix: '$prefix'"* ]]
	done
}

@test "pinscan: with NAME the answer is for that one, whatever else was asked for" {
	need_root
	mkdir "$R/tmpab_12zz9"
	pin_hold "$R/$E" "$T1" "$R/tmpab_12zz9" "$T2"
	for option in "--prefix=$E" --legacy --all; do
		scan auto "$option" "$F"
		assert_status 0
		assert_output ""
		scan auto "$option" "$E"
		assert_status 7
	done
}

@test "pinscan: any name that bears the prefix counts, keyed or not" {
	need_root
	mkdir "$R/${E}_" "$R/$P-1_x$$"
	pin_hold "$R/${E}_" "$T1" "$R/$P-1_x$$" "$T2"
	run --separate-stderr sb-pinscan --names
	assert_success
	assert_line "${E}_"
	assert_line "$P-1_x$$"
}

@test "pinscan: --legacy looks for mkdtemp's shape instead" {
	need_root
	mkdir "$R/tmpab_12zz9" "$R/tmpab_12zz9x" "$R/tmpAB_12zz9"
	pin_hold "$R/tmpab_12zz9" "$T1" "$R/tmpab_12zz9x" "$T2" "$R/$E" "$T3"
	for way in $ROOT_WAYS; do
		scan "$way" --legacy --names
		assert_status 0
		assert_line tmpab_12zz9
		refute_line tmpab_12zz9x
		refute_line "$E"
	done
}

@test "pinscan: --all lists every mount whose root is not /" {
	need_root
	mkdir -p "$R/some/where"
	pin_hold "$R/some/where" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" --all --names
		assert_status 0
		assert_line /some/where
		refute_line /
	done
}

@test "pinscan: --holders names the tasks in the namespace that pins" {
	need_root
	pin_hold --drop="$USER_UID" "$R/$E" "$T1"
	for way in $ROOT_WAYS; do
		scan "$way" --json --holders --prefix="$E"
		assert_status 0
		[ "$(json '.pins[0].holders | length')" = 1 ]
		[ "$(json '.pins[0].holders[0] | "\(.pid) \(.tid) \(.uid) \(.comm)"')" = \
			"$HOLDER $HOLDER $USER_UID pin-hold" ]
		scan "$way" --holders --prefix="$E"
		assert_line --index 0 --regexp '^NAME .*HOLDERS *$'
		assert_output --partial "$HOLDER"
	done
}

@test "pinscan: a holder's name cannot forge output" {
	need_root
	evil=$BATS_TEST_TMPDIR/$'a\n<3>b\e[1m'
	cp "$HELPERS/pin-hold" "$evil"
	hold "$evil" "$R/$E" "$T1"
	run --separate-stderr sb-pinscan --holders --prefix="$E"
	assert_success
	[ "${#lines[@]}" -eq 2 ]
	assert_line --index 1 --partial 'a\x0a<3>b\x1b[1m'
	run --separate-stderr sb-pinscan --json --holders --prefix="$E"
	[ "$(json '.pins[0].holders[0].comm')" = 'a\x0a<3>b\x1b[1m' ]
	[ "$(json '.pins[0].holders[0].comm_hex')" = 610a3c333e621b5b316d ]
}

@test "pinscan: --require=complete asks for more than the default" {
	need_root
	# A task of another user whose namespace cannot be learnt: not complete, but covered.
	pin_hold --same-ns --chroot="$EMPTY" --drop="$OTHER_UID" --no-dump
	scan_as_user auto "$F"
	assert_status 0
	scan_as_user auto --require=covered "$F"
	assert_status 0
	scan_as_user auto --require=complete "$F"
	assert_status 3
	for level in unproven all "" COVERED; do
		run --separate-stderr sb-pinscan --require="$level"
		assert_status 2
		[[ $stderr == *"'$level'"* ]]
	done
}

@test "pinscan: what is unproven is told as a gap, with a way to close it" {
	need_root
	pin_hold --same-ns --chroot="$EMPTY" --drop="$OTHER_UID" --no-dump
	scan_as_user auto --require=complete --json "$F"
	assert_status 3
	[ "$(json .coverage.level)" = covered ]
	[ "$(json .coverage.gap_count)" = "$(json '.coverage.gaps | length')" ]
	[ "$(json ".coverage.gaps[] | select(.pid == $HOLDER) | \"\(.tid) \(.uid) \(.comm)\"")" = \
		"$HOLDER $OTHER_UID pin-hold" ]
	[[ $(json ".coverage.gaps[] | select(.pid == $HOLDER).reason") == *"run as root"* ]]
	scan_as_user auto --require=complete "$F"
	[[ $stderr == *"$HOLDER"*pin-hold*"run as root"* ]]
	# Where the level asked for was reached, only -v tells.
	scan_as_user auto "$F"
	[[ $stderr != *"$HOLDER"* ]]
	scan_as_user auto -v "$F"
	[[ $stderr == *"$HOLDER"* ]]
}

@test "pinscan: of many gaps the first twenty are told in full" {
	need_root
	for i in {1..23}; do
		mkdir "$EMPTY/$i"
		pin_hold --same-ns --chroot="$EMPTY/$i" --drop="$OTHER_UID" --no-dump
		mount -t tmpfs own "$EMPTY/$i"
		let_go
		pin_hold --same-ns --chroot="$EMPTY/$i" --drop="$OTHER_UID" --no-dump
	done
	scan namespaces --json --trust-pidns --require=complete "$F"
	assert_status 0 # root can see whose they are
	for i in {1..23}; do
		pin_hold --chroot="$EMPTY/$i" "$R/$F" "$T1"
	done
	scan by-text --json "$E"
	assert_status 3
	[ "$(json '.coverage.gap_count >= 23')" = true ]
	[ "$(json '.coverage.gaps | length')" = 20 ]
}

@test "pinscan: users that are none, and other wrong arguments, are named" {
	declare -A wrong=(
		["--uid=no-such-user"]="'no-such-user'"
		["--uid=4294967295"]="'4294967295'"
		["--uid="]="''"
		["--evidence=none"]="'none'"
		["--evidence=Kernel"]="'Kernel'"
		["--no-such-option"]="no-such-option"
		["--dry-run"]="dry-run"
		["--names=x"]="names"
	)
	for argument in "${!wrong[@]}"; do
		run --separate-stderr sb-pinscan "$argument"
		assert_status 2
		assert_output ""
		[[ $stderr == *"${wrong[$argument]}"* ]]
		[[ ${stderr_lines[0]} == sb-pinscan:* ]]
	done
}

@test "pinscan: --help, --usage and --version answer on stdout with 0" {
	for option in --help '-?' -h; do
		run --separate-stderr sb-pinscan "$option"
		assert_success
		assert_output --partial "Usage: sb-pinscan [OPTION...] [NAME...]"
		assert_output --partial "Exit status:"
		assert_output --partial "  7  pinned"
		assert_output --partial "sb-pinscan(8)"
		[ "$stderr" = "" ]
	done
	run sb-pinscan --usage
	assert_success
	run sb-pinscan --version
	assert_success
	assert_line --index 0 --regexp '^sb-pinscan \(sb-tools\) [0-9]+\.[0-9]+\.[0-9]+$'
	run sb-pinscan -V
	assert_success
}

@test "pinscan: stdout that is closed or full is a failure, whatever the answer" {
	need_root
	pin_hold "$R/$E" "$T1"
	for arguments in "--prefix=$E" "--names" "--json" "$E" "--help" "--version"; do
		run --separate-stderr bash -c "exec sb-pinscan $arguments >/dev/full"
		assert_status 1
		[[ $stderr == *"cannot write 'standard output'"* ]]
		run --separate-stderr bash -c "exec sb-pinscan $arguments >&-"
		assert_status 1
		[[ $stderr == *"cannot write 'standard output'"* ]]
	done
}

@test "pinscan: a reader that goes away is a failure, not a signal" {
	need_root
	pin_hold "$R/$E" "$T1"
	# shellcheck disable=SC2016
	run --separate-stderr bash -c '
		trap "" PIPE; mkfifo "$0/fifo"; exec 4<>"$0/fifo" 5>"$0/fifo" 4>&-
		sb-pinscan --names >&5' "$BATS_TEST_TMPDIR"
	assert_status 1
}

@test "pinscan: -q keeps to warnings" {
	need_root
	run --separate-stderr sb-pinscan -q --prefix="$F"
	assert_success
	[ "$stderr" = "" ]
	run --separate-stderr unshare --pid --fork --mount-proc sb-pinscan -q --prefix="$F"
	assert_status 3
	[ "$stderr" != "" ]
}

@test "pinscan: in the journal every line has its level" {
	need_root
	exec 9>"$BATS_TEST_TMPDIR/journal"
	stream=$(stat -L -c %d:%i "/proc/$BASHPID/fd/9")
	JOURNAL_STREAM=$stream sb-pinscan --prefix="$F" 2>&9
	JOURNAL_STREAM=$stream unshare --pid --fork --mount-proc sb-pinscan --prefix="$F" 2>&9 ||
		true
	exec 9>&-
	run cat "$BATS_TEST_TMPDIR/journal"
	assert_line --index 0 --regexp '^<6>sb-pinscan: 0 names pinned'
	assert_line --index 1 --regexp '^<4>sb-pinscan: '
	refute_line --regexp '^[^<]'
}

@test "pinscan: a procfs that is not there, or is none, proves nothing" {
	for dir in /nonexistent "$EMPTY" /etc/passwd; do
		run --separate-stderr sb-pinscan --procfs="$dir" "$E"
		assert_status 1 3
		[ "$stderr" != "" ]
	done
}

@test "pinscan: few descriptors give an answer or none, never a false one" {
	need_root
	pin_hold "$R/$E" "$T1"
	for way in kernel namespaces mountinfo; do
		for limit in {3..12} 16 24 32; do
			# 127: the loader has no descriptor for the libraries.
			run --separate-stderr bash -c \
				"ulimit -n $limit; sb-pinscan --evidence=$way '$E' || exit \$((\$? % 126))"
			assert_status 7 3 1
			run --separate-stderr bash -c \
				"ulimit -n $limit; sb-pinscan --evidence=$way --json --prefix='$E' ||
					exit \$((\$? % 126))"
			assert_status 0 3 1
			if [ "$status" = 0 ]; then
				[ "$(json '.pins[0].name')" = "$E" ]
			fi
		done
	done
}

@test "pinscan: the soft limit of descriptors is raised" {
	need_root
	# 64 namespaces at once, more than the soft limit has room for.
	hold "$HELPERS/pin-tasks" 64 64 1 "$R" "$T1" "$E."
	run --separate-stderr bash -c \
		"ulimit -S -n 16; exec sb-pinscan --evidence=namespaces --names --prefix='$E.'"
	assert_success
	[ "${#lines[@]}" -eq 64 ]
}

@test "pinscan: more namespaces than descriptors are still all read" {
	need_root
	hold "$HELPERS/pin-tasks" 128 64 1 "$R" "$T1" "$E."
	for limit in 26 32 60; do
		run --separate-stderr bash -c \
			"ulimit -n $limit; exec sb-pinscan --evidence=namespaces --names --prefix='$E.'"
		assert_status 0 3
		[ "${#lines[@]}" -eq 64 ]
	done
}
