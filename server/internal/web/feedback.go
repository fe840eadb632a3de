package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// rate keeps what a person thinks of an answer.
func (s *site) rate(r *http.Request) (answer, error) {
	ctx, run := r.Context(), r.PathValue("run")
	rating := ragflow.Rating{
		Run: run, Good: r.FormValue("good") == "yes", Note: strings.TrimSpace(r.FormValue("note")), Better: strings.TrimSpace(r.FormValue("better")),
		Promote: r.FormValue("promote") != "" && door.Of(ctx).May(tokens.Upload),
	}
	_, err := s.a.Rate(ctx, rating)
	return answer{to: threadAt(r.PathValue("thread")) + "#turn-" + url.PathEscape(run)}, err
}

// ratings are the last ratings by run; a turn without one has none.
func (s *site) ratings(ctx context.Context) map[string]*ragflow.Feedback {
	all, _ := s.a.Ratings(ctx, "") // the newest first; a page is shown without those that cannot be read
	out := make(map[string]*ragflow.Feedback, len(all))
	for _, f := range slices.Backward(all) {
		out[f.RunID] = &f
	}
	return out
}
