package stored

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"example.com/ragflow/graph"
)

// Limits of listing.
const (
	MaxRead     = 2000     // threads that one call reads
	maxScanned  = 16 << 20 // bytes of texts that one call searches
	maxText     = 64 << 10 // bytes of text that a commit is found by
	maxTitle    = 1 << 10  // bytes
	maxMetadata = 16 << 10 // bytes of JSON
)

// Texts returns the title that an update gives its thread, and the text that the thread is found by; both may
// be empty. The options of a store take such a function.
type Texts = func(update []byte) (title, text string)

// FactsOf returns the facts that a commit adds to its thread, and the folded text that the thread is found by.
func FactsOf(texts Texts, c graph.Commit) (f graph.ThreadFacts, text string) {
	var all strings.Builder
	for _, d := range c.Deltas {
		if d.Path != "" || d.Error != "" {
			continue
		}
		if len(d.Notes.Metadata) > 0 && f.Metadata == nil {
			f.Metadata = map[string]string{}
		}
		maps.Copy(f.Metadata, d.Notes.Metadata)
		if texts == nil || len(d.Body) == 0 || c.Source == graph.SourceUndo { // which saves older texts again
			continue
		}
		title, more := texts(d.Body)
		f.Title = cmp.Or(f.Title, title)
		all.WriteString(cut(more, maxText) + "\n")
	}
	return f, cut(fold(all.String()), maxText)
}

// AddFacts returns the facts of a thread with changes: another title, if there is one, and more metadata. The
// error is a [*graph.EntryError].
func AddFacts(has, more graph.ThreadFacts) (graph.ThreadFacts, error) {
	has.Title = cut(validText(cmp.Or(more.Title, has.Title)), maxTitle)
	if len(more.Metadata) == 0 {
		return has, nil
	}
	all := make(map[string]string, len(has.Metadata)+len(more.Metadata))
	maps.Copy(all, has.Metadata)
	for key, value := range more.Metadata {
		all[validText(key)] = validText(value)
	}
	has.Metadata = all
	if body, err := json.Marshal(all); err != nil || len(body) > maxMetadata {
		return has, &graph.EntryError{Field: "metadata", Reason: fmt.Sprintf("more than %d bytes in all", maxMetadata)}
	}
	return has, nil
}

// fold returns a text as it is compared: in lower case, with single spaces.
func fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(validText(s))), " ") }

// cut returns the beginning of a text.
func cut(s string, size int) string {
	if len(s) > size {
		s = strings.ToValidUTF8(s[:size], "")
	}
	return s
}

// Moves reports whether a commit moves its thread to the front of a list; see [graph.ByActivity]. The status of the commit
// before is was.
func Moves(c graph.Commit, was graph.Status) bool {
	return c.Source != graph.SourceLoop || c.Status != was
}

// Pager fills a page with the threads that a store reads, in the order of the query.
type Pager struct {
	graph.ThreadPage
	graph.ThreadQuery // checked, with the folded text

	Searched int // bytes of texts that were searched
	read     int
	last     int64
}

// NewPager checks a query. The owner in the context is that of the query. The error is a [*graph.EntryError].
func NewPager(ctx context.Context, q graph.ThreadQuery) (*Pager, error) {
	owner := graph.OwnerOf(ctx)
	switch {
	case owner != "" && q.Owner != "" && q.Owner != owner:
		return nil, &graph.EntryError{Field: "owner", Reason: fmt.Sprintf("the threads of %q are not those of %q", q.Owner, owner)}
	case q.Order != graph.ByActivity && q.Order != graph.ByCreation:
		return nil, &graph.EntryError{Field: "order", Reason: fmt.Sprintf("unknown order %q", q.Order)}
	case owner != "":
		q.Owner = owner
	}
	if q.Text = fold(q.Text); len(q.Text) > maxTitle {
		return nil, &graph.EntryError{Field: "text", Reason: fmt.Sprintf("more than %d bytes", maxTitle)}
	}
	if q.Limit <= 0 {
		q.Limit = graph.DefaultPage
	}
	q.Limit = min(q.Limit, graph.MaxPage)
	return &Pager{ThreadQuery: q}, nil
}

// Take adds a thread, with its place in both orders, if it meets the conditions on metadata and text. It calls
// says, for the texts of the thread, only if the title is not enough. It reports whether the page takes another thread.
func (p *Pager) Take(i graph.ThreadInfo, made, active int64, says func() (bool, error)) (more bool, err error) {
	key := active
	if p.Order == graph.ByCreation {
		key = made
	}
	if len(p.Threads) == p.Limit || p.read == MaxRead || p.Searched > maxScanned {
		p.Next = p.last
		return false, nil
	}
	p.last, p.read = key, p.read+1
	ok := graph.HasMetadata(i.Metadata, p.Metadata)
	if ok && p.Text != "" && !strings.Contains(fold(i.Title), p.Text) {
		ok, err = says()
	}
	if ok && err == nil {
		p.Threads = append(p.Threads, i)
	}
	return err == nil, err
}
