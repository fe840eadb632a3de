package ragflow

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

// Record is a document that lies in no file of its own: a line of a corpus.
type Record struct {
	ID    string // its source; not empty, and of no other record
	Title string // may be empty
	Text  string // plain text; where it is blank, the title is all there is to find
}

// hash tells a record from what it was before. It writes over memory, which it returns
// for the next.
func (r Record) hash(memory []byte) (hash string, _ []byte) {
	b := append(strconv.AppendInt(memory[:0], int64(len(r.Title)), 10), '\n')
	b = append(append(b, r.Title...), r.Text...)
	sum := sha256.Sum256(b)
	b = hex.AppendEncode(b[:0], sum[:])
	return string(b), b
}

// IndexRecords makes the collection of that name hold exactly these records,
// and answers from it: beside those of Config.Docs where there are any, else
// beside all that is indexed. Records that did not change are not read again,
// so that a call after one that was interrupted goes on; total, which may be 0
// where it is not known, is for the progress. An error of the sequence ends it.
// Each record is cut and embedded as a file of plain text is.
func (a *Assistant) IndexRecords(ctx context.Context, name string, total int, records iter.Seq2[Record, error]) (*IndexReport, error) {
	a.indexing.Lock()
	defer a.indexing.Unlock()
	begun := a.config.Clock()
	report := newIndexReport()
	s := &syncer{assistant: a, root: name, report: report, seen: map[string]bool{}}
	s.cutAs(load.ChunkOptions{})
	known, err := a.index.Files(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := s.takeRecords(ctx, known, total, records); err != nil {
		return nil, fmt.Errorf("index %s: %w", name, err)
	}
	if err := s.remove(ctx, known); err != nil {
		return nil, err
	}
	s.progress(Progress{Stage: "publishing", Done: len(s.seen), Total: len(s.seen)})
	if err := a.index.Publish(ctx, name, nil); err != nil {
		return nil, err
	}
	report.Roots = append(report.Roots, name)
	return a.indexed(ctx, report, begun)
}

// takeRecords puts new and changed records into the index, batch by batch. While one is
// made ready and one before it saved, the next is read.
func (s *syncer) takeRecords(ctx context.Context, known map[string]index.File, total int, records iter.Seq2[Record, error]) (err error) {
	f := feed{syncer: s}
	defer func() { err = cmp.Or(f.end(), err) }()
	var batch recordBatch
	for r, err := range records {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		s.seen[r.ID] = true
		s.progress(Progress{Stage: "indexing", Done: len(s.seen), Total: total, Bytes: s.bytes})
		entry := s.entry(r)
		k, ok := known[r.ID]
		if ok && k.Hash == entry.File.Hash && k.Chunker == entry.File.Chunker {
			s.report.Unchanged++
			continue
		}
		change := FileAdded
		if ok {
			change = FileChanged
		}
		s.tell(r.ID, change)
		batch.add(r, entry)
		s.bytes += int64(len(r.Text))
		if batch.full() {
			if err := f.put(ctx, batch); err != nil {
				return err
			}
			batch = recordBatch{}
		}
	}
	return f.put(ctx, batch)
}

// entry is what the index keeps of a record, without its chunks.
func (s *syncer) entry(r Record) index.Entry {
	var hash string
	hash, s.memory = r.hash(s.memory)
	return index.Entry{File: index.File{
		Source: r.ID, Size: int64(len(r.Text)), ModTime: time.Unix(0, 0), Hash: hash, Title: r.Title, Chunker: s.fingerprint,
	}}
}

// cut makes the chunks of a record.
func (s *syncer) cut(ctx context.Context, r Record) ([]state.Chunk, error) {
	text := r.Text
	if strings.TrimSpace(text) == "" {
		text = r.Title
	}
	doc := load.Document{Root: s.root, Source: r.ID, Title: r.Title, Kind: load.Plain, Text: text}
	return load.ChunkWith(ctx, doc, s.chunking, s.assistant.sentenceModel(s.chunking))
}

// Records counts what [Assistant.IndexRecords] keeps under a name, and tells
// whether it was all cut as it would be now: then nothing has to be read again
// where the records are known to be the same.
func (a *Assistant) Records(ctx context.Context, name string) (n int, current bool, err error) {
	known, err := a.index.Files(ctx, name)
	fingerprint := load.ChunkOptions{}.Fingerprint()
	for _, f := range known {
		if f.Chunker != fingerprint {
			return len(known), false, err
		}
	}
	return len(known), true, err
}
