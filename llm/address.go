package llm

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// CheckBaseURL parses the address of a provider. An address with a user, a query or a
// fragment is an error, because addresses are shown and could contain a key.
func CheckBaseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("the base URL cannot be parsed") // the parser's error would quote it
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("the base URL must not contain a user, password, query or fragment; give the key in the environment")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("base URL %q: want http:// or https:// and a host", address)
	}
	return u, nil
}

// Loopback reports whether an address is on this machine. Then no data leaves the machine
// and no key is needed.
func Loopback(u *url.URL) bool {
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
