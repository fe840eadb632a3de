package settings

import (
	"regexp"
	"runtime"
	"strings"

	"example.com/ragflow/internal/transcript"
)

// plainWord matches what every shell takes as one word without a special meaning.
var plainWord = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// Quoted writes a name as one word for the shell of this system, on one line.
func Quoted(name string) string { return quotedFor(runtime.GOOS, name) }

func quotedFor(system, name string) string {
	name = strings.Join(strings.Fields(transcript.Visible(name)), " ")
	switch {
	case plainWord.MatchString(name) && !strings.HasPrefix(name, "-"):
		return name
	case system == "windows":
		return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"`
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
