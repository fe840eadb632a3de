package web

import (
	"errors"
	"fmt"
	"net/http"
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
	Sheets  []sheet
	Last    int // page that is shown last
}

// sheet is a page of a PDF as a picture.
type sheet struct {
	Number int
	Label  string
	Marks  *source.Marks // nil without a passage
	Quick  string        // address of the picture, at once
	Sharp  string        // and a better one
}

// maxSheets is how many pages of a PDF are shown at a time.
const maxSheets = 3

// cite shows the source of an answer: a citation, or another one that was found.
func (s *site) cite(other bool) func(*http.Request) (answer, error) {
	return func(r *http.Request) (answer, error) {
		run, reply, err := s.answered(r)
		if err != nil {
			return answer{}, err
		}
		var all []state.Citation
		var pages []string
		for _, c := range reply.Citations {
			all, pages = append(all, c.Citation), append(pages, c.Pages)
		}
		if other {
			all, pages = nil, nil
			for _, o := range reply.Others {
				all, pages = append(all, o.Citation), append(pages, o.Pages)
			}
		}
		i, err := strconv.Atoi(r.PathValue("i"))
		if err != nil || i < 0 || i >= len(all) {
			return answer{}, graph.ErrNotFound
		}
		c := all[i]
		id := s.documents.ID(r.Context(), scoped(run.State.Scope), c.Root, c.Source)
		return s.source(r, id, source.Passage{Start: c.Start, End: c.End, Quote: c.Quote}, place(c.StartLine, c.EndLine, pages[i]))
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
func (s *site) document(r *http.Request) (answer, error) {
	return s.source(r, r.PathValue("id"), source.Passage{From: 1, To: maxLines}, "")
}

// maxLines is how many lines of a document one page shows.
const maxLines = 2000

// source shows a passage of a document.
func (s *site) source(r *http.Request, id string, p source.Passage, where string) (answer, error) {
	q := r.URL.Query()
	if from, err := strconv.Atoi(q.Get("from")); err == nil && from > 0 {
		p.From, p.To = from, from+maxLines/10
		if to, err := strconv.Atoi(q.Get("to")); err == nil && to >= from {
			p.To = min(to, from+maxLines)
		}
	}
	v, err := s.reader.View(r.Context(), id, p)
	if err != nil {
		return answer{}, err
	}
	out := sourcePage{
		View: v, Passage: p, As: v.Form, Pages: where, Address: r.URL.EscapedPath(), Whole: "/d/" + escaped(v.ID),
		Alone: !quiet(r),
	}
	if q.Get("as") == "lines" || q.Has("from") || out.missing() {
		out.As = source.FormText
	}
	if out.As == source.FormPDF {
		s.sheets(r, &out)
	}
	name := "source"
	if !out.Alone {
		name = "source#pane"
	}
	return answer{name: name, data: out}, nil
}

// sheets adds the pages that the passage is on, or that ?page= names.
func (s *site) sheets(r *http.Request, p *sourcePage) {
	first, last := p.View.Pages.First, min(p.View.Pages.Last, p.View.Pages.First+maxSheets-1)
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil && n >= 1 && n <= p.View.Pages.Count {
		first, last = n, n
	}
	for n := first; n <= last; n++ {
		x := sheet{Number: n, Label: strconv.Itoa(n)}
		if labels := p.View.Pages.Labels; n <= len(labels) {
			x.Label = labels[n-1]
		}
		of := fmt.Sprintf("/%d/%s", n, escaped(p.ID))
		x.Quick, x.Sharp = fmt.Sprintf("/page/%d", source.Quick)+of, fmt.Sprintf("/page/%d", source.Sharp)+of
		if p.Passage.End > p.Passage.Start {
			x.Marks, _ = s.reader.Marks(r.Context(), p.ID, p.Passage, n) // without them the page says that nothing is marked
			if x.Marks == nil {
				x.Marks = &source.Marks{}
			}
		}
		p.Sheets, p.Last = append(p.Sheets, x), n
	}
}

// picture sends a page of a PDF.
func (s *site) picture(r *http.Request) (answer, error) {
	dpi, _ := strconv.Atoi(r.PathValue("dpi")) // another number is no picture
	n, _ := strconv.Atoi(r.PathValue("page"))
	p, err := s.reader.Picture(r.Context(), r.PathValue("id"), n, dpi)
	if errors.Is(err, source.ErrNoPicture) {
		err = graph.ErrNotFound
	}
	if err != nil {
		return answer{}, err
	}
	return answer{body: p.PNG, header: http.Header{"Content-Type": {"image/png"}, "Cache-Control": {"private, max-age=600"}}}, nil
}

// missing reports whether the form of a document has nothing to show, so that its lines are.
func (p *sourcePage) missing() bool {
	return p.As == source.FormMarkdown && p.Blocks == nil || p.As == source.FormTable && p.Table == nil ||
		p.As == source.FormMail && p.Mail == nil || p.As == source.FormPDF && p.View.Pages == nil
}

// Earlier and Later are the lines to show before and after those that are shown.
func (p *sourcePage) Earlier() int { return max(1, p.Lines.First-maxLines/10) }
func (p *sourcePage) Later() int   { return p.Lines.First + len(p.Lines.Lines) }
