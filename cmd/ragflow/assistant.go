package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/config"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/newfile"
	"example.com/ragflow/search"
)

// open reads the settings and opens the assistant. change, where not nil, adds
// to its configuration. The caller closes it.
func (a *app) open(ctx context.Context, change func(*ragflow.Config)) (*ragflow.Assistant, error) {
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	if err := s.models.Configure(&s.config, a.asked); err != nil {
		return nil, err
	}
	a.opened = s
	if err := cmp.Or(a.needsModel("--transform", a.flagged("LLM_TRANSFORMS") != ""), a.needsModel("--rerank llm", a.flagged("RERANKING") == search.RerankLLM)); err != nil {
		return nil, err
	}
	a.tellRecipients(s)
	if change != nil {
		change(&s.config)
	}
	if a.flags.collection != "" && len(a.flags.docs) > 0 && !a.collecting {
		return nil, usagef("--docs does not go with --collection, which has folders of its own").
			with("to add a folder to it: ragflow index --collection " + quoted(a.flags.collection) + " PATH")
	}
	if err := exist(s.config.Docs); err != nil {
		if f, ok := errors.AsType[*failure](err); ok && len(a.flags.docs) == 0 {
			f.hint = "correct it in " + s.sourceOf("RAGFLOW_DOCS") + ", or name others with --docs"
		}
		return nil, err
	}
	if err := a.makeData(s.config.DataDir); err != nil {
		return nil, err
	}
	assistant, err := ragflow.Open(ctx, s.config)
	if err != nil {
		return nil, failed("", err)
	}
	go func() { // ends with the program
		<-a.ending.drain
		assistant.Runs().Drain()
	}()
	if notice := assistant.Library().Notice(); notice != "" {
		a.warn("index.db: " + notice)
	}
	return assistant, nil
}

// tellRecipients says before the first call what is sent to other machines, and who said so.
func (a *app) tellRecipients(s *settings) {
	for _, u := range s.models.Uses() {
		host, plain := u.Remote()
		if host == "" || a.asked == config.NoModels || a.asked == config.SearchModels && u.Setting != "EMBEDDING_MODEL" && u.Setting != "RERANK_MODEL" {
			continue
		}
		a.tell("questions and passages go to %s: %s from %s", line(host), u.Setting, line(s.sourceOf(u.Setting)))
		if plain {
			a.warn(line(host) + " is asked over plain http: others can read what is sent; use https")
		}
	}
}

// exist makes sure that there is something at every path.
func exist(docs []string) error {
	for _, p := range docs {
		if err := ingest.CheckPath(p); err != nil {
			if cause := errors.Unwrap(err); cause != nil && p != "" { // the path stands in front
				err = fmt.Errorf("%s: %w", p, cause)
			}
			err = failed("read documents", err)
			if f, ok := errors.AsType[*failure](err); ok && f.code == exitNotFound && strings.ContainsAny(p, "*?[{") {
				f.hint = "name a folder; ask and search with --path '**/*.md' use only some of its files"
			}
			return err
		}
	}
	return nil
}

// openReport opens the assistant, brings its index up to date, with progress, and returns
// what indexing did. It is an error where nothing can be read of the documents that are named or configured.
func (a *app) openReport(ctx context.Context, change func(*ragflow.Config)) (*ragflow.Assistant, *ingest.Report, error) {
	named, what := false, "read the index"
	assistant, err := a.open(ctx, func(c *ragflow.Config) {
		if change != nil {
			change(c)
		}
		if named = len(c.Docs) > 0; named {
			what = "index " + strings.Join(c.Docs, ", ")
		}
	})
	if err != nil {
		return nil, nil, err
	}
	report, err := a.follow(ctx, assistant.Library().Start(ctx))
	if err != nil {
		return nil, nil, errors.Join(failed(what, err), assistant.Close())
	}
	if !named {
		return assistant, report, nil
	}
	if report.Files == 0 {
		err = &failure{
			code: exitFailure, what: what, err: ingest.ErrNoDocuments,
			hint: "nothing there can be read; " + kindsRead,
		}
		a.problems(report)
		return nil, nil, errors.Join(err, assistant.Close())
	}
	if report.Added+report.Changed+report.Removed > 0 {
		a.tell("%s", indexed(report))
	}
	if report.Dense != nil && report.Dense.Embedded > 0 {
		a.denseTrouble(report.Dense) // else the search itself warns
	}
	a.problems(report)
	return assistant, report, nil
}

// indexed sums up what indexing did, on one line.
func indexed(r *ingest.Report) string {
	detail := counts(
		ingest.Count{Name: "new", Count: r.Added}, ingest.Count{Name: "changed", Count: r.Changed},
		ingest.Count{Name: "removed", Count: r.Removed}, ingest.Count{Name: "unchanged", Count: r.Unchanged},
	)
	if detail != "" {
		detail = " (" + detail + ")"
	}
	return fmt.Sprintf("indexed %s%s in %.1f s", count(r.Added+r.Changed, "file"), detail, r.ElapsedMS/1e3)
}

// problems warns of files that were left out.
func (a *app) problems(r *ingest.Report) {
	if r.Chunks == 0 || r.Unchanged < r.Files { // what failed before is not told at every question again
		a.problemList("could not read ", r.Failed)
	}
	a.problemList("", r.Warned)
	if r.Added+r.Changed == 0 && r.Files > 0 { // not at every question again
		return
	}
	kinds := map[string]int{} // of files that are not read, by ending
	var known []ingest.FileProblem
	for _, p := range r.Skipped {
		if p.OtherKind() {
			kinds[cmp.Or(line(filepath.Ext(p.Source)), "without an extension")]++
		} else {
			known = append(known, p)
		}
	}
	a.problemList("skipped ", known)
	var others []string
	for _, ext := range slices.Sorted(maps.Keys(kinds)) {
		others = append(others, fmt.Sprintf("%d %s", kinds[ext], ext))
	}
	if len(others) > 0 {
		a.tell("not read, of other kinds: %s; \"%s\" names them", strings.Join(others, ", "), a.namesAll())
	}
}

func (a *app) problemList(what string, list []ingest.FileProblem) {
	const most = 5 // that are named one by one
	for _, p := range list[:min(len(list), most)] {
		a.warn(fmt.Sprintf("%s%s: %s", what, p.Source, p.Reason))
	}
	if more := len(list) - most; more > 0 {
		a.warn(fmt.Sprintf("%s%s more; \"%s\" names all", what, count(more, "file"), a.namesAll()))
	}
}

// namesAll is the call that names all files that were left out.
func (a *app) namesAll() string {
	call := "ragflow index --json"
	for _, p := range a.flags.docs {
		call += " " + quoted(p)
	}
	return call
}

// checkOutput refuses a folder to write to that a relative path names and that lies
// elsewhere: a link that came with the working folder may lead out of it.
func checkOutput(dir string) error {
	here, err := os.Getwd()
	if err != nil {
		return failed("find the working folder", err)
	}
	if filepath.IsLocal(dir) && !inside(here, filepath.Join(here, dir)) {
		return leadsOut(dir)
	}
	return nil
}

func leadsOut(dir string) error {
	return usagef("%s leads out of this folder through a link, and nothing is written there", dir).with("name the folder itself")
}

// writeOutput writes a file that a flag names.
func writeOutput(path string, write func(io.Writer) error) error {
	if err := checkOutput(filepath.Dir(path)); err != nil {
		return err
	}
	return newfile.Write(path, write)
}

// writeTrace writes answer.md and flow_trace.md, and nothing else, into dir. A link that
// stands there under such a name is replaced; what it leads to is not written.
func (a *app) writeTrace(dir, answer, flow string) error {
	if err := checkOutput(dir); err != nil {
		return err
	}
	var paths []string
	for _, f := range []struct{ name, text string }{{"answer.md", answer}, {"flow_trace.md", flow}} {
		path := filepath.Join(dir, f.name)
		if err := newfile.WriteBytes(path, []byte(f.text)); err != nil {
			return failed("write the trace", err)
		}
		paths = append(paths, path)
	}
	a.tell("wrote %s and %s", paths[0], paths[1])
	return nil
}
