package remote_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/remote"
	"example.com/ragflow/search"
	"example.com/ragflow/search/searchtest"
	"example.com/ragflow/state"
)

// server is a store in memory without transactions, as many servers are. It fails if
// fault says so.
type server struct {
	mu       sync.Mutex
	roots    map[string]remote.Root
	files    map[string]remote.File
	chunks   map[string]remote.Chunk
	terms    map[string][]byte
	vectors  map[search.VectorSpec]map[string][]float32
	fault    func(call string) error // may also wait
	after    bool                    // the call is done before it fails
	late     []func()                // calls that seemed to fail, to be done later
	delaying bool
}

func newServer() *server {
	return &server{
		roots: map[string]remote.Root{}, files: map[string]remote.File{}, chunks: map[string]remote.Chunk{}, terms: map[string][]byte{},
		vectors: map[search.VectorSpec]map[string][]float32{},
	}
}

// do runs a call, or fails.
func (s *server) do(ctx context.Context, call string, f func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var err error
	if s.fault != nil {
		err = s.fault(call)
	}
	if err == nil || s.after {
		f()
	} else if s.delaying {
		s.late = append(s.late, f)
	}
	return err
}

func (*server) Prepare(context.Context) error { return nil }
func (*server) Close() error                  { return nil }
func (*server) Change(ctx context.Context, _ string, fn func(context.Context) error) error {
	return fn(ctx)
}

func (s *server) Roots(ctx context.Context) (out []remote.Root, err error) {
	err = s.do(ctx, "Roots", func() { out = slices.Collect(maps.Values(s.roots)) })
	return out, err
}

func (s *server) Files(ctx context.Context, _ []string, each func(remote.File) error) (err error) {
	var list []remote.File
	if err := s.do(ctx, "Files", func() { list = slices.Collect(maps.Values(s.files)) }); err != nil {
		return err
	}
	for _, f := range list {
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) Terms(ctx context.Context, root string) (out []byte, err error) {
	err = s.do(ctx, "Terms", func() { out = s.terms[root] })
	return out, err
}

func (*server) passing(f remote.Filter, c remote.Chunk) bool {
	in := func(list []string, v string) bool { return list == nil || slices.Contains(list, v) }
	return in(f.Roots, c.Root) && in(f.Files, c.File) && in(f.IDs, c.ID) && in(f.Publics, c.Public) && (!f.First || c.Ordinal == 0)
}

func (s *server) list(f remote.Filter) (out []remote.Chunk) {
	for _, c := range s.chunks {
		if s.passing(f, c) && len(out) < remote.MaxChunks {
			out = append(out, c)
		}
	}
	return out
}

func (s *server) Chunks(ctx context.Context, f remote.Filter, _ remote.Fields) (out []remote.Chunk, err error) {
	err = s.do(ctx, "Chunks", func() { out = s.list(f) })
	return out, err
}

func (s *server) EachChunk(ctx context.Context, roots []string, _ remote.Fields, each func(remote.Chunk) error) error {
	list, err := s.Chunks(ctx, remote.Filter{Roots: roots}, 0)
	for _, c := range list {
		if err == nil {
			err = each(c)
		}
	}
	return err
}

func (s *server) Words(ctx context.Context, q remote.Words) (out []remote.Chunk, err error) {
	bm25 := func(terms string) (score float64) {
		r, count, held := search.DefaultRanking(), map[string]float64{}, strings.Fields(terms)
		for _, t := range held {
			count[t]++
		}
		for t, weight := range q.Weights {
			idf := math.Log(1 + float64(q.Chunks)/(0.5+float64(q.DocFreq(t))))
			score += weight * idf * count[t] / (count[t] + r.K1*(1-r.B+r.B*float64(len(held))/max(1, q.Length)))
		}
		return score
	}
	err = s.do(ctx, "Words", func() {
		for _, c := range s.list(q.Filter) {
			if c.Score = bm25(c.Terms); c.Score > 0 {
				c.Score += q.Document * bm25(s.files[c.File].Terms)
				out = append(out, c)
			}
		}
	})
	slices.SortFunc(out, func(a, b remote.Chunk) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), q.Limit)], err
}

func (s *server) PutRoot(ctx context.Context, r remote.Root) error {
	return s.do(ctx, "PutRoot", func() { s.roots[remote.ID(r.Name)] = r })
}

func (s *server) PutFiles(ctx context.Context, files []remote.File) error {
	return s.do(ctx, "PutFiles", func() {
		for _, f := range files {
			s.files[f.ID] = f
		}
	})
}

func (s *server) NoteFile(ctx context.Context, id string, data []byte) error {
	return s.do(ctx, "NoteFile", func() {
		f := s.files[id]
		f.Data = data
		s.files[id] = f
	})
}

func (s *server) DeleteFiles(ctx context.Context, ids []string) error {
	return s.do(ctx, "DeleteFiles", func() {
		for _, id := range ids {
			delete(s.files, id)
		}
	})
}

func (s *server) PutChunks(ctx context.Context, chunks []remote.Chunk) error {
	return s.do(ctx, "PutChunks", func() {
		for _, c := range chunks {
			s.chunks[c.ID] = c
		}
	})
}

func (s *server) DeleteChunks(ctx context.Context, f remote.Filter) error {
	return s.do(ctx, "DeleteChunks", func() {
		for _, c := range s.list(f) {
			delete(s.chunks, c.ID)
			for _, v := range s.vectors {
				delete(v, c.ID)
			}
		}
	})
}

func (s *server) PutTerms(ctx context.Context, root string, terms []byte) error {
	return s.do(ctx, "PutTerms", func() { s.terms[root] = terms })
}

func (s *server) Embedders(ctx context.Context) (out []search.VectorSpec, err error) {
	err = s.do(ctx, "Embedders", func() { out = slices.Collect(maps.Keys(s.vectors)) })
	return out, err
}

func (s *server) CountVectors(ctx context.Context, e search.VectorSpec, roots []string) (n int, err error) {
	err = s.EachVector(ctx, e, roots, func(string) { n++ })
	return n, err
}

func (s *server) EachVector(ctx context.Context, e search.VectorSpec, roots []string, each func(string)) error {
	return s.do(ctx, "EachVector", func() {
		for id := range s.vectors[e] {
			if slices.Contains(roots, s.chunks[id].Root) {
				each(id)
			}
		}
	})
}

func (s *server) PutVectors(ctx context.Context, e search.VectorSpec, chunks []remote.Chunk, vectors [][]float32) error {
	return s.do(ctx, "PutVectors", func() {
		if s.vectors[e] == nil {
			s.vectors[e] = map[string][]float32{}
		}
		for i, c := range chunks {
			s.vectors[e][c.ID] = vectors[i]
		}
	})
}

func (s *server) DeleteVectors(ctx context.Context, e search.VectorSpec, roots []string, all bool) (n int, err error) {
	err = s.do(ctx, "DeleteVectors", func() {
		for id := range s.vectors[e] {
			if slices.Contains(roots, s.chunks[id].Root) {
				delete(s.vectors[e], id)
				n++
			}
		}
		if all {
			delete(s.vectors, e)
		}
	})
	return n, err
}

func (s *server) Near(ctx context.Context, e search.VectorSpec, f remote.Filter, vector []float32, most int) (out []remote.Chunk, err error) {
	err = s.do(ctx, "Near", func() {
		for _, c := range s.list(f) {
			v, ok := s.vectors[e][c.ID]
			if !ok {
				continue
			}
			c.Score = 0
			for i := range v {
				c.Score += float64(v[i]) * float64(vector[i])
			}
			out = append(out, c)
		}
	})
	slices.SortFunc(out, func(a, b remote.Chunk) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), most)], err
}

// open is a process that uses the server.
func open(t *testing.T, s *server) *remote.DB {
	t.Helper()
	db := remote.New(s)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestBackend runs the checks of every index on this one.
func TestBackend(t *testing.T) {
	searchtest.Test(t, func(t *testing.T) search.Backend {
		t.Helper()
		return open(t, newServer())
	})
}

const docs = "/docs"

func page(source string, texts ...string) search.Entry {
	e := search.Entry{File: search.File{Source: source, Title: source, Hash: strings.Join(texts, "|"), ModTime: time.Unix(1, 0)}}
	for i, text := range texts {
		e.Chunks = append(e.Chunks, state.Chunk{ID: fmt.Sprintf("%s#%d", source, i), Ordinal: i, Text: text, End: len(text)})
	}
	return e
}

// found returns the texts that a search of another process for basil finds.
func found(t *testing.T, s *server) (out []string) {
	t.Helper()
	view, err := open(t, s).Snapshot(t.Context(), docs)
	if errors.Is(err, search.ErrNotIndexed) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	hits, err := view.SearchWords(t.Context(), state.Query{Text: "basil", Weight: 1}, 100)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk
	}
	chunks, err := view.Chunks(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		out = append(out, c.Text)
	}
	slices.Sort(out)
	return out
}

var errServer = errors.New("no space left on device")

// failAt makes the n-th writing call fail, and all after it.
func (s *server) failAt(n int, after bool) (failed *bool) {
	failed, s.after = new(bool), after
	s.fault = func(call string) error {
		if n--; n < 0 {
			*failed = true
			return fmt.Errorf("%s: %w", call, errServer)
		}
		return nil
	}
	return failed
}

// TestFaultAtEachCall replaces one file and adds another one, on a server that fails from
// each of its calls on, before or after it did what it was asked. The error says why. Each
// file is found as it was or as it is to be; the next put mends it, and nothing is left over.
func TestFaultAtEachCall(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 0; ; n++ {
			s := newServer()
			if err := open(t, s).Put(t.Context(), docs, []search.Entry{page("a", "basil old one", "basil old two", "basil same")}); err != nil {
				t.Fatal(err)
			}
			entries := []search.Entry{page("a", "basil new one", "basil same"), page("b", "basil added")}
			db := open(t, s)
			failed := s.failAt(n, after)
			err := db.Put(t.Context(), docs, entries)
			s.fault = nil
			if !*failed {
				if err != nil || n < 5 {
					t.Errorf("without a fault, after %d calls: %v", n, err)
				}
				break
			}
			if !errors.Is(err, errServer) || !strings.Contains(err.Error(), docs) {
				t.Errorf("call %d: %v", n, err)
			}
			for _, text := range found(t, s) {
				if !strings.HasPrefix(text, "basil ") {
					t.Errorf("call %d: %q is found", n, text)
				}
			}
			files, err := open(t, s).Files(t.Context(), docs)
			if err != nil {
				t.Fatal(err)
			}
			if f, ok := files["b"]; ok && f.Error == "" && !slices.Contains(found(t, s), "basil added") {
				t.Errorf("call %d: b is known as complete, and its text is not found", n)
			}
			if err := db.Put(t.Context(), docs, entries); err != nil {
				t.Fatal(err)
			}
			if got, want := found(t, s), []string{"basil added", "basil new one", "basil same"}; !slices.Equal(got, want) {
				t.Errorf("call %d: %q is found in the end, want %q", n, got, want)
			}
			if len(s.chunks) != 3 || len(s.files) != 2 {
				t.Errorf("call %d: the server holds %d chunks and %d files, want 3 and 2", n, len(s.chunks), len(s.files))
			}
		}
	}
}

// TestLateWrite repeats a put that seemed to fail, before the server carries out what it was
// asked first: the file stays complete.
func TestLateWrite(t *testing.T) {
	for n := range 4 {
		s := newServer()
		db := open(t, s)
		s.delaying = true
		s.failAt(n, false)
		if err := db.Put(t.Context(), docs, []search.Entry{page("a", "basil")}); !errors.Is(err, errServer) {
			t.Fatalf("call %d: %v", n, err)
		}
		s.fault = nil
		if err := db.Put(t.Context(), docs, []search.Entry{page("a", "basil")}); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.late {
			f()
		}
		files, err := open(t, s).Files(t.Context(), docs)
		if got := found(t, s); err != nil || len(got) != 1 || files["a"].Error != "" {
			t.Errorf("call %d: %q is found, %+v, %v", n, got, files, err)
		}
		if err := db.Delete(t.Context(), docs, "a"); err != nil || len(s.chunks)+len(s.files) > 0 {
			t.Errorf("call %d: after the deletion: %d chunks, %d files, %v", n, len(s.chunks), len(s.files), err)
		}
	}
}

// TestSearchFaults asks a server that is down, and one that does not answer in time.
func TestSearchFaults(t *testing.T) {
	s := newServer()
	db := open(t, s)
	if err := db.Put(t.Context(), docs, []search.Entry{page("a", "basil")}); err != nil {
		t.Fatal(err)
	}
	view, err := db.Snapshot(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	s.failAt(0, false)
	if _, err := view.SearchWords(t.Context(), state.Query{Text: "basil", Weight: 1}, 5); !errors.Is(err, errServer) {
		t.Errorf("a search without a server: %v", err)
	}
	if _, err := view.Chunks(t.Context(), []string{"a#0"}); !errors.Is(err, errServer) {
		t.Errorf("passages without a server: %v", err)
	}
	if _, err := db.Snapshot(t.Context(), docs); !errors.Is(err, errServer) {
		t.Errorf("a snapshot without a server: %v", err)
	}
	s.fault = nil
	slow := errors.New("the question was given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(slow)
	if _, err := view.SearchWords(ctx, state.Query{Text: "basil", Weight: 1}, 5); !errors.Is(err, slow) {
		t.Errorf("a search that was given up: %v", err)
	}
	if got := found(t, s); len(got) != 1 {
		t.Errorf("when the server is back, %q is found", got)
	}
}

// TestEmbedFaults embeds on a server that fails: what was saved is not embedded again.
func TestEmbedFaults(t *testing.T) {
	s := newServer()
	db := open(t, s)
	var texts []string
	for i := range 20 {
		texts = append(texts, fmt.Sprint("basil ", i))
	}
	if err := db.Put(t.Context(), docs, []search.Entry{page("a", texts...)}); err != nil {
		t.Fatal(err)
	}
	saved := 0
	s.fault = func(call string) error {
		if call == "PutVectors" {
			if saved++; saved > 2 {
				return errServer
			}
		}
		return nil
	}
	embedded := 0
	o := search.EmbedOptions{Batch: 4, Workers: 1, Embed: func(_ context.Context, texts []string) ([][]float32, error) {
		embedded += len(texts)
		return slices.Repeat([][]float32{{1, 0}}, len(texts)), nil
	}}
	spec := search.VectorSpec{Model: "m"}
	if _, err := db.Embed(t.Context(), spec, []string{docs}, o); !errors.Is(err, errServer) {
		t.Errorf("a server that fails: %v", err)
	}
	s.fault, embedded = nil, 0
	if report, err := open(t, s).Embed(t.Context(), spec, []string{docs}, o); err != nil || embedded != 12 || report.Embedded != 12 {
		t.Errorf("%d of the other 12 are embedded, %+v, %v", embedded, report, err)
	}
	o.Embed = func(_ context.Context, texts []string) ([][]float32, error) {
		return slices.Repeat([][]float32{{1, 0, 0}}, len(texts)), nil
	}
	if err := db.Put(t.Context(), docs, []search.Entry{page("b", "thyme")}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Embed(t.Context(), spec, []string{docs}, o); err == nil {
		t.Error("a vector of another length is accepted")
	} else if _, ok := errors.AsType[*search.DimensionError](err); !ok {
		t.Errorf("a vector of another length: %v", err)
	}
}

// TestUnionWithEmbedded: an index on a server and an embedded one are searched together; the same
// chunk in both has two ids, which both can be read, and filters apply to both.
func TestUnionWithEmbedded(t *testing.T) {
	t.Parallel()
	entry := func(source, text string) search.Entry {
		return search.Entry{File: search.File{Source: source, Title: source}, Chunks: []state.Chunk{{ID: source + "#0", Text: text, End: len(text)}}}
	}
	server, local := open(t, newServer()), embedded(t)
	for db, root := range map[search.Backend]string{server: "/server", local: "/local"} {
		if err := db.Put(t.Context(), root, []search.Entry{entry("same.md", "mint"), entry(root[1:]+".md", "mint tea")}); err != nil {
			t.Fatal(err)
		}
	}
	snapshots := map[string]search.Snapshot{}
	for root, db := range map[string]search.Backend{"/server": server, "/local": local} {
		s, err := db.Snapshot(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		snapshots[root] = s
	}
	s := search.Union(snapshots["/local"], snapshots["/server"])
	find := func(s search.Snapshot) (out []string) {
		hits, err := s.SearchWords(t.Context(), state.Query{Text: "mint", Weight: 1}, 9)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			out = append(out, h.Chunk)
		}
		return out
	}
	want := []string{"same.md#0", "same.md#0@" + search.RootMark("/server"), "local.md#0", "server.md#0"}
	if got := find(s); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	chunks, err := s.Chunks(t.Context(), want)
	if err != nil || len(chunks) != 4 || chunks[0].Root != "/local" || chunks[1].Root != "/server" {
		t.Errorf("chunks %+v, %v", chunks, err)
	}
	var f state.Filter
	f.AddPaths("same*")
	narrowed, err := search.Narrow(t.Context(), s, f)
	if err != nil {
		t.Fatal(err)
	}
	if got := find(narrowed); !slices.Equal(got, want[:2]) {
		t.Errorf("narrowed: %q, want %q", got, want[:2])
	}
}

// embedded returns an empty embedded index.
func embedded(t *testing.T) search.Backend {
	t.Helper()
	db, err := index.Open(t.Context(), "", index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
