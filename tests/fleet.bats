#!/usr/bin/env bats
# A fleet: what sb-tools(7) says about many hosts, word for word, over ssh to several sshd on
# loopback addresses. Each is a host of its own as far as the tools can tell: its own mounts, its
# own tmpfs, its own name. One cannot be reached, one cannot prove anything, one holds a pin.

load common

NODES="11 12 13 14 15"
FLEET=/mnt/fleet # not in /tmp, which each host covers with its own

setup_file() {
	[ "$SB_TEST_PRIVILEGED" = 1 ] || return 0
	local node
	mkdir -p "$FLEET"
	chmod 700 "$FLEET"
	ssh-keygen -q -t ed25519 -N "" -f "$FLEET/client_key"
	ssh-keygen -q -t ed25519 -N "" -f "$FLEET/host_key"
	mkfifo "$FLEET/fifo"
	free_port >"$FLEET/port"
	start_node 11 dead
	start_node 12 pinned
	start_node 13 unproven
	start_node 14 unproven
	start_node 15 dead
	{
		for node in $NODES 99; do
			printf 'Host node%s\n\tHostName 127.0.0.%s\n' "$node" "$node"
		done
		cat <<-END
			Host *
				User root
				Port $(cat "$FLEET/port")
				IdentityFile $FLEET/client_key
				IdentitiesOnly yes
				UserKnownHostsFile $FLEET/known_hosts
				StrictHostKeyChecking accept-new
				LogLevel ERROR
				ConnectTimeout 5
		END
	} >"$FLEET/ssh_config"
	# What an operator has in /etc/clustershell: which hosts are @all, and how ssh reaches them.
	mkdir -p "$FLEET/clustershell/groups.d"
	printf '[Main]\ndefault: local\nautodir: %s\n' "$FLEET/clustershell/groups.d" \
		>"$FLEET/clustershell/groups.conf"
	printf '[local]\nmap: sed -n "s/^$GROUP: //p" %s\nall: sed -n "s/^all: //p" %s\n' \
		"$FLEET/clustershell/all" "$FLEET/clustershell/all" >>"$FLEET/clustershell/groups.conf"
	echo "all: node[11-15,99]" >"$FLEET/clustershell/all"
	printf '[Main]\nssh_options: -F %s\n' "$FLEET/ssh_config" >"$FLEET/clustershell/clush.conf"
	for node in $NODES; do
		wait_until ssh -F "$FLEET/ssh_config" "node$node" true
	done
}

teardown_file() {
	[ "$SB_TEST_PRIVILEGED" = 1 ] || return 0
	local pid
	while read -r pid; do
		kill "$pid" 2>/dev/null || true
		while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
	done <"$FLEET/pids"
	# The holder of node12 ends when somebody has written to its fifo.
	timeout 5 bash -c 'echo >"$1"' _ "$FLEET/fifo" || true
}

setup() {
	need_root
	export CLUSTERSHELL_CFGDIR=$FLEET/clustershell
	cd "$FLEET" || return
}

free_port() {
	python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.11", 0)); print(s.getsockname()[1])'
}

start_node() { # NUMBER STATE
	# shellcheck disable=SC2016
	unshare --mount --uts --propagation private "$SB_TOP/tests/fleet-node" "$FLEET" "$@" \
		</dev/null >"$FLEET/log.$1" 2>&1 3>&- &
	echo "$!" >>"$FLEET/pids"
	disown
}

# The commands of the section A FLEET of the manual that start so, with what goes on below them.
from_manual() { # FIRST-WORD
	awk -v word="$1" '/^\.Sh/ { on = $0 == ".Sh A FLEET" }
		on && /^\.Ed/ { take = 0 }
		on && /^\$ / { take = $2 == word; sub(/^\$ /, "") }
		take' "$SB_TOP/man/sb-tools.7"
}

# Once for all tests: the sweep is the point, and it happens once.
sweep_fleet() {
	[ ! -e statuses ] || return 0
	from_manual clush >clush.sh
	grep -q '^clush .*sb-sweep --json' clush.sh
	bash clush.sh || true
}

@test "the command of the manual sweeps all hosts; statuses come in groups" {
	sweep_fleet
	run cat statuses
	assert_line --regexp '^clush: node99.*: exited with exit code 255$'
	assert_line --regexp '^clush: node\[13-14\]: exited with exit code 3$'
	refute_line --regexp '^clush: node1[125]'
	assert_equal "$(wc -l <all.json)" 5
}

@test "each host answers for itself" {
	sweep_fleet
	run jq -rs 'sort_by(.host)[] | [.host, .exit_status, .totals.removed.dirs,
		.totals.kept.pinned, .totals.kept.unproven] | map(tostring) | join(" ")' all.json
	assert_success
	assert_output "node11 0 1000 0 0
node12 0 1000 1 0
node13 3 0 0 1000
node14 3 0 0 1000
node15 0 1000 0 0"
}

@test "the table of the manual shows the worst first" {
	sweep_fleet
	from_manual jq | sed '/input_filename/,$d' >table.sh
	grep -q 'column -t' table.sh
	run bash table.sh
	assert_success
	assert_line --index 0 --regexp '^HOST +STATUS +REMOVED +PINNED +UNPROVEN +PROOF$'
	assert_line --index 1 --regexp '^node13 +3 +0 +0 +1000 +unproven$'
	assert_line --index 2 --regexp '^node14 +3 +0 +0 +1000 +unproven$'
	assert_line --index 3 --regexp '^node11 +0 +1000 +0 +0 +(covered|complete)$'
	assert_line --index 4 --regexp '^node12 +0 +1000 +1 +0 +(covered|complete)$'
	assert_line --index 5 --regexp '^node15 +0 +1000 +0 +0 +(covered|complete)$'
	[ ${#lines[@]} -eq 6 ]
}

@test "the machine that the fleet runs on was not swept" {
	run ssh -F "$FLEET/ssh_config" node11 ls /run/user/0
	refute_output
	run hostname
	refute_output --regexp '^node1[1-5]$'
}
