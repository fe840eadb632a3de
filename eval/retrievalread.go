package eval

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/ragflow"
)

// MaxLine is how long a line of a corpus, of queries, judgements or a run may
// be, in bytes; a longer one is a fault.
const MaxLine = 32 << 20

// eachLine calls f with each line of r that is not blank, numbered from 1,
// without its end and blanks around it; f must not keep it. r may be packed with
// gzip. A line that is too long or not UTF-8 is a [*DatasetError], what f
// returns ends it.
func eachLine(r io.Reader, f func(n int, line []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		in = bufio.NewReaderSize(unpacked, 1<<16)
	}
	if head, _ := in.Peek(3); bytes.Equal(head, []byte("\ufeff")) {
		_, _ = in.Discard(len(head)) // they were peeked at
	} else if len(head) > 1 && (head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff) {
		return fault(1, "the file is UTF-16; save it as UTF-8")
	}
	var memory []byte // for a line that comes in several pieces
	for n := 1; ; n++ {
		memory = memory[:0]
		for {
			line, err := in.ReadSlice('\n')
			if len(memory) > 0 || err != nil {
				memory = append(memory, line...)
				line = memory
			}
			if len(line) > MaxLine {
				return fault(n, "the line is longer than %d MiB; each line holds one entry", MaxLine>>20)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			last := errors.Is(err, io.EOF)
			if err != nil && !last {
				return fmt.Errorf("line %d: %w", n, err)
			}
			if !utf8.Valid(line) {
				return fault(n, "not valid UTF-8; save the file as UTF-8")
			}
			if entry := bytes.TrimSpace(line); len(entry) > 0 {
				if err := f(n, entry); err != nil {
					return err
				}
			}
			if last {
				return nil
			}
			break
		}
	}
}

func fault(line int, format string, args ...any) error {
	return &DatasetError{Faults: []Fault{{Line: line, What: fmt.Sprintf(format, args...)}}}
}

// eachLineOf is eachLine of a file.
func eachLineOf(path string, f func(n int, line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err // it names the file
	}
	defer file.Close() //nolint:errcheck // read only
	return eachLine(file, f)
}

// faults collects what is wrong with a file.
type faults []Fault

func (f *faults) add(line int, format string, args ...any) {
	if len(*f) < maxFaults {
		*f = append(*f, Fault{Line: line, What: fmt.Sprintf(format, args...)})
	}
}

func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return &DatasetError{f}
}

// beirLine is a line of a corpus or of queries in the BEIR form. Other forms in
// use name the id "id" and the text "contents".
type beirLine struct {
	BEIR     json.RawMessage `json:"_id"`
	Plain    json.RawMessage `json:"id"`
	Title    string          `json:"title"`
	Text     string          `json:"text"`
	Contents string          `json:"contents"`
}

// decodeLine reads one line of a corpus or of queries.
func decodeLine(line []byte, example string) (id, title, text string, err error) {
	var l beirLine
	if err := json.Unmarshal(line, &l); err != nil {
		if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typed.Field != "" {
			return "", "", "", fmt.Errorf("%q is a %s, but a string is expected", typed.Field, typed.Value)
		}
		return "", "", "", fmt.Errorf("no JSON object such as %s: %s", example, plainJSON(err))
	}
	raw := l.BEIR
	if raw == nil {
		raw = l.Plain
	}
	if err := json.Unmarshal(raw, &id); err != nil { // a number is its digits
		if id = string(raw); id == "" || strings.Trim(id, "0123456789") != "" {
			return "", "", "", fmt.Errorf("no _id; each line has one of its own, as in %s", example)
		}
	}
	if strings.TrimSpace(id) == "" {
		return "", "", "", fmt.Errorf("the _id is empty; each line has one of its own, as in %s", example)
	}
	if text = l.Text; text == "" {
		text = l.Contents
	}
	return id, l.Title, text, nil
}

const (
	corpusExample = `{"_id": "d1", "title": "…", "text": "…"}`
	queryExample  = `{"_id": "q1", "text": "…"}`
	qrelsExample  = `"q1 <tab> d1 <tab> 1"`
)

// Corpus is a file of documents in the BEIR form: JSON lines with _id, title and
// text, packed with gzip or not.
type Corpus struct{ Path string }

// Hash is the SHA-256 of the file, in hex.
func (c Corpus) Hash() (string, error) {
	f, err := os.Open(c.Path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Check reads the file and counts its documents. All that is wrong with it is
// told at once, as a [*DatasetError]; a file without documents is a fault. seen,
// which may be nil, is told how many were read.
func (c Corpus) Check(ctx context.Context, seen func(documents int)) (int, error) {
	var wrong faults
	lines := map[string]int{}
	err := eachLineOf(c.Path, func(n int, line []byte) error {
		id, _, _, err := decodeLine(line, corpusExample)
		switch {
		case err != nil:
			wrong.add(n, "%s", err)
		case lines[id] > 0:
			wrong.add(n, "the id %q is that of line %d; each document needs one of its own", id, lines[id])
		default:
			lines[id] = n
		}
		if seen != nil {
			seen(len(lines))
		}
		return context.Cause(ctx)
	})
	if err == nil && len(lines) == 0 && len(wrong) == 0 {
		wrong.add(1, "the corpus holds no documents; a line is %s", corpusExample)
	}
	if broken, ok := errors.AsType[*DatasetError](err); ok {
		wrong, err = append(wrong, broken.Faults...), nil
	}
	return len(lines), errors.Join(err, wrong.err())
}

// Records reads the documents, which [Corpus.Check] found to be whole, one after
// the other. The first error ends them.
func (c Corpus) Records() iter.Seq2[ragflow.Record, error] {
	return func(yield func(ragflow.Record, error) bool) {
		stop := errors.New("enough")
		err := eachLineOf(c.Path, func(n int, line []byte) error {
			id, title, text, err := decodeLine(line, corpusExample)
			if err != nil {
				return fault(n, "%s", err)
			}
			if !yield(ragflow.Record{ID: id, Title: title, Text: text}, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(ragflow.Record{}, err)
		}
	}
}

// ReadQueries reads queries in the BEIR form: JSON lines with _id and text,
// packed with gzip or not, in the order of the file. What is wrong is told at
// once, as a [*DatasetError].
func ReadQueries(r io.Reader) ([]Query, error) {
	var queries []Query
	var wrong faults
	lines := map[string]int{}
	err := eachLine(r, func(n int, line []byte) error {
		id, _, text, err := decodeLine(line, queryExample)
		switch {
		case err != nil:
			wrong.add(n, "%s", err)
		case lines[id] > 0:
			wrong.add(n, "the id %q is that of line %d; each query needs one of its own", id, lines[id])
		case strings.TrimSpace(text) == "":
			wrong.add(n, "the text of query %q is empty", id)
		default:
			lines[id] = n
			queries = append(queries, Query{ID: id, Text: text})
		}
		return nil
	})
	if err == nil && len(queries) == 0 && len(wrong) == 0 {
		wrong.add(1, "there are no queries; a line is %s", queryExample)
	}
	if broken, ok := errors.AsType[*DatasetError](err); ok {
		wrong, err = append(wrong, broken.Faults...), nil
	}
	return queries, errors.Join(err, wrong.err())
}

// Qrel is one judgement: how relevant a document is to a query.
type Qrel struct {
	Query    string
	Document string
	Gain     int // 0 and less: not relevant
	Line     int // it stands in
}

// ReadQrels reads judgements: query, document and score, separated by tabs or,
// where a line has none, by blanks, with or without a header; or the four columns
// of TREC, whose second one means nothing. The file may be packed with gzip. What
// is wrong, no judgement at all among it, is told at once, as a [*DatasetError].
func ReadQrels(r io.Reader) ([]Qrel, error) {
	var list []Qrel
	var wrong faults
	known := map[[2]string]int{}
	first := true
	err := eachLine(r, func(n int, line []byte) error {
		q, err := qrel(columns(string(line)))
		header := first && err != nil
		first = false
		pair := [2]string{q.Query, q.Document}
		switch {
		case header && strings.Contains(strings.ToLower(string(line)), "id"):
		case err != nil:
			wrong.add(n, "%s", err)
		case known[pair] > 0 && list[known[pair]-1].Gain != q.Gain:
			wrong.add(n, "document %q is judged %d for query %q, but %d on line %d", q.Document, q.Gain, q.Query, list[known[pair]-1].Gain, list[known[pair]-1].Line)
		case known[pair] == 0:
			q.Line = n
			list = append(list, q)
			known[pair] = len(list)
		}
		return nil
	})
	if err == nil && len(list) == 0 && len(wrong) == 0 {
		wrong.add(1, "there are no judgements; a line is %s", qrelsExample)
	}
	if broken, ok := errors.AsType[*DatasetError](err); ok {
		wrong, err = append(wrong, broken.Faults...), nil
	}
	return list, errors.Join(err, wrong.err())
}

// columns splits at tabs, since ids may hold blanks, or else at blanks.
func columns(line string) []string {
	if !strings.Contains(line, "\t") {
		return strings.Fields(line)
	}
	out := strings.Split(line, "\t")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

func qrel(c []string) (Qrel, error) {
	if len(c) == 4 { // of TREC
		c = []string{c[0], c[2], c[3]}
	}
	if len(c) != 3 || c[0] == "" || c[1] == "" {
		return Qrel{}, fmt.Errorf("not a judgement such as %s: query, document and score", qrelsExample)
	}
	score, err := strconv.ParseFloat(c[2], 64)
	if err != nil || score != math.Trunc(score) || math.Abs(score) > 1000 {
		return Qrel{}, fmt.Errorf("the score is %q, but a whole number such as 0 or 1 is expected", c[2])
	}
	return Qrel{Query: c[0], Document: c[1], Gain: int(score)}, nil
}
