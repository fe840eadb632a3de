package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	sqlite3 "github.com/mattn/go-sqlite3" // with the tag sqlite_fts5
	"github.com/philippgille/chromem-go"

	"example.com/ragflow/internal/beir"
)

// bleveEngine is bleve with its English analyzer, BM25 scores and one stored field of title and text, as in
// the other engines.
func bleveEngine() engine {
	return engine{
		index: func(_ context.Context, c corpus, dir string) error {
			m := bleve.NewIndexMapping()
			m.ScoringModel = "bm25"
			document := mapping.NewDocumentStaticMapping()
			field := bleve.NewTextFieldMapping()
			field.Analyzer, field.IncludeInAll, field.IncludeTermVectors, field.DocValues = en.AnalyzerName, false, false, false
			document.AddFieldMappingsAt("text", field)
			m.DefaultMapping = document
			index, err := bleve.New(filepath.Join(dir, "bleve"), m)
			if err != nil {
				return err
			}
			batch := index.NewBatch()
			for r, err := range beir.Records(c.path("corpus.jsonl")) {
				if err == nil {
					err = batch.Index(r.ID, map[string]string{"text": r.Title + " " + r.Text})
				}
				if err == nil && batch.Size() >= 1000 {
					err = index.Batch(batch)
					batch.Reset()
				}
				if err != nil {
					return err
				}
			}
			if err := index.Batch(batch); err != nil {
				return err
			}
			return index.Close()
		},
		words: func(_ context.Context, _ corpus, dir string) (search, error) { return bleveSearch(dir) },
		texts: func(_ context.Context, _ corpus, dir string) (search, error) { return bleveSearch(dir, "text") },
	}
}

func bleveSearch(dir string, fields ...string) (search, error) {
	index, err := bleve.Open(filepath.Join(dir, "bleve"))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, query string, k int) ([]hit, error) {
		q := bleve.NewMatchQuery(query)
		q.SetField("text")
		request := bleve.NewSearchRequestOptions(q, k, 0, false)
		request.Fields = fields
		r, err := index.SearchInContext(ctx, request)
		if err != nil {
			return nil, err
		}
		out := make([]hit, len(r.Hits))
		for i, h := range r.Hits {
			out[i] = hit{h.ID, h.Score}
		}
		return out, nil
	}, nil
}

// fts5 is SQLite's full-text search with its Porter stemmer and bm25(), title
// and text as columns of weight 1.
func fts5() engine {
	return engine{
		index: func(ctx context.Context, c corpus, dir string) error {
			db, err := sql.Open("sqlite3", filepath.Join(dir, "fts5.db")+"?_journal=WAL&_sync=NORMAL")
			if err != nil {
				return err
			}
			if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, title, text, tokenize = 'porter unicode61')`); err != nil {
				return err
			}
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			for r, err := range beir.Records(c.path("corpus.jsonl")) {
				if err == nil {
					_, err = tx.ExecContext(ctx, `INSERT INTO documents VALUES(?, ?, ?)`, r.ID, r.Title, r.Text)
				}
				if err != nil {
					return err
				}
			}
			if err := tx.Commit(); err != nil {
				return err
			}
			if _, err := db.ExecContext(ctx, `INSERT INTO documents(documents) VALUES('optimize')`); err != nil {
				return err
			}
			return db.Close()
		},
		words: func(ctx context.Context, _ corpus, dir string) (search, error) {
			return fts5Search(ctx, dir, `SELECT id, -rank, '' FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?`)
		},
		texts: func(ctx context.Context, _ corpus, dir string) (search, error) {
			return fts5Search(ctx, dir, `SELECT id, -rank, title || ' ' || text FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?`)
		},
	}
}

func fts5Search(ctx context.Context, dir, query string) (search, error) {
	db, err := sql.Open("sqlite3", filepath.Join(dir, "fts5.db"))
	if err != nil {
		return nil, err
	}
	statement, err := db.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, query string, k int) ([]hit, error) {
		rows, err := statement.QueryContext(ctx, anyOf(query), k)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var out []hit
		for rows.Next() {
			var h hit
			var text string
			if err := rows.Scan(&h.id, &h.score, &text); err != nil {
				return nil, err
			}
			out = append(out, h)
		}
		return out, rows.Err()
	}, nil
}

// anyOf returns an FTS5 query for any of the words.
func anyOf(query string) string {
	words := strings.FieldsFunc(query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		words[i] = `"` + w + `"`
	}
	return strings.Join(words, " OR ")
}

// chromemEngine compares vectors in memory; it has one file a document.
func chromemEngine() engine {
	return engine{vectors: func(ctx context.Context, c corpus, _ string) (vectorSearch, error) {
		rows, err := c.vectorsOf("corpus")
		if err != nil {
			return nil, err
		}
		collection, err := chromem.NewDB().CreateCollection("passages", nil, nil)
		if err != nil {
			return nil, err
		}
		documents := make([]chromem.Document, len(rows))
		for i, v := range rows {
			documents[i] = chromem.Document{ID: strconv.Itoa(i), Embedding: v}
		}
		if err := collection.AddDocuments(ctx, documents, 2); err != nil {
			return nil, err
		}
		return func(ctx context.Context, query []float32, k int) ([]string, error) {
			found, err := collection.QueryEmbedding(ctx, query, k, nil, nil)
			out := make([]string, len(found))
			for i, f := range found {
				out[i] = f.ID
			}
			return out, err
		}, nil
	}}
}

// sqliteVec is sqlite-vec with vectors in a file; SQLITE_VEC names its library.
func sqliteVec() engine {
	return engine{vectors: func(ctx context.Context, c corpus, dir string) (vectorSearch, error) {
		library := os.Getenv("SQLITE_VEC")
		if library == "" {
			return nil, errors.New("SQLITE_VEC does not name the library of sqlite-vec")
		}
		sql.Register("sqlite-vec", &sqlite3.SQLiteDriver{Extensions: []string{library}})
		db, err := sql.Open("sqlite-vec", filepath.Join(dir, "vec.db"))
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE v USING vec0(embedding float[384] distance_metric=cosine)`); err != nil {
			return nil, err
		}
		rows, err := c.vectorsOf("corpus")
		if err != nil {
			return nil, err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		for i, v := range rows {
			if _, err := tx.ExecContext(ctx, `INSERT INTO v(rowid, embedding) VALUES(?, ?)`, i, encoded(v)); err != nil {
				return nil, err
			}
		}
		if err := tx.Commit(); err != nil {
			return nil, err
		}
		return func(ctx context.Context, query []float32, k int) ([]string, error) {
			found, err := db.QueryContext(ctx, `SELECT rowid FROM v WHERE embedding MATCH ? AND k = ?`, encoded(query), k)
			if err != nil {
				return nil, err
			}
			defer found.Close()
			var out []string
			for found.Next() {
				var id string
				if err := found.Scan(&id); err != nil {
					return nil, err
				}
				out = append(out, id)
			}
			return out, found.Err()
		}, nil
	}}
}

// encoded returns the bytes of a vector.
func encoded(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, f := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return out
}
