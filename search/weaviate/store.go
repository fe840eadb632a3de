package weaviate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/weaviate/weaviate/entities/models"

	"example.com/ragflow/internal/remote"
	"example.com/ragflow/search"
)

var (
	_ remote.Store       = (*store)(nil)
	_ remote.HybridStore = (*store)(nil)
)

// Change implements remote.Store. The server has no transactions.
func (*store) Change(ctx context.Context, _ string, fn func(ctx context.Context) error) error {
	return fn(ctx)
}

func (db *store) Roots(ctx context.Context) (out []remote.Root, err error) {
	if exists, err := db.exists(ctx); !exists || err != nil {
		return nil, err
	}
	list, err := db.get(ctx, "Root", "", "root generation chunking embedder")
	for _, o := range list {
		out = append(out, remote.Root{Name: o.text("root"), Generation: o.whole("generation"), Chunking: o.text("chunking"), Embedder: o.text("embedder")})
	}
	return out, err
}

// Files reads the files of all folders, because the server cannot filter while it iterates over
// a class.
func (db *store) Files(ctx context.Context, _ []string, each func(remote.File) error) error {
	return db.all(ctx, "File", "root source data version chunks", func(o object) error {
		return each(remote.File{
			ID: o.id(), Root: o.text("root"), Source: o.text("source"), Data: []byte(o.text("data")), Version: o.whole("version"), Chunks: int(o.whole("chunks")),
		})
	})
}

func (db *store) Terms(ctx context.Context, root string) ([]byte, error) {
	list, err := db.get(ctx, "Terms", is("id", root), "counts")
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return []byte(list[0].text("counts")), nil
}

// properties returns the properties of a chunk to ask for.
func properties(with remote.Fields) string {
	out := "root file chunk version ordinal "
	for group, names := range map[remote.Fields]string{remote.WithText: "source title headings text hash ", remote.WithTerms: "terms ", remote.WithData: "data "} {
		if with&group != 0 {
			out += names
		}
	}
	return out
}

func asChunk(o object, score float64) remote.Chunk {
	return remote.Chunk{
		ID: o.id(), Root: o.text("root"), File: o.text("file"), Public: o.text("chunk"), Version: o.whole("version"), Ordinal: int(o.whole("ordinal")),
		Source: o.text("source"), Title: o.text("title"), Headings: o.text("headings"), Text: o.text("text"), Hash: o.text("hash"),
		Terms: o.text("terms"), Data: []byte(o.text("data")), Score: score,
	}
}

// where returns the filter of a class; file is its property for files.
func where(f remote.Filter, file string) string {
	var out []string
	for i, list := range [][]string{f.Roots, f.Files, f.Publics, f.IDs} {
		if list != nil {
			out = append(out, is([]string{"root", file, "chunk", "id"}[i], list...))
		}
	}
	if f.First {
		out = append(out, `{path:["ordinal"] operator:Equal valueNumber:0}`)
	}
	return and(out...)
}

func (db *store) Chunks(ctx context.Context, f remote.Filter, with remote.Fields) (out []remote.Chunk, err error) {
	list, err := db.get(ctx, "Chunk", where(f, "file"), properties(with)+"_additional{id}")
	for _, o := range list {
		out = append(out, asChunk(o, 0))
	}
	return out, err
}

func (db *store) EachChunk(ctx context.Context, _ []string, with remote.Fields, each func(remote.Chunk) error) error {
	return db.all(ctx, "Chunk", properties(with), func(o object) error { return each(asChunk(o, 0)) })
}

// weightSteps is the number of repetitions of a term of weight 1 in a query: the server
// multiplies its IDF by that.
const weightSteps = 10

// bm25 returns the part of a query that ranks by words.
func bm25(weights map[string]float64) string {
	return "bm25:{query:" + weighted(weights) + ` properties:["terms"]}`
}

// weighted returns the text of a query, which repeats terms by their weights.
func weighted(weights map[string]float64) string {
	var query []string
	for term, w := range weights {
		for range min(100, max(1, int(math.Round(w*weightSteps)))) {
			query = append(query, term)
		}
	}
	slices.Sort(query)
	return quote(strings.Join(query, " "))
}

// Words ranks passages and files separately, and adds the scores of files to several times as
// many candidates as are wanted.
func (db *store) Words(ctx context.Context, q remote.Words) (out []remote.Chunk, err error) {
	n, rank := min(4*q.Limit+10, remote.MaxChunks), bm25(q.Weights)
	query := "Get{" + db.fields("Chunk", n, where(q.Filter, "file"), rank, properties(q.With)+"_additional{id score}")
	if q.Document > 0 {
		ofFiles := remote.Filter{Roots: q.Filter.Roots, Files: q.Filter.Files}
		query += db.fields("File", n, where(ofFiles, "id"), rank, "_additional{id score}")
	}
	answer, err := db.graphql(ctx, query+"}")
	if err != nil {
		return nil, err
	}
	files := map[string]float64{}
	for _, o := range db.objects(answer, "File") {
		files[o.id()] = o.additional("score").number("score")
	}
	scale := (search.DefaultRanking().K1 + 1) / weightSteps
	for _, o := range db.objects(answer, "Chunk") {
		out = append(out, asChunk(o, scale*(o.additional("score").number("score")+q.Document*files[o.text("file")])))
	}
	return out, nil
}

func (db *store) PutRoot(ctx context.Context, r remote.Root) error {
	return db.importObjects(ctx, []*models.Object{db.object("Root", remote.ID(r.Name), map[string]any{
		"root": r.Name, "generation": r.Generation, "chunking": r.Chunking, "embedder": r.Embedder,
	})})
}

func (db *store) PutTerms(ctx context.Context, root string, terms []byte) error {
	if err := db.importObjects(ctx, []*models.Object{db.object("Terms", root, map[string]any{"counts": string(terms)})}); err != nil {
		return err
	}
	return db.settle(ctx)
}

func (db *store) PutFiles(ctx context.Context, files []remote.File) error {
	objects := make([]*models.Object, len(files))
	for i, f := range files {
		objects[i] = db.object("File", f.ID, map[string]any{
			"root": f.Root, "source": f.Source, "data": string(f.Data), "version": f.Version, "chunks": f.Chunks, "terms": f.Terms,
		})
	}
	return db.importObjects(ctx, objects)
}

func (db *store) NoteFile(ctx context.Context, id string, data []byte) error {
	return db.explain(ctx, db.client.Data().Updater().WithMerge().WithClassName(db.prefix+"File").WithID(id).
		WithProperties(map[string]any{"data": string(data)}).WithConsistencyLevel(db.consistency).Do(ctx))
}

func (db *store) DeleteFiles(ctx context.Context, ids []string) error {
	_, err := db.deleteObjects(ctx, "File", ids, "id")
	return err
}

func (db *store) PutChunks(ctx context.Context, chunks []remote.Chunk) error {
	objects := make([]*models.Object, len(chunks))
	for i, c := range chunks {
		objects[i] = db.object("Chunk", c.ID, map[string]any{
			"root": c.Root, "file": c.File, "chunk": c.Public, "version": c.Version, "ordinal": c.Ordinal,
			"source": c.Source, "title": c.Title, "headings": c.Headings, "text": c.Text, "hash": c.Hash, "terms": c.Terms, "data": string(c.Data),
		})
	}
	return db.importObjects(ctx, objects)
}

// DeleteChunks accepts a filter of files or of ids.
func (db *store) DeleteChunks(ctx context.Context, f remote.Filter) error {
	property, values := "file", f.Files
	if f.IDs != nil {
		property, values = "id", f.IDs
	}
	vectors, err := db.vectorClasses(ctx)
	classes := slices.AppendSeq([]string{"Chunk"}, maps.Keys(vectors))
	for _, class := range slices.Backward(classes) {
		if err == nil {
			_, err = db.deleteObjects(ctx, class, values, property)
		}
	}
	return err
}

// vectorClass returns the class of the vectors of an embedder with a known dimension, with or
// without words.
func vectorClass(e search.VectorSpec, words bool) string {
	name := "Vectors" + strings.ReplaceAll(remote.ID(encodeSpec(e)), "-", "")[:12]
	if words {
		name += "Words"
	}
	return name
}

func encodeSpec(e search.VectorSpec) string {
	data, _ := json.Marshal(e) // texts and numbers have no error
	return string(data)
}

func (db *store) Embedders(ctx context.Context) (out []search.VectorSpec, err error) {
	classes, err := db.vectorClasses(ctx)
	for class, e := range classes {
		if class == vectorClass(e, db.hybrid) {
			out = append(out, e)
		}
	}
	return out, err
}

// vectorClasses returns the classes of vectors, with and without words.
func (db *store) vectorClasses(ctx context.Context) (map[string]search.VectorSpec, error) {
	schema, err := db.client.Schema().Getter().Do(ctx)
	if err != nil {
		return nil, db.explain(ctx, err)
	}
	out := map[string]search.VectorSpec{}
	for _, c := range schema.Classes {
		var e search.VectorSpec
		class := strings.TrimPrefix(c.Class, db.prefix)
		if json.Unmarshal([]byte(c.Description), &e) == nil && (class == vectorClass(e, false) || class == vectorClass(e, true)) {
			out[class] = e
		}
	}
	return out, nil
}

func (db *store) CountVectors(ctx context.Context, e search.VectorSpec, roots []string) (int, error) {
	made, err := db.Embedders(ctx)
	if err != nil || !slices.Contains(made, e) {
		return 0, err
	}
	return db.count(ctx, db.prefix+vectorClass(e, db.hybrid), "(where:"+is("root", roots...)+")")
}

// count returns the number of objects of a class that pass a filter.
func (db *store) count(ctx context.Context, class, where string) (int, error) {
	answer, err := db.graphql(ctx, fmt.Sprintf("Aggregate{%s%s{meta{count}}}", class, where))
	list, _ := answer[class].([]any)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	first, _ := list[0].(map[string]any)
	meta, _ := first["meta"].(map[string]any)
	return int(object(meta).whole("count")), nil
}

func (db *store) EachVector(ctx context.Context, e search.VectorSpec, _ []string, each func(id string)) error {
	return db.all(ctx, vectorClass(e, db.hybrid), "", func(o object) error { each(o.id()); return nil })
}

func (db *store) PutVectors(ctx context.Context, e search.VectorSpec, chunks []remote.Chunk, vectors [][]float32) error {
	name := vectorClass(e, db.hybrid)
	texts := map[string]string{"root": exact, "file": exact, "chunk": exact}
	if db.hybrid {
		texts["terms"] = terms
	}
	class := db.class(name, encodeSpec(e), texts, "version", "ordinal")
	class.VectorIndexType, class.VectorIndexConfig = "hnsw", map[string]any{"distance": "cosine"}
	if _, made := db.made.Load(name); !made {
		if err := db.create(ctx, class); err != nil {
			return err
		}
		db.made.Store(name, true)
	}
	objects := make([]*models.Object, len(chunks))
	for i, c := range chunks {
		properties := map[string]any{"root": c.Root, "file": c.File, "chunk": c.Public, "version": c.Version, "ordinal": c.Ordinal}
		if db.hybrid {
			properties["terms"] = c.Terms
		}
		objects[i] = db.object(name, c.ID, properties)
		objects[i].Vector = vectors[i]
	}
	return db.importObjects(ctx, objects)
}

func (db *store) DeleteVectors(ctx context.Context, e search.VectorSpec, roots []string, all bool) (n int, err error) {
	n, err = db.deleteObjects(ctx, vectorClass(e, db.hybrid), roots, "root")
	if err == nil && all {
		db.made.Delete(vectorClass(e, db.hybrid))
		err = db.explain(ctx, db.client.Schema().ClassDeleter().WithClassName(db.prefix+vectorClass(e, db.hybrid)).Do(ctx))
	}
	return n, err
}

func (db *store) Near(ctx context.Context, e search.VectorSpec, f remote.Filter, vector []float32, limit int) (out []remote.Chunk, err error) {
	numbers, err := json.Marshal(vector)
	if err != nil {
		return nil, err
	}
	class := vectorClass(e, db.hybrid)
	answer, err := db.graphql(ctx, "Get{"+db.fields(class, limit, where(f, "file"), "nearVector:{vector:"+string(numbers)+"}", properties(0)+"_additional{id distance}")+"}")
	for _, o := range db.objects(answer, class) {
		out = append(out, asChunk(o, min(1, max(-1, 1-o.additional("distance").number("distance")))))
	}
	return out, err
}

func (db *store) RanksHybrid() bool { return db.hybrid }

// Hybrid uses the server's own hybrid search, with equal weights for words and vectors.
func (db *store) Hybrid(ctx context.Context, e search.VectorSpec, w remote.Words, vector []float32) (out []remote.Chunk, err error) {
	numbers, err := json.Marshal(vector)
	if err != nil {
		return nil, err
	}
	class := vectorClass(e, db.hybrid)
	rank := "hybrid:{query:" + weighted(w.Weights) + ` properties:["terms"] alpha:0.5 vector:` + string(numbers) + "}"
	answer, err := db.graphql(ctx, "Get{"+db.fields(class, w.Limit, where(w.Filter, "file"), rank, properties(0)+"_additional{id score}")+"}")
	for _, o := range db.objects(answer, class) {
		out = append(out, asChunk(o, o.additional("score").number("score")))
	}
	return out, err
}
