#!/usr/bin/env bash
# Measures the server beside a floor program that does the same with nothing around it, in one run, and
# prints both with the aims. It asserts nothing: machines differ, and what else they do. --quick takes
# fewer rounds. Linux only, because it reads /proc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source build/lib.sh

main() {
	case "${1:-}" in
	'' | --quick) ;;
	*) die "unknown option $1; there is: --quick" ;;
	esac
	[ "$(uname)" = Linux ] || die "this reads /proc and runs on Linux only"
	need_go_and_node
	need_packages compiler
	build_frontend
	build_program server
	local name
	for name in floor bench; do
		go build -ldflags "-s -w" -o "build/bin/aalis-$name" "./backend/testkit/$name"
	done
	exec build/bin/aalis-bench --server build/bin/aalis-server --floor build/bin/aalis-floor "$@"
}
main "$@"
exit
