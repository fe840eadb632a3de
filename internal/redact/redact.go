package redact

import (
	"regexp"
	"strings"
	"unicode"
)

// mask replaces a secret.
const mask = "•••"

// Secrets replaces text that looks like a secret: values named password, key, token or secret
// in English, Polish or Vietnamese; keys with the prefixes of providers; JSON web tokens;
// private keys; passwords in URLs; and long words that mix letters and digits as only machines
// do. It prefers to remove a harmless checksum to leaving a key. It cannot detect a password
// without a name, such as "it is swordfish".
func Secrets(s string) string {
	s = privateKey.ReplaceAllString(s, mask)
	s = urlPassword.ReplaceAllString(s, "${1}"+mask+"@")
	s = knownKey.ReplaceAllString(s, mask)
	s = bearer.ReplaceAllString(s, "${1}"+mask)
	s = namedSecret.ReplaceAllStringFunc(s, func(m string) string {
		part := namedSecret.FindStringSubmatch(m)
		value := part[2]
		if !strings.ContainsAny(part[1], "=:") && !mixed(value) {
			return m // "the password is long": no secret
		}
		return part[1] + mask
	})
	return longWord.ReplaceAllStringFunc(s, func(m string) string {
		if machineMade(m) {
			return mask
		}
		return m
	})
}

var (
	privateKey  = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
	urlPassword = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@`)
	knownKey    = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|` +
		`xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|dckr_pat_[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,}|` +
		`(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?)`)
	bearer      = regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9+/._~-]{16,}=*`)
	namedSecret = regexp.MustCompile(`(?i)((?:passwords?|passwd|passphrase|pwd|secret(?:[ _-]?(?:key|access[ _-]?key))?|api[ _-]?key|access[ _-]?key|private[ _-]?key|client[ _-]?secret|` +
		`(?:[a-z]+[_-])?token|credentials?|pin|hasło|hasłem|klucz(?: api)?|mật khẩu|khóa api|mã pin)["'` + "`" + `]?(?:\s*[=:]|\s+(?:is|to|là|jest)\s)\s*["'` + "`" + `]?)([^\s"'` + "`" + `,;]{3,})`)
	longWord = regexp.MustCompile(`[A-Za-z0-9+/_=-]{24,}`)
)

// mixed reports whether a word has letters and digits or signs, or digits alone.
func mixed(w string) bool {
	w = strings.Trim(w, ".!?)")
	letters := strings.IndexFunc(w, unicode.IsLetter) >= 0
	others := strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) >= 0
	return letters && others || strings.IndexFunc(w, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// machineMade reports whether a long word looks random: digits and letters alternate often, and
// it is no path or sentence.
func machineMade(w string) bool {
	if strings.Count(w, "/") > 1 || strings.Count(w, "-") > 3 && len(w) == 36 {
		return false // a path; an id of a thread or run
	}
	turns, digits, letters := 0, 0, 0
	last := 0
	for _, r := range w {
		class := 0
		switch {
		case unicode.IsDigit(r):
			class, digits = 1, digits+1
		case unicode.IsUpper(r):
			class, letters = 2, letters+1
		case unicode.IsLetter(r):
			class, letters = 3, letters+1
		}
		if class != 0 && last != 0 && class != last {
			turns++
		}
		last = class
	}
	return digits >= 3 && letters >= 3 && turns*4 >= len(w)
}
