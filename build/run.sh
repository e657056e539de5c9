#!/usr/bin/env bash
# Installs what is missing, builds the interface and the program, and starts it: the desktop window, or
# with --headless (and where there is no display) the server, with the address of a signed-in browser tab.
# What comes after -- goes to aalis, for example: build/run.sh -- --data-dir /tmp/try
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source build/lib.sh

headless=false
while [ $# -gt 0 ]; do
	case $1 in
	--headless) headless=true ;;
	--) shift && break ;;
	*) die "unknown option $1; there are: --headless, and -- before options for aalis" ;;
	esac
	shift
done

if ! $headless && [ "$(uname)" = Linux ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
	echo "There is no display here: starting the server instead of the window."
	headless=true
fi

need_go_and_node
if ! $headless && [ "$(uname)" = Linux ]; then
	need_packages window
else
	need_packages compiler
fi
build_frontend
if $headless; then
	build_program server
	exec_and_show() {
		local run ready
		run=$(mktemp -d)
		ready=$run/ready.json
		build/bin/aalis-server "$@" serve --ready-file "$ready" &
		local pid=$!
		trap 'kill -TERM $pid 2>/dev/null || true' INT TERM
		while [ ! -s "$ready" ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
		if [ -s "$ready" ]; then
			echo "Open this address in a browser on this machine (it signs you in once; \`build/bin/aalis-server open\` makes another):"
			build/bin/aalis-server "$@" open --print
		fi
		rm -rf "$run"
		local code=0
		while kill -0 $pid 2>/dev/null; do
			code=0
			wait $pid || code=$?
		done
		return $code
	}
	exec_and_show "$@"
else
	build_program desktop
	exec build/bin/aalis "$@"
fi
