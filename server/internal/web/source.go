package web

import (
	"net/http"
	"net/url"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/server/internal/source"
	"example.com/ragflow/state"
)

// sourcePage is a document with a passage of it.
type sourcePage struct {
	*source.View

	Passage source.Passage
	As      string // the form that is shown
	Pages   string // page or lines of the passage, in words
	Address string // of the same without As, From and To
	Whole   string // address of the document
	Alone   bool   // it is a page of its own, not a part of one
}

// cite shows the source of an answer: a citation, or another one that was found.
func (s *site) cite(other bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		run, err := s.a.Threads().Run(ctx, r.PathValue("run"))
		if err == nil && run.Thread != r.PathValue("thread") {
			err = graph.ErrNotFound
		}
		if err != nil {
			s.fault(w, r, err)
			return
		}
		reply, err := s.a.Reply(ctx, run.ID)
		if err != nil {
			s.fault(w, r, err)
			return
		}
		var all []state.Citation
		var pages []string
		for _, c := range reply.Citations {
			if !other {
				all, pages = append(all, c.Citation), append(pages, c.Pages)
			}
		}
		for _, o := range reply.Others {
			if other {
				all, pages = append(all, o.Citation), append(pages, o.Pages)
			}
		}
		i, err := strconv.Atoi(r.PathValue("i"))
		if err != nil || i < 0 || i >= len(all) {
			s.fault(w, r, graph.ErrNotFound)
			return
		}
		c := all[i]
		id := s.documents.ID(ctx, scoped(run.State.Scope), c.Root, c.Source)
		s.source(w, r, id, source.Passage{Start: c.Start, End: c.End, Quote: c.Quote}, place(c.StartLine, c.EndLine, pages[i]))
	}
}

// scoped are the collections that a conversation asks.
func scoped(s state.Scope) []string {
	if s.Collection == "" {
		return nil
	}
	return append([]string{s.Collection}, s.More...)
}

// document shows a whole document, or the lines of it that ?from= and ?to= name.
func (s *site) document(w http.ResponseWriter, r *http.Request) {
	s.source(w, r, r.PathValue("id"), source.Passage{From: 1, To: mostLines}, "")
}

// mostLines is how many lines of a document one page shows.
const mostLines = 2000

// source shows a passage of a document.
func (s *site) source(w http.ResponseWriter, r *http.Request, id string, p source.Passage, where string) {
	q := r.URL.Query()
	if from, err := strconv.Atoi(q.Get("from")); err == nil && from > 0 {
		p.From, p.To = from, from+mostLines/10
		if to, err := strconv.Atoi(q.Get("to")); err == nil && to >= from {
			p.To = min(to, from+mostLines)
		}
	}
	v, err := s.reader.View(r.Context(), id, p)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	out := sourcePage{
		View: v, Passage: p, As: v.Form, Pages: where, Address: r.URL.EscapedPath(), Whole: "/d/" + (&url.URL{Path: v.ID}).EscapedPath(),
		Alone: r.Header.Get("Hx-Request") == "",
	}
	if q.Get("as") == "lines" || q.Has("from") || out.missing() {
		out.As = source.FormText
	}
	name := "source"
	if !out.Alone {
		name = "source#pane"
	}
	s.show(w, r, http.StatusOK, name, out)
}

// missing reports whether the form of a document has nothing to show, so that its lines are.
func (p *sourcePage) missing() bool {
	switch p.As {
	case source.FormMarkdown:
		return p.Blocks == nil
	case source.FormTable:
		return p.Table == nil
	case source.FormMail:
		return p.Mail == nil
	case source.FormPDF:
		return p.View.Pages == nil
	}
	return false
}

// Earlier and Later are the lines to show before and after those that are shown.
func (p *sourcePage) Earlier() int { return max(1, p.Lines.First-mostLines/10) }
func (p *sourcePage) Later() int   { return p.Lines.First + len(p.Lines.Lines) }
