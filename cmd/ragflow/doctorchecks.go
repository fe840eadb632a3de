package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/config"
	"example.com/ragflow/ingest"
	"example.com/ragflow/search/index"
)

// note records what a check found.
func (d *doctor) note(status, name, about string, details ...string) {
	d.Checks = append(d.Checks, checkReply{name, status, about, append([]string{}, details...)})
}

func (d *doctor) hint(format string, args ...any) {
	d.Hints = append(d.Hints, fmt.Sprintf(format, args...))
}

// broken records an error, and what to do about it: hint, unless the error says more.
func (d *doctor) broken(name string, err error, hint string) {
	d.note(checkBroken, name, err.Error())
	if f, ok := errors.AsType[*failure](failed("", err)); ok {
		hint = cmp.Or(f.hint, hint)
	}
	if hint != "" {
		d.hint("%s", hint)
	}
}

// examine makes all checks. One that fails does not keep the others from being made.
func (d *doctor) examine(ctx context.Context) {
	d.Index, d.Checks, d.Hints = []ingest.CollectionStats{}, []checkReply{}, []string{}
	if d.checkSettings() {
		d.checkDocs()
		d.checkData()
		d.checkDatabases(ctx)
		d.checkModels(ctx)
	}
	d.OK = !slices.ContainsFunc(d.Checks, func(c checkReply) bool { return c.Status == checkBroken })
}

// checkSettings reports whether the settings could be read.
func (d *doctor) checkSettings() bool {
	s, err := d.app.readSettings()
	if err != nil {
		d.broken("settings", err, "")
		return false
	}
	d.settings, d.DataDir = s, s.config.DataDir
	var sources []string
	for _, r := range s.rows {
		if r.Source != "default" {
			sources = append(sources, r.Name+" from "+r.Source)
		}
	}
	d.note(checkOK, "settings", cmp.Or(s.file, "no configuration file"), sources...)
	if err := untrustedError(s); err != nil {
		d.broken("trust", err, "")
		d.settings.models.Offline = true // no key goes anywhere
	}
	return true
}

// checkDocs looks whether the configured documents are there.
func (d *doctor) checkDocs() {
	docs := d.settings.config.Docs
	if err := exist(docs); err != nil {
		d.note(checkBroken, "documents", err.Error())
		d.hint(`name documents that are there: ragflow init --docs ./docs, or correct "docs" in the configuration file`)
		return
	}
	d.note(checkOK, "documents", cmp.Or(strings.Join(docs, ", "), "none configured; --docs names them, or all that is indexed is used"))
}

// checkData looks whether the data folder can be written.
func (d *doctor) checkData() {
	_, err := os.ReadDir(d.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.note(checkOK, "data folder", d.DataDir+" is not made yet")
		return
	case err != nil:
		d.broken("data folder", err, "")
		return
	}
	f, err := os.CreateTemp(d.DataDir, ".doctor-*")
	if err != nil {
		d.note(checkWarning, "data folder", "it can only be read: "+err.Error())
		d.hint("conversations in %s can be listed, shown, exported and searched; to ask, name a folder that can be written: --data-dir or RAGFLOW_DATA_DIR", d.DataDir)
		return
	}
	_ = errors.Join(f.Close(), os.Remove(f.Name())) // it was empty
	d.note(checkOK, "data folder", d.DataDir)
}

// checkServer asks the server of the index: whether it answers, and whether this version of
// the program made what it holds.
func (d *doctor) checkServer(ctx context.Context) error {
	c := d.settings.config
	local, err := index.Open(ctx, "", index.Options{})
	if err != nil {
		return err
	}
	db, err := c.Index(ctx, c.Collection, local)
	if err != nil {
		return errors.Join(err, local.Close())
	}
	list, err := db.Collections(ctx)
	if err = errors.Join(err, db.Close()); err == nil {
		d.note(checkOK, "index server", count(len(list), "folder"))
	}
	return err
}

// checkDatabases opens what is there; the doctor makes nothing.
func (d *doctor) checkDatabases(ctx context.Context) {
	if d.settings.foreign != "" {
		return // they are not opened
	}
	server, indexServer := d.settings.config.ThreadStore, d.settings.config.Index
	if indexServer != nil {
		if err := d.checkServer(ctx); err != nil {
			d.broken("index server", err, "correct RAGFLOW_INDEX, or unset it for the index in the data folder")
			indexServer = nil // what is in the data folder is looked at all the same
		}
	}
	if !present(d.DataDir, "index.db") && !present(d.DataDir, threadsFile) && server == nil && indexServer == nil {
		d.note(checkOK, "index", "none yet; the first question makes it")
		d.note(checkOK, "threads", "none yet")
		return
	}
	assistant, err := ragflow.Open(ctx, ragflow.Config{DataDir: d.DataDir, ReadOnly: true, ThreadStore: server, Index: indexServer})
	if err != nil {
		d.broken("databases", err, "")
		return
	}
	d.checkIndex(ctx, assistant)
	d.checkThreads(ctx, assistant)
	if err := assistant.Close(); err != nil {
		d.broken("databases", err, "")
	}
}

// checkIndex looks at what is indexed, and whether it is still so on disk.
func (d *doctor) checkIndex(ctx context.Context, assistant *ragflow.Assistant) {
	stats, err := assistant.Library().Stats(ctx, true)
	if err != nil {
		d.broken("index", err, "index.db can be deleted; it is made again from your documents")
		return
	}
	var details []string
	status, files, chunks, failed, stale := checkOK, 0, 0, 0, 0
	for _, c := range stats.Collections {
		files, chunks, failed = files+c.Files, chunks+c.Chunks, failed+c.Failed
		detail := fmt.Sprintf("%s: %s, %s", c.Root, count(c.Files, "file"), count(c.Chunks, "passage"))
		if _, err := os.Stat(c.Root); err != nil {
			detail += ", but the folder is gone"
			status = checkWarning
		} else if n := changed(c); n > 0 {
			detail += fmt.Sprintf(", %d changed since", n)
			stale += n
		}
		details = append(details, detail)
		c.FileList = nil
		d.Index = append(d.Index, c)
	}
	if stale > 0 {
		d.hint("documents changed after they were indexed; the next question with --docs reads them, or: ragflow index")
	}
	if failed > 0 {
		status = checkWarning
		d.hint("%s could not be read; ragflow index stats --files names them", count(failed, "file"))
	}
	if files > 0 && chunks == 0 {
		status = checkWarning
		d.hint("the index holds no passage: the documents have no text that can be read")
	}
	d.note(status, "index", fmt.Sprintf("%s of %s in %s", count(chunks, "passage"), count(files, "file"), byteSize(stats.Bytes)), details...)
}

// changed counts the files that are gone or not as they were, and the folders that files
// were put in or taken out of. It looks at sizes and times.
func changed(c ingest.CollectionStats) (n int) {
	if c.LastChange == nil {
		return 0
	}
	root, err := os.Stat(c.Root)
	folders := map[string]bool{}
	for _, f := range c.FileList {
		path := c.Root
		if err == nil && root.IsDir() {
			path = filepath.Join(c.Root, filepath.FromSlash(f.Source))
			folders[filepath.Dir(path)] = true
		}
		if info, err := os.Stat(path); err != nil || info.Size() != f.Bytes || info.ModTime().After(*c.LastChange) {
			n++
		}
	}
	for dir := range folders {
		if info, err := os.Stat(dir); err == nil && info.ModTime().After(*c.LastChange) {
			n++
		}
	}
	return n
}

// checkThreads looks at conversations, and at how the last answer came about.
func (d *doctor) checkThreads(ctx context.Context, assistant *ragflow.Assistant) {
	list, err := assistant.Threads().List(ctx)
	if err != nil {
		d.broken("threads", err, "keep a copy of threads.db; ragflow threads verify says what is wrong")
		return
	}
	d.Threads = len(list)
	if len(list) == 0 {
		d.note(checkOK, "threads", "none yet")
		return
	}
	var details []string
	for _, t := range list {
		if t.Status != "completed" && t.Status != "" {
			details = append(details, t.ID+": the last run is "+t.Status)
		}
	}
	if len(details) > 0 {
		d.hint("go on with an unfinished run: ragflow ask --thread ID --resume")
	}
	d.note(checkOK, "threads", strconv.Itoa(len(list))+", last used "+list[0].Used.UTC().Format("2006-01-02 15:04")+" UTC", details...)
	if reply, err := assistant.Reply(ctx, lastName); err == nil { // the last thing in the log need not be an answer
		d.checkAnswer(reply)
	}
}

// checkAnswer gives hints from what the last answer was like (REQUIREMENTS Z17).
func (d *doctor) checkAnswer(r *ragflow.Reply) {
	threshold := d.settings.config.Threshold
	if r.Abstained || r.Grade.Attempts > 0 && r.Grade.Score < threshold {
		d.hint("the last question was graded %.2f, and %.2f passes: \"ragflow explain\" shows how a question is understood; "+
			"look whether the documents that hold the answer are indexed, or lower RELEVANCE_THRESHOLD", r.Grade.Score, threshold)
	}
	total := time.Duration(r.LatencyMS["total"] * float64(time.Millisecond))
	if total <= slowAnswer {
		return
	}
	delete(r.LatencyMS, "total")
	slowest := slices.MaxFunc(slices.Sorted(maps.Keys(r.LatencyMS)), func(a, b string) int { return cmp.Compare(r.LatencyMS[a], r.LatencyMS[b]) })
	faster := `"ragflow trace last" shows what it did`
	switch {
	case slowest == "retrieval":
		faster = "more RETRIEVAL_MAX_WORKERS search side by side, and fewer or smaller collections are searched sooner"
	case slowest == "post_retrieval", slowest == "check_and_refine" && r.Usage.Calls == 0:
		faster = "the first question after a start reads the index into memory; ask in one \"ragflow chat\" to do that once"
	case r.Usage.Calls > 0:
		faster = "a smaller or nearer model answers sooner, and --offline at once"
	}
	d.hint("the last answer took %.1f s, most of it in %s: %s", total.Seconds(), slowest, faster)
}

// checkModels asks the providers of the configured models.
func (d *doctor) checkModels(ctx context.Context) {
	uses := d.settings.models.Uses()
	if len(uses) == 0 {
		d.note(checkOK, "models", config.OfflineModel)
	}
	for _, u := range uses {
		probe, cancel := context.WithTimeout(ctx, probeFor)
		err := d.settings.models.Probe(probe, u)
		cancel()
		about := u.String()
		if err == nil {
			d.note(checkOK, "model", about)
			continue
		}
		d.note(checkBroken, "model", about, err.Error())
		d.hint("%s cannot be used; check its name, its address and its key, or ask with --offline", u.Model)
	}
}
