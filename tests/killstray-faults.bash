# What the fault tests of sb-killstray run inside their pid namespace: a world in which everybody has
# a part, and runs in it with one call after the other failing.
# shellcheck shell=bash disable=SC2154

# Everybody who is to be spared, each for another reason. By pid 1.
make_world() {
	spared=()
	start sleep infinity && spared+=("keep-alive=$started")
	name="sleep" start bash -c 'exec -a renamed sleep 305' && spared+=("named-keep-alive=$started")
	start sleep 306 && spared+=("keep-pid=$started") && kept=$started
	start_other sleep 307 && spared+=("other=$started")
	# It waits for a lock that it will never get.
	exec 9>"$T/lock"
	flock 9
	start sb-killstray --lock="$T/lock" && spared+=("another-run=$started")
	# Two that write into one another, and then into the standard input of the run.
	rm -f "$T/in" "$T/beyond"
	mkfifo -m 666 "$T/in" "$T/beyond"
	exec 7<>"$T/in" 8<>"$T/beyond"
	name="sleep" start bash -c "exec sleep 308 <$T/beyond >$T/in" && spared+=("pipe=$started")
	name="sleep" start bash -c "exec sleep 309 >$T/beyond" && spared+=("pipe-beyond=$started")
	exec 7<&- 8>&-
	export SPARED="${spared[*]}" KEPT=$kept
}

# The rest is done by a process whose real uid is the user's, and which may signal anybody: an
# ancestor that has to be spared, of a command that could do harm.
as_ancestor() {
	setpriv --ruid "$USER_UID" bash -p -c \
		"set -eu; source '$SB_TOP/tests/killstray-faults.bash'; yielding=0 stubborn=0 headless=0; $1"
}

is_alive() {
	local line
	read -r line 2>/dev/null <"/proc/$1/stat" || return 1
	# shellcheck disable=SC2086
	set -- ${line##*) }
	[[ $1 != [ZX] || ${18} -gt 1 ]] # a thread may live on without its leader
}

die() {
	echo "$*" >&2
	[ ! -s "$T/err" ] || sed 's/^/  it said: /' "$T/err" >&2
	exit 98
}

# A process of the user's, in the cgroup $INTO if that is set; its number is in $begun.
begin() { # COMMAND [ARG...]
	{
		[ -z "${INTO:-}" ] || echo "$BASHPID" >"$INTO/cgroup.procs"
		exec setpriv --reuid "$USER_UID" --regid "$USER_UID" --clear-groups "$@"
	} &
	begun=$!
	disown # its end is not told
}

has_begun() { # PID
	local name
	read -r name <"/proc/$1/comm" && [ "$name" = sleep ]
}

# One that ends on SIGTERM, one that does not, one whose leader has ended; those who still live are
# taken again.
begin_strays() {
	is_alive "$yielding" || { begin sleep 301 && yielding=$begun; }
	trap '' TERM
	is_alive "$stubborn" || { begin sleep 302 && stubborn=$begun; }
	trap - TERM
	is_alive "$headless" || { begin ks-zombies leader && headless=$begun; }
	until has_begun "$yielding" && has_begun "$stubborn" &&
		[[ $(<"/proc/$headless/stat") == *") Z "* ]]; do :; done
}

# What has to be true after any run.
look_after() { # WHAT STATUS
	local one last=""
	for one in $SPARED; do
		is_alive "${one#*=}" || die "$1: status $2, and $one is gone"
	done
	while read -r one; do last=$one; done <"$T/out"
	case $2 in
	0)
		! is_alive "$yielding" && ! is_alive "$stubborn" && ! is_alive "$headless" ||
			die "$1: status 0, and strays live"
		[ "$last" = "stray processes killed: 3" ] || die "$1: status 0, and it says '$last'"
		;;
	1 | 2 | 3 | 6)
		[ "${may_be_silent:-}" ] || [[ $(<"$T/err") == *"sb-killstray: "*"'"* ]] ||
			die "$1: status $2, and no object is named"
		[ "$2" = 1 ] || [[ $last != "stray processes"* ]] || die "$1: status $2, and a count"
		;;
	127) ;; # the loader could not even start it
	*) die "$1: status $2" ;;
	esac
}

# Makes the Nth call fail (and all later ones, with +), for every N until it is not made so often.
fail_each() { # CALL ERRNO[+] [OPTION...]
	local call=$1 error=${2%+} onward="" nth status hits seen=""
	[ "$2" = "$error" ] || onward=+
	for ((nth = 1; nth < 3000; nth++)); do
		begin_strays
		status=0
		# shellcheck disable=SC2086
		deny --hits="$T/hits" "$call@$nth$onward=$error" ${ALSO:-} -- \
			sb-killstray --uid="$USER_UID" --grace=10ms --keep="renamed 305" \
			--keep-pid="$KEPT" "${@:3}" <"$T/in" >"$T/out" 2>"$T/err" || status=$?
		read -r hits <"$T/hits"
		[ "$hits" -gt 0 ] || break
		look_after "$call@$nth$onward=$error" "$status"
		seen+=" $status"
	done
	[ "$nth" -gt 1 ] || die "$call is never called"
	[ "$status" = 0 ] || die "status $status without a fault"
	echo "$call=$2: $((nth - 1)) calls, statuses $(tr ' ' '\n' <<<"${seen# }" | sort | uniq -c |
		while read -r hits status; do echo -n "$status ($hits times) "; done)"
}
