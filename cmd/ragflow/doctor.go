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

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/cache"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/meaning"
	"example.com/ragflow/nodes"
)

// doctorReply is the schema of "ragflow doctor --json".
type doctorReply struct {
	OK     bool         `json:"ok"` // nothing is broken
	Checks []checkReply `json:"checks"`
	Hints  []string     `json:"hints"`
}

// checkReply is the outcome of one check.
type checkReply struct {
	Name    string   `json:"name"`
	Status  string   `json:"status"` // ok, warning or broken
	About   string   `json:"about"`
	Details []string `json:"details"`
}

const (
	slowAnswer = 500              // milliseconds of an answer or its search; a hint is given above them
	dearAnswer = 0.05             // US dollars
	manyCopies = 0.25             // of the passages that were found
	probeFor   = 10 * time.Second // for an answer of a provider

	checkOK      = "ok"
	checkWarning = "warning"
	checkBroken  = "broken"
)

// errBroken is the error of a doctor that found something and has reported it.
var errBroken = errors.New("something is broken")

func (a *app) doctorCommand(g *given) *cobra.Command {
	var address string
	c := command("doctor", 0, func(c *cobra.Command, _ []string) error {
		d := &doctor{app: a}
		d.Checks, d.Hints = []checkReply{}, []string{}
		if address == "" {
			d.examine(c.Context(), g)
		} else if err := d.visitServer(c.Context(), address, visitor(), a.env[tokenName]); err != nil {
			return err
		}
		if err := c.Context().Err(); err != nil {
			return err
		}
		d.OK = !slices.ContainsFunc(d.Checks, func(c checkReply) bool { return c.Status == checkBroken })
		if err := a.print(d.doctorReply, d.print); err != nil || d.OK {
			return err
		}
		return errBroken
	})
	a.jsonFlag(c)
	c.Flags().StringVar(&address, "url", "", "check the server at `URL` instead, as its clients reach it")
	return c
}

// doctor is one examination.
type doctor struct {
	doctorReply

	app      *app
	settings *settings.Settings

	untrusted bool // a file lacks trust: no model is asked, so that no key is sent
}

// print shows the examination to a person.
func (d *doctor) print() {
	a := d.app
	s := a.styleOf(a.stdout)
	for _, c := range d.Checks {
		colour := map[string]string{checkOK: "32", checkWarning: "33", checkBroken: "1;31"}[c.Status]
		fmt.Fprintf(a.out, "%s  %-13s  %s\n", s.SGR(colour, fmt.Sprintf("%-7s", c.Status)), c.Name, line(c.About))
		for _, detail := range c.Details {
			fmt.Fprintf(a.out, "%24s%s\n", "", s.Dim(line(detail)))
		}
	}
	if len(d.Hints) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", s.Bold("Hints"))
	}
	for _, h := range d.Hints {
		fmt.Fprintf(a.out, "- %s\n", strings.TrimSpace(line(h)))
	}
}

// note records what a check found.
func (d *doctor) note(status, name, about string, details ...string) {
	d.Checks = append(d.Checks, checkReply{name, status, about, append([]string{}, details...)})
}

func (d *doctor) hint(format string, args ...any) {
	d.Hints = append(d.Hints, fmt.Sprintf(format, args...))
}

// broken records an error, with its own hint or else with hint.
func (d *doctor) broken(name string, err error, hint string) {
	d.note(checkBroken, name, err.Error())
	if f, ok := errors.AsType[*failure](failed("", err)); ok {
		hint = cmp.Or(f.hint, hint)
	}
	if hint != "" {
		d.hint("%s", hint)
	}
}

// examine makes all checks, also after one that fails.
func (d *doctor) examine(ctx context.Context, g *given) {
	v := readVersion()
	d.note(checkOK, "version", fmt.Sprintf("ragflow %s, %s, %s, sqlite driver %s", v.Version, v.Go, v.Platform, v.SQLite))
	s, err := d.app.readSettings(g)
	if err != nil {
		d.broken("settings", err, "")
		return
	}
	d.settings = s
	var sources []string
	for _, r := range s.Rows {
		if r.Set() {
			sources = append(sources, r.Name+" from "+r.Source)
		}
	}
	d.note(checkOK, "settings", cmp.Or(s.File, "no configuration file"), sources...)
	if err := s.CheckTrust(); err != nil {
		d.broken("trust", err, "")
		d.untrusted = true
	}
	if err := exist(s.Config.Docs); err != nil {
		d.note(checkBroken, "documents", err.Error())
		d.hint(`name documents that are there: ragflow init --docs ./docs, or correct "docs" in the configuration file`)
	} else {
		d.note(checkOK, "documents", cmp.Or(strings.Join(s.Config.Docs, ", "), "none configured; --docs names them, or all that is indexed is used"))
	}
	d.checkData(s.Config.DataDir)
	if s.Foreign == "" { // else the databases are not opened
		d.checkDatabases(ctx)
	}
	d.checkModels(ctx)
}

// checkData looks whether the data folder can be written.
func (d *doctor) checkData(dir string) {
	f, err := os.CreateTemp(dir, ".doctor-*")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.note(checkOK, "data folder", dir+" is not made yet")
	case err != nil:
		d.note(checkWarning, "data folder", "it can only be read: "+err.Error())
		d.hint("conversations in %s can be listed, shown, exported and searched; to ask, name a folder that can be written: --data-dir or RAGFLOW_DATA_DIR", dir)
	default:
		_ = errors.Join(f.Close(), os.Remove(f.Name())) // it was empty
		d.note(checkOK, "data folder", dir)
	}
}

// checkDatabases opens what is there; the doctor makes nothing.
func (d *doctor) checkDatabases(ctx context.Context) {
	c := d.settings.Config
	if !present(c.DataDir, "index.db") && !present(c.DataDir, settings.ThreadsFile) && c.ThreadStore == nil && c.Index == nil {
		d.note(checkOK, "index", "none yet; the first question makes it")
		d.note(checkOK, "threads", "none yet")
		return
	}
	assistant, err := ragflow.Open(ctx, ragflow.Config{DataDir: c.DataDir, Collection: c.Collection, ReadOnly: true, ThreadStore: c.ThreadStore, Index: c.Index})
	if err != nil {
		d.broken("databases", err, "")
		return
	}
	d.checkIndex(ctx, assistant)
	d.checkThreads(ctx, assistant)
	d.checkCache(ctx)
	if err := assistant.Close(); err != nil {
		d.broken("databases", err, "")
	}
}

// checkIndex compares the index with the documents on disk.
func (d *doctor) checkIndex(ctx context.Context, assistant *ragflow.Assistant) {
	stats, err := assistant.Library().Stats(ctx, true)
	if err != nil {
		d.broken("index", err, "index.db can be deleted; it is made again from your documents")
		return
	}
	var details []string
	files, chunks, vectors, failed, stale, gone := 0, 0, 0, 0, 0, 0
	for _, c := range stats.Collections {
		files, chunks, vectors, failed = files+c.Files, chunks+c.Chunks, vectors+c.Vectors, failed+c.Failed
		detail := fmt.Sprintf("%s: %s, %s", c.Root, count(c.Files, "file"), count(c.Chunks, "passage"))
		if _, err := os.Stat(c.Root); err != nil {
			detail += ", but the folder is gone"
			gone++
		} else if n := changed(c); n > 0 {
			detail += fmt.Sprintf(", %d changed since", n)
			stale += n
		}
		details = append(details, detail)
	}
	if stale > 0 {
		d.hint("documents changed after they were indexed; the next question with --docs reads them, or: ragflow index")
	}
	if failed > 0 {
		d.hint("%s could not be read; ragflow index stats --files names them", count(failed, "file"))
	}
	if files > 0 && chunks == 0 {
		d.hint("the index holds no passage: the documents have no text that can be read")
	}
	if d.settings.Config.Index == nil { // else a server has it
		d.checkMemory(chunks, vectors, os.DirFS("/"))
	}
	status := checkOK
	if failed+gone > 0 || files > 0 && chunks == 0 {
		status = checkWarning
	}
	d.note(status, "index", fmt.Sprintf("%s of %s in %s", count(chunks, "passage"), count(files, "file"), byteSize(stats.Bytes)), details...)
}

// checkCache says how much is answered from the cache, if there is one.
func (d *doctor) checkCache(ctx context.Context) {
	c := d.settings.Config
	stats, err := cache.Read(ctx, cache.Place{Path: filepath.Join(c.DataDir, settings.CacheFile), Postgres: c.Cache.Database})
	if err != nil {
		d.note(checkWarning, "cache", err.Error())
		if c.Cache.Database == nil {
			d.hint("%s can be deleted while no process uses it; it only makes answers faster", settings.CacheFile)
		}
		return
	}
	questions, searches := stats.Hits+stats.Similar+stats.Misses, stats.Found+stats.NotFound
	if questions+searches == 0 {
		return
	}
	about := count(stats.Values, "value") + " in " + byteSize(stats.Bytes)
	if questions > 0 {
		about += fmt.Sprintf("; %d %% of %d new questions were answered from it", 100*(stats.Hits+stats.Similar)/questions, questions)
	}
	if searches > 0 {
		about += fmt.Sprintf("; %d %% of %d searches were found in it", 100*stats.Found/searches, searches)
	}
	if !c.Cache.On && !c.Cache.Results {
		about += "; it is off now"
	}
	d.note(checkOK, "cache", about, fmt.Sprintf("%d the same, %d similar, %d not found", stats.Hits, stats.Similar, stats.Misses))
}

// changed counts the files that were removed or changed, and the folders with added or removed
// files, by sizes and times.
func changed(c ingest.CollectionStats) (n int) {
	if c.LastChange == nil {
		return 0
	}
	after := func(info fs.FileInfo, err error) bool { return err != nil || info.ModTime().After(*c.LastChange) }
	folders := map[string]bool{}
	for _, f := range c.FileList {
		path := filepath.Join(c.Root, filepath.FromSlash(f.Source))
		if info, err := os.Stat(c.Root); err == nil && !info.IsDir() {
			path = c.Root
		}
		folders[filepath.Dir(path)] = path != c.Root
		if info, err := os.Stat(path); after(info, err) || info.Size() != f.Bytes {
			n++
		}
	}
	for dir, inside := range folders {
		if inside && after(os.Stat(dir)) {
			n++
		}
	}
	return n
}

// checkThreads checks the conversations and the last answer.
func (d *doctor) checkThreads(ctx context.Context, assistant *ragflow.Assistant) {
	list, err := assistant.Threads().All(ctx)
	if err != nil {
		d.broken("threads", err, "keep a copy of threads.db; ragflow threads verify says what is wrong")
		return
	}
	if len(list) == 0 {
		d.note(checkOK, "threads", "none yet")
		return
	}
	var details []string
	for _, t := range list {
		if unfinished(t) {
			details = append(details, t.ID+": the last run is "+t.Status)
		}
	}
	if len(details) > 0 {
		d.hint("go on with an unfinished run: ragflow ask --thread ID --resume")
	}
	d.note(checkOK, "threads", strconv.Itoa(len(list))+", last used "+list[0].Used.UTC().Format("2006-01-02 15:04")+" UTC", details...)
	if reply, err := assistant.Reply(ctx, lastName); err == nil { // the last thing in the log need not be an answer
		d.checkAnswer(reply)
		d.checkCopies(ctx, assistant, reply.Question)
	}
}

// checkCopies gives a hint if many of the passages for a question say what a better one says.
func (d *doctor) checkCopies(ctx context.Context, assistant *ragflow.Assistant, question string) {
	found, err := assistant.Search(ctx, question, ragflow.SearchOptions{Plain: true})
	if err != nil {
		return // the index is checked before
	}
	if all := len(found.Hits) + found.Duplicates; float64(found.Duplicates) > manyCopies*float64(all) {
		d.hint("%d of the %d best passages for the last question repeat a better one: leave copies and old versions of documents out, for example by .gitignore",
			found.Duplicates, all)
	}
}

// checkAnswer gives hints about the grade and the time of the last answer.
func (d *doctor) checkAnswer(r *ragflow.Reply) {
	threshold := cmp.Or(d.settings.Config.Settings.Threshold, nodes.DefaultThreshold)
	if r.Abstained || r.Grade.Attempts > 0 && r.Grade.Score < threshold {
		d.hint("the last question was graded %.2f, and %.2f passes: \"ragflow explain\" shows how a question is understood; "+
			"look whether the documents that hold the answer are indexed, or lower RELEVANCE_THRESHOLD", r.Grade.Score, threshold)
		if c := d.settings.Config; c.Dictionary == "" && len(c.Settings.Transforms) == 0 {
			d.hint("questions and documents may use other words: list them in a file for RAGFLOW_DICTIONARY, or let a model add queries with LLM_TRANSFORMS")
		}
	}
	if r.CostUSD > dearAnswer {
		d.hint("the last answer cost $%.2f, more than $%.2f: LLM_TASKS gives rewriting and grading to a cheaper model, LLM_GRADER=off grades without one", r.CostUSD, dearAnswer)
	}
	d.checkTimes(r.LatencyMS, r.Usage.Calls > 0)
}

// checkTimes gives hints about a slow answer and, whatever its model takes, a slow search.
func (d *doctor) checkTimes(ms map[string]float64, asksModel bool) {
	if ms["total"] > slowAnswer {
		stages := slices.DeleteFunc(slices.Sorted(maps.Keys(ms)), func(s string) bool { return s == "total" })
		slowest := slices.MaxFunc(stages, func(a, b string) int { return cmp.Compare(ms[a], ms[b]) })
		faster := ""
		if asksModel {
			faster = ": a smaller or nearer model answers sooner, and --offline at once"
		}
		if !d.settings.Config.Cache.On {
			faster += "; RAG_ENABLE_CACHING=true answers at once what was asked before"
		}
		d.hint("the last answer took %.1f s, most of it in %s%s", ms["total"]/1000, slowest, faster)
	}
	if search := ms[nodes.RetrievalID] + ms[nodes.PostRetrievalID]; search > slowAnswer {
		d.hint("its search took %.1f s: in one \"ragflow chat\" the index is read into memory once; fewer RAG_MAX_RESULTS and RERANKING=off search sooner", search/1000)
	}
}

// checkModels asks the providers of the configured models.
func (d *doctor) checkModels(ctx context.Context) {
	uses := d.settings.Models.Uses()
	if len(uses) == 0 {
		for _, line := range d.settings.Models.Describe() {
			d.note(checkOK, "models", line)
		}
	}
	if !meaning.Fast() {
		d.note(checkOK, "meaning", "this processor has neither AVX2 nor SDOT, so passages are ordered by words alone")
	}
	for _, u := range uses {
		if d.untrusted {
			d.note(checkWarning, "model", u.String()+", not asked before the files above are trusted")
			continue
		}
		probe, cancel := context.WithTimeout(ctx, probeFor)
		err := d.settings.Models.Probe(probe, u)
		cancel()
		if err == nil {
			d.note(checkOK, "model", u.String())
			continue
		}
		d.note(checkBroken, "model", u.String(), err.Error())
		d.hint("%s cannot be used; check its name, its address and its key, or ask with --offline", u.Model)
	}
}
