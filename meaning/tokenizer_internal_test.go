package meaning

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func newTokenizer(tb testing.TB) *tokenizer {
	tb.Helper()
	out, err := loadTokenizer(piecesFile)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestEncodeGivesTheIdsOfHuggingFace(t *testing.T) {
	data, err := os.ReadFile("testdata/tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text string
		IDs  []int32
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	tokenizer := newTokenizer(t)
	for _, c := range cases {
		if diff := cmp.Diff(c.IDs, tokenizer.encode(c.Text)); diff != "" {
			t.Errorf("encode(%q) (-want +got):\n%s", c.Text, diff)
		}
	}
}

// The reference values come from scripts/reader/inputs.py, which makes the sequences for the training too.
func TestSequencesAreThoseOfTheTraining(t *testing.T) {
	model := &Transformer{words: newTokenizer(t)}
	for _, c := range references(t) {
		var got []int32
		switch {
		case c.Mode == "search" && c.Text == "" || len(c.Title) > 100:
			continue // an empty text is an error here, and a title is not cut on its own
		case strings.HasPrefix(c.Name, "query"):
			got = model.sequence("query: "+c.Text, maxTokens)
		case c.Mode == "search":
			got = model.sequence("passage: "+c.Text, maxTokens)
		default:
			titled := c.Passage
			if c.Title != "" {
				titled = c.Title + ": " + c.Passage
			}
			question := model.sequence(c.Query, maxQuery+2)
			passage := model.sequence(titled, maxTokens-len(question))
			passage[0] = model.words.end
			got = slices.Concat(question, passage)
		}
		if diff := cmp.Diff(c.IDs, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Name, diff)
		}
	}
}

// In the vocabulary each rune of a piece is a piece too. Here "a" is none, so it competes as unknown with "ab".
func TestUnknownRuneCostsMoreThanTheRarestPieces(t *testing.T) {
	tokenizer := &tokenizer{
		labels:       []byte("\x00 abdbd"), // the root, " ", "a", "b", "d", "ab", "bd"
		first:        []uint32{1, 5, 5, 6, 7, 7, 7, 7},
		piece:        []int32{-1, 1, -1, 2, 3, 4, 5},
		score:        []float64{0, -1, -9, -9, -9, -2},
		unknownScore: -9 - unknownPenalty,
	}
	for text, want := range map[string][]int32{"abd": {1, 4, 3}, "aad": {1, 0, 3}, "a": {1, 0}} {
		if diff := cmp.Diff(want, tokenizer.encode(text)); diff != "" {
			t.Errorf("encode(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func TestEncodeReadsTheBeginningOfALongText(t *testing.T) {
	tokenizer := newTokenizer(t)
	long := strings.Repeat("é", maxText)
	want := tokenizer.encode(long[:maxText])
	if diff := cmp.Diff(want, tokenizer.encode(long)); diff != "" {
		t.Errorf("a long text (-want +got):\n%s", diff)
	}
	if got := normalize("x" + long); len(got) != 1+maxText-1 || !utf8.Valid(got) {
		t.Errorf("a rune lies across the limit: got %d bytes, valid %v", len(got), utf8.Valid(got))
	}
}

func TestLoadTokenizerRefusesOtherFiles(t *testing.T) {
	changed := func(change func(data []byte)) []byte {
		data := []byte(string(piecesFile))
		change(data)
		return data
	}
	const counts = piecesHeader
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":         {nil, "no vocabulary"},
		"other file":    {[]byte(strings.Repeat("x", 100)), "no vocabulary"},
		"cut":           {piecesFile[:len(piecesFile)-1], "bytes"},
		"longer":        {append(changed(func([]byte) {}), 0), "bytes"},
		"special token": {changed(func(data []byte) { data[19] = 0xff }), "special token"},
		"no children":   {changed(func(data []byte) { data[counts] = 0 }), "no parent"},
		"too many":      {changed(func(data []byte) { data[counts+1] = 255; data[counts] = 255 }), "past its end"},
		"node":          {changed(func(data []byte) { data[len(data)-8*80_000+3] = 0xff }), "has node"},
		"probability":   {changed(func(data []byte) { data[len(data)-1], data[len(data)-2] = 0x7f, 0x80 }), "probability"},
	} {
		if _, err := loadTokenizer(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

// texts returns the text of each piece, or "" for one that no text gives.
func (t *tokenizer) texts() []string {
	out := make([]string, len(t.score))
	ofNode := make([]string, len(t.labels))
	for node, text := range ofNode {
		for child := t.first[node]; child < t.first[node+1]; child++ {
			ofNode[child] = text + string(t.labels[child:child+1])
		}
		if id := t.piece[node]; id >= 0 {
			out[id] = text
		}
	}
	return out
}

func FuzzEncode(f *testing.F) {
	for _, text := range []string{"", "  a b ", "Żółw <s>", "缓存\u200b", "𓀀𓀁 x", "\xff\xfe", "½ ｶﾞ", "a\u0301"} {
		f.Add(text)
	}
	tokenizer := newTokenizer(f)
	texts := tokenizer.texts()
	f.Fuzz(func(t *testing.T, text string) {
		normal := string(normalize(text))
		var pattern strings.Builder
		pattern.WriteString("(?s)^")
		for _, id := range tokenizer.encode(text) {
			switch {
			case id == tokenizer.unknown:
				pattern.WriteString(".+")
			case texts[id] == "":
				t.Fatalf("encode(%q) has id %d, which no text has", text, id)
			default:
				pattern.WriteString(regexp.QuoteMeta(texts[id]))
			}
		}
		if len(text) < 500 && !regexp.MustCompile(pattern.String()+"$").MatchString(normal) {
			t.Errorf("the pieces of %q are %s", normal, pattern.String())
		}
	})
}

func BenchmarkLoadTokenizer(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newTokenizer(b)
	}
}

func BenchmarkEncode(b *testing.B) {
	tokenizer := newTokenizer(b)
	data, err := os.ReadFile("../README.md")
	if err != nil {
		b.Fatal(err)
	}
	text, tokens := string(data), 0
	for b.Loop() {
		tokens += len(tokenizer.encode(text))
	}
	b.ReportMetric(float64(tokens)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
}
