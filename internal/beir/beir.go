// Package beir reads test collections in the form of the BEIR benchmarks: documents and
// queries as JSON lines, judgements as a table. The tests of package eval and the
// comparison in bench/search measure the search with them. Files may be packed with gzip.
//
//	for r, err := range beir.Records("scifact/corpus.jsonl.gz") { … }
//	queries, err := beir.Queries("scifact/queries.jsonl.gz", "scifact/qrels/test.tsv")
package beir

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Record is a document of a collection.
type Record struct{ ID, Title, Text string }

// Query is a query with its judgements.
type Query struct {
	ID   string
	Text string
	// Gains are the documents judged relevant, each with its score: 1 and more.
	Gains map[string]int
}

// maxLine is the maximum length of a line in bytes.
const maxLine = 32 << 20

var errStopped = errors.New("stopped")

// Records yields the documents of a file with lines {"_id": "d1", "title": "…", "text": "…"}.
// The first error ends them.
func Records(path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		err := eachObject(path, func(r Record) error {
			if !yield(r, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Record{}, err)
		}
	}
}

// Queries returns the queries of a file with lines {"_id": "q1", "text": "…"} that have a
// relevant document, in the order of the file. A line of judgements has query, document and
// score, separated by tabs. An empty name of judgements returns all queries, without gains.
func Queries(queries, judgements string) ([]Query, error) {
	var gains map[string]map[string]int
	if judgements != "" {
		var err error
		if gains, err = readGains(judgements); err != nil {
			return nil, err
		}
	}
	var out []Query
	err := eachObject(queries, func(r Record) error {
		if judgements == "" || len(gains[r.ID]) > 0 {
			out = append(out, Query{ID: r.ID, Text: r.Text, Gains: gains[r.ID]})
		}
		return nil
	})
	return out, err
}

// readGains reads the relevant documents of each query. Lines without a score, such as a
// header, are left out.
func readGains(path string) (map[string]map[string]int, error) {
	gains := map[string]map[string]int{}
	err := eachLine(path, func(line []byte) error {
		columns := slices.DeleteFunc(strings.Split(string(line), "\t"), func(c string) bool { return strings.TrimSpace(c) == "" })
		if len(columns) != 3 {
			return fmt.Errorf("%q is no judgement: want query, document and score", line)
		}
		query, document := strings.TrimSpace(columns[0]), strings.TrimSpace(columns[1])
		if score, err := strconv.Atoi(strings.TrimSpace(columns[2])); err == nil && score > 0 {
			if gains[query] == nil {
				gains[query] = map[string]int{}
			}
			gains[query][document] = score
		}
		return nil
	})
	return gains, err
}

// eachObject calls do with each document or query of a file.
func eachObject(path string, do func(Record) error) error {
	return eachLine(path, func(line []byte) error {
		var object struct {
			ID    json.RawMessage `json:"_id"` // a text or a number
			Title string          `json:"title"`
			Text  string          `json:"text"`
		}
		if err := json.Unmarshal(line, &object); err != nil {
			return err
		}
		if len(object.ID) == 0 {
			return errors.New("no _id")
		}
		return do(Record{ID: strings.Trim(string(object.ID), `"`), Title: object.Title, Text: object.Text})
	})
}

// eachLine calls do with each line of a file that is not empty. Errors name file and line.
func eachLine(path string, do func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // read only
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := do(line); err != nil {
				return fmt.Errorf("%s:%d: %w", path, n, err)
			}
		}
	}
	return lines.Err()
}
