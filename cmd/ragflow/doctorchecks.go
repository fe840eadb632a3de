package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow"
)

// What the doctor warns of.
const (
	leastFree  = 100 << 20 // bytes on the disk
	slowAnswer = 500 * time.Millisecond
	probeFor   = 10 * time.Second // for an answer of a provider
)

// checkSettings reports whether the settings could be read.
func (d *doctor) checkSettings() bool {
	s, err := d.app.readSettings()
	if err != nil {
		d.note(checkBroken, "settings", err.Error())
		if f, ok := errors.AsType[*failure](err); ok && f.hint != "" {
			d.hint("%s", f.hint)
		}
		return false
	}
	d.settings, d.Settings, d.DataDir = s, s.rows, s.config.DataDir
	var sources []string
	for _, r := range s.rows {
		if r.Source != "default" {
			sources = append(sources, r.Name+" from "+r.Source)
		}
	}
	about := "no configuration file"
	if s.file != "" {
		about = s.file
	}
	d.note(checkOK, "settings", about, sources...)
	if refused := s.inEffect(s.refused); len(refused) > 0 {
		err := untrustedError(s, refused)
		d.note(checkBroken, "trust", err.Error())
		d.hint("read the file, then: ragflow trust")
		d.settings.models.offline = true // no key goes anywhere
	}
	return true
}

// checkDocs looks whether the configured documents are there.
func (d *doctor) checkDocs() {
	docs := d.settings.config.Docs
	var missing []string
	for _, p := range docs {
		if _, err := os.Stat(p); err != nil {
			missing = append(missing, fmt.Sprintf("%s: %v", p, errors.Unwrap(err)))
		}
	}
	switch {
	case len(missing) > 0:
		d.note(checkBroken, "documents", "not all can be read", missing...)
		d.hint(`name documents that are there: ragflow init --docs ./docs, or correct "docs" in the configuration file`)
	case len(docs) == 0:
		d.note(checkOK, "documents", "none configured; --docs names them, or all that is indexed is used")
	default:
		d.note(checkOK, "documents", strings.Join(docs, ", "))
	}
}

// checkData looks at the data folder and its disk.
func (d *doctor) checkData() {
	dir := d.DataDir
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		d.note(checkOK, "data folder", dir+" is not made yet")
		d.checkDisk(existing(dir))
		return
	}
	if err != nil {
		d.note(checkBroken, "data folder", err.Error())
		d.hint("check who may read and write in %s", dir)
		return
	}
	var details []string
	var all int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		d.Files = append(d.Files, fileReply{e.Name(), info.Size()})
		all += info.Size()
	}
	slices.SortStableFunc(d.Files, func(a, b fileReply) int { return int(min(max(b.Bytes-a.Bytes, -1), 1)) })
	const most = 6
	for _, f := range d.Files[:min(len(d.Files), most)] {
		details = append(details, f.Name+"  "+size(f.Bytes))
	}
	if err := writable(dir); err != nil {
		d.note(checkWarning, "data folder", "it can only be read: "+err.Error(), details...)
		d.hint("conversations in %s can be listed, shown, exported and searched; to ask, name a folder that can be written: --data-dir or RAGFLOW_DATA_DIR", dir)
	} else {
		d.note(checkOK, "data folder", dir+", "+size(all), details...)
	}
	d.checkDisk(dir)
}

// writable tries to make a file.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// existing is the nearest folder upward that exists.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

func (d *doctor) checkDisk(dir string) {
	free, err := diskFree(dir)
	switch {
	case err != nil:
		d.note(checkWarning, "disk", "free space is not known: "+err.Error())
	case free < leastFree:
		d.FreeBytes = free
		d.note(checkBroken, "disk", "only "+size(free)+" free")
		d.hint("make room on the disk of %s, or move the folder: --data-dir or RAGFLOW_DATA_DIR", dir)
	default:
		d.FreeBytes = free
		d.note(checkOK, "disk", size(free)+" free")
	}
}

// checkDatabases opens what is there; the doctor makes nothing.
func (d *doctor) checkDatabases(ctx context.Context) {
	index, threads := present(d.DataDir, "index.db"), present(d.DataDir, "threads.db")
	if !index && !threads {
		d.note(checkOK, "index", "none yet; the first question makes it")
		d.note(checkOK, "threads", "none yet")
		return
	}
	assistant, err := ragflow.Open(ctx, ragflow.Config{DataDir: d.DataDir, ReadOnly: true})
	if err != nil {
		d.note(checkBroken, "databases", err.Error())
		if _, hint := meaning(err); hint != "" {
			d.hint("%s", hint)
		}
		return
	}
	defer func() {
		if err := assistant.Close(); err != nil {
			d.note(checkBroken, "databases", err.Error())
		}
	}()
	d.checkIndex(ctx, assistant)
	d.checkThreads(ctx, assistant)
}

// checkIndex looks at what is indexed, and whether it is still so on disk.
func (d *doctor) checkIndex(ctx context.Context, assistant *ragflow.Assistant) {
	stats, err := assistant.Stats(ctx, true)
	if err != nil {
		d.note(checkBroken, "index", err.Error())
		d.hint("index.db can be deleted; it is made again from your documents")
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
		d.hint("%s could not be read; ragflow index stats names them", count(failed, "file"))
	}
	if files > 0 && chunks == 0 {
		status = checkWarning
		d.hint("the index holds no passage: the documents have no text that can be read")
	}
	d.note(status, "index", fmt.Sprintf("%s of %s in %s", count(chunks, "passage"), count(files, "file"), size(stats.Bytes)), details...)
}

// changed counts the files that are gone or not as they were, and the folders
// that files were put in or taken out of. It looks at sizes and times.
func changed(c ragflow.CollectionStats) int {
	if c.LastChange == nil {
		return 0
	}
	n := 0
	folders := map[string]bool{}
	for _, f := range c.FileList {
		path := c.Root
		if info, err := os.Stat(c.Root); err == nil && info.IsDir() {
			path = filepath.Join(c.Root, filepath.FromSlash(f.Source))
			folders[filepath.Dir(path)] = true
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() != f.Bytes || info.ModTime().After(*c.LastChange) {
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
		d.note(checkBroken, "threads", err.Error())
		d.hint("keep a copy of threads.db; ragflow threads verify says what is wrong")
		return
	}
	d.Threads = len(list)
	var details []string
	for _, t := range list {
		if t.Status != "completed" && t.Status != "" {
			details = append(details, t.ID+": the last run is "+t.Status)
		}
	}
	about := "none yet"
	if len(list) > 0 {
		about = strconv.Itoa(len(list)) + ", last used " + list[0].Used.UTC().Format("2006-01-02 15:04") + " UTC"
	}
	const most = 5
	if more := len(details) - most; more > 0 {
		details = append(details[:most], fmt.Sprintf("and %d more", more))
	}
	if len(details) > 0 {
		d.hint("go on with an unfinished run: ragflow ask --thread ID --resume")
	}
	d.note(checkOK, "threads", about, details...)
	if len(list) > 0 {
		d.checkAnswer(ctx, assistant)
	}
}

// checkAnswer gives hints from what the last answer was like (REQUIREMENTS Z17).
func (d *doctor) checkAnswer(ctx context.Context, assistant *ragflow.Assistant) {
	reply, err := assistant.Reply(ctx, lastName)
	if err != nil {
		return // the last thing in the log need not be an answer
	}
	if reply.Abstained || reply.Grade.Attempts > 0 && reply.Grade.Score < d.settings.config.Threshold {
		d.hint("the last question was graded %.2f, and %.2f passes: \"ragflow explain\" shows how a question is understood; "+
			"look whether the documents that hold the answer are indexed, or lower RELEVANCE_THRESHOLD", reply.Grade.Score, d.settings.config.Threshold)
	}
	total := time.Duration(reply.LatencyMS["total"] * float64(time.Millisecond))
	if total <= slowAnswer {
		return
	}
	slowest := ""
	for node, ms := range reply.LatencyMS {
		if node != "total" && (slowest == "" || ms > reply.LatencyMS[slowest] || ms == reply.LatencyMS[slowest] && node < slowest) {
			slowest = node
		}
	}
	d.hint("the last answer took %.1f s, most of it in %s: %s", total.Seconds(), slowest, faster(slowest, reply))
}

// faster says what makes a node faster.
func faster(node string, r *ragflow.Reply) string {
	switch {
	case r.Usage.Calls > 0 && node != "retrieval" && node != "post_retrieval":
		return "a smaller or nearer model answers sooner, and --offline at once"
	case node == "retrieval":
		return "more RETRIEVAL_MAX_WORKERS search side by side, and fewer or smaller collections are searched sooner"
	case node == "post_retrieval", node == "check_and_refine":
		return "the first question after a start reads the index into memory; ask in one \"ragflow chat\" to do that once"
	}
	return "\"ragflow trace last\" shows what it did"
}

// checkModels asks the providers of the configured models.
func (d *doctor) checkModels(ctx context.Context) {
	uses := d.settings.models.uses()
	if len(uses) == 0 {
		d.note(checkOK, "models", offlineModel)
		return
	}
	for _, u := range uses {
		reply := modelReply{Setting: u.setting, Model: u.model, BaseURL: u.at.baseURL}
		begun := time.Now()
		probe, cancel := context.WithTimeout(ctx, probeFor)
		var err error
		if u.setting == "RERANK_MODEL" {
			err = d.settings.models.probeReranker(probe)
		} else {
			err = u.reachable(probe)
		}
		cancel()
		reply.TookMS = float64(time.Since(begun).Microseconds()) / 1e3
		reply.OK = err == nil
		about := fmt.Sprintf("%s: %s at %s", u.setting, u.model, u.at.baseURL)
		if err != nil {
			reply.Error = err.Error()
			d.note(checkBroken, "model", about, err.Error())
			d.hint("%s cannot be used; check its name, its address and its key, or ask with --offline", u.model)
		} else {
			d.note(checkOK, "model", about)
		}
		d.Models = append(d.Models, reply)
	}
}

// size writes a number of bytes for a person.
func size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, i := float64(n)/unit, 0
	for value >= unit && i < 3 {
		value /= unit
		i++
	}
	return fmt.Sprintf("%.1f %cB", value, "kMGT"[i])
}
