package main

import (
	"strconv"
	"strings"
)

// hyperlinks reports whether the terminal is one that is known to show
// hyperlinks (OSC 8). Others may print what they do not know. FORCE_HYPERLINK,
// which other programs know too, overrides it: 0 is no, anything else yes.
func hyperlinks(env map[string]string) bool {
	if force, ok := env["FORCE_HYPERLINK"]; ok {
		return force != "0"
	}
	switch env["TERM_PROGRAM"] {
	case "iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "WarpTerminal":
		return true
	case "tmux": // 3.4 and later pass them on
		version, err := strconv.ParseFloat(strings.TrimRight(env["TERM_PROGRAM_VERSION"], "abcdefgh"), 64)
		return err == nil && version >= 3.4
	}
	for _, known := range []string{"WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID", "DOMTERM"} {
		if env[known] != "" {
			return true
		}
	}
	if version, err := strconv.Atoi(env["VTE_VERSION"]); err == nil && version >= 5000 {
		return true
	}
	term := env["TERM"]
	return strings.HasPrefix(term, "xterm-kitty") || strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "alacritty") ||
		strings.HasPrefix(term, "xterm-ghostty")
}
