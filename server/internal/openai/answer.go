package openai

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/state"
)

// turn is one question and how its answer is told.
type turn struct {
	model  string
	text   string
	before []state.Message // that the client sent with it
	place  place
	forget bool // delete the thread when the question is answered

	collections []string // that are asked; none is the default one

	stream func(out *door.Stream, a *answer) teller // begins to tell; nil: as a whole
	whole  func(a *answer) object
}

// teller tells an answer as a stream. A reader that has left ends the context of the stream, so
// that no method returns an error.
type teller interface {
	step(node string)
	say(text string)
	end()
	fail(err error)
}

// answer is what there is of an answer; reply and sources are known at its end.
type answer struct {
	turn   *turn
	teller teller // nil: it is told as a whole
	run    string
	thread string
	time   time.Time
	text   string // what the client gets: the answer and its list of sources

	writer  writer
	reply   *ragflow.Reply
	sources []source
}

var errTakenBack = errors.New("what was said was taken back")

// answer answers a question. It returns the answer unless that is a stream.
func (s *service) answer(w http.ResponseWriter, r *http.Request, t *turn) (any, error) {
	var err error
	if t.collections, err = s.collections(r.Context(), t.model); err != nil {
		return nil, err
	}
	settings := s.config.Settings
	settings.Checked = true
	q := ragflow.Question{Text: t.text, Collections: t.collections, Settings: &settings, Thread: t.place.thread, History: t.place.history, Fresh: door.Of(r.Context()).Fresh}
	if t.place.name != "" {
		q.Metadata = map[string]string{namedBy: t.place.name}
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	a := &answer{turn: t, time: s.config.Clock()}
	defer func() {
		if t.forget && a.thread != "" {
			_ = s.a.Threads().Delete(context.WithoutCancel(ctx), a.thread) // it may be gone already
		}
	}()
	for e, err := range s.a.Stream(ctx, q) {
		if a.run == "" && err == nil {
			a.run, a.thread = e.Run, e.Thread
			w.Header().Set("X-Ragflow-Thread", e.Thread)
			if t.stream != nil {
				defer a.open(w, r, cancel)()
			}
		}
		if err == nil {
			err = s.take(r, a, e)
		}
		if err != nil && a.teller != nil {
			a.teller.fail(err)
			return door.Sent{}, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if a.teller == nil {
		return t.whole(a), nil
	}
	a.teller.end()
	return door.Sent{}, nil
}

// open begins a stream, and returns what ends it. A reader that leaves cancels the run.
func (a *answer) open(w http.ResponseWriter, r *http.Request, cancel func()) (end func()) {
	read, out := door.OpenStream(w, r)
	go func() { <-read.Done(); cancel() }() // ends when out is closed
	a.teller = a.turn.stream(out, a)
	return out.Close
}

// take takes an event of the run.
func (s *service) take(r *http.Request, a *answer, e ragflow.Event) error {
	switch e.Kind {
	case ragflow.StepBegan:
		if a.teller != nil && e.Path == "" {
			a.teller.step(e.Node)
		}
	case ragflow.Text:
		a.say(a.writer.write(e.Text))
	case ragflow.Withdrawn:
		return errTakenBack
	case ragflow.Done:
		a.say(a.writer.close())
		said := append(slices.Clip(a.turn.before), state.Message{Role: state.Human, Content: a.turn.text}, state.Message{Role: state.AI, Content: a.text})
		if err := s.remember(r.Context(), e.Thread, a.turn.place, said...); err != nil {
			return err
		}
		s.finish(r, a, e.Reply)
	default: // the others say nothing to these clients
	}
	return nil
}

// say adds to the text.
func (a *answer) say(text string) {
	if a.text += text; text != "" && a.teller != nil {
		a.teller.say(text)
	}
}

// finish adds the list of sources.
func (s *service) finish(r *http.Request, a *answer, reply *ragflow.Reply) {
	base, documents := door.Base(s.public, r), door.Documents{Assistant: s.a}
	a.reply, a.sources = reply, a.writer.sources(reply, base, func(c ragflow.CitationReply) string {
		return documents.Link(r.Context(), base, a.turn.collections, c.Citation)
	})
	a.say(list(reply.SourcesHeader, a.sources))
}

// annotations are the places of the text that cite a source. nested is how chat completions have them.
func (a *answer) annotations(nested bool) []object {
	out := []object{}
	for _, m := range a.writer.marks {
		s := a.sources[m.n-1]
		cited := object{"url": s.url, "title": s.title, "start_index": m.start, "end_index": m.end}
		if nested {
			out = append(out, object{"type": "url_citation", "url_citation": cited})
			continue
		}
		cited["type"] = "url_citation"
		out = append(out, cited)
	}
	return out
}
