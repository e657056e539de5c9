package app

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"

	"aalis/backend/text"
)

// defaultDataDir is where data of programs belongs on this system.
func defaultDataDir() (string, error) {
	local := os.Getenv("LOCALAPPDATA")
	if local == "" {
		return "", errNoHome("LOCALAPPDATA")
	}
	return filepath.Join(local, "Aalis"), nil
}

// systemLanguage is the first language of the user that the catalogues speak, else Chinese.
func systemLanguage() text.Language {
	names, _ := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME) // none is an answer
	for _, name := range names {
		if lang, ok := text.ParseLanguage(name); ok {
			return lang
		}
	}
	return text.Chinese
}
