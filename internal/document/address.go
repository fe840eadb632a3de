package document

import (
	"net/url"
	"strings"
)

// maxAddress is the maximum length of a page's address in bytes: what all browsers accept.
const maxAddress = 2000

// addressKeys are the keys of published addresses, most trusted first. "canonical" is also the key of <link
// rel="canonical">.
var addressKeys = []string{"canonical", "canonical_url", "canonicalurl", "url", "permalink"}

// Address returns the address under which a document is published, by its metadata; "" without a complete
// one, because front matter often has a path as "url".
func Address(meta map[string]string) string {
	for _, key := range addressKeys {
		if u := webAddress(meta[key]); u != "" {
			return u
		}
	}
	return ""
}

// webAddress returns the normal form of an https address that cannot mislead: no user name before the host,
// which would look like another host, and a host in letters of one script. For others it returns "".
func webAddress(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxAddress {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Hostname() == "" {
		return ""
	}
	if strings.Trim(strings.ToLower(u.Host), "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") != "" {
		return ""
	}
	u.Host = strings.ToLower(u.Host)
	// A query or a fragment may contain marks of Markdown and HTML.
	out := strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22", "`", "%60", " ", "%20", "\\", "%5C", "|", "%7C").Replace(u.String())
	if strings.ContainsFunc(out, func(r rune) bool { return r <= ' ' || r > '~' }) || len(out) > maxAddress {
		return ""
	}
	return out
}
