package load_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/ingest/load"
)

// TestBudget reads files of 20 MB that are made to take memory. Each must stay
// below 64 MB and eight times its size, whether it is cut or refused.
func TestBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("files of 20 MB")
	}
	const size = 20 << 20
	fill := func(s string) []byte { return bytes.Repeat([]byte(s), size/len(s)) }
	for _, tt := range []struct {
		name, source string
		data         []byte
	}{
		{"short paragraphs", "a.md", fill("a\n\n")},
		{"bullets", "a.md", fill("- a\n")},
		{"headings", "a.md", fill("# a\n\n")},
		{"quotes", "a.md", fill("> > > a\n\n")},
		{"table", "a.md", append([]byte("|a|b|\n|-|-|\n"), fill("|a|b|\n")...)},
		{"ordinary paragraphs", "a.md", fill(strings.Repeat("Some words that a person wrote. ", 10) + "\n\n")},
		{"plain paragraphs", "a.txt", fill("a\n\n")},
		{"one plain line", "a.txt", fill("A b. ")},
		{"one plain paragraph", "a.txt", fill("Some words.\n")},
		{"book", "a.epub", book(t, fill("<p>a</p>\n"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peak := peakHeap(func() {
				doc, err := load.Parse(t.Context(), tt.source, tt.data)
				if err != nil {
					t.Log(err)
					return
				}
				chunks := chunk.Cut(doc, chunk.Options{})
				t.Log(len(chunks), "chunks", doc.Warnings)
				for _, c := range chunks {
					if c.Text != doc.Text[c.Start:c.End] {
						t.Fatalf("chunk %d is no slice of the text", c.Ordinal)
					}
				}
			})
			t.Log("peak", peak>>20, "MB")
			if limit := uint64(64<<20 + 8*size); peak > limit {
				t.Errorf("peak of %d MB, want at most %d", peak>>20, limit>>20)
			}
		})
	}
}

// peakHeap returns by how many bytes the live heap grew at most while f ran. It
// reads what each collection found alive: garbage that a busy machine has not
// collected yet does not count.
func peakHeap(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // collect often, see more
	live := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before, peak := live(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			now := live()
			peak = max(peak, now-min(before, now))
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak
}

// book is an EPUB of one chapter.
func book(t *testing.T, chapter []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range map[string]string{
		"META-INF/container.xml": `<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>`,
		"book.opf":               `<package><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>`,
		"c.xhtml":                fmt.Sprintf("<html><body>%s</body></html>", chapter),
	} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
