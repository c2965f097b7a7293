#!/usr/bin/env bats
# sb-sweep: what is below an entry goes with it, and nothing else does.
load common
load sweep

setup() {
	make_root
	E=$R/${P}${DEAD}_x
	V=$(mktemp -d /mnt/victim.XXXXXX)
	chmod 755 "$V"
	echo precious >"$V/file"
	mkdir "$V/dir"
	echo precious >"$V/dir/file"
	describe "$V" >"$BATS_TEST_TMPDIR/victim"
}

teardown() {
	end_started
	chattr -R -i "$R" 2>/dev/null || true
	unmount_root
	umount -l "$V" 2>/dev/null || true
	rm -rf "$V"
}

describe() {
	(cd "$1" && find . -printf '%p %i %m %u %g %n %s %T@ %C@\n' | LC_ALL=C sort && cat file dir/file)
}

victim_is_untouched() {
	describe "$V" | diff "$BATS_TEST_TMPDIR/victim" -
}

# Makes entry $E old; to be called when it is as it should be.
aged() {
	age "2 days" "$E"
}

@test "a populated entry goes with all that is below it" {
	mkdir -p "$E/a/b/c" "$E/d/.hidden" "$E/e"
	touch "$E/.f" "$E/a/b/c/g" "$E/d/.hidden/h"
	seq -f "$E/e/%g" 3000 | xargs mkdir
	seq -f "$E/e/1/%g" 3000 | xargs touch
	aged
	sweep --json "$R"
	assert_success
	assert_counts seen=1 dirs=1
	assert_left
	assert_equal "$(json '.roots[0].inodes.used_after')" 1
}

@test "the entry is a link: to a directory, a file, nowhere, itself: the link goes" {
	ln -s "$V" "${E}1"
	ln -s "$V/file" "${E}2"
	ln -s nowhere "${E}3"
	ln -s "${E##*/}4" "${E}4"
	ln -s "$V/dir/" "${E}5"
	age "2 days" "$R"/*
	sweep --json "$R"
	assert_success
	assert_counts seen=5 files=5
	assert_left
	victim_is_untouched
}

@test "links inside an entry go, and what they lead to stays" {
	mkdir -p "$E/a"
	ln -s "$V" "$E/l"
	ln -s "$V" "$E/a/l"
	ln -s "$V/file" "$E/a/f"
	ln -s / "$E/a/root"
	ln -s .. "$E/a/up"
	ln -s loop "$E/a/loop"
	aged
	sweep --json "$R"
	assert_success
	assert_counts seen=1 dirs=1
	victim_is_untouched
}

@test "a hard link inside an entry: the victim's mode, owner, times and content stay" {
	need_root
	V2=$R/victim
	echo precious >"$V2"
	chmod 4640 "$V2"
	chown "$USER_UID:$OTHER_UID" "$V2"
	age "3 days" "$V2"
	local before
	before=$(stat -c '%a %u %g %X %Y %h %s' "$V2")
	mkdir "$E"
	ln "$V2" "$E/hard"
	ln "$V2" "$R/${P}${DEAD}_hard"
	aged
	sweep --json --uid="$USER_UID" "$R"
	assert_equal "$(stat -c '%a %u %g %X %Y %s' "$V2")" "${before% 1 *} ${before##* }"
	chown "$USER_UID" "$R" "$E"
	sweep --json --uid="$USER_UID" "$R"
	assert_success
	assert_counts seen=2 dirs=1 files=1
	assert_equal "$(stat -c '%a %u %g %X %Y %h %s' "$V2")" "$before"
	assert_equal "$(cat "$V2")" precious
}

@test "fifos, sockets and devices, as an entry and inside one: removed, never opened" {
	need_root
	mkfifo "${E}1"
	mknod "${E}2" c 1 3
	mknod "${E}3" b 7 0
	perl -MIO::Socket::UNIX -e 'chdir shift; IO::Socket::UNIX->new(Local=>shift, Listen=>1) or die' \
		"$R" "${P}${DEAD}_x4"
	mkdir "${E}5"
	mkfifo "${E}5/fifo"
	mknod "${E}5/char" c 5 0
	mknod "${E}5/null" c 1 3
	perl -MIO::Socket::UNIX -e 'chdir shift; IO::Socket::UNIX->new(Local=>"s", Listen=>1) or die' "${E}5"
	age "2 days" "$R"/*
	run --separate-stderr timeout 20 strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=%file \
		env ASAN_OPTIONS=detect_leaks=0 sb-sweep --json "$R"
	assert_success
	assert_counts seen=5 dirs=1 files=4
	assert_left
	run grep -E 'open.*"(fifo|char|null|s|.*_x[1-4])"' "$BATS_TEST_TMPDIR/trace"
	assert_output ""
}

@test "names with every odd byte there can be" {
	local i byte name
	mkdir "$E"
	for i in $(seq 1 255); do
		byte=$(printf '\\x%02x' "$i")
		[ "$i" != 47 ] || continue
		printf -v name "%b" "$byte"
		case $i in
		46) name=... ;;
		esac
		mkdir -p -- "$E/x$name" "$R/${P}${DEAD}_$name"
		: >"$E/$name"
	done
	touch "$E/-rf" "$E/\\040" "$E/x (deleted)" "$E/"$'a\ndeleted'
	mkdir "$E/$(printf '%0255d' 0)"
	age "2 days" "$R"/*
	sweep --json "$R"
	assert_success
	assert_counts seen=254 dirs=254
	assert_left
}

@test "60,000 levels deep, with a stack of 256 KiB and 32 descriptors" {
	"$HELPERS/stage" --deep "$R" 60000
	run --separate-stderr bash -c 'ulimit -s 256; ulimit -n 32; exec sb-sweep --json --budget=0 "$0"' "$R"
	assert_success
	assert_counts seen=1 dirs=1
	assert_left
}

@test "a tree that branches at each level" {
	local d=$E i
	mkdir "$E"
	for i in $(seq 60); do
		mkdir "$d/a" "$d/m" "$d/z"
		touch "$d/a/f" "$d/b" "$d/z/f"
		d=$d/m
	done
	aged
	sweep --json "$R"
	assert_success
	assert_counts seen=1 dirs=1
}

@test "a mount of another device inside an entry: mounted, and all of it is kept" {
	mkdir -p "$E/a/mnt" "$E/b"
	touch "$E/first" "$E/a/file"
	aged
	mount --bind "$V" "$E/a/mnt"
	sweep --json "$R"
	assert_success
	assert_counts seen=1 mounted=1
	assert_file_exist "$E/first"
	assert_file_exist "$E/a/file"
	victim_is_untouched
}

@test "a bind of the same filesystem inside an entry is told by its mount, not by its device" {
	mkdir -p "$E/a/mnt" "$R/same/dir"
	echo precious >"$R/same/dir/file"
	aged
	mount --bind "$R/same" "$E/a/mnt"
	sweep --json "$R"
	assert_success
	assert_counts seen=1 mounted=1
	assert_equal "$(cat "$R/same/dir/file")" precious
	assert_equal "$(cat "$E/a/mnt/dir/file")" precious
}

@test "something mounted on the entry: mounted, whoever owns what is there, and no scan" {
	need_root
	mkdir "$E"
	aged
	mount --bind "$V" "$E"
	chown "$USER_UID" "$V"
	describe "$V" >"$BATS_TEST_TMPDIR/victim"
	sweep --json "$R"
	assert_success
	assert_counts seen=1 mounted=1
	assert_equal "$(json .coverage)" null
	victim_is_untouched
}

@test "a file mounted on an entry that is a file: mounted" {
	touch "$E"
	aged
	mount --bind "$V/file" "$E"
	sweep --json "$R"
	assert_success
	assert_counts seen=1 mounted=1
	victim_is_untouched
}

@test "a file that a sandbox has bound elsewhere goes: the bind lives on" {
	echo content >"$E"
	aged
	touch "$R/target"
	mount --bind "$E" "$R/target"
	sweep --json "$R"
	assert_success
	assert_counts seen=1 files=1
	assert_equal "$(cat "$R/target")" content
}

@test "what the user could not remove stays: an unreadable directory is a failure, the rest goes on" {
	need_root
	make_root "$USER_UID"
	as_user mkdir -p "$R/${P}${DEAD}_bad/closed" "$R/${P}${DEAD}_good"
	as_user touch "$R/${P}${DEAD}_bad/closed/file"
	as_user chmod 000 "$R/${P}${DEAD}_bad/closed"
	age "2 days" "$R"/*
	sweep_as_user --json "$R"
	assert_failure 1
	assert_counts seen=2 dirs=1 failed=1
	assert_equal "$(json '.roots[0].failures[] | "\(.name): \(.error)"')" \
		"${P}${DEAD}_bad: Permission denied"
	assert_regex "$stderr" "^sb-sweep: cannot remove '$R/${P}${DEAD}_bad': Permission denied"
	assert_file_exist "$R/${P}${DEAD}_bad/closed/file"
}

@test "so it is when root acts for the user" {
	need_root
	make_root "$USER_UID"
	as_user mkdir -p "$R/${P}${DEAD}_bad/closed" "$R/${P}${DEAD}_good"
	as_user touch "$R/${P}${DEAD}_bad/closed/file"
	as_user chmod 500 "$R/${P}${DEAD}_bad/closed"
	age "2 days" "$R"/*
	sweep --json --uid="$USER_UID" "$R"
	assert_failure 1
	assert_counts seen=2 dirs=1 failed=1
	assert_file_exist "$R/${P}${DEAD}_bad/closed/file"
}

@test "root for a user: another user's populated directory in the entry is not emptied" {
	need_root
	make_root "$USER_UID" 0777
	E=$R/${P}${DEAD}_x
	mkdir -m 1777 "$R/theirs"
	echo precious >"$R/theirs/file"
	chown -R "$OTHER_UID" "$R/theirs"
	as_user mkdir "$E"
	as_user mv "$R/theirs" "$E/"
	aged
	sweep --json --uid="$USER_UID" "$R"
	assert_failure 1
	assert_counts seen=1 failed=1
	assert_equal "$(cat "$E/theirs/file")" precious
}

@test "root for a user: an empty one goes, as it would for the user" {
	need_root
	make_root "$USER_UID"
	as_user mkdir "$R/${P}${DEAD}_x"
	mkdir "$R/${P}${DEAD}_x/theirs"
	age "2 days" "$R/${P}${DEAD}_x"
	sweep --json --uid="$USER_UID" "$R"
	assert_success
	assert_counts seen=1 dirs=1
}

@test "root for a user: a sticky root of another's, and files given to a group of root's" {
	need_root
	make_root "$OTHER_UID" 1777
	stage_as_user "${P}${DEAD}_mine"
	mkdir -m 770 "$R/group"
	mkdir "$R/group/${P}${DEAD}_x"
	age "2 days" "$R/group/${P}${DEAD}_x"
	chown "$USER_UID:0" "$R/group/${P}${DEAD}_x"
	sweep --json --uid="$USER_UID" "$R"
	assert_success
	assert_counts seen=1 dirs=1
	sweep --json --uid="$USER_UID" "$R/group"
	assert_failure 1
	assert_counts seen=1 failed=1
}

@test "root acts for a user with the user's own groups" {
	need_root
	local group
	group=$(id -g nobody)
	make_root 0
	mkdir -m 770 "$R/group"
	chgrp "$group" "$R/group"
	mkdir "$R/group/${P}${DEAD}_x"
	age "2 days" "$R/group/${P}${DEAD}_x"
	chown nobody "$R/group/${P}${DEAD}_x"
	chmod 711 "$R"
	sweep --json --uid=nobody "$R/group"
	assert_success
	assert_counts seen=1 dirs=1
}

@test "an immutable directory inside an entry is a failure, for root too" {
	mkdir -p "$E/fixed/inner"
	aged
	chattr +i "$E/fixed" 2>/dev/null || skip "tmpfs here knows no immutable directories"
	sweep --json "$R"
	assert_failure 1
	assert_counts seen=1 failed=1
	assert_dir_exist "$E/fixed/inner"
}

@test "foreign entries in a sticky directory are kept, and ours go in the same pass" {
	need_root
	make_root "$USER_UID" 1777
	"$HELPERS/stage" --uid="$OTHER_UID" "$R" 2000
	"$HELPERS/stage" --uid="$USER_UID" --prefix="${P}9" "$R" 500
	sweep_as_user --json "$R"
	assert_success
	assert_counts seen=2500 dirs=500 foreign=2000
}

@test "at most ten failures are listed, and how many more there were is said" {
	need_root
	local i
	for i in $(seq 13); do
		mkdir -p "$R/${P}${DEAD}_$i/closed/inner"
		chmod 500 "$R/${P}${DEAD}_$i/closed"
	done
	chown -R "$USER_UID" "$R"
	age "2 days" "$R"/*
	sweep --json --uid="$USER_UID" "$R"
	assert_failure 1
	assert_counts seen=13 failed=13
	assert_equal "$(json '.roots[0].failures | length')" 10
	assert_regex "$stderr" "3 more entries could not be removed"
	sweep --uid="$USER_UID" "$R"
	assert_output --partial "; 13 failed; "
}

@test "failures name odd bytes in a way that JSON can carry" {
	need_root
	local name=${P}${DEAD}_$'\xff\n'
	mkdir -p "$R/$name/closed/inner"
	chmod 500 "$R/$name/closed"
	chown -R "$USER_UID" "$R"
	age "2 days" "$R/$name"
	sweep --json --uid="$USER_UID" "$R"
	assert_failure 1
	assert_equal "$(json '.roots[0].failures[0].name')" "${P}${DEAD}_"'\xff\x0a'
	assert_equal "$(json '.roots[0].failures[0].name_hex')" \
		"$(printf %s "$name" | od -An -tx1 | tr -d ' \n')"
}
