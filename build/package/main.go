// Command package makes what a package holds beside the program and cannot be written by hand: icons
// in every size and format, the manual page, and the notices of what others wrote. It builds nothing
// and packs nothing; build/package.sh does. Everything it writes depends on its input alone.
//
//	package icons build/appicon.png DIR         PNGs as the icon theme specification wants them
//	package ico|icns build/appicon.png FILE     one file of all sizes, for Windows and macOS
//	package manual NAME zh-CN|en DATE           the page, to standard output
//	package libc BINARY                         the C library it needs, to standard output
//	package notices MODULES GOROOT NPM BINARY…  of everything in the binaries, to standard output
package main

import (
	"fmt"
	"os"
	"time"

	"aalis/app"
	"aalis/backend/text"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch {
	case verb == "icons" && len(args) == 2:
		return writeIcons(args[0], args[1])
	case verb == "ico" && len(args) == 2:
		return writeIconFile(args[0], args[1], encodeICO)
	case verb == "icns" && len(args) == 2:
		return writeIconFile(args[0], args[1], encodeICNS)
	case verb == "manual" && len(args) == 3:
		return writeManual(args[0], args[1], args[2])
	case verb == "libc" && len(args) == 1:
		version, err := newestLibc(args[0])
		if err == nil {
			fmt.Println(version)
		}
		return err
	case verb == "notices" && len(args) > 3:
		return writeNotices(os.Stdout, sources{modules: args[0], goroot: args[1], npm: args[2]}, args[3:])
	}
	return fmt.Errorf("unknown command %q with %d arguments; there are: icons PNG DIR, ico PNG FILE, icns PNG FILE, manual NAME LANGUAGE DATE, libc BINARY, notices MODULES GOROOT NPM BINARY…", verb, len(args))
}

func writeManual(name, language, date string) error {
	lang, known := text.ParseLanguage(language)
	if !known {
		return fmt.Errorf("no manual speaks %q; there are: %s, %s", language, text.English, text.Chinese)
	}
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return fmt.Errorf("the manual's date %q is not a day such as 2006-01-02: %w", date, err)
	}
	return app.Manual(os.Stdout, name, lang, day)
}
