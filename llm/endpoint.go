package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Endpoint has the address and the limits of a provider. String and GoString hide the key.
type Endpoint struct {
	Provider  string            // name for errors; default the host of BaseURL
	BaseURL   string            // without user, query and fragment
	Key       string            // may be empty for an address on this machine
	Protocol  string            // of chat models, for packages with several; empty: the usual one
	FirstByte time.Duration     // limit until the first byte; default 2 minutes, on this machine 10
	Stall     time.Duration     // limit between two pieces; default 1 minute
	Total     time.Duration     // limit of a call; default 10 minutes, on this machine 30
	MaxBytes  int64             // maximum size of a response; default 16 MiB
	Transport http.RoundTripper // default a clone of http.DefaultTransport
	Limiter   Limiter           // of requests, shared by all clients of a provider; nil: none
}

// Limiter delays requests if there are too many in a time. It is safe for concurrent use.
type Limiter interface {
	// Wait returns when the next request may be sent, or the error of the context.
	Wait(ctx context.Context) error
}

// String returns the name and address of the provider, without the key.
func (e Endpoint) String() string { return e.Provider + " at " + e.BaseURL }

// GoString returns String, so that no verb of fmt prints the key.
func (e Endpoint) GoString() string { return e.String() }

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
