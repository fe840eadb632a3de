// Package weaviate opens an index on a Weaviate server, as a [search.Backend].
//
// An address names classes by a prefix, RagflowRoot and so on:
//
//	Root     one object a folder
//	Terms    one object a folder: the number of chunks with each term
//	File     one object a file
//	Chunk    one object a passage
//	Vectors… one class an embedder, one object a passage, with the id of its chunk
package weaviate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weaviate/weaviate-go-client/v4/weaviate"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/fault"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/grpc"

	"example.com/ragflow/internal/remote"
	"example.com/ragflow/search"
)

// Errors of a server; match them with errors.Is.
var (
	ErrUnreachable = errors.New("no Weaviate answers")                     // at any of the hosts
	ErrKey         = errors.New("the server Weaviate refuses the API key") // Options.Key is missing or wrong
	ErrVersion     = errors.New("the collection was made by another version of this program")
)

// Options configure the connection to a server.
type Options struct {
	Key        string        // API key; empty means none
	Collection string        // letters, digits, - and _; part of the names of the classes
	Timeout    time.Duration // of one request to one host; 0 means 60 s; at most 15 s with several hosts
	Logger     *slog.Logger  // logs hosts that do not answer; nil discards
}

// store is a [remote.Store] on a server. It is safe for concurrent use.
type store struct {
	client, grpc *weaviate.Client // grpc imports batches; it is client without a gRPC port
	address      string           // for people
	prefix       string           // of the names of classes
	replicas     int64
	consistency  string       // of reads and writes; empty means the server's default
	hybrid       bool         // the server ranks by words and vectors
	made         sync.Map     // classes of vectors that exist
	put          atomic.Int64 // objects put since the last settle

	mu    sync.Mutex // guards ready
	ready bool       // the classes exist and fit
}

const defaultPrefix = "Ragflow"

// Timeouts of one request to one host. A request to a node whose leader died may never be
// answered.
const (
	defaultTimeout = time.Minute
	clusterTimeout = 15 * time.Second
)

// Open opens the index on the server at an address:
//
//	weaviate://host:8080[,host:port…][/Prefix][?grpc=50051&replicas=3&consistency=QUORUM&hybrid=server]
//
// weaviates is the same over TLS. If a host does not answer, the next one is tried. grpc is the
// port for imports, which otherwise use HTTP. replicas is the number of copies of each object,
// and takes effect when the classes are made. With hybrid=server the server ranks by words and
// vectors in one request, and vectors are stored with the words of their passages. The error
// matches [ErrUnreachable], [ErrKey] or [ErrVersion].
func Open(ctx context.Context, address string, o Options) (search.Backend, error) {
	s, err := open(ctx, address, o)
	if err != nil {
		return nil, err
	}
	return remote.New(s), nil
}

func open(ctx context.Context, address string, o Options) (*store, error) {
	u, err := parse(address)
	if err != nil {
		return nil, err
	}
	db := &store{
		address: u.Scheme + "://" + u.Host, prefix: cmp.Or(strings.Trim(u.Path, "/"), defaultPrefix),
		consistency: u.Query().Get("consistency"), hybrid: u.Query().Has("hybrid"),
	}
	db.replicas, _ = strconv.ParseInt(cmp.Or(u.Query().Get("replicas"), "1"), 10, 64)
	if o.Collection != "" {
		db.prefix += "_" + strings.NewReplacer("_", "__", "-", "_0").Replace(o.Collection) // a class has no - in its name
	}
	scheme := "http"
	if u.Scheme == "weaviates" {
		scheme = "https"
	}
	hosts, timeout := strings.Split(u.Host, ","), cmp.Or(o.Timeout, defaultTimeout)
	if len(hosts) > 1 {
		timeout = min(timeout, clusterTimeout)
	}
	c := weaviate.Config{Host: hosts[0], Scheme: scheme, ConnectionClient: &http.Client{Transport: &failover{
		hosts: hosts, timeout: timeout, next: http.DefaultTransport, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
	}}}
	if o.Key != "" {
		c.Headers = map[string]string{"authorization": "Bearer " + o.Key}
	}
	if db.client, err = weaviate.NewClient(c); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", db.address, err)
	}
	db.grpc = db.client
	if port := u.Query().Get("grpc"); port != "" {
		name, _, _ := strings.Cut(hosts[0], ":")
		c.GrpcConfig, c.Timeout = &grpc.Config{Host: name + ":" + port}, timeout
		if db.grpc, err = weaviate.NewClient(c); err != nil {
			return nil, fmt.Errorf("connect to %s: %w", db.address, err)
		}
	}
	if db.ready, err = db.fits(ctx); err != nil {
		return nil, err
	}
	return db, nil
}

// CheckAddress returns the fault of an address for [Open].
func CheckAddress(address string) error {
	_, err := parse(address)
	return err
}

func parse(address string) (*url.URL, error) {
	fault := func(format string, args ...any) (*url.URL, error) {
		return nil, fmt.Errorf("the address of the index must be like weaviate://host:8080?grpc=50051: "+format, args...)
	}
	scheme, rest, _ := strings.Cut(address, "://")
	hosts, _, _ := strings.Cut(rest, "/")
	hosts, _, _ = strings.Cut(hosts, "?")
	first, more, _ := strings.Cut(hosts, ",")
	u, err := url.Parse(scheme + "://" + first + strings.TrimPrefix(rest, hosts))
	switch {
	case err != nil:
		return fault("it cannot be read")
	case u.Scheme != "weaviate" && u.Scheme != "weaviates":
		return fault("it begins with %q", u.Scheme)
	case u.User != nil:
		return fault("a key belongs into WEAVIATE_API_KEY")
	case u.Hostname() == "":
		return fault("it names no host")
	case !regexp.MustCompile(`^/?([A-Z][A-Za-z0-9_]*)?$`).MatchString(u.Path):
		return fault("the name %q is not a capital letter followed by letters and digits", strings.Trim(u.Path, "/"))
	}
	for key, values := range u.Query() {
		v := values[0]
		n, err := strconv.Atoi(v)
		switch {
		case key == "grpc" && err == nil && n > 0 && n < 1<<16 && u.Scheme == "weaviate":
		case key == "grpc" && u.Scheme == "weaviates":
			return fault("grpc does not go with TLS, because the client does not check certificates there")
		case key == "replicas" && err == nil && n > 0 && n < 100:
		case key == "hybrid" && v == "server":
		case key == "consistency" && (v == "ONE" || v == "QUORUM" || v == "ALL"):
		default:
			return fault("%s=%s is not grpc=PORT, replicas=COUNT, hybrid=server or consistency=ONE, QUORUM or ALL", key, v)
		}
	}
	if more != "" {
		u.Host += "," + more
	}
	return u, nil
}

// failover sends a request to the host that answered last, and, if it does not answer in time,
// to the next one. All requests are idempotent: they read, or write objects with given ids.
type failover struct {
	hosts   []string
	timeout time.Duration
	current atomic.Int64
	next    http.RoundTripper
	log     *slog.Logger
}

// RoundTrip implements http.RoundTripper.
func (f *failover) RoundTrip(r *http.Request) (*http.Response, error) {
	var first error
	for range f.hosts {
		at := f.current.Load()
		ctx, cancel := context.WithTimeoutCause(r.Context(), f.timeout, fmt.Errorf("no answer in %s", f.timeout))
		try := r.Clone(ctx)
		try.URL.Host = f.hosts[at%int64(len(f.hosts))]
		if r.GetBody != nil {
			try.Body, _ = r.GetBody()
		}
		answer, err := f.next.RoundTrip(try)
		if err == nil && (answer.StatusCode < http.StatusBadGateway || answer.StatusCode > http.StatusGatewayTimeout) {
			answer.Body = closing{answer.Body, cancel}
			return answer, nil
		}
		if err == nil {
			err = errors.Join(errors.New(answer.Status), answer.Body.Close())
		}
		cancel()
		if first == nil {
			first = err
		}
		if r.Context().Err() != nil {
			break
		}
		if f.current.CompareAndSwap(at, at+1) && len(f.hosts) > 1 {
			f.log.WarnContext(ctx, "a host of the index does not answer; the next one is asked", "host", try.URL.Host, "error", err)
		}
	}
	return nil, first
}

// closing ends the timeout of a request when its answer is closed.
type closing struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (c closing) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// explain returns an error of the client in terms of this package.
func (db *store) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	f, ok := errors.AsType[*fault.WeaviateClientError](err)
	switch {
	case !ok:
		return err
	case f.DerivedFromError != nil:
		return fmt.Errorf("%w at %s: %w", ErrUnreachable, db.address, f.DerivedFromError)
	case f.StatusCode == http.StatusUnauthorized || f.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w at %s; set WEAVIATE_API_KEY in the environment", ErrKey, db.address)
	}
	return fmt.Errorf("the server Weaviate at %s: %d: %s", db.address, f.StatusCode, strings.TrimSpace(f.Msg))
}

// Close implements remote.Store. The client keeps nothing that must be closed.
func (*store) Close() error { return nil }
