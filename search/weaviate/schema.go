package weaviate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-openapi/strfmt"
	"github.com/weaviate/weaviate-go-client/v4/weaviate"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/fault"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/filters"
	"github.com/weaviate/weaviate/entities/models"
	"golang.org/x/sync/errgroup"

	"example.com/ragflow/internal/remote"
	"example.com/ragflow/search"
)

// Kinds of properties, by the server's tokenization of a text.
const (
	kept  = ""           // only returned
	exact = "field"      // matched as a whole
	terms = "whitespace" // split into terms for BM25, whose index also filters
)

// fits reports whether the classes exist. If another version made them, the error matches
// [ErrVersion].
func (db *store) fits(ctx context.Context) (bool, error) {
	c, err := db.client.Schema().ClassGetter().WithClassName(db.prefix + "Root").Do(ctx)
	if f, ok := errors.AsType[*fault.WeaviateClientError](err); ok && f.StatusCode == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, db.explain(ctx, err)
	}
	if want := remote.Format(); c.Description != want {
		return false, fmt.Errorf("%w: %s/%s has %q, not %q; name another one in the address, such as %s/Handbook2, and index again",
			ErrVersion, db.address, db.prefix, c.Description, want, db.address)
	}
	return true, nil
}

// Prepare makes the classes; Root is last, so that its existence means that all exist.
func (db *store) Prepare(ctx context.Context) error {
	if ready, err := db.exists(ctx); ready || err != nil {
		return err
	}
	for _, c := range []*models.Class{
		db.class("File", "", map[string]string{"root": exact, "source": exact, "data": kept, "terms": terms}, "version", "chunks"),
		db.class("Chunk", "", map[string]string{
			"root": exact, "file": exact, "chunk": exact, "terms": terms,
			"source": kept, "title": kept, "headings": kept, "text": kept, "hash": kept, "data": kept,
		}, "version", "ordinal"),
		db.class("Terms", "", map[string]string{"counts": kept}),
		db.class("Root", remote.Format(), map[string]string{"root": exact, "chunking": kept, "embedder": kept}, "generation"),
	} {
		if err := db.create(ctx, c); err != nil {
			return err
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.ready = true
	return nil
}

// exists reports whether the classes exist; another process may have made them.
func (db *store) exists(ctx context.Context) (bool, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	var err error
	if !db.ready {
		db.ready, err = db.fits(ctx)
	}
	return db.ready, err
}

// create makes a class, unless it exists.
func (db *store) create(ctx context.Context, c *models.Class) error {
	err := db.client.Schema().ClassCreator().WithClass(c).Do(ctx)
	if f, ok := errors.AsType[*fault.WeaviateClientError](err); ok && strings.Contains(f.Msg, "already exists") {
		return nil
	}
	return db.explain(ctx, err)
}

// class describes a class without vectors, with properties of texts and numbers. Numbers are
// floating-point, because whole numbers of GraphQL have 32 bits. Its BM25 has the parameters of
// search.DefaultRanking.
func (db *store) class(name, description string, texts map[string]string, numbers ...string) *models.Class {
	yes, no, r := true, false, search.DefaultRanking()
	c := &models.Class{
		Class: db.prefix + name, Description: description, Vectorizer: "none", VectorIndexConfig: map[string]any{"skip": true},
		InvertedIndexConfig: &models.InvertedIndexConfig{
			Bm25: &models.BM25Config{K1: float32(r.K1), B: float32(r.B)}, Stopwords: &models.StopwordConfig{Preset: "none"},
		},
		ReplicationConfig: &models.ReplicationConfig{Factor: db.replicas, AsyncEnabled: db.replicas > 1},
	}
	for name, kind := range texts {
		p := &models.Property{Name: name, DataType: []string{"text"}, Tokenization: kind, IndexFilterable: &yes, IndexSearchable: &no}
		switch kind {
		case kept:
			p.IndexFilterable = &no
		case terms:
			p.IndexSearchable, p.IndexFilterable = &yes, &no
		}
		c.Properties = append(c.Properties, p)
	}
	for _, name := range numbers {
		c.Properties = append(c.Properties, &models.Property{Name: name, DataType: []string{"number"}, IndexFilterable: &yes})
	}
	return c
}

// object describes an object of a class.
func (db *store) object(class, id string, properties map[string]any) *models.Object {
	return &models.Object{Class: db.prefix + class, ID: strfmt.UUID(id), Properties: properties}
}

// Limits of an import.
const (
	importSize = 200 // objects of a request
	imports    = 2   // concurrent requests
)

// importObjects writes objects and replaces those with the same ids. The error names the first
// object that the server refused; the others are stored.
func (db *store) importObjects(ctx context.Context, objects []*models.Object) error {
	db.put.Add(int64(len(objects)))
	var sending errgroup.Group
	sending.SetLimit(imports)
	for some := range slices.Chunk(objects, importSize) {
		sending.Go(func() error { return db.importSome(ctx, some) })
	}
	return sending.Wait()
}

// importSome sends one request of importObjects.
func (db *store) importSome(ctx context.Context, objects []*models.Object) error {
	send := func(over *weaviate.Client) ([]models.ObjectsGetResponse, error) {
		return over.Batch().ObjectsBatcher().WithObjects(objects...).WithConsistencyLevel(db.consistency).Do(ctx)
	}
	results, err := send(db.grpc)
	if err != nil && db.grpc != db.client && ctx.Err() == nil { // the host may be down: HTTP tries the others
		results, err = send(db.client)
	}
	if err != nil {
		return db.explain(ctx, err)
	}
	for _, r := range results {
		if r.Result == nil || r.Result.Status == nil || *r.Result.Status != models.ObjectsGetResponseAO2ResultStatusFAILED {
			continue
		}
		why := "it does not say why"
		if e := r.Result.Errors; e != nil && len(e.Error) > 0 {
			why = e.Error[0].Message
		}
		return fmt.Errorf("the server Weaviate at %s refuses an object of %s: %s", db.address, r.Class, why)
	}
	return nil
}

// deleteObjects deletes the objects with a value of a property and returns their number.
func (db *store) deleteObjects(ctx context.Context, class string, values []string, property string) (n int, err error) {
	for some := range slices.Chunk(values, 500) {
		for { // the server stops at remote.MaxChunks
			r, err := db.client.Batch().ObjectsBatchDeleter().WithClassName(db.prefix + class).WithConsistencyLevel(db.consistency).
				WithWhere(filters.Where().WithOperator(filters.ContainsAny).WithPath([]string{property}).WithValueText(some...)).Do(ctx)
			if err != nil {
				return n, db.explain(ctx, err)
			}
			if r.Results == nil || r.Results.Matches == 0 {
				break
			}
			if r.Results.Failed > 0 {
				return n, fmt.Errorf("the server Weaviate at %s could not delete %d objects of %s", db.address, r.Results.Failed, class)
			}
			n += int(r.Results.Successful)
			if r.Results.Matches < remote.MaxChunks {
				break
			}
		}
	}
	return n, nil
}
