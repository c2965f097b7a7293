# sb-pinscan with few privileges: what each of them gives, that a missing one makes the answer weaker
# and never wrong, and that none is used to change anything.
load common
load pinscan

setup() {
	need_root
	make_entries
}

teardown() {
	end_entries
}

UNPRIVILEGED=(--no-new-privs --inh-caps=-all --ambient-caps=-all)
USER_ALONE=("${AS_USER[@]}" "${UNPRIVILEGED[@]}" --bounding-set=-all)

# root_with CAPS: scans as root with these capabilities ("+sys_admin,+sys_ptrace") and no others.
root_with() {
	scan_as=(setpriv "${UNPRIVILEGED[@]}" --bounding-set="-all${1:+,$1}")
}

# What /proc/self/status says of one who scans that way.
status_of_scanner() {
	"${scan_as[@]}" sed -n "s/^$1:[[:space:]]*//p" /proc/self/status
}

# A namespace that no process is in, kept by a file in a directory that is the user's alone.
keep_by_file() {
	# shellcheck disable=SC2016
	hold taskset -c 0 unshare --mount --propagation private sh -c '
		mount -t tmpfs -o "mode=700,uid=$4" own "$3" && touch "$3/ns" &&
		unshare --mount="$3/ns" mount --bind "$1" "$2" && echo ready && exec sleep infinity' \
		sh "$R/$E" "$T1" "$OWN" "$USER_UID"
}

@test "privileges: an ordinary user without any, and no way to get one, is covered" {
	scan_as=("${USER_ALONE[@]}")
	[ "$(status_of_scanner CapEff)" = 0000000000000000 ]
	[ "$(status_of_scanner CapBnd)" = 0000000000000000 ]
	[ "$(status_of_scanner NoNewPrivs)" = 1 ]
	for way in auto $WALK_WAYS; do
		assert_free_by "$way" "$F"
		scan "$way" --json --prefix="$F"
		assert_status 0
		[ "$(json .coverage.covered)" = true ]
	done
	# Root's holder, and another user's.
	pin_hold "$R/$E" "$T1"
	assert_pinned_by "auto $WALK_WAYS" "$E"
	let_go
	pin_hold --drop="$OTHER_UID" "$R/$E" "$T1"
	assert_pinned_by "auto $WALK_WAYS" "$E"
	let_go
	# The user's own sandbox, read whole though it has changed its root.
	user_pin_hold --chroot="$EMPTY" "$R/$E" "$T1"
	assert_pinned_by "auto namespaces" "$E"
	scan mountinfo "$E"
	assert_status 3
	# The kernel does not list its namespaces for this one, and that is said.
	scan kernel "$F"
	assert_status 3
	[[ $stderr == *"root in the initial user"* ]]
}

@test "privileges: root of a user namespace has none on the host" {
	pin_hold "$R/$E" "$T1"
	scan_as=("${AS_USER[@]}" unshare --user --map-root-user)
	[ "$(status_of_scanner CapEff)" != 0000000000000000 ]
	scan kernel "$F"
	assert_status 3
	[[ $stderr == *"root in the initial user"* ]]
	scan kernel "$E"
	assert_status 3 7
	scan auto --require=complete "$E"
	assert_status 7 3
	# Kernels from 6.12 on that pass over, without a word, what one has no right to: the end of
	# their list is no end for one like these.
	silent=("$HELPERS/deny" ioctl:NS_MNT_GET_NEXT=ENOENT ioctl:NS_MNT_GET_PREV=ENOENT --)
	scan_as=("${AS_USER[@]}" unshare --user --map-root-user "${silent[@]}")
	scan kernel "$F"
	assert_status 3
	scan_as=("${USER_ALONE[@]}" "${silent[@]}")
	scan kernel "$F"
	assert_status 3
	# Root of the host that gives itself such a namespace, too.
	scan_as=(unshare --user --map-root-user)
	scan kernel "$F"
	assert_status 3
}

@test "privileges: CAP_SYS_ADMIN, and nothing else, gives the kernel's list" {
	root_with +sys_admin
	[ "$(status_of_scanner CapEff)" = 0000000000200000 ]
	scan auto --json --require=complete --prefix="$F"
	assert_status 0
	[ "$(json .coverage.evidence)" = kernel ]
	for options in "" --thread --by-fd "--chroot=$EMPTY" "--drop=$OTHER_UID"; do
		# shellcheck disable=SC2086 # none is no argument
		pin_hold $options "$R/$E" "$T1"
		assert_pinned_by "auto kernel" "$E"
		let_go
	done
	keep_by_file
	assert_pinned_by "auto kernel" "$E"
	# All the others together do not.
	root_with "+all,-sys_admin"
	scan kernel "$F"
	assert_status 3
	scan auto --json --prefix="$F"
	[ "$(json .coverage.evidence)" = mountinfo ]
}

@test "privileges: CAP_SYS_PTRACE tells the namespace of every task; to read it whole takes both" {
	pin_hold --chroot="$EMPTY" --drop="$OTHER_UID" --no-dump "$R/$E" "$T1"
	inode=$(stat -L -c %i "/proc/$HOLDER/ns/mnt")
	root_with +sys_ptrace,+sys_admin
	scan namespaces --json --prefix="$E"
	[ "$(json '.pins[0].namespaces | join(" ")')" = "$inode" ]
	scan namespaces "$E"
	assert_status 7
	# Who holds it is told by the namespaces of tasks, whatever lists the pin.
	scan auto --json --holders --prefix="$E"
	[ "$(json '.pins[0].holders | map(.pid) | join(" ")')" = "$HOLDER" ]
	root_with +sys_admin
	scan auto --json --holders --prefix="$E"
	[ "$(json '.pins[0].namespaces | join(" ")')" = "$inode" ]
	[ "$(json '.pins[0].holders | length')" = 0 ]
	# Known, and shown by nobody: unproven.
	root_with +sys_ptrace
	for way in auto namespaces mountinfo; do
		scan "$way" --json "$E"
		assert_status 3
		[[ $(json '.coverage.gaps[].reason') == *"namespace $inode; run as root"* ]]
	done
	# Not even known: not complete.
	for caps in "" +sys_admin; do
		root_with "$caps"
		for way in namespaces mountinfo; do
			scan "$way" --require=complete --json "$E"
			assert_status 3
			[ "$(json ".coverage.gaps[] | select(.pid == $HOLDER).uid")" = "$OTHER_UID" ]
		done
	done
}

@test "privileges: CAP_DAC_READ_SEARCH opens files that keep namespaces, wherever they stand" {
	keep_by_file
	root_with +sys_ptrace,+sys_admin,+dac_read_search
	scan namespaces "$E"
	assert_status 7
	for caps in +sys_ptrace,+sys_admin +sys_ptrace,+dac_read_search +sys_admin,+dac_read_search; do
		root_with "$caps"
		scan namespaces --json "$E"
		assert_status 3
		[[ $(json '.coverage.gaps[].reason') == *"a file that keeps mount namespace"* ]]
	done
}

@test "privileges: each taken away gives weaker evidence or a gap, never a false proof" {
	for holder in plain thread chrooted file; do
		case $holder in
		plain) pin_hold "$R/$E" "$T1" ;;
		thread) pin_hold --thread "$R/$E" "$T1" ;;
		chrooted) pin_hold --chroot="$EMPTY" "$R/$E" "$T1" ;;
		file) keep_by_file ;;
		esac
		for admin in +sys_admin ""; do
			for ptrace in +sys_ptrace ""; do
				for search in +dac_read_search ""; do
					caps=$(printf '%s\n' $admin $ptrace $search | paste -sd,)
					root_with "$caps"
					for way in auto kernel namespaces mountinfo; do
						scan "$way" --require=complete "$E"
						assert_status 7 3
						case $holder,$admin,$way in
						plain,*,kernel) ;;
						plain,* | thread,* | *,+sys_admin,auto | *,+sys_admin,kernel)
							[ "$admin" ] || [ "$way" != kernel ] || continue
							assert_status 7
							;;
						esac
					done
				done
			done
		done
		let_go
	done
}

# What a scan may call: it reads, looks, asks, takes memory and threads, and writes what it says.
# (socket and connect: the C library asks its name service cache who a uid is.)
READING="access arch_prctl brk capget clone clone3 close close_range connect execve exit exit_group
	fcntl fstat fstatfs futex getcwd getdents64 getegid geteuid getgid getpid getrandom getrlimit gettid getuid
	ioctl listmount lseek madvise mmap mprotect munmap newfstatat openat openat2 pidfd_open poll
	pread64 prlimit64 read readlink readlinkat rseq rt_sigaction rt_sigprocmask sched_getaffinity
	set_robust_list set_tid_address socket statfs statmount statx sysinfo
	uname write"

@test "privileges: nothing is written, signalled or mounted" {
	# Instrumented programs write files of their own.
	[[ $SB_BUILD_NAME != *asan* && $SB_BUILD_NAME != *coverage* ]] || return 0
	keep_by_file
	hold "$HELPERS/pin-tasks" 1100 4 4 "$R" "$T2" "$E." # so many that threads share the work
	pin_hold --thread "$R/$E" "$T1"
	canary() {
		find "$R" "$D" -printf '%p %i %m %U %n %T@ %C@ %A@\n' | sort
		cat /proc/self/mountinfo
	}
	canary >/dev/null # which has read every directory then: what comes next finds it so
	canary >"$BATS_TEST_TMPDIR/before"
	tr -s ' \t\n' '\n' <<<"$READING" | sort -u >"$BATS_TEST_TMPDIR/allowed"
	calls=$BATS_TEST_TMPDIR/calls
	for way in auto kernel namespaces mountinfo; do
		for as in root user; do
			rm -f "$calls"
			scan_as=(strace -f -qq -o "$calls")
			[ "$as" = root ] || scan_as=(strace -f -qq -o "$calls" -u nobody)
			scan "$way" --json --holders --prefix="$E"
			assert_status 0 3
			# By name: a call that strace does not know shows as syscall_0x1c9.
			sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' "$calls" | sort -u |
				sed 's/^syscall_0x1c9$/statmount/; s/^syscall_0x1ca$/listmount/' |
				sort -u >"$calls.names"
			[ "$(wc -l <"$calls.names")" -gt 15 ]
			run comm -23 "$calls.names" "$BATS_TEST_TMPDIR/allowed"
			refute_output
			# By argument.
			run grep -E 'open(at|at2)\(.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND)' "$calls"
			refute_output
			run grep -E '^[0-9]* *write\(([03-9]|[12][0-9])' "$calls"
			refute_output
			run grep -E 'mmap\(.*PROT_WRITE.*MAP_SHARED' "$calls"
			refute_output
			run grep -E ' clone3?\(' "$calls"
			refute_line --regexp '^[^|]*flags=SIGCHLD'
			run bash -c "grep -E ' ioctl\(' '$calls' |
				grep -vE 'NS_|_IOC\(.*0xb7|PIDFD_GET_MNT|_IOC\([^,]*, 0xff, 0x3|TCGETS|TIOCGWINSZ'"
			refute_output
			run bash -c "grep -E ' (prlimit64|setrlimit)\(' '$calls' |
				grep -vE 'prlimit64\(0, RLIMIT_(NOFILE|STACK)'"
			refute_output
			run bash -c "grep -E ' connect\(' '$calls' | grep -v 'AF_UNIX.*/nscd/socket'"
			refute_output
			run bash -c "grep -E ' fcntl\(' '$calls' | grep -vE 'F_GETFD|F_GETFL|F_DUPFD'"
			refute_output
		done
	done
	canary >"$BATS_TEST_TMPDIR/after"
	run diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
	assert_success
}
