package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"
	"time"

	"example.com/ragflow/ingest/document"
	"example.com/ragflow/search"
)

// batchRecords is how many records are put into the index at once.
const batchRecords = 1000

// Record is a document that is no file: a line of a corpus.
type Record struct {
	ID    string // its source; not empty, and of no other record
	Title string // may be empty
	Text  string // plain text; where it is blank, the title is all there is to find
}

// hash returns SHA-256 of title and text, in hex.
func (r Record) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s%s", len(r.Title), r.Title, r.Text))
	return hex.EncodeToString(sum[:])
}

// PutRecords makes the collection of that name hold exactly these records, and
// answers from it, beside the configured documents. Records that did not change are
// not read again, so that a call after an interrupted one goes on; total, which may be
// 0, is for the progress. An error of the sequence ends it.
func (l *Library) PutRecords(ctx context.Context, name string, total int, records iter.Seq2[Record, error]) (*Report, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begun := l.o.Clock()
	report := newReport()
	s := l.newSyncer(name, report, syncOptions{})
	s.fingerprint = s.chunking.Fingerprint()
	known, err := l.index.Files(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := s.putRecords(ctx, known, total, records); err != nil {
		return nil, fmt.Errorf("index %s: %w", name, err)
	}
	if err := s.remove(ctx, known); err != nil {
		return nil, err
	}
	s.progress(Progress{Stage: "publishing", Done: len(s.seen), Total: len(s.seen)})
	if err := l.index.Publish(ctx, name); err != nil {
		return nil, err
	}
	report.Roots = append(report.Roots, name)
	return l.finish(ctx, report, begun)
}

// putRecords puts new and changed records into the index, batch by batch.
func (s *syncer) putRecords(ctx context.Context, known map[string]search.File, total int, records iter.Seq2[Record, error]) error {
	var batch []search.Entry
	size := 0
	flush := func() error {
		err := s.index.Put(ctx, s.root, batch)
		batch, size = batch[:0], 0
		return err
	}
	for r, err := range records {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		s.seen[r.ID] = true
		s.progress(Progress{Stage: "indexing", Done: len(s.seen), Total: total, Bytes: s.bytes})
		hash, change := r.hash(), FileAdded
		if k, ok := known[r.ID]; ok {
			if k.Hash == hash && k.Chunker == s.fingerprint {
				s.report.Unchanged++
				continue
			}
			change = FileChanged
		}
		entry, err := s.recordEntry(ctx, r, hash)
		if err != nil {
			return err
		}
		s.tell(r.ID, change)
		batch = append(batch, entry)
		size, s.bytes = size+len(r.Text), s.bytes+int64(len(r.Text))
		if len(batch) >= batchRecords || size >= batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return flush()
}

// recordEntry cuts a record as a file of plain text is cut.
func (s *syncer) recordEntry(ctx context.Context, r Record, hash string) (search.Entry, error) {
	text := r.Text
	if strings.TrimSpace(text) == "" {
		text = r.Title
	}
	doc := document.Document{Root: s.root, Source: r.ID, Title: r.Title, Kind: document.Plain, Text: text, Hash: hash}
	return s.cut(ctx, doc, search.File{Size: int64(len(r.Text)), ModTime: time.Unix(0, 0)}, s.chunking)
}
