#!/usr/bin/env bash
# Installs what is missing, builds the interface and the program, and starts it: the desktop window, or
# with --headless (and where there is no display) the server, with the address of a signed-in browser tab.
# What comes after -- goes to aalis, for example: build/run.sh -- --data-dir /tmp/try
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source build/lib.sh

# serve becomes the server, so that signals and its exit status are the script's; beside it, a moment's
# helper shows the address of a tab once there is one.
serve() {
	local folder
	folder=$(mktemp -d)
	show_address "$folder" "$@" &
	exec build/bin/aalis-server "$@" serve --ready-file "$folder/ready.json"
}

show_address() {
	local folder=$1
	shift
	while [ ! -s "$folder/ready.json" ] && kill -0 $$ 2>/dev/null; do sleep 0.1; done
	if [ -s "$folder/ready.json" ]; then
		echo "Open this address in a browser on this machine; it signs you in, once:"
		build/bin/aalis-server "$@" open --print
		echo "Another one: build/bin/aalis-server ${*:+$* }open"
	fi
	rm -rf "$folder"
}

main() {
	local headless=false
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
	if $headless || [ "$(uname)" != Linux ]; then
		need_packages compiler
	else
		need_packages window
	fi
	build_frontend
	if $headless; then
		build_program server
		serve "$@"
	else
		build_program desktop
		exec build/bin/aalis "$@"
	fi
}
main "$@"
exit
