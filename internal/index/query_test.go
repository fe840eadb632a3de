package index_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// library is a small collection with metadata.
func library(t *testing.T) *index.Searcher {
	t.Helper()
	db := open(t, "", index.Options{})
	add := func(source, title, text string, meta map[string]string) {
		e := file(source, title, text)
		e.File.Meta = meta
		put(t, db, "/home/ann/docs", e)
	}
	add("guide/volumes.md", "Volumes", "A named volume keeps data when the container is removed. Back up the volume often.",
		map[string]string{"category": "guide", "tags": "storage, backup", "version": "2", "date": "2024-05-01"})
	add("guide/networks.md", "Networks", "A bridge network connects containers. Data moves between them.",
		map[string]string{"category": "guide", "tags": "network", "version": "10", "date": "2023-01-15", "draft": "true"})
	add("reference/cli.md", "Command line", "docker volume create makes a volume. The data is kept by a driver.",
		map[string]string{"Category": "Reference", "version": "1.10.2"})
	add("notes.txt", "", "Data about volume prices; named and shamed. The volume is named data.", nil)
	return searcher(t, db, "/home/ann/docs")
}

func sources(t *testing.T, s *index.Searcher, q state.Query) []string {
	t.Helper()
	hits, err := s.Search(t.Context(), q, 10)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, h := range hits {
		source, _, _ := strings.Cut(h.Chunk, "#")
		out = append(out, source)
	}
	slices.Sort(out)
	return out
}

// TestFilter is T03 and R05: must is and, should is or, must_not is not; nothing
// else is ever found.
func TestFilter(t *testing.T) {
	const volumes, networks, cli, notes = "guide/volumes.md", "guide/networks.md", "reference/cli.md", "notes.txt"
	tests := []struct {
		name                string
		must, should, paths []string
		want                []string
	}{
		{"none", nil, nil, nil, []string{networks, volumes, notes, cli}},
		{"equals", []string{"category=guide"}, nil, nil, []string{networks, volumes}},
		{"letters of any case", []string{"CATEGORY = GUIDE"}, nil, nil, []string{networks, volumes}},
		{"one of", []string{"category=reference,howto"}, nil, nil, []string{cli}},
		{"not", []string{"category!=guide"}, nil, nil, []string{notes, cli}},
		{"part of a list", []string{"tags=backup"}, nil, nil, []string{volumes}},
		{"whole list", []string{`tags="storage, backup"`}, nil, nil, []string{volumes}},
		{"number", []string{"version=2.0"}, nil, nil, []string{volumes}},
		{"at least", []string{"version>=2"}, nil, nil, []string{networks, volumes}},
		{"version", []string{"version<1.11.0"}, nil, nil, []string{cli}},
		{"date", []string{"date>=2024-01-01"}, nil, nil, []string{volumes}},
		{"year", []string{"date<2024"}, nil, nil, []string{networks}},
		{"range", []string{"version>1", "version<5"}, nil, nil, []string{volumes, cli}},
		{"exists", []string{"draft=*"}, nil, nil, []string{networks}},
		{"does not exist", []string{"draft!=*", "category=guide"}, nil, nil, []string{volumes}},
		{"should", nil, []string{"draft=true", "category=reference"}, nil, []string{networks, cli}},
		{"must and should", []string{"category=guide"}, []string{"tags=network", "version=1"}, nil, []string{networks}},
		{"extension", []string{"extension=txt"}, nil, nil, []string{notes}},
		{"glob of a value", []string{"title~*works"}, nil, nil, []string{networks}},
		{"path", nil, nil, []string{"guide/*.md"}, []string{networks, volumes}},
		{"path from the folder", nil, nil, []string{"docs/**/*.md"}, []string{networks, volumes, cli}},
		{"absolute path", nil, nil, []string{"/home/ann/**/cli.md"}, []string{cli}},
		{"name", nil, nil, []string{"cli.*", "{notes,other}.txt"}, []string{notes, cli}},
		{"nothing passes", []string{"category=guide", "category=reference"}, nil, nil, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var f state.Filter
			for _, c := range tt.must {
				if err := f.Add(c); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range tt.should {
				if err := f.AddAny(c); err != nil {
					t.Fatal(err)
				}
			}
			f.AddPaths(tt.paths...)
			s := narrowed(t, library(t), f)
			got := sources(t, s, state.Query{Text: "volume data network containers"})
			slices.Sort(tt.want)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			check(t, "passing", s.Passing(), len(tt.want))
		})
	}
}

// TestFilterKeepsScores: a filter takes hits away and changes no score.
func TestFilterKeepsScores(t *testing.T) {
	all := library(t)
	q := state.Query{Text: "named volume data"}
	whole, err := all.Search(t.Context(), q, 10)
	if err != nil {
		t.Fatal(err)
	}
	var f state.Filter
	f.AddPaths("*.txt")
	part, err := narrowed(t, all, f).Search(t.Context(), q, 10)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(whole, func(h state.Hit) bool { return h.Chunk == "notes.txt#0" })
	if i < 0 || len(part) != 1 {
		t.Fatalf("%d hits, %d of them filtered", len(whole), len(part))
	}
	check(t, "score", part[0].Score, whole[i].Score)
}

func TestUnknownKey(t *testing.T) {
	var f state.Filter
	if err := f.Add("categry=guide"); err != nil {
		t.Fatal(err)
	}
	_, err := search.Narrow(t.Context(), library(t), f)
	unknown, ok := errors.AsType[*search.UnknownKeyError](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	check(t, "known", unknown.Known, []string{"category", "date", "draft", "extension", "source", "tags", "title", "version"})
	check(t, "message", err.Error(), `no document has the key "categry"; there are category, date, draft, extension, source, tags, title, version`)
}

func TestBrokenGlob(t *testing.T) {
	for _, glob := range []string{"a[b", "{a,b"} {
		var f state.Filter
		f.AddPaths(glob)
		if _, err := search.Narrow(t.Context(), library(t), f); err == nil {
			t.Errorf("%q passes as a glob", glob)
		}
	}
}

func TestPhrases(t *testing.T) {
	tests := []struct {
		query string
		want  []string
	}{
		{`"named volume"`, []string{"guide/volumes.md"}},
		{`"Named, volume"`, []string{"guide/volumes.md"}},
		{`"volume is named"`, []string{"notes.txt"}},
		{`"command line" volume`, []string{"reference/cli.md"}},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			e, err := search.New(t.Context(), library(t), search.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found, err := e.Search(t.Context(), search.ParseQuery(tt.query), 10)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, h := range found.Hits {
				source, _, _ := strings.Cut(h.Chunk, "#")
				got = append(got, source)
			}
			slices.Sort(got)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSnippet(t *testing.T) {
	s := library(t)
	filler := strings.Repeat("Nothing of interest stands here at all. ", 20)
	tests := []struct{ name, passage, query, want string }{
		{"in the middle", filler + "A named volume keeps the data of a container. " + filler, "volume data", "A named [volume] keeps the [data] of a container."},
		{"rarest words", "data data data. " + filler + "The driver moves data.", "driver data", "The [driver] moves [data]."},
		{"none", "Short text.", "volume", "Short text."},
		{"stems", "Volumes, volumes!", "volume", "[Volumes], [volumes]!"},
		{"a long run", strings.Repeat("x", 1000), "volume", strings.Repeat("x", 190)},
		{"empty", "", "volume", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := s.Snippets(state.Query{Text: tt.query})(tt.passage)
			at := got.Start
			var b strings.Builder
			for _, m := range got.Marks {
				fmt.Fprintf(&b, "%s[%s]", tt.passage[at:m.Start], tt.passage[m.Start:m.End])
				at = m.End
			}
			marked := b.String() + tt.passage[at:got.End]
			if !strings.Contains(marked, tt.want) || len(strings.Fields(marked)) > 34 {
				t.Errorf("%q, want %q in it", marked, tt.want)
			}
		})
	}
}

// narrowed is what s finds of the documents that pass a filter.
func narrowed(tb testing.TB, s *index.Searcher, f state.Filter) *index.Searcher {
	tb.Helper()
	n, err := search.Narrow(tb.Context(), s, f)
	if err != nil {
		tb.Fatal(err)
	}
	return n.(*index.Searcher) //nolint:forcetypeassert // it is a test
}

// TestRepeatedWords: a word that a long query repeats counts as often as it stands there, and
// once in a short one.
func TestRepeatedWords(t *testing.T) {
	db := open(t, "", index.Options{})
	filler := strings.Repeat("letter ", 3)
	put(t, db, "/docs", file("often.md", "", "volume "+filler), file("once.md", "", "network "+filler), file("other.md", "", "port"))
	s := searcher(t, db, "/docs")
	var others strings.Builder
	for i := range 70 {
		fmt.Fprintf(&others, " word%d", i)
	}
	for query, times := range map[string]float64{"volume volume volume network": 1, "volume volume volume network" + others.String(): 3} {
		hits, err := s.Search(t.Context(), state.Query{Text: query}, 10)
		if err != nil || len(hits) != 2 {
			t.Fatalf("%d hits, %v", len(hits), err)
		}
		score := map[string]float64{hits[0].Chunk: hits[0].Score, hits[1].Chunk: hits[1].Score}
		if got := score["often.md#0"] / score["once.md#0"]; math.Abs(got-times) > 1e-9 {
			t.Errorf("%.30s…: the repeated word counts %.4f times, want %v", query, got, times)
		}
	}
}

// TestLongQueryTitle: in a query of 30 words and more a word of the title counts as one of the
// text.
func TestLongQueryTitle(t *testing.T) {
	found := func(title float64, query string) []state.Hit {
		r := search.DefaultRanking()
		r.Title = title
		db := open(t, "", index.Options{Ranking: &r})
		put(t, db, "/docs",
			file("a", "Volumes", "they keep data when a container is removed"),
			file("b", "Networks", "volumes are for data and networks are for containers"),
		)
		hits, err := searcher(t, db, "/docs").Search(t.Context(), state.Query{Text: query}, 10)
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	short := "do volumes keep data"
	long := short + strings.Repeat(" of the", 13)
	if diff := cmp.Diff(found(1, long), found(2, long)); diff != "" {
		t.Errorf("30 words, title weight 1 and 2 (-1 +2):\n%s", diff)
	}
	for _, query := range []string{short, strings.TrimSuffix(long, " the")} {
		if cmp.Equal(found(1, query), found(2, query)) {
			t.Errorf("%q: the title has no weight of its own", query)
		}
	}
	if cmp.Equal(found(0, long), found(1, long)) {
		t.Error("30 words: the title does not count")
	}
}
