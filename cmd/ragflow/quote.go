package main

import (
	"regexp"
	"runtime"
	"strings"
)

// plainWord is what every shell takes as one word that means itself.
var plainWord = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// quoted writes a name so that it can be pasted into a shell as one word.
func quoted(name string) string { return quotedFor(runtime.GOOS, name) }

func quotedFor(system, name string) string {
	name = line(name)
	switch {
	case plainWord.MatchString(name) && !strings.HasPrefix(name, "-"):
		return name
	case system == "windows":
		return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
