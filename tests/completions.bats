#!/usr/bin/env bats
# The completions, by asking the shells themselves (tests/complete) in what make install wrote.
# That they tell all options, and no other, is for `make lint` to see.

load common

setup_file() {
	export SHARE="$BATS_FILE_TMPDIR/share"
	"$SB_TOP/.ci/install-files" install "$BATS_FILE_TMPDIR" "$SB_TOP/build" bin=/bin \
		man=/share/man doc=/share/doc bash=/share/bash-completion/completions \
		zsh=/share/zsh/site-functions fish=/share/fish/vendor_completions.d \
		system=/system user=/user
}

# offers SHELL LINE WORD...: each is among the candidates, whatever the shell puts before it.
offers() {
	local shell=$1 line=$2 word
	shift 2
	run "$SB_TOP/tests/complete" "$shell" "$SHARE" "$line"
	assert_success
	for word in "$@"; do
		assert_line --regexp "^([^ ]*[=,/])?$word(=|/)?\$"
	done
}

# The candidates are these and no other.
offers_only() {
	offers "$@"
	[ ${#lines[@]} -eq $(($# - 2)) ] || fail "more than ${*:3}: $output"
}

each_shell() {
	local shell
	for shell in bash zsh fish; do
		"$1" "$shell" "${@:2}"
	done
}

@test "options of every command, short and long" {
	each_shell offers "sb-pinscan -" -a --all -H --holders -p --prefix --legacy --names
	each_shell offers "sb-sweep -" -n --dry-run -p --prefix --all-users --metrics --budget
	each_shell offers "sb-legacy-heal -" -n --dry-run --threshold --marker --ignore-marker
	each_shell offers "sb-killstray -" -n --dry-run --grace --keep --keep-pid --host --lock-wait
}

@test "a started option goes on" {
	each_shell offers_only "sb-sweep --all" --all-users
	each_shell offers_only "sb-legacy-heal --ign" --ignore-marker
	each_shell offers_only "sb-killstray --no" --no-keep
	each_shell offers_only "sb-pinscan --no" --no-headings
}

@test "an option of another command is not offered" {
	each_shell offers_only "sb-killstray --metr"
	each_shell offers_only "sb-pinscan --dry"
}

@test "values of closed lists, behind = and behind a blank" {
	local command
	for command in sb-pinscan sb-sweep sb-legacy-heal; do
		each_shell offers_only "$command --evidence=" auto kernel namespaces mountinfo
		each_shell offers_only "$command --evidence " auto kernel namespaces mountinfo
		each_shell offers_only "$command --require=" covered complete
		each_shell offers_only "$command --require c" covered complete
	done
	each_shell offers_only "sb-sweep --progress=" auto always never
	each_shell offers_only "sb-legacy-heal --progress=al" always
}

@test "columns, one after the other" {
	each_shell offers_only "sb-pinscan --output=" NAME USE NAMESPACES DELETED HOLDERS
	each_shell offers "sb-pinscan -o " NAME USE NAMESPACES DELETED HOLDERS
	each_shell offers "sb-pinscan -o NAME,USE," DELETED NAMESPACES HOLDERS
	each_shell offers_only "sb-pinscan --output=NAME,DEL" DELETED
}

@test "users" {
	each_shell offers_only "sb-sweep --uid=roo" root
	each_shell offers_only "sb-killstray -u roo" root
}

@test "pids, and lists of them" {
	each_shell offers "sb-killstray --keep-pid=" "$$"
	each_shell offers "sb-killstray --pid=" "$$"
	each_shell offers "sb-killstray --pid=$$," "$PPID"
}

@test "directories: roots, --procfs, --cgroup; no plain files there" {
	mkdir -p /tmp/place/sub
	: >/tmp/place/sub-file
	each_shell offers_only "sb-sweep /tmp/place/" sub
	each_shell offers_only "sb-legacy-heal /tmp/place/" sub
	each_shell offers_only "sb-pinscan --procfs=/tmp/place/" sub
	each_shell offers_only "sb-killstray --cgroup=/tmp/place/" sub
}

@test "files: --metrics, --marker, --lock" {
	mkdir -p /tmp/files
	: >/tmp/files/one
	each_shell offers_only "sb-sweep --metrics=/tmp/files/" one
	each_shell offers_only "sb-legacy-heal --marker=/tmp/files/" one
	each_shell offers_only "sb-killstray --lock=/tmp/files/" one
}

@test "where nothing can be known, nothing is offered" {
	cd /tmp/place 2>/dev/null || cd /tmp
	each_shell offers_only "sb-sweep --max-age="
	each_shell offers_only "sb-killstray --grace "
	each_shell offers_only "sb-pinscan "
}
