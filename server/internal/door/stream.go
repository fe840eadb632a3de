package door

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Heartbeat is how often a stream says that it lives. Clients that see two of them reconnect
// after three times their distance.
const Heartbeat = 5 * time.Second

// Stream is a response of server-sent events. It is safe for concurrent use.
type Stream struct {
	w      http.ResponseWriter
	cancel context.CancelCauseFunc
	ended  chan struct{}
	beats  sync.WaitGroup

	mu     sync.Mutex
	buffer bytes.Buffer
	err    error // of the last write, after which nothing more is written
}

// OpenStream begins a response of events. The context ends with the request, and when the reader
// takes nothing any more. The caller closes the stream.
func OpenStream(w http.ResponseWriter, r *http.Request) (context.Context, *Stream) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx hands out each event at once
	ctx, cancel := context.WithCancelCause(r.Context())
	s := &Stream{w: w, cancel: cancel, ended: make(chan struct{})}
	w.WriteHeader(http.StatusOK)
	_ = s.write() // a fault shows with the first event
	s.beats.Go(func() {
		ticks := time.NewTicker(Heartbeat)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				_ = s.Comment("heartbeat")
			case <-s.ended:
				return
			}
		}
	})
	return ctx, s
}

// Close ends the stream.
func (s *Stream) Close() {
	close(s.ended)
	s.beats.Wait()
	s.cancel(nil)
}

// Message is one event. Event and ID may be empty.
type Message struct {
	Event, ID string
	Data      []byte
}

// oneLine takes the ends of lines out of a field of an event.
func oneLine(s string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(s) }

// Send writes an event.
func (s *Stream) Send(m Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Event != "" {
		s.buffer.WriteString("event: " + oneLine(m.Event) + "\n")
	}
	if m.ID != "" {
		s.buffer.WriteString("id: " + oneLine(m.ID) + "\n")
	}
	for line := range bytes.Lines(append(bytes.ReplaceAll(m.Data, []byte("\r"), nil), '\n')) {
		s.buffer.WriteString("data: ")
		s.buffer.Write(line)
	}
	s.buffer.WriteByte('\n')
	return s.write()
}

// SendJSON writes an event whose data is a value as JSON.
func (s *Stream) SendJSON(event string, v any) error {
	var data bytes.Buffer
	out := json.NewEncoder(&data)
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		return fmt.Errorf("event %q: %w", event, err)
	}
	return s.Send(Message{Event: event, Data: bytes.TrimSpace(data.Bytes())})
}

// Comment writes a line that readers ignore.
func (s *Stream) Comment(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffer.WriteString(": " + oneLine(text) + "\n\n")
	return s.write()
}

// write hands out the buffer. After an error the stream stays silent.
func (s *Stream) write() error {
	defer s.buffer.Reset()
	if s.err != nil {
		return s.err
	}
	_, err := s.w.Write(s.buffer.Bytes()) // the gate bounds its time
	if err == nil {
		err = http.NewResponseController(s.w).Flush()
	}
	if err != nil {
		s.err = err
		s.cancel(err)
	}
	return err
}
