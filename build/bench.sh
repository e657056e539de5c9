#!/usr/bin/env bash
# Measures and prints; it asserts nothing: machines differ, and what else they do. --quick takes fewer
# rounds. Linux only, because it reads /proc.
#   server    beside a floor program that does the same with nothing around it, in one run, with the aims
#   desktop   the app on a desktop of its own, a virtual one; left out with a word where that cannot be
# Without a name: both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source build/lib.sh

measure_server() {
	need_packages compiler
	build_program server
	local name
	for name in floor bench; do
		go build -ldflags "-s -w" -o "build/bin/aalis-$name" "./backend/testkit/$name"
	done
	build/bin/aalis-bench --server build/bin/aalis-server --floor build/bin/aalis-floor "$@"
}

# Aims of the desktop: 0 timers faster than 10 s when idle and hidden, so below 0.3 wakes/s with what the
# language's runtime does by itself; the tray within 300 ms of any change.
measure_desktop() {
	if ! (need_packages compiler window display); then
		echo "desktop: left out, because the packages above are missing"
		return
	fi
	build_program desktop
	E2E_APP=$PWD/build/bin/aalis BENCH_QUICK=${1:-} go test -run '^$' -bench Desktop -benchtime 1x -timeout 30m ./app
}

main() {
	local quick=() parts=() word
	for word in "$@"; do
		case $word in
		--quick) quick=(--quick) ;;
		server | desktop) parts+=("$word") ;;
		*) die "unknown word $word; there are: --quick, server, desktop" ;;
		esac
	done
	[ "$(uname)" = Linux ] || die "this reads /proc and runs on Linux only"
	need_go_and_node
	build_frontend
	[ ${#parts[@]} -gt 0 ] || parts=(server desktop)
	for word in "${parts[@]}"; do
		"measure_$word" "${quick[@]}"
	done
}
main "$@"
exit
