package door

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/state"
)

// Documents names the documents of an assistant for clients: an id is the collection, a hash of the
// indexed folder, and the path in it. "-" is the default collection. Folders of this machine do not
// show in it.
type Documents struct{ Assistant *ragflow.Assistant }

// ID returns the id of a document that was found in one of some collections; none is the default one.
func (d Documents) ID(ctx context.Context, collections []string, root, source string) string {
	name := "-"
	for _, c := range collections {
		l, err := d.Assistant.Collections().Open(ctx, c)
		if err == nil && (len(collections) == 1 || slices.Contains(l.View().Roots, root)) {
			name = cmp.Or(c, name)
			break
		}
	}
	return name + "/" + hashOf(root) + "/" + source
}

// Link returns the address under base by which this server shows what a citation quotes, such as
// base/d/-/1a2b3c4d/guide/leave.md#L10-L24, or …#page=3 for a file with pages. It is empty for a source that
// is no file. Collections are those that were searched; see ID.
func (d Documents) Link(ctx context.Context, base string, collections []string, c state.Citation) string {
	if c.Root == "" {
		return ""
	}
	u := url.URL{Path: "/d/" + d.ID(ctx, collections, c.Root, c.Source)}
	switch {
	case c.Page > 0:
		u.Fragment = fmt.Sprintf("page=%d", c.Page)
	case c.StartLine > 0:
		u.Fragment = fmt.Sprintf("L%d-L%d", c.StartLine, max(c.StartLine, c.EndLine))
	}
	return base + u.String()
}

// Base returns the address by which a client reaches this server: the public one or, if that is empty, the client's own.
func Base(public string, r *http.Request) string {
	if public != "" {
		return public
	}
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func hashOf(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:4])
}

// Find returns the place of a document that the caller may read. The error matches
// ingest.ErrNoDocument if there is none.
func (d Documents) Find(ctx context.Context, id string) (l *ingest.Library, root, source string, err error) {
	name, rest, _ := strings.Cut(id, "/")
	hash, source, ok := strings.Cut(rest, "/")
	if !ok {
		return nil, "", "", ingest.ErrNoDocument
	}
	if l, err = d.Library(ctx, strings.TrimPrefix(name, "-")); err != nil {
		return nil, "", "", err
	}
	view, err := l.Ready(ctx)
	if err != nil && !errors.Is(err, ingest.ErrNoDocuments) {
		return nil, "", "", err
	}
	for _, root := range view.Roots {
		if hashOf(root) == hash {
			return l, root, source, nil
		}
	}
	return nil, "", "", ingest.ErrNoDocument
}

// Library opens a collection that the caller may use; "" is that of the caller.
func (d Documents) Library(ctx context.Context, name string) (*ingest.Library, error) {
	names, err := Of(ctx).Choose(name)
	if err != nil {
		return nil, err
	}
	return d.Assistant.Collections().Open(ctx, append(names, "")[0])
}
