package load

import (
	"strings"
	"unicode/utf8"
)

// pattern is a glob over paths with slashes, element by element. An element **
// stands for any number of elements, none too.
type pattern []string

// newPattern splits a glob into elements.
func newPattern(glob string) pattern {
	var out pattern
	for e := range strings.SplitSeq(glob, "/") {
		if e == "**" && len(out) > 0 && out[len(out)-1] == "**" {
			continue // two say what one says
		}
		out = append(out, e)
	}
	return out
}

// matches reports whether a path is one that the pattern names. Whatever the
// pattern, the time is at most the product of both lengths.
func (p pattern) matches(path string) bool {
	elements := strings.Split(path, "/")
	i, j := 0, 0
	star, from := -1, 0 // the last ** and where what it stands for ends
	for j < len(elements) {
		switch {
		case i < len(p) && p[i] == "**":
			star, from = i, j
			i++
		case i < len(p) && matchElement(p[i], elements[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == "**" && i < len(p)-1 {
		i++
	}
	return i == len(p)
}

// within reports whether files the pattern names may lie in a folder.
func (p pattern) within(folder string) bool {
	for i, e := range strings.Split(folder, "/") {
		switch {
		case i < len(p) && p[i] == "**":
			return true
		case i >= len(p)-1 || !matchElement(p[i], e):
			return false
		}
	}
	return true
}

// matchElement matches one element: * any runes, ? one rune, [a-z], [!a-z] and
// [[:alpha:]] one of a class, \ takes what follows literally.
func matchElement(glob, name string) bool {
	star, from := -1, 0
	g, n := 0, 0
	for n < len(name) {
		if g < len(glob) && glob[g] == '*' {
			star, from = g, n
			g++
			continue
		}
		r, size := utf8.DecodeRuneInString(name[n:])
		if g < len(glob) {
			if next, ok := matchRune(glob[g:], r); ok {
				g += next
				n += size
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, size = utf8.DecodeRuneInString(name[from:])
		from += size
		g, n = star+1, from
	}
	return strings.Trim(glob[g:], "*") == ""
}

// matchRune matches a rune against what a glob begins with and returns how long
// that is.
func matchRune(glob string, r rune) (size int, ok bool) {
	switch glob[0] {
	case '?':
		return 1, true
	case '[':
		if size, ok = matchClass(glob, r); size > 0 {
			return size, ok
		}
		return 0, false // a class that does not end matches nothing
	case '\\':
		if len(glob) == 1 {
			return 0, false
		}
		g, n := utf8.DecodeRuneInString(glob[1:])
		return 1 + n, g == r
	}
	g, size := utf8.DecodeRuneInString(glob)
	return size, g == r
}

// matchClass matches a rune against a class such as [a-z_]; size is 0 where
// there is no closing bracket.
func matchClass(glob string, r rune) (size int, ok bool) {
	i := 1
	negated := i < len(glob) && (glob[i] == '!' || glob[i] == '^')
	if negated {
		i++
	}
	for first := true; i < len(glob); first = false {
		if glob[i] == ']' && !first {
			return i + 1, ok != negated
		}
		if name, rest, found := strings.Cut(glob[i:], ":]"); found && strings.HasPrefix(name, "[:") {
			ok = ok || named(name[2:], r)
			i = len(glob) - len(rest)
			continue
		}
		low, n := classRune(glob[i:])
		i += n
		high := low
		if i+1 < len(glob) && glob[i] == '-' && glob[i+1] != ']' {
			high, n = classRune(glob[i+1:])
			i += 1 + n
		}
		ok = ok || low <= r && r <= high
	}
	return 0, false
}

// classRune reads a rune of a class, which \ may stand before.
func classRune(s string) (rune, int) {
	if s[0] == '\\' && len(s) > 1 {
		r, n := utf8.DecodeRuneInString(s[1:])
		return r, 1 + n
	}
	return utf8.DecodeRuneInString(s)
}

// named reports whether a rune is in a class that POSIX names, of ASCII as git
// has it.
func named(class string, r rune) bool {
	lower, upper, digit := r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9'
	graph := r > ' ' && r < 0x7F
	switch class {
	case "alpha":
		return lower || upper
	case "alnum":
		return lower || upper || digit
	case "digit":
		return digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "xdigit":
		return digit || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
	case "space":
		return r == ' ' || r >= '\t' && r <= '\r'
	case "blank":
		return r == ' ' || r == '\t'
	case "punct":
		return graph && !lower && !upper && !digit
	case "graph":
		return graph
	case "print":
		return graph || r == ' '
	case "cntrl":
		return r < ' ' || r == 0x7F
	}
	return false
}
