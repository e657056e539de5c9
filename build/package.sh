#!/usr/bin/env bash
# Builds packages into build/bin/packages: package.sh [deb|rpm|tar|windows|macos]…, without a word all
# that this machine can build. deb, rpm and tar hold the program for this system, once with the window
# (aalis) and once without (aalis-server); windows is built with mingw-w64 and NSIS, macos on a Mac only.
#
# The same commit gives the same bytes: times are the commit's (or SOURCE_DATE_EPOCH), owners are root,
# files are sorted. PACKAGE_MAINTAINER names who answers for a package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source build/lib.sh
umask 022

OUT=build/bin/packages
STAGES=build/bin/stage
export PACKAGE_MAINTAINER=${PACKAGE_MAINTAINER:-The Aalis Desktop authors <authors@aalis.invalid>}

# package_version sorts: what is built before the release that is named in the program stands below it
# (~), what is built after it above (+), and by the time of the commit in between.
package_version() {
	local version commit stamp mark='~'
	version=$(program_version)
	commit=$(program_commit)
	if [ "$commit" = unknown ]; then
		echo "$version~unknown"
		return
	fi
	if git rev-parse -q --verify "refs/tags/v$version" >/dev/null; then
		if [ -z "$(changes)" ] && [ "$(git rev-parse "v$version^{commit}")" = "$(git rev-parse HEAD)" ]; then
			echo "$version"
			return
		fi
		mark=+
	fi
	stamp=$(TZ=UTC git log -1 --date=format-local:%Y%m%d%H%M%S --format=%cd)
	echo "$version${mark}git$stamp.$commit$([ -z "$(changes)" ] || echo .changed)"
}

# changes are those that are not in the commit, of files that are.
changes() { git status --porcelain --untracked-files=no; }

set_globals() {
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)}
	GOARCH=$(go env GOARCH)
	PACKAGE_VERSION=$(package_version)
	export SOURCE_DATE_EPOCH GOARCH PACKAGE_VERSION
}

# when FORMAT prints the time of everything in the packages.
when() { date -u -d "@$SOURCE_DATE_EPOCH" "$1" 2>/dev/null || date -u -r "$SOURCE_DATE_EPOCH" "$1"; }

# made TAGS… runs the program that makes icons, manual and notices, built as the packed one is.
made() {
	local tags=$1
	shift
	go run -tags "$tags" ./build/package "$@"
}

notices() { made "$1" notices "$(go env GOMODCACHE)" "$(go env GOROOT)" frontend "${@:2}"; }

# put SOURCE TARGET copies one file that is read, and put_gz what it is piped, compressed.
put() {
	mkdir -p "$(dirname "$2")"
	cp "$1" "$2"
	chmod 0644 "$2"
}

put_gz() {
	mkdir -p "$(dirname "$1")"
	gzip -9n >"$1"
}

# stage NAME TAGS lays out everything of a package as it will lie on a Linux system.
stage() {
	local name=$1 tags=$2 root=$STAGES/$1
	rm -rf "$root"
	put "build/bin/$name" "$root/usr/bin/$name"
	chmod 0755 "$root/usr/bin/$name"
	local share=$root/usr/share
	if [ "$name" = aalis ]; then
		put build/package/linux/aalis.desktop "$share/applications/aalis.desktop"
		made "$tags" icons build/appicon.png "$share/icons"
	fi
	made "$tags" manual "$name" en "$(when +%F)" | put_gz "$share/man/man1/$name.1.gz"
	made "$tags" manual "$name" zh-CN "$(when +%F)" | put_gz "$share/man/zh_CN/man1/$name.1.gz"
	copyright >"$STAGES/copyright"
	put "$STAGES/copyright" "$share/doc/$name/copyright"
	notices "$tags" "build/bin/$name" | put_gz "$share/doc/$name/NOTICE.gz"
	changelog "$name" | put_gz "$share/doc/$name/changelog.gz"
	find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# copyright is LICENSE in the form that Debian's tools read.
copyright() {
	cat <<-END
		Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
		Upstream-Name: Aalis Desktop
		Comment: The parts that others wrote, and their terms, are in NOTICE.gz.

		Files: *
		$(sed -n 's/^Copyright (c) /Copyright: /p' LICENSE)
		License: MIT
	END
	sed -n '/^Permission/,$p' LICENSE | sed 's/^$/./; s/^/ /'
}

changelog() {
	cat <<-END
		$1 ($PACKAGE_VERSION) unstable; urgency=medium

		  * Built from commit $(program_commit).

		 -- $PACKAGE_MAINTAINER  $(LC_ALL=C when '+%a, %d %b %Y %H:%M:%S +0000')
	END
}

# pack FORMAT has nfpm pack what is staged. It says what is wrong on its standard output.
pack() {
	local name log=$STAGES/nfpm.log
	for name in aalis aalis-server; do
		STAGE=$STAGES/$name LIBC=$(made "" libc "build/bin/$name") go tool -modfile=build/tools/package.mod nfpm package \
			--config "build/package/linux/$name.yaml" --packager "$1" --target "$OUT/" >"$log" || die "nfpm: $(cat "$log")"
	done
}

build_tar() {
	local name base
	for name in aalis aalis-server; do
		base=$name-$PACKAGE_VERSION-linux-$GOARCH
		rm -rf "${STAGES:?}/$base"
		mkdir "$STAGES/$base"
		cp -R "$STAGES/$name/usr/bin" "$STAGES/$name/usr/share" "$STAGES/$base/"
		cp LICENSE build/package/linux/INSTALL "$STAGES/$base/"
		tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu -C "$STAGES" -cf - "$base" |
			gzip -n >"$OUT/$base.tar.gz"
	done
}

build_linux() {
	[ "$(uname)" = Linux ] || die "$* are built on Linux"
	need_packages window
	build_program desktop
	build_program server
	stage aalis "$TAGS_DESKTOP"
	stage aalis-server ""
	local kind
	for kind in "$@"; do
		case $kind in
		tar) build_tar ;;
		*) pack "$kind" ;;
		esac
	done
}

build_windows() {
	need_packages windows
	local version
	version=$(program_version)
	# The compiler takes up resources from the folder of the main package. The icon has number 3 there,
	# because the toolkit of the window looks for that one.
	# shellcheck disable=SC2064 # now
	trap "rm -f '$PWD/rsrc_windows_amd64.syso'" EXIT
	go tool -modfile=build/tools/package.mod go-winres make --in build/package/windows/winres.json --arch amd64 \
		--product-version "$version" --file-version "$version" --out rsrc
	build_program windows
	build_program windows-server
	rm -f rsrc_windows_amd64.syso
	local root=$PWD/$STAGES/windows name
	rm -rf "$root"
	mkdir -p "$root"
	cp build/bin/windows/aalis.exe build/bin/windows/aalis-server.exe "$root/"
	notices "" "$root/aalis.exe" "$root/aalis-server.exe" >"$root/NOTICE.txt"
	cp LICENSE "$root/LICENSE.txt"
	made "" ico build/appicon.png "$root/aalis.ico"
	find "$root" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
	makensis -V2 -WX "-DVERSION=$PACKAGE_VERSION" "-DNUMBERS=$version" "-DFILES=$root" \
		"-DOUT=$PWD/$OUT/aalis-$PACKAGE_VERSION-windows-amd64-setup.exe" build/package/windows/installer.nsi
	for name in aalis aalis-server; do
		cp "$root/$name.exe" "$OUT/$name-$PACKAGE_VERSION-windows-amd64.exe"
	done
}

build_macos() {
	[ "$(uname)" = Darwin ] || die "the macOS bundle is built on a Mac, because it needs its system's headers"
	build/package/macos/bundle.sh "$OUT"
}

checksum() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

# kinds are what this machine can build.
kinds() {
	case $(uname) in
	Darwin) echo macos ;;
	*)
		echo deb rpm tar
		if command -v dpkg-query >/dev/null || command -v makensis >/dev/null; then echo windows; fi
		;;
	esac
}

main() {
	local kind linux=() others=()
	# shellcheck disable=SC2046 # words are wanted
	[ $# -gt 0 ] || set -- $(kinds)
	for kind in "$@"; do
		case $kind in
		deb | rpm | tar) linux+=("$kind") ;;
		windows | macos) others+=("$kind") ;;
		*) die "there is no package \"$kind\"; there are: deb, rpm, tar, windows, macos" ;;
		esac
	done
	need_go_and_node
	set_globals
	rm -rf "$OUT"
	mkdir -p "$OUT" "$STAGES"
	build_frontend
	[ ${#linux[@]} -eq 0 ] || build_linux "${linux[@]}"
	for kind in "${others[@]+"${others[@]}"}"; do "build_$kind"; done
	(cd "$OUT" && checksum -- * >SHA256SUMS)
	local file hash
	while read -r hash file; do
		printf '%s  %6.1f MB  %s\n' "$hash" "$(awk "BEGIN { print $(wc -c <"$OUT/$file") / 1000000 }")" "$OUT/$file"
	done <"$OUT/SHA256SUMS"
}
main "$@"
exit
