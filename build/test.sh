#!/usr/bin/env bash
# Everything that is checked before a change is good, on a fresh machine too: it installs what it needs.
# --quick leaves out the browser, the window and the packages. Every part runs even when an earlier one
# fails; the last lines say what passed, what failed and how long each took. Logs lie in
# build/bin/test-logs.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source build/lib.sh

quick=false
case "${1:-}" in
'') ;;
--quick) quick=true ;;
*) die "unknown option $1; there is: --quick" ;;
esac

logs=build/bin/test-logs
rm -rf "$logs"
mkdir -p "$logs"
passed=0
failed=0
summary=()
broken=()

# part NAME COMMAND… runs one part and keeps its output; all of it is shown when it fails.
part() {
	local name=$1 log="$logs/$1.log" began=$SECONDS code=0
	shift
	printf '%-18s ' "$name"
	# A shell of its own, so that -e works inside a function that is called with ||.
	(
		set -e
		"$@"
	) >"$log" 2>&1
	code=$?
	local took="$((SECONDS - began)) s"
	if [ $code -eq 0 ]; then
		passed=$((passed + 1))
		summary+=("pass  $(printf '%-18s %7s' "$name" "$took")  $(note "$name" "$log")")
		printf 'pass %7s  %s\n' "$took" "$(note "$name" "$log")"
	else
		failed=$((failed + 1))
		summary+=("FAIL  $(printf '%-18s %7s' "$name" "$took")")
		broken+=("$name")
		printf 'FAIL %7s\n' "$took"
		sed 's/^/    /' "$log" | tail -n 200
	fi
	return $code
}

# note says how many tests a part ran.
note() {
	case $1 in
	go-test) grep -c '^ok' "$2" | sed 's/$/ packages/' ;;
	vitest) grep -E '^ *Tests ' "$2" | tail -1 | sed 's/^ *//; s/\x1b\[[0-9;]*m//g' ;;
	cli | clients | v1-client | tab | signin | settings | attachments | window | page | package | panel) grep -E '^[0-9]+ passed' "$2" | tail -1 ;;
	esac
}

# drift writes the contracts anew, elsewhere, and compares.
drift() {
	go test -count=1 ./backend/contract/...
	if git rev-parse --git-dir >/dev/null 2>&1; then
		local before after
		before=$(git status --porcelain -- backend/contract frontend/src/contract frontend/src/clients && git diff -- backend/contract frontend/src/contract frontend/src/clients | sha256sum)
		build/gen.sh
		after=$(git status --porcelain -- backend/contract frontend/src/contract frontend/src/clients && git diff -- backend/contract frontend/src/contract frontend/src/clients | sha256sum)
		[ "$before" = "$after" ] || die "the generated contracts were not current; build/gen.sh has written them anew"
	fi
}

modules() { go mod verify >/dev/null && go mod tidy -diff && (cd build/tools && go mod tidy -diff && go mod tidy -diff -modfile=package.mod); }

gofumpt() {
	local bad
	bad=$(git ls-files -co --exclude-standard '*.go' 2>/dev/null || find . -name '*.go' -not -path './frontend/node_modules/*')
	bad=$(echo "$bad" | xargs go tool -modfile=build/tools/go.mod gofumpt -l)
	[ -z "$bad" ] || die "not formatted (run gofumpt -w on them):"$'\n'"$bad"
}

vet() { go vet ./... && go vet -tags "$TAGS_DESKTOP" . ./app/...; }

staticcheck() { go tool -modfile=build/tools/go.mod staticcheck -checks all,-ST1000 ./... && go tool -modfile=build/tools/go.mod staticcheck -checks all,-ST1000 -tags "$TAGS_DESKTOP" ./app/...; }

# Thousands of databases are opened, written and synced: in memory where there is such a place, because a
# slow disk would take the time of all other checks together. Builds stay where they were.
go_test() {
	local dir=
	if [ -d /dev/shm ] && [ -w /dev/shm ]; then
		dir=$(mktemp -d /dev/shm/aalis-test.XXXXXX)
		# Expanded now: the variable is gone when the trap runs.
		# shellcheck disable=SC2064
		trap "rm -rf '$dir'" EXIT
		export GOTMPDIR=${TMPDIR:-/tmp} TMPDIR=$dir
	fi
	env -u E2E_APP go test -race -timeout 40m ./...
}

biome() { cd frontend && npm run --silent lint; }
types() { cd frontend && npm run --silent typecheck; }
vitest() { cd frontend && npm run --silent test; }

shim() {
	# shellcheck disable=SC2046 # words are wanted
	cc -shared -fPIC -O1 -Wall -o build/bin/window-shim.so frontend/e2e/window-shim.c $(pkg-config --cflags --libs webkit2gtk-4.1)
}

files_window() {
	# shellcheck disable=SC2046 # words are wanted
	cc -O1 -Wall -o build/bin/files-window frontend/e2e/files-window.c $(pkg-config --cflags --libs gtk+-3.0)
}

export E2E_SERVER=$PWD/build/bin/aalis-server E2E_APP=$PWD/build/bin/aalis E2E_SHIM=$PWD/build/bin/window-shim.so E2E_FILES=$PWD/build/bin/files-window
cli() { node frontend/e2e/real-cli.mjs; }
behaviour() { node frontend/e2e/behaviour.mjs; }
tab() { node frontend/e2e/real-tab.mjs; }
signin() { node frontend/e2e/real-signin.mjs; }
settings() { node frontend/e2e/real-settings.mjs; }
clients() { node frontend/e2e/two-clients.mjs; }
v1_client() { node frontend/e2e/v1-client.mjs; }
attachments() { node frontend/e2e/real-attachments.mjs; }
desktop() { go test -race -count=1 -timeout 10m -run TestDesktop -v ./app | grep -vE "Locale|fallback"; }
window() { shim && node frontend/e2e/real-window.mjs; }
panel() { shim && node frontend/e2e/real-panel.mjs; }
page() { shim && files_window && node frontend/e2e/real-page.mjs; }
package() { shim && node frontend/e2e/real-package.mjs; }

# The shell reads a script as it goes; a function it reads whole, so that the file may change meanwhile.
main() {
	need_go_and_node
	if $quick; then
		part packages need_packages compiler bus || exit 1
	else
		part packages need_packages compiler window browser display panel package || exit 1
	fi
	part npm-ci install_npm
	part front-build build_frontend
	part biome biome
	part tsc types
	part vitest vitest
	part drift drift
	part modules modules
	part gofumpt gofumpt
	part vet vet
	part staticcheck staticcheck
	part go-test go_test
	part build-server build_program server
	part cli cli
	part clients clients
	part v1-client v1_client
	if ! $quick; then
		part build-desktop build_program desktop
		part behaviour behaviour
		part tab tab
		part signin signin
		part settings settings
		part attachments attachments
		part window window
		part panel panel
		part page page
		part desktop desktop
		part package package
	fi

	echo
	printf '%s\n' "${summary[@]}"
	echo
	echo "$((passed + failed)) parts in $((SECONDS / 60)) min $((SECONDS % 60)) s; logs in $logs, pictures in frontend/test-results"
	# Once more and last, since whoever keeps only the end of this output wants to know what broke.
	local name
	for name in "${broken[@]}"; do
		echo
		echo "$name:"
		grep -aE -A 12 'FAIL|panic:|DATA RACE|rror:|timed out' "$logs/$name.log" | cut -c 1-300 | tail -n 24
	done
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ]
}
main
exit
