package weaviate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-openapi/strfmt"
	"github.com/google/uuid"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/fault"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/filters"
	"github.com/weaviate/weaviate/entities/models"

	"example.com/ragflow/search"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// mostObjects is how many objects a server returns or deletes for one request, unless
// QUERY_MAXIMUM_RESULTS says otherwise. It stops there without an error.
const mostObjects = 10_000

// Kinds of properties: what the server makes of a text.
const (
	kept  = ""           // it is only returned
	exact = "field"      // found as a whole
	terms = "whitespace" // split into terms, for BM25 and filters
)

// fits reports whether the classes exist. The error matches [ErrVersion] where another
// version made them.
func (db *DB) fits(ctx context.Context) (bool, error) {
	c, err := db.client.Schema().ClassGetter().WithClassName(db.prefix + "Root").Do(ctx)
	if f, ok := errors.AsType[*fault.WeaviateClientError](err); ok && f.StatusCode == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, db.explain(ctx, err)
	}
	if want := format + db.analyzer.Name(); c.Description != want {
		return false, fmt.Errorf("%w: %s/%s has %q, not %q; name another one in the address, such as %s/Handbook2, and index again",
			ErrVersion, db.address, db.prefix, c.Description, want, db.address)
	}
	return true, nil
}

// prepare makes the classes, Root last, whose existence says that all exist.
func (db *DB) prepare(ctx context.Context) error {
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
		db.class("Root", format+db.analyzer.Name(), map[string]string{"root": exact, "chunking": kept, "embedder": kept}, "generation"),
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

// exists reports whether the classes exist, as another process may have made them.
func (db *DB) exists(ctx context.Context) (bool, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	var err error
	if !db.ready {
		db.ready, err = db.fits(ctx)
	}
	return db.ready, err
}

// create makes a class, unless it exists.
func (db *DB) create(ctx context.Context, c *models.Class) error {
	err := db.client.Schema().ClassCreator().WithClass(c).Do(ctx)
	if f, ok := errors.AsType[*fault.WeaviateClientError](err); ok && strings.Contains(f.Msg, "already exists") {
		return nil
	}
	return db.explain(ctx, err)
}

// class describes a class without vectors, with properties of text and numbers, which are
// floating-point because the whole numbers of GraphQL have 32 bits. Its
// BM25 is that of search.DefaultRanking.
func (db *DB) class(name, description string, texts map[string]string, numbers ...string) *models.Class {
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
			p.IndexSearchable = &yes
		}
		c.Properties = append(c.Properties, p)
	}
	for _, name := range numbers {
		c.Properties = append(c.Properties, &models.Property{Name: name, DataType: []string{"number"}, IndexFilterable: &yes})
	}
	return c
}

// id makes the id of an object of what identifies it.
func id(parts ...string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(strings.Join(parts, "\x00"))).String()
}

// object describes an object of a class.
func (db *DB) object(class, id string, properties map[string]any) *models.Object {
	return &models.Object{Class: db.prefix + class, ID: strfmt.UUID(id), Properties: properties}
}

// importSize is how many objects one request imports.
const importSize = 200

// importObjects writes objects in the place of those of the same ids. The error names the
// first object that the server refused; the others are there.
func (db *DB) importObjects(ctx context.Context, objects []*models.Object) error {
	for some := range slices.Chunk(objects, importSize) {
		send := func(over importer) ([]models.ObjectsGetResponse, error) {
			return over.ObjectsBatcher().WithObjects(some...).WithConsistencyLevel(db.consistency).Do(ctx)
		}
		results, err := send(db.grpc.Batch())
		if err != nil && db.grpc != db.client && ctx.Err() == nil { // the host may be gone: HTTP knows the others
			results, err = send(db.client.Batch())
		}
		if err != nil {
			return db.explain(ctx, err)
		}
		for _, r := range results {
			if r.Result != nil && r.Result.Errors != nil && len(r.Result.Errors.Error) > 0 {
				return fmt.Errorf("the server Weaviate at %s refuses an object of %s: %s", db.address, r.Class, r.Result.Errors.Error[0].Message)
			}
		}
	}
	return nil
}

// deleteObjects deletes what has one of some values in a property, and counts it.
func (db *DB) deleteObjects(ctx context.Context, class, property string, values []string) (n int, err error) {
	for some := range slices.Chunk(values, 500) {
		for { // the server stops at mostObjects
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
			if r.Results.Matches < mostObjects {
				break
			}
		}
	}
	return n, nil
}

// languageMark begins the terms that name the language of a chunk.
const languageMark = "\x00"

// encodeTerm returns a term as the server stores it: without white space.
func encodeTerm(term string) string {
	return strings.NewReplacer("%", "%25", " ", "%20", languageMark, "%00").Replace(term)
}

// termsOf returns the terms of the chunks of a file, title and headings included, and those
// of the file. A title counts twice, as in the embedded index.
func termsOf(a text.Analyzer, title string, chunks []state.Chunk) (each []string, all string) {
	texts, whole, languages := make([]string, len(chunks)), "", make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = c.Text
	}
	polyglot, ok := a.(text.Polyglot)
	if ok {
		whole, languages = polyglot.Languages(texts)
	}
	appendTerms := func(out *strings.Builder, s, language string) {
		tokens := a.Analyze
		if ok {
			tokens = func(s string) []text.Token { return polyglot.AppendIn(nil, s, language) }
		}
		for _, t := range tokens(s) {
			out.WriteString(encodeTerm(t.Term))
			out.WriteByte(' ')
		}
	}
	var titled, file strings.Builder
	appendTerms(&titled, title, whole)
	for i, c := range chunks {
		var body, headings strings.Builder
		appendTerms(&body, c.Text, languages[i])
		appendTerms(&headings, strings.Join(c.Headings, "\n"), languages[i])
		file.WriteString(body.String())
		if l := languages[i]; l != "" && l != "en" && l != "vi" {
			headings.WriteString(encodeTerm(languageMark + l))
		}
		each = append(each, titled.String()+titled.String()+body.String()+headings.String())
	}
	return each, titled.String() + titled.String() + file.String()
}

// chunkData is what only package search reads of a chunk: where it lies in its file.
type chunkData struct {
	Start, End, StartLine, EndLine, Page int
	Lines, Breaks                        []int
	Kind                                 string
	Cut                                  state.Cut
	Headings                             []string
	Raw                                  []byte `json:",omitempty"` // a text that is not UTF-8
}

// chunkObject describes a chunk. Its id is made of all of it but the version.
func (db *DB) chunkObject(root, file string, e *search.Entry, i int, terms string) (*models.Object, error) {
	c := &e.Chunks[i]
	if c.ID == "" || c.Text == "" || c.Ordinal != i {
		return nil, fmt.Errorf("chunk %d has no id, no text or ordinal %d", i, c.Ordinal)
	}
	d := chunkData{c.Start, c.End, c.StartLine, c.EndLine, c.Page, c.Lines, c.Breaks, c.Kind, c.Cut, c.Headings, nil}
	readable := strings.ToValidUTF8(c.Text, "\uFFFD")
	if readable != c.Text {
		d.Raw = []byte(c.Text)
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	hash := cmp.Or(c.Hash, textHash(c.Text))
	return db.object("Chunk", id(file, c.ID, hash, e.File.Title, string(data)), map[string]any{
		"root": id(root), "file": file, "chunk": c.ID, "terms": terms, "ordinal": i, "hash": hash, "data": string(data),
		"source": e.File.Source, "title": e.File.Title, "headings": strings.Join(c.Headings, " › "), "text": readable,
	}), nil
}
