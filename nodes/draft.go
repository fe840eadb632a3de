package nodes

import (
	"context"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// draft is a Draft that decides when words are shown.
type draft interface {
	Draft
	// end checks the answer, or what of it is shown, and returns the verdict.
	end(a state.Answer) (verdict, error)
}

// draft returns the draft of an answer to t.
func (o Answering) draft(ctx context.Context, t state.Task) draft {
	j := judge{Answering: o, ctx: ctx, task: t}
	if o.Checked {
		r := &release{judge: j}
		r.Restart()
		return r
	}
	return &live{judge: j, gated: o.NoRefusals, gate: cite.NewStream(t.Sources, cite.Options{Language: t.Language})}
}

// live shows each piece at once, and may withdraw all of them. The pieces of a
// model that cannot decline are held until a source supports a statement.
type live struct {
	judge

	gated bool
	gate  *cite.Stream
	held  strings.Builder
	shown bool
}

// Write implements Draft.
func (d *live) Write(piece string) {
	if d.gated {
		d.held.WriteString(piece)
		for _, p := range d.gate.Write(piece) {
			d.gated = d.gated && p.Report.Grounded == 0
		}
		if d.gated {
			return
		}
		piece = d.held.String()
	}
	d.shown = true
	graph.Emit(d.ctx, Token{Text: piece})
}

// Restart implements Draft.
func (d *live) Restart() bool {
	if d.shown {
		graph.Emit(d.ctx, Token{Void: true})
	}
	*d = *d.draft(d.ctx, d.task).(*live) //nolint:forcetypeassert // by the same options
	return true
}

func (d *live) end(a state.Answer) (verdict, error) {
	said, err := d.add(a.Text, d.check(a.Text, d.task.Sources, cite.Options{Language: d.task.Language}))
	if said != "" {
		said += d.unmarked(said)
	}
	d.total.Text = new(sanitize.Filter).All(said)
	return d.total, err
}

// release shows an answer sentence by sentence, each after it was checked. Shown text is
// the beginning of the answer. Nothing is shown before a source supports a statement: an
// answer without one is no answer. A verifier is asked about each sentence by itself.
type release struct {
	judge

	stream *cite.Stream
	filter *sanitize.Filter
	taken  strings.Builder // parts of the model's text that were checked
	held   strings.Builder // what of them is not shown yet
	lines  int             // line ends at the end of held and shown
	shown  strings.Builder
	err    error
}

// Restart implements Draft.
func (r *release) Restart() bool {
	if r.shown.Len() > 0 {
		return false
	}
	fresh := judge{Answering: r.Answering, ctx: r.ctx, task: r.task, verified: r.verified}
	*r = release{judge: fresh, stream: cite.NewStream(r.task.Sources, cite.Options{Language: r.task.Language}), filter: &sanitize.Filter{}, err: r.err}
	return true
}

// Write implements Draft.
func (r *release) Write(piece string) { r.take(r.stream.Write(piece)) }

func (r *release) take(parts []cite.Part) {
	for _, p := range parts {
		if r.err != nil {
			return
		}
		var said string
		said, r.err = r.add(p.Text, p.Report)
		r.taken.WriteString(p.Text + p.Gap)
		lines := strings.Count(p.Gap, "\n")
		if said != "" || lines > r.lines { // a dropped sentence leaves its end of line
			r.held.WriteString(said + p.Gap)
			r.lines = lines
		}
		if r.total.grounded > 0 {
			r.show(r.filter.Write(r.held.String()))
			r.held.Reset()
		}
	}
}

func (r *release) show(text string) {
	if text != "" {
		r.shown.WriteString(text)
		graph.Emit(r.ctx, Token{Text: text})
	}
}

// end shows the rest. a.Text is the whole text of the model, "" if the model failed: then
// the unfinished sentence is left out.
func (r *release) end(a state.Answer) (verdict, error) {
	taken := strings.TrimLeft(r.taken.String(), " \t\r\n")
	switch rest, ok := strings.CutPrefix(a.Text, taken); {
	case ok:
		r.stream.Continue(rest)
	case a.Text == "" || strings.HasPrefix(taken, a.Text):
		r.stream.Continue("")
	}
	r.take(r.stream.Close())
	if said := strings.TrimSpace(r.held.String()); r.shown.Len() == 0 && said != "" {
		if v := r.total; v.claims > 0 && v.grounded == 0 {
			return v, r.err
		}
		r.held.WriteString(r.unmarked(said))
	}
	r.show(r.filter.Write(strings.TrimRight(r.held.String(), " \t\r\n")))
	r.show(r.filter.Close())
	r.total.Text = r.shown.String()
	return r.total, r.err
}
