#!/usr/bin/env bats
# make install and uninstall, and the Debian package: built, installed, run and removed, in a copy
# of the machine's root that keeps what is written to itself.

load common

COMMANDS="sb-pinscan sb-sweep sb-legacy-heal sb-killstray"

setup_file() {
	export STAGE=$BATS_FILE_TMPDIR
	cd "$SB_TOP" || return
	make_install install DESTDIR="$STAGE/default"
	.ci/build-deb "$(version)" >"$STAGE/package-name"
}

teardown() {
	[ ! -d /mnt/copy ] || umount -R -l /mnt/copy 2>/dev/null || true
	[ ! -d /mnt/written ] || umount -l /mnt/written 2>/dev/null || true
}

# The programs are built already; what the Makefile says about places is what is tested.
make_install() {
	make -s -C "$SB_TOP" -o all "$@"
}

version() {
	sed -n 's/^#define SB_VERSION "\(.*\)"/\1/p' "$SB_TOP/common/version.h"
}

package() {
	echo "$SB_TOP/$(cat "$STAGE/package-name")"
}

# A root of its own at /mnt/copy: what is written there stays in a tmpfs.
copy_root() {
	mkdir -p /mnt/written /mnt/copy
	mount -t tmpfs sb-written /mnt/written
	mkdir /mnt/written/upper /mnt/written/work
	if ! mount -t overlay -o lowerdir=/,upperdir=/mnt/written/upper,workdir=/mnt/written/work \
		sb-copy /mnt/copy; then
		[ -z "${CI:-}" ] || fail "CI must be able to mount an overlay"
		skip "cannot mount an overlay over this root"
	fi
	mount --rbind /proc /mnt/copy/proc
	mount --rbind /dev /mnt/copy/dev
	mount -t tmpfs sb-tmp /mnt/copy/tmp
	cp "$(package)" /mnt/copy/tmp/sb-tools.deb
}

in_copy() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot /mnt/copy "$@"
}

@test "install puts everything where it belongs" {
	local command d=$STAGE/default/usr/local
	for command in $COMMANDS; do
		assert_file_executable "$d/bin/$command"
		assert_file_exists "$d/share/man/man8/$command.8"
		assert_equal "$(readlink "$d/share/bash-completion/completions/$command")" sb-tools
		assert_file_exists "$d/share/fish/vendor_completions.d/$command.fish"
	done
	assert_file_exists "$d/share/bash-completion/completions/sb-tools"
	assert_file_exists "$d/share/zsh/site-functions/_sb-tools"
	assert_file_exists "$d/share/man/man7/sb-tools.7"
	for command in sb-sweep sb-legacy-heal; do
		assert_file_exists "$d/lib/systemd/user/$command.service"
		assert_file_exists "$d/lib/systemd/user/$command.timer"
		assert_file_exists "$d/lib/systemd/system/$command@.service"
		assert_file_exists "$d/lib/systemd/system/$command@.timer"
	done
	assert_file_exists "$d/share/doc/sb-tools/README.md"
}

@test "PREFIX moves all of it, units name the program by its whole path" {
	make_install install DESTDIR="$BATS_TEST_TMPDIR" PREFIX=/opt/sb
	run find "$BATS_TEST_TMPDIR" -mindepth 1 -not -path "$BATS_TEST_TMPDIR/opt*"
	refute_output
	run grep -h ^ExecStart= "$BATS_TEST_TMPDIR/opt/sb/lib/systemd/user/sb-sweep.service"
	assert_output "ExecStart=/opt/sb/bin/sb-sweep"
}

@test "modes do not follow a strict umask" {
	(umask 077 && make_install install DESTDIR="$BATS_TEST_TMPDIR")
	run find "$BATS_TEST_TMPDIR/usr" \( -type d -not -perm 755 -o -name '*.8' -not -perm 644 \)
	refute_output
}

@test "uninstall takes out what install put there, and nothing else" {
	make_install install DESTDIR="$BATS_TEST_TMPDIR"
	local kept=$BATS_TEST_TMPDIR/usr/local/bin/another
	: >"$kept"
	make_install uninstall DESTDIR="$BATS_TEST_TMPDIR"
	run find "$BATS_TEST_TMPDIR/usr" -not -type d
	assert_output "$kept"
	assert_dir_not_exists "$BATS_TEST_TMPDIR/usr/local/share/doc/sb-tools"
	# Once more is no fault.
	make_install uninstall DESTDIR="$BATS_TEST_TMPDIR"
}

@test "deb: name, version, architecture, dependencies" {
	local arch
	arch=$(dpkg --print-architecture)
	assert_equal "$(basename "$(package)")" "sb-tools_$(version)_$arch.deb"
	run dpkg-deb --field "$(package)" Package Version Architecture Depends
	assert_success
	assert_line "Package: sb-tools"
	assert_line "Version: $(version)"
	assert_line "Architecture: $arch"
	assert_line --regexp '^Depends: .*libc6 \(>= '
	assert_line --regexp '^Depends: .*libjansson4 \(>= '
	assert_line --regexp '^Depends: .*libmount1 \(>= '
	assert_line --regexp '^Depends: .*libsmartcols1 \(>= '
}

@test "deb: the files, owned by root, with sums" {
	run dpkg-deb --contents "$(package)"
	assert_success
	local command line
	for command in $COMMANDS; do
		assert_line --regexp "^-rwxr-xr-x root/root .* \./usr/bin/$command\$"
		assert_line --regexp "^-rw-r--r-- root/root .* \./usr/share/man/man8/$command\.8\.gz\$"
	done
	assert_line --regexp ' \./usr/lib/systemd/system/sb-sweep@\.timer$'
	assert_line --regexp ' \./usr/lib/systemd/user/sb-sweep\.timer$'
	assert_line --regexp ' \./usr/share/zsh/vendor-completions/_sb-tools$'
	assert_line --regexp ' \./usr/share/doc/sb-tools/copyright$'
	for line in "${lines[@]}"; do
		[[ $line == *" root/root "* ]] || fail "not of root: $line"
	done
	dpkg-deb --raw-extract "$(package)" "$BATS_TEST_TMPDIR/out"
	(cd "$BATS_TEST_TMPDIR/out" && md5sum --quiet -c DEBIAN/md5sums)
	assert_equal "$(wc -l <"$BATS_TEST_TMPDIR/out/DEBIAN/md5sums")" \
		"$(find "$BATS_TEST_TMPDIR/out/usr" -type f | wc -l)"
}

@test "deb: built twice, the same files" {
	dpkg-deb --raw-extract "$(package)" "$BATS_TEST_TMPDIR/one"
	(cd "$SB_TOP" && umask 077 && .ci/build-deb "$(version)" >/dev/null)
	dpkg-deb --raw-extract "$(package)" "$BATS_TEST_TMPDIR/two"
	run diff -r "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
	assert_success
}

@test "deb: installed, run, removed" {
	copy_root
	run in_copy dpkg --install /tmp/sb-tools.deb
	assert_success
	run in_copy dpkg-query -W -f '${db:Status-Status}' sb-tools
	assert_output installed
	local command
	for command in $COMMANDS; do
		run in_copy "$command" --version
		assert_success
		assert_line --index 0 "$command (sb-tools) $(version)"
	done
	run in_copy sb-sweep --dry-run /tmp
	assert_success
	run in_copy dpkg --verify sb-tools
	refute_output --regexp ' /usr/(bin|lib)/'
	in_copy dpkg --listfiles sb-tools >"$BATS_TEST_TMPDIR/files"
	run in_copy dpkg --purge sb-tools
	assert_success
	while read -r file; do
		[ -d "/mnt/copy$file" ] || assert_file_not_exists "/mnt/copy$file"
	done <"$BATS_TEST_TMPDIR/files"
	assert_dir_not_exists /mnt/copy/usr/share/doc/sb-tools
}

@test "deb: the machine's own list of packages was left alone" {
	run dpkg-query -W -f '${db:Status-Status}' sb-tools
	refute_output installed
}
