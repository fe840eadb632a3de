package eval_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/internal/golden"
)

// paragraph is one of a set of questions and answers.
type paragraph struct {
	ID    string `json:"_id"`
	Title string `json:"title"` // of its article
	Text  string `json:"text"`
}

// articleOf returns the common part of the ids of an article's paragraphs: a00 of a00p3, oil_crisis of
// oil_crisis#0.
func articleOf(id string) string {
	if article, _, ok := strings.Cut(id, "#"); ok {
		return article
	}
	if i := strings.LastIndexByte(id, 'p'); i > 0 {
		return id[:i]
	}
	return id
}

// parallelQuestion is a question that one paragraph answers.
type parallelQuestion struct {
	ID        string
	Text      string
	Paragraph string   // id of the paragraph with the answer
	Answers   []string // as written in the paragraph
}

// half returns the half of a set that an article belongs to, 0 or 1, by a hash of its id: constants are tuned
// on half 0 and reported on half 1. Both languages of a parallel set put an article into the same half.
func half(article string) int {
	h := fnv.New32a()
	h.Write([]byte(article))
	return int(h.Sum32() >> 7 & 1)
}

// xquad reads the parallel set XQuAD in a language, "en" or "vi": 240 paragraphs of 48 articles and 1,190
// questions, with the same ids in both. It skips the test if the set is missing.
func xquad(tb testing.TB, lang string) ([]paragraph, []parallelQuestion) {
	tb.Helper()
	return questionSet(tb, filepath.Join("vi", "xquad"), "corpus."+lang+".jsonl.gz", "queries."+lang+".jsonl.gz", "qrels.tsv")
}

// questionSet reads a set of paragraphs, questions and relevance judgements, gzipped if the file names say
// so. Questions without a judgement are left out.
func questionSet(tb testing.TB, folder, corpus, queries, qrels string) ([]paragraph, []parallelQuestion) {
	tb.Helper()
	folder = golden.Public(tb, folder)
	var paragraphs []paragraph
	lines(tb, filepath.Join(folder, corpus), func(line []byte) error {
		var p paragraph
		err := json.Unmarshal(line, &p)
		paragraphs = append(paragraphs, p)
		return err
	})
	relevant := map[string]string{}
	lines(tb, filepath.Join(folder, qrels), func(line []byte) error {
		fields := strings.Split(string(line), "\t")
		if len(fields) != 3 {
			return fmt.Errorf("%d columns, want 3", len(fields))
		}
		if _, ok := relevant[fields[0]]; !ok {
			relevant[fields[0]] = fields[1]
		}
		return nil
	})
	var questions []parallelQuestion
	lines(tb, filepath.Join(folder, queries), func(line []byte) error {
		var q struct {
			ID       string `json:"_id"`
			Text     string `json:"text"`
			Metadata struct {
				Answers []string `json:"answers"`
			} `json:"metadata"`
		}
		err := json.Unmarshal(line, &q)
		if p, ok := relevant[q.ID]; ok {
			questions = append(questions, parallelQuestion{q.ID, q.Text, p, q.Metadata.Answers})
		}
		return err
	})
	return paragraphs, questions
}

// lines calls visit with each line of a file, gzipped if its name ends in .gz.
func lines(tb testing.TB, path string, visit func(line []byte) error) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
	}
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 16<<20) // bytes of a line
	for n := 1; scan.Scan(); n++ {
		if n == 1 && strings.HasPrefix(scan.Text(), "query-id") {
			continue // the header of judgements
		}
		if err := visit(scan.Bytes()); err != nil {
			tb.Fatalf("%s:%d: %v", path, n, err)
		}
	}
	if err := scan.Err(); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
}

// asFiles writes each paragraph as a text file named by its id and returns their folder, as documents of an
// assistant.
func asFiles(tb testing.TB, paragraphs []paragraph) string {
	tb.Helper()
	dir := tb.TempDir()
	for _, p := range paragraphs {
		if err := os.WriteFile(filepath.Join(dir, p.ID+".txt"), []byte(p.Text+"\n"), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func TestXQuAD(t *testing.T) {
	english, questions := xquad(t, "en")
	vietnamese, inVietnamese := xquad(t, "vi")
	if len(english) != 240 || len(vietnamese) != 240 || len(questions) != 1190 || len(inVietnamese) != 1190 {
		t.Fatalf("%d and %d paragraphs, %d and %d questions; want 240 and 1190 of each",
			len(english), len(vietnamese), len(questions), len(inVietnamese))
	}
	for lang, set := range map[string]struct {
		paragraphs []paragraph
		questions  []parallelQuestion
	}{"en": {english, questions}, "vi": {vietnamese, inVietnamese}} {
		byID := map[string]string{}
		for _, p := range set.paragraphs {
			byID[p.ID] = p.Text
		}
		for i, q := range set.questions {
			if q.ID != questions[i].ID || q.Paragraph != questions[i].Paragraph {
				t.Errorf("%s: question %d is %s of %s, not that of the other language", lang, i, q.ID, q.Paragraph)
			}
			if len(q.Answers) == 0 || !strings.Contains(byID[q.Paragraph], q.Answers[0]) {
				t.Errorf("%s: %s: the answer %q does not stand in %s", lang, q.ID, q.Answers, q.Paragraph)
			}
		}
	}
	sizes := [2]int{}
	for _, p := range english {
		sizes[half(articleOf(p.ID))]++
	}
	if sizes[0] < 90 || sizes[1] < 90 {
		t.Errorf("halves of %v paragraphs", sizes)
	}
	dir := asFiles(t, english[:2])
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
}
