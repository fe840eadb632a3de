package chunk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

func TestChunkers(t *testing.T) {
	names := chunk.Chunkers()
	for _, want := range []string{"adaptive", "code", "html", "markdown", "recursive", "semantic"} { // C01
		if !slices.Contains(names, want) {
			t.Errorf("Chunkers() = %q lacks %s", names, want)
		}
		if err := (chunk.Options{Chunker: want}).Check(); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
	prints := map[string]string{}
	for _, name := range names {
		print := chunk.Options{Chunker: name}.Fingerprint()
		if other, ok := prints[print]; ok {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		prints[print] = name
	}
}

func TestChunkOptionsCheck(t *testing.T) {
	for name, o := range map[string]chunk.Options{
		"adaptive, code": {Chunker: "splitter"}, // names the others
		"take 50":        {Size: 100, Overlap: 51},
	} {
		err := o.Check()
		if name == "adaptive, code" {
			name = strings.Join(chunk.Chunkers(), ", ")
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v, want %s", o, err, name)
		}
	}
}

// TestChunkAdaptive reports what it chose (C10).
func TestChunkAdaptive(t *testing.T) {
	for source, want := range map[string]string{
		"a.md": "markdown", "a.txt": "text", "a.html": "html", "a.rst": "text", "a.go": "code", "a.py": "code", "a.yaml": "text",
	} {
		chunks := chunk.Cut(parse(t, source, "<p>A page of some words.</p>"), chunk.Options{})
		if len(chunks) != 1 || chunks[0].Cut.Chunker != want {
			t.Errorf("%s: %+v, want one chunk by %s", source, chunks, want)
		}
	}
}

// TestChunkRecursive looks at sizes and overlaps.
func TestChunkRecursive(t *testing.T) {
	doc := parse(t, "a.txt", strings.Repeat("This sentence has about ten tokens, no more. ", 400))
	chunks := chunk.Cut(doc, chunk.Options{Chunker: chunk.Recursive, Size: 100, Overlap: 30})
	for i, c := range chunks {
		if n := text.Estimate(c.Text); n > 100 || n < 70 && i < len(chunks)-1 {
			t.Errorf("chunk %d has %d tokens", i, n)
		}
		if !strings.HasPrefix(c.Text, "This sentence") {
			t.Errorf("chunk %d begins within a sentence: %.20q", i, c.Text)
		}
		if i > 0 {
			shared := doc.Text[c.Start:chunks[i-1].End]
			if n := text.Estimate(shared); n < 15 || n > 30 {
				t.Errorf("chunk %d repeats %d tokens", i, n)
			}
		}
	}
	for i, c := range chunk.Cut(doc, chunk.Options{Chunker: chunk.Recursive, Size: 100, Overlap: -1}) {
		if i > 0 && c.Start <= chunks[i-1].Start {
			t.Errorf("chunk %d begins at %d", i, c.Start)
		}
	}
}

// twoTopics is a text of two topics, eight sentences each.
const twoTopics = `A volcano is a mountain that opens to molten rock below. Molten rock rises and the volcano erupts with lava and ash. Lava flows down the mountain and cools to rock. Ash from the volcano falls on fields near the mountain. Scientists measure the rock and the heat of the lava. A volcano may sleep for years before lava rises again. The ash makes the fields below the mountain fertile. Every eruption of the volcano adds rock to the mountain. A violin is played with a bow on four strings. The bow is drawn over the strings to make a tone. A player tunes the strings of the violin before a concert. The tone of a violin depends on its wood and strings. In a concert the violin often plays the melody. The bow is rubbed with resin so that the strings sound. A violin maker carves the wood until the tone is right. The player holds the violin under the chin during the concert.`

// TestChunkSemantic splits exactly at the change of topic (C04), by words and by
// a model, and repeats two sentences for an overlap of 50 (C05).
func TestChunkSemantic(t *testing.T) {
	doc := parse(t, "a.txt", twoTopics)
	violin := strings.Index(twoTopics, "A violin is played")
	embed := func(_ context.Context, texts []string) (out [][]float32, _ error) {
		for i, s := range texts {
			if strings.Index(twoTopics, s) < violin {
				out = append(out, []float32{1, float32(i) / 20, 0})
			} else {
				out = append(out, []float32{0, float32(i) / 20, 1})
			}
		}
		return out, nil
	}
	o := chunk.Options{Chunker: chunk.Semantic, Overlap: -1}
	for name, model := range map[string]string{"words": "", "model": "m"} {
		o.Semantic.Model = model
		chunks, err := chunk.CutWith(t.Context(), doc, o, embed)
		if err != nil || len(chunks) != 2 || chunks[1].Start != violin || chunks[0].Cut.Sentences != 8 || chunks[1].Cut.Sentences != 8 {
			t.Errorf("by %s: %v %+v, want 8 and 8 sentences, the second from %d", name, err, chunks, violin)
		}
	}
	o.Overlap, o.Semantic.Model = 50, "m"
	chunks, err := chunk.CutWith(t.Context(), doc, o, embed)
	if want := strings.Index(twoTopics, "The ash makes"); err != nil || len(chunks) != 2 || chunks[1].Start != want {
		t.Errorf("with overlap 50: %v %+v, want the second from %d", err, chunks, want)
	}
	if _, err := chunk.CutWith(t.Context(), doc, o, nil); !errors.Is(err, chunk.ErrNoModel) || !strings.Contains(err.Error(), "EMBEDDING_MODEL") {
		t.Errorf("without a model: %v", err)
	}
}

// TestEveryChunkerOnData holds the rules of every chunker against every
// document there is.
func TestEveryChunkerOnData(t *testing.T) {
	root := golden.Public(t)
	begun := time.Now()
	docs, bytes := 0, 0
	for f, err := range folder.Files(t.Context(), root) {
		if err != nil {
			continue // other tests tell what is not read
		}
		doc, err := load.Load(t.Context(), f, load.Limits{MaxBytes: 4 << 20})
		if err != nil {
			continue
		}
		if docs++; testing.Short() && docs%20 != 0 {
			continue
		}
		bytes += len(doc.Text)
		for _, name := range chunk.Chunkers() {
			chunks := chunk.Cut(doc, chunk.Options{Chunker: name})
			if d := check(doc, chunks); d != "" {
				t.Errorf("%s by %s: %s", doc.Source, name, d)
			}
			for _, c := range chunks {
				if n := text.Estimate(c.Text); n > 640 {
					t.Errorf("%s:%d by %s: %d tokens", doc.Source, c.StartLine, name, n)
				}
			}
		}
	}
	t.Logf("%d documents, %d bytes, %d chunkers in %v", docs, bytes, len(chunk.Chunkers()), time.Since(begun))
}

// TestEveryChunkerHostile holds them against documents nobody wrote.
func TestEveryChunkerHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("hostile texts; nothing of it runs side by side")
	}
	for name, s := range map[string]string{
		"nothing":     " \n\t\n",
		"one line":    strings.Repeat("x", 1<<18),
		"words":       strings.Repeat("word ", 1<<13),
		"runes":       strings.Repeat("漢", 1<<13),
		"stops":       strings.Repeat(".", 1<<15),
		"short lines": strings.Repeat("a\n", 1<<14),
		"blank lines": strings.Repeat("a\n\n", 1<<13),
		"brackets":    strings.Repeat("{", 1<<15),
		"quotes":      strings.Repeat("\"'`", 1<<13),
		"comments":    strings.Repeat("/*", 1<<15),
		"functions":   strings.Repeat("func f() {\n", 1<<12),
		"classes":     strings.Repeat("class A:\n", 1<<12),
		"here":        strings.Repeat("a <<A <<-'B'\n", 1<<12),
		"dollars":     manyDollars(1 << 13),
		"routines":    strings.Repeat("CREATE FUNCTION a() AS b int;\n", 1<<12),
		"markup":      strings.Repeat("<?php ?>", 1<<13),
	} {
		if testing.Short() { // the race detector makes it ten times slower
			s = s[:len(s)/8]
		}
		t.Run(name, func(t *testing.T) {
			for _, source := range []string{"a.md", "a.txt", "a.go", "a.py", "a.ts", "a.rs", "a.rb", "a.php", "a.sh", "a.sql"} {
				doc := parse(t, source, s)
				for _, chunker := range chunk.Chunkers() {
					begun := time.Now()
					chunks := chunk.Cut(doc, chunk.Options{Chunker: chunker})
					if took := time.Since(begun); took > 30*time.Second {
						t.Errorf("%s by %s took %v", source, chunker, took)
					}
					if d := check(doc, chunks); d != "" {
						t.Fatalf("%s by %s: %.200s", source, chunker, d)
					}
				}
			}
		})
	}
}

// manyDollars opens many quotes of SQL, each with a word of its own.
func manyDollars(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "$a%d$ ", i)
	}
	return b.String()
}

// fuzzChunker is the fuzz target of one chunker.
func fuzzChunker(f *testing.F, chunker string, sources ...string) {
	f.Helper()
	for _, s := range []string{
		"---\ntitle: x\n---\nText\n\n# A\n\n- b\n  - c\n\n| d |\n|---|\n| e |\n", "A b. C d! 漢字。\r\n\r\ne",
		"package a\n\n// F is.\nfunc F() {\n\tx := `}`\n}\n\ntype T struct{}\n", "def f(a):\n    '''}'''\n\n@x\nclass C:\n    def g(self): pass\n",
		"export const f = (a) => { return /[}]/.test(`${a}`) }\n// c\nclass A { #b = 1; get c() { } }\n", "impl<'a> T<'a> {\n fn f() -> char { '}' }\n}\n",
		"class A\n  def b(c) = <<~E\n    end\n  E\n  def d\n    x if y\n  end\nend\n", "a ?><?php\nclass A { function b() { return <<<E\n}\nE; } }\n",
		"DELIMITER //\nCREATE PROCEDURE a() BEGIN SELECT 'b;'; END//\n", "CREATE FUNCTION a() AS $b$ ; $b$;\n-- c\nCREATE TABLE d (e int)\nGO\n",
		"<h1>A</h1><p>b</p><pre>c\n d</pre>", "#!/bin/sh\nf() {\n cat <<E\n}\nE\n}\n",
	} {
		f.Add([]byte(s), 20, 4, uint8(0))
		f.Add([]byte(s), 400, 40, uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, size, overlap int, source uint8) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD")) // FuzzParse sees to encodings; to guess at one takes longer than all else
		doc, err := load.Parse(t.Context(), sources[int(source)%len(sources)], data)
		if err != nil {
			return
		}
		o := chunk.Options{Chunker: chunker, Size: size, Overlap: overlap}
		chunks := chunk.Cut(doc, o)
		if d := check(doc, chunks); d != "" {
			t.Fatalf("%s: %q", d, data)
		}
		if again := chunk.Cut(doc, o); !reflect.DeepEqual(chunks, again) {
			t.Fatalf("second time differs: %s", cmp.Diff(chunks, again))
		}
	})
}

func FuzzChunkCode(f *testing.F) {
	fuzzChunker(f, chunk.Code, "a.go", "a.py", "a.ts", "a.rs", "a.java", "a.cpp", "a.cs", "a.kt", "a.swift", "a.rb", "a.php", "a.sh", "a.sql")
}

func FuzzChunkSemantic(f *testing.F) {
	fuzzChunker(f, chunk.Semantic, "a.md", "a.txt", "a.html")
}

func FuzzChunkRecursive(f *testing.F) {
	fuzzChunker(f, chunk.Recursive, "a.md", "a.txt", "a.html")
}

func FuzzChunkMarkdown(f *testing.F) {
	fuzzChunker(f, chunk.Markdown, "a.md", "a.txt", "a.html")
}

func FuzzChunkHTML(f *testing.F) { fuzzChunker(f, chunk.HTML, "a.html", "a.md") }

// BenchmarkChunkers cuts all pages of a site with each chunker.
func BenchmarkChunkers(b *testing.B) {
	docs := dockerPages(b)
	n := 0
	for _, d := range docs {
		n += len(d.Text)
	}
	for _, name := range chunk.Chunkers() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(n))
			var chunks []state.Chunk
			for b.Loop() {
				for _, d := range docs {
					chunks = chunk.Cut(d, chunk.Options{Chunker: name})
				}
			}
			_ = chunks
		})
	}
}
