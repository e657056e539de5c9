# What the scripts of this folder share. Sourced from the root of the project, with `set -euo pipefail`.

# One set of flags everywhere: each other one would compile everything, SQLite among it, once more.
export GOFLAGS="-trimpath -buildvcs=false"
export GOTOOLCHAIN="${GOTOOLCHAIN:-auto}"
TAGS_DESKTOP=desktop,production,webkit2_41
# Windows and macOS have web views of their own.
TAGS_NATIVE=desktop,production

die() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

need_go_and_node() {
	command -v go >/dev/null || die "Go is missing: install 1.26 or newer from https://go.dev/dl/"
	command -v node >/dev/null || die "Node is missing: install 20.19 or newer from https://nodejs.org/"
	command -v npm >/dev/null || die "npm is missing: it comes with Node from https://nodejs.org/"
	node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
		die "Node $(node --version) is too old: 20.19 or newer is needed"
}

# packages KIND prints the Debian packages for a purpose.
packages() {
	case $1 in
	compiler) echo build-essential ;;
	window) echo build-essential pkg-config libgtk-3-dev libwebkit2gtk-4.1-dev ;;
	browser) echo chromium fonts-dejavu-core fonts-noto-cjk ;;
	display) echo xvfb dbus webkit2gtk-driver openbox wmctrl xdotool xclip x11-utils imagemagick fonts-dejavu-core ;;
	bus) echo dbus ;;
	panel) echo xfce4-panel xfce4-notifyd ;;
	windows) echo gcc-mingw-w64-x86-64 nsis ;;
	package) echo libglib2.0-bin xdg-utils desktop-file-utils man-db rpm ;;
	esac
}

# need_packages KIND… installs what is missing where that is allowed, and says what is missing where it
# is not.
need_packages() {
	local kind missing=()
	if ! command -v dpkg-query >/dev/null; then
		for kind in "$@"; do need_commands "$kind"; done
		return
	fi
	local name
	for kind in "$@"; do
		for name in $(packages "$kind"); do
			dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
		done
	done
	[ ${#missing[@]} -eq 0 ] && return
	local sudo=()
	if [ "$(id -u)" != 0 ]; then
		sudo -n true 2>/dev/null || die "these packages are missing; install them and start again: sudo apt-get install ${missing[*]}"
		sudo=(sudo -n)
	fi
	echo "Installing ${missing[*]}"
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# need_commands is for systems with other packages: it looks for what they would bring.
need_commands() {
	case $1 in
	compiler) command -v cc >/dev/null || die "a C compiler is missing" ;;
	window)
		need_commands compiler
		[ "$(uname)" != Linux ] || pkg-config --exists gtk+-3.0 webkit2gtk-4.1 2>/dev/null ||
			die "the development files of GTK 3 and WebKitGTK 4.1 are missing"
		;;
	browser) command -v chromium >/dev/null || die "Chromium is missing" ;;
	display)
		local name
		for name in Xvfb dbus-daemon WebKitWebDriver openbox wmctrl xdotool; do
			command -v $name >/dev/null || die "$name is missing"
		done
		;;
	bus) command -v dbus-daemon >/dev/null || die "dbus-daemon is missing" ;;
	panel)
		command -v xfce4-panel >/dev/null || die "Xfce's panel is missing"
		command -v dbus-send >/dev/null || die "dbus-send is missing"
		;;
	windows)
		command -v x86_64-w64-mingw32-gcc >/dev/null || die "the C compiler for Windows (mingw-w64) is missing"
		command -v makensis >/dev/null || die "makensis (NSIS) is missing"
		;;
	esac
}

# install_npm runs npm ci when the lock file is another than the one that was installed.
install_npm() {
	local mark=frontend/node_modules/.installed-lock
	cmp -s frontend/package-lock.json "$mark" && return
	(cd frontend && npm ci --no-audit --no-fund --loglevel=error)
	cp frontend/package-lock.json "$mark"
}

build_frontend() {
	install_npm
	(cd frontend && npm run --silent build)
}

# program_version prints the program's number, which stands in one place.
program_version() { sed -n 's/^const Version = "\(.*\)"$/\1/p' app/cmd_version.go; }

program_commit() { git rev-parse --short=12 HEAD 2>/dev/null || echo unknown; }

# build_program KIND builds build/bin/aalis with the window (desktop), or build/bin/aalis-server without
# (server), which needs no system libraries but the C one. For Windows (windows, windows-server) they
# are build/bin/windows/*.exe: one without a console, which people start, and one with, for scripts. On a
# Mac (macos) it is build/bin/macos/aalis; nobody has tried that.
build_program() {
	local ldflags
	ldflags="-s -w -X aalis/app.commit=$(program_commit)"
	mkdir -p build/bin
	case $1 in
	desktop) go build -tags "$TAGS_DESKTOP" -ldflags "$ldflags" -o build/bin/aalis . ;;
	server) go build -ldflags "$ldflags" -o build/bin/aalis-server . ;;
	windows) go_windows build -tags "$TAGS_NATIVE" -ldflags "$ldflags -H windowsgui" -o build/bin/windows/aalis.exe . ;;
	macos) CGO_LDFLAGS="-framework UniformTypeIdentifiers" go build -tags "$TAGS_NATIVE" -ldflags "$ldflags" -o build/bin/macos/aalis . ;;
	windows-server) go_windows build -ldflags "$ldflags" -o build/bin/windows/aalis-server.exe . ;;
	esac
}

go_windows() { GOOS=windows GOARCH=amd64 CGO_ENABLED=1 CC=x86_64-w64-mingw32-gcc go "$@"; }
