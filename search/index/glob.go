package index

import (
	"fmt"
	"regexp"
	"strings"
)

// compileGlob makes an expression of a glob over paths: see state.Filter.AddPaths.
// Expressions of package regexp take time linear in the path, whatever the glob.
func compileGlob(glob string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	if !strings.Contains(glob, "/") {
		b.WriteString(`(?:.*/)?`)
	}
	rest := strings.TrimPrefix(glob, "./")
	for depth := 0; rest != "" || depth > 0; {
		if rest == "" {
			return nil, fmt.Errorf("glob %q: { without }", glob)
		}
		n := 1
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "**/"):
			n = 3
			b.WriteString(`(?:.*/)?`)
		case strings.HasPrefix(rest, "**"):
			n = 2
			b.WriteString(`.*`)
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			end := strings.IndexByte(rest[1:], ']') + 1
			if end < 2 {
				return nil, fmt.Errorf("glob %q: [ without ]", glob)
			}
			n = end + 1
			class := strings.ReplaceAll(rest[1:end], `\`, `\\`)
			if not, ok := strings.CutPrefix(class, "!"); ok {
				class = "^" + not
			}
			b.WriteString("[" + strings.ReplaceAll(class, "[", `\[`) + "]")
		case c == '{':
			depth++
			b.WriteString(`(?:`)
		case c == ',' && depth > 0:
			b.WriteString(`|`)
		case c == '}' && depth > 0:
			depth--
			b.WriteString(`)`)
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		rest = rest[n:]
	}
	b.WriteString(`$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("glob %q: %w", glob, err)
	}
	return re, nil
}
