package langgraph

import (
	"net/http"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/server/internal/door"
)

func (s *service) streamRoutes() []door.Route {
	return []door.Route{
		long("POST /threads/{thread}/runs/stream", s.streamNew), long("POST /runs/stream", s.streamNew),
		long("GET /threads/{thread}/runs/{run}/stream", s.streamAgain),
	}
}

func (s *service) streamNew(w http.ResponseWriter, r *http.Request) error {
	x, q, err := s.beginFrom(w, r)
	if err != nil {
		return err
	}
	t, err := s.find(r.Context(), x.thread)
	if err != nil && !missing(err) {
		return err
	}
	s.stream(w, r, reading{found: t, run: x, modes: x.modes, subgraphs: x.subgraphs, ids: x.resumable, cancel: q.OnDisconnect == "cancel"})
	return nil
}

// streamAgain is the stream of a run for a reader that comes back, or comes later.
func (s *service) streamAgain(w http.ResponseWriter, r *http.Request) error {
	t, x, c, err := s.named(r)
	if err != nil {
		return err
	}
	in := reading{found: t, run: x, call: c, modes: x.modes, subgraphs: x.subgraphs, ids: true, cancel: cancels(r)}
	if list := r.URL.Query()["stream_mode"]; strings.Join(list, "") != "" { // the Python SDK sends an empty one
		in.modes = list
	}
	if err := in.check(); err != nil {
		return err
	}
	if in.after, err = lastEvent(r); err != nil {
		return err
	}
	w.Header().Set("Content-Location", "/threads/"+x.thread+"/runs/"+x.id)
	s.stream(w, r, in)
	return nil
}

// lastEvent returns the number of the last event that a reader has; 0 without any.
func lastEvent(r *http.Request) (int64, error) {
	last := r.Header.Get("Last-Event-ID")
	if last == "" || last == "-1" {
		return 0, nil
	}
	n, err := strconv.ParseInt(last, 10, 64)
	if err != nil {
		return 0, failed(http.StatusUnprocessableEntity, "Last-Event-ID: %q is not the id of an event", last)
	}
	return n, nil
}

// reading is how a run is read.
type reading struct {
	*found
	*run
	modes

	call      loggedCall // of a run that is in the log alone
	subgraphs bool
	ids       bool  // events have ids
	after     int64 // the number of the last event that the reader has
	cancel    bool  // the run ends when the reader leaves
}

// stream writes the events of a run, to its end.
func (s *service) stream(w http.ResponseWriter, r *http.Request, in reading) {
	x := in.run
	location := "/threads/" + x.thread + "/runs/" + x.id + "/stream"
	for i, m := range in.modes {
		location += map[bool]string{true: "?", false: "&"}[i == 0] + "stream_mode=" + m
	}
	w.Header().Set("Location", location)
	ctx, out := door.OpenStream(w, r)
	defer out.Close()
	if in.after == 0 {
		first := part{name: "metadata", data: map[string]any{"run_id": x.id, "attempt": 1}}
		_ = out.Send(door.Message{Event: first.name, Data: first.encoded()}) // a fault shows with the next one
	}
	p := newPrinter(x, in.modes, in.subgraphs)
	any := false
	for e, err := range s.events(ctx, in.found, x, in.call) {
		if err != nil {
			if ctx.Err() != nil && in.cancel {
				x.cancel(graph.ErrCancelled)
			}
			return
		}
		any = true
		for i, part := range p.print(&e) {
			m := door.Message{Event: part.name, Data: part.encoded()}
			n := number(e.at, i)
			if n <= in.after {
				continue
			}
			if in.ids {
				m.ID = strconv.FormatInt(n, 10)
			}
			_ = out.Send(m) // an error ends ctx
		}
	}
	if !any && p.wants("values") && in.found != nil { // nothing was left to do
		if state, _, err := in.State(ctx, x.thread); err == nil {
			values := part{name: "values", data: valuesOf(state)}
			_ = out.Send(door.Message{Event: values.name, Data: values.encoded()})
		}
	}
}
