package load

import (
	"net/url"
	"strings"
)

// longestAddress bounds addresses of pages, in bytes: what browsers agree on.
const longestAddress = 2000

// addressKeys are the keys of published addresses, in the order of trust. "canonical" is also
// the key of <link rel="canonical">.
var addressKeys = []string{"canonical", "canonical_url", "canonicalurl", "url", "permalink"}

// address returns the address under which a document is published, by its metadata; "" without
// a full one: many front matters hold a path under "url".
func address(meta map[string]string) string {
	for _, key := range addressKeys {
		if u := webAddress(meta[key]); u != "" {
			return u
		}
	}
	return ""
}

// webAddress is s in its normal form if it is an https address that hides
// nothing: no user name before the host, which would make it look like another
// one, and letters of one script only in the host. Else it is "".
func webAddress(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > longestAddress {
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
	// A query or a fragment may hold marks of Markdown and HTML.
	out := strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22", "`", "%60", " ", "%20", "\\", "%5C", "|", "%7C").Replace(u.String())
	if strings.ContainsFunc(out, func(r rune) bool { return r <= ' ' || r > '~' }) || len(out) > longestAddress {
		return ""
	}
	return out
}
