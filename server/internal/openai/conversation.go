package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// Metadata of the threads that clients of this protocol begin.
const (
	namedBy = "openai.name"     // by which the client names the thread
	heard   = "openai.messages" // hash of all messages that its client has
)

// hash identifies messages. White space and other forms of the same characters make no difference.
func hash(messages ...state.Message) string {
	h := sha256.New()
	for _, m := range messages {
		_, _ = h.Write([]byte(string(m.Role) + "\x00" + text.Clean(m.Content) + "\x00")) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// place is where a turn takes place.
type place struct {
	thread  string // empty: a new one, which begins with history
	history []state.Message
	name    string // by which the client names a new thread
	hashed  bool   // the client sends all messages each time
}

// find returns the thread with a value of metadata that the caller used last; nil: none.
func (s *service) find(ctx context.Context, key, value string) (*threads.Info, error) {
	q := threads.Query{Metadata: map[string]string{key: value}}
	for {
		page, err := s.a.Threads().List(ctx, q)
		for i := range page.Threads {
			if t := &page.Threads[i]; t.Owner == graph.OwnerOf(ctx) { // who sees all threads continues none of another owner
				return t, nil
			}
		}
		if q.After = page.Next; err != nil || q.After == 0 {
			return nil, err
		}
	}
}

// locate finds the thread of a question. A client may name a thread of ours, have a name of its own
// for it, or tell its chat; else the messages before the question decide.
func (s *service) locate(r *http.Request, metadata map[string]string, before []state.Message) (place, error) {
	ctx := r.Context()
	if name := strings.TrimSpace(r.Header.Get("X-Ragflow-Thread") + metadata["thread_id"]); name != "" {
		info, err := s.a.Threads().Info(ctx, name)
		if errors.Is(err, graph.ErrNotFound) {
			return s.named(ctx, "thread "+name, before)
		}
		return place{thread: info.ID}, err
	}
	p := place{history: before, hashed: true}
	var info *threads.Info
	var err error
	if chat := r.Header.Get("X-Openwebui-Chat-Id"); chat != "" {
		p.name = "chat " + chat
		if info, err = s.find(ctx, namedBy, p.name); info != nil && info.Metadata[heard] != hash(before...) {
			info = nil // the person edited the chat
		}
	} else if len(before) > 0 {
		info, err = s.find(ctx, heard, hash(before...))
	}
	if info != nil {
		p.thread, p.history = info.ID, nil
	}
	return p, err
}

// named returns the thread that a client has a name for.
func (s *service) named(ctx context.Context, name string, before []state.Message) (place, error) {
	info, err := s.find(ctx, namedBy, name)
	if info == nil || err != nil {
		return place{history: before, name: name}, err
	}
	return place{thread: info.ID}, nil
}

// after returns the place after the answer of a run: its thread, or a new one if that has later turns.
func (s *service) after(ctx context.Context, run string) (place, error) {
	t, at, err := s.said(ctx, run)
	if err != nil {
		return place{}, err
	}
	if at == len(t.Messages)-1 {
		return place{thread: t.ID}, nil
	}
	return place{history: history(t.Messages[:at+1])}, nil
}

// said returns the thread of a run, and the index of the answer in it. A run without one, or that was
// undone, is graph.ErrNotFound.
func (s *service) said(ctx context.Context, run string) (*threads.Thread, int, error) {
	r, err := s.a.Threads().Run(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	t, err := s.a.Threads().Thread(ctx, r.Thread)
	if err != nil {
		return nil, 0, err
	}
	at := slices.IndexFunc(t.Messages, func(m threads.Message) bool { return m.Run == run && m.Role == state.AI })
	if at < 0 {
		return nil, 0, graph.ErrNotFound
	}
	return t, at, nil
}

// history returns messages as those that a new thread begins with.
func history(messages []threads.Message) (out []state.Message) {
	for _, m := range messages {
		if m.Role == state.Human || m.Role == state.AI {
			out = append(out, state.Message{Role: m.Role, Content: m.Content})
		}
	}
	return out
}

// remember writes down what its client has of a thread.
func (s *service) remember(ctx context.Context, thread string, p place, messages ...state.Message) error {
	known := map[string]string{heard: ""}
	if p.hashed {
		known[heard] = hash(messages...)
	}
	return s.a.Threads().Describe(context.WithoutCancel(ctx), thread, known)
}

// A conversation is only an id before its first response: nothing is stored, and one of another owner
// looks like an empty one.
const conversationID = "conv_"

func (*service) makeConversation(w http.ResponseWriter, r *http.Request) (any, error) {
	var in struct {
		Items []message `json:"items"`
	}
	err := door.ReadJSON(r, &in)
	if err == nil && len(in.Items) > 0 {
		err = refuse("items", "a conversation begins with its first response, which may have several messages")
	}
	if err != nil {
		return nil, err
	}
	return describe(conversationID + uuid.Must(uuid.NewV7()).String())
}

// describe returns a conversation as an object. Its id has the time when it was made.
func describe(id string) (object, error) {
	name, ours := strings.CutPrefix(id, conversationID)
	u, err := uuid.Parse(name)
	if err != nil || !ours || u.Version() != 7 {
		return nil, graph.ErrNotFound
	}
	seconds, _ := u.Time().UnixTime()
	return object{"id": id, "object": "conversation", "created_at": seconds, "metadata": object{}}, nil
}

func (*service) conversation(_ http.ResponseWriter, r *http.Request) (any, error) {
	return describe(r.PathValue("id"))
}

// items lists the messages of a conversation, all at once, the newest first unless it is asked otherwise.
func (s *service) items(_ http.ResponseWriter, r *http.Request) (any, error) {
	if _, err := describe(r.PathValue("id")); err != nil {
		return nil, err
	}
	info, err := s.find(r.Context(), namedBy, r.PathValue("id"))
	t := &threads.Thread{}
	if err == nil && info != nil {
		t, err = s.a.Threads().Thread(r.Context(), info.ID)
	}
	if err != nil {
		return nil, err
	}
	list := []object{}
	for _, m := range t.Messages {
		list = append(list, item(m))
	}
	if r.URL.Query().Get("order") != "asc" {
		slices.Reverse(list)
	}
	return object{"object": "list", "data": list, "has_more": false}, nil
}

// item is a message of a thread.
func item(m threads.Message) object {
	role, part := "user", object{"type": "input_text", "text": m.Content}
	if m.Role == state.AI {
		var w writer
		role, part = "assistant", object{"type": "output_text", "text": w.write(m.Content) + w.close(), "annotations": []object{}}
	}
	return object{"id": "msg_" + m.ID, "type": "message", "status": "completed", "role": role, "content": []object{part}}
}
