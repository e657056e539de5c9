//go:build unix

package app

import (
	"os"
	"path/filepath"
	"runtime"

	"aalis/backend/text"
)

// defaultDataDir is where data of programs belongs on this system.
func defaultDataDir() (string, error) {
	home := os.Getenv("HOME")
	if runtime.GOOS == "darwin" {
		if home == "" {
			return "", errNoHome("HOME")
		}
		return filepath.Join(home, "Library", "Application Support", "Aalis"), nil
	}
	// The specification of XDG_DATA_HOME: a relative path in it is to be ignored.
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "aalis"), nil
	}
	if home == "" {
		return "", errNoHome("HOME")
	}
	return filepath.Join(home, ".local", "share", "aalis"), nil
}

// systemLanguage is the locale's language for messages, else Chinese.
func systemLanguage() text.Language {
	for _, variable := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if locale := os.Getenv(variable); locale != "" {
			if lang, ok := text.ParseLanguage(locale); ok {
				return lang
			}
			break // the first that is set decides
		}
	}
	return text.Chinese
}
