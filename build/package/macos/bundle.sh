#!/usr/bin/env bash
# UNTESTED: nobody has run this on a Mac. It is what Apple's documentation asks for, written beside the
# packages that are tested; expect to mend it, and take this note away when it has worked.
#
# bundle.sh OUT makes OUT/Aalis.app of the program and a .zip of it. It runs on a Mac with Xcode's command
# line tools. CODESIGN_IDENTITY signs it; without one it is signed for this Mac only (-), and others must
# allow it by hand. build/package.sh macos has set the version and built the pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
source build/lib.sh

main() {
	local out=$1 app=$1/Aalis.app version
	version=$(program_version)
	build_program macos
	rm -rf "$app"
	mkdir -p "$app/Contents/MacOS" "$app/Contents/Resources"
	cp build/bin/macos/aalis "$app/Contents/MacOS/aalis"
	sed "s/@NUMBERS@/$version/" build/package/macos/Info.plist >"$app/Contents/Info.plist"
	plutil -lint "$app/Contents/Info.plist"
	go run ./build/package icns build/appicon.png "$app/Contents/Resources/aalis.icns"
	go run ./build/package notices "$(go env GOMODCACHE)" "$(go env GOROOT)" frontend build/bin/macos/aalis >"$app/Contents/Resources/NOTICE.txt"
	cp LICENSE "$app/Contents/Resources/LICENSE.txt"
	codesign --force --options runtime --sign "${CODESIGN_IDENTITY:--}" "$app"
	# Of another kind than zip's, because that loses the signature.
	ditto -c -k --keepParent "$app" "$out/aalis-$PACKAGE_VERSION-macos-$(go env GOARCH).zip"
	rm -rf "$app"
}
main "$@"
exit
