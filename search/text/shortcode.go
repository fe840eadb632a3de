package text

import (
	"regexp"
	"strings"
)

// Placeholders returns s as a person should read its code: a parameter that a
// site generator fills in, as in `{{% param "version" %}}`, is the placeholder
// <version>, and other shortcodes are gone. What has none is returned as it is.
func Placeholders(s string) string {
	if !strings.Contains(s, "{{") {
		return s
	}
	return shortcode.ReplaceAllStringFunc(s, func(code string) string {
		if m := parameterName.FindStringSubmatch(code); m != nil {
			return "<" + m[1] + ">"
		}
		return ""
	})
}

var (
	shortcode     = regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`)
	parameterName = regexp.MustCompile(`^\{\{[<%]\s*param\s+"?([\w.-]+)"?\s*[>%]\}\}$`)
)
