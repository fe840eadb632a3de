package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

const (
	maxFile = 64      // MiB of a document; package ingest takes no larger one
	perPage = 100     // files on one page of a list
	added   = "files" // the collection for files, if the chosen one takes none
)

// Statuses of files beside those of package ingest.
const (
	partly    = "partly"    // it was read, but not all of it
	otherKind = "otherkind" // files of its kind are not read
)

// shelf is a collection that a person has chosen.
type shelf struct {
	library *ingest.Library
	name    string // "" is the default one, which has folders alone
	dir     string // where documents are put; "" if it takes none
}

// shelf opens a collection that the caller may use; "" is that of the caller.
func (s *site) shelf(ctx context.Context, name string) (shelf, error) {
	names, err := door.Of(ctx).Choose(name)
	if err != nil {
		return shelf{}, err
	}
	config := s.a.Config()
	out := shelf{name: cmp.Or(append(names, "")[0], config.Collection)}
	if out.library, err = s.a.Collections().Open(ctx, out.name); err != nil || out.name == "" {
		return out, err
	}
	out.dir = ingest.DocumentsDir(config.DataDir, out.name)
	if root, err := ingest.Root(out.dir); err == nil { // else nothing was put yet
		out.dir = root
	}
	return out, nil
}

// target names the collection that files are added to from the page of a shelf; "" if the caller can add none.
// Only an administrator makes one that is missing.
func (s *site) target(ctx context.Context, sh shelf) (name string, missing bool) {
	who := door.Of(ctx)
	names, _ := s.a.Collections().List() // then there is none
	missing = !slices.Contains(names, added)
	switch {
	case !who.May(tokens.Upload):
		return "", false
	case sh.dir != "":
		return sh.name, false
	case !who.Uses(added), missing && !who.May(tokens.Admin):
		return "", false
	}
	return added, missing
}

// shelfPage is what a collection holds, and what a person does with it.
type shelfPage struct {
	Collections []string // that can be chosen; "" is the default one
	Collection  string
	Query       string // of the filter
	Problems    bool   // only files with a problem are shown

	Files, Passages, Unread int // of the collection
	Roots                   []rootList
	Page, Next              int // from 1; 0: there is none
	First, Last, Found      int // rows of the page, from 1, and those that pass the filter

	Target    string // where files are added; "" if none can be
	Missing   bool   // it is made with the first file
	Limit     int    // MiB of a file
	Jobs      []ingest.JobStatus
	Ended     *ingest.JobStatus // the last one
	May       bool              // add, index and delete documents
	Admin     bool              // make and delete collections
	Deletable bool              // the collection can be deleted
}

// rootList is a folder of a collection with the files of it that are shown.
type rootList struct {
	Name    string // "": files of all folders whose kind is not read
	Put     bool   // it holds the documents that were put
	Files   int
	Changed *time.Time
	Rows    []fileRow
}

// fileRow is one file of a list.
type fileRow struct {
	ingest.FileStatus

	ID string // of the document; "" if the index does not know it
}

// Link is the address of another page of the list.
func (p *shelfPage) Link(page int) string {
	q := url.Values{"page": {strconv.Itoa(page)}}
	for key, value := range map[string]string{"collection": p.Collection, "q": p.Query} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if p.Problems {
		q.Set("show", "problems")
	}
	return "/documents?" + q.Encode()
}

// shelfPage shows a collection. A page that is open asks for a part of it: its jobs, or its files.
func (s *site) shelfPage(r *http.Request) (answer, error) {
	ctx, q := r.Context(), r.URL.Query()
	sh, err := s.shelf(ctx, q.Get("collection"))
	if err != nil {
		return answer{}, err
	}
	who := door.Of(ctx)
	p := &shelfPage{
		Collection: sh.name, Query: text.First(strings.TrimSpace(q.Get("q")), 200), Problems: q.Get("show") == "problems", Limit: maxFile,
		May: who.May(tokens.Upload), Admin: who.May(tokens.Admin), Deletable: sh.name != "" && sh.name != s.a.Config().Collection,
	}
	p.Page, _ = strconv.Atoi(q.Get("page")) // else the first one
	p.Target, p.Missing = s.target(ctx, sh)
	if p.May {
		p.jobs(sh.library)
	}
	part := q.Get("part")
	if part != "jobs" && part != "files" {
		part = ""
	}
	if part != "jobs" {
		err = s.files(ctx, sh, p)
	}
	if part == "" {
		if p.Collections = s.usable(ctx); s.a.Config().Collection == "" && len(who.Collections) == 0 {
			p.Collections = slices.Insert(p.Collections, 0, "")
		}
	}
	return answer{name: "documents#" + part, data: p}, err
}

// jobs lists the jobs under way, without those that index one file that was put.
func (p *shelfPage) jobs(l *ingest.Library) {
	for _, j := range l.Jobs() {
		x := j.Status()
		switch {
		case x.Ended == nil && len(x.Paths) != 1:
			p.Jobs = append(p.Jobs, x)
		case x.Ended != nil && p.Ended == nil:
			p.Ended = &x
		}
	}
}

// files fills in what a collection holds, and the files of the page.
func (s *site) files(ctx context.Context, sh shelf, p *shelfPage) error {
	stats, err := sh.library.Stats(ctx, true)
	if err != nil {
		return err
	}
	other, err := sh.library.Unread(ctx)
	if err != nil {
		return err
	}
	var in []string // for ids
	if sh.name != s.a.Config().Collection || len(door.Of(ctx).Collections) > 0 {
		in = []string{sh.name}
	}
	known := map[string]bool{}
	for _, c := range stats.Collections {
		list := rootList{Name: c.Root, Put: c.Root == sh.dir, Files: c.Files, Changed: c.LastChange}
		if !p.Admin { // where folders lie on the server is nothing for others
			list.Name = filepath.Base(c.Root)
		}
		for _, f := range c.FileList {
			known[f.Source] = true
			if f.Status == ingest.StatusIndexed && f.Reason != "" {
				f.Status = partly
			}
			if base := path.Base(f.Source); f.Title == strings.TrimSuffix(base, path.Ext(base)) {
				f.Title = "" // it has none of its own
			}
			list.Rows = append(list.Rows, fileRow{FileStatus: f, ID: s.documents.ID(ctx, in, c.Root, f.Source)})
		}
		p.Files, p.Passages, p.Unread = p.Files+c.Files, p.Passages+c.Chunks, p.Unread+c.Skipped+c.Failed
		p.Roots = append(p.Roots, list)
	}
	left := rootList{}
	for _, f := range other {
		if !known[f.Source] {
			left.Rows = append(left.Rows, fileRow{FileStatus: ingest.FileStatus{Source: f.Source, Status: otherKind, Reason: f.Reason}})
		}
	}
	if left.Files = len(left.Rows); left.Files > 0 {
		p.Unread += left.Files
		p.Roots = append(p.Roots, left)
	}
	p.choose()
	return nil
}

// choose leaves the rows that pass the filter and belong to the page. Files with a problem come first.
func (p *shelfPage) choose() {
	order := []string{ingest.StatusFailed, ingest.StatusSkipped, partly, ingest.StatusEmpty, otherKind, ingest.StatusIndexed}
	word := strings.ToLower(p.Query)
	for i := range p.Roots {
		rows := slices.DeleteFunc(p.Roots[i].Rows, func(f fileRow) bool {
			found := word == "" || strings.Contains(strings.ToLower(f.Source+"\n"+f.Title+"\n"+f.Reason), word)
			return !found || p.Problems && f.Status == ingest.StatusIndexed
		})
		slices.SortStableFunc(rows, func(a, b fileRow) int { return slices.Index(order, a.Status) - slices.Index(order, b.Status) })
		p.Roots[i].Rows = rows
		p.Found += len(rows)
	}
	p.Page = min(max(1, p.Page), max(1, (p.Found+perPage-1)/perPage))
	from := (p.Page - 1) * perPage
	to := min(from+perPage, p.Found)
	if to < p.Found {
		p.Next = p.Page + 1
	}
	p.First, p.Last = min(from+1, p.Found), to
	for i := range p.Roots {
		rows := p.Roots[i].Rows
		inside := func(n int) int { return min(max(0, n), len(rows)) }
		p.Roots[i].Rows = rows[inside(from):inside(to)]
		from, to = from-len(rows), to-len(rows)
	}
}
