package api

import (
	"cmp"
	"context"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// ratingRequest names an answer by its run, or by its thread and turn.
type ratingRequest struct {
	Run      string   `json:"run_id,omitempty"`
	Thread   string   `json:"thread_id,omitempty"`
	Turn     int      `json:"turn,omitempty"` // from 1; 0: the last one
	Good     bool     `json:"good"`
	Quality  *float64 `json:"quality,omitempty"` // 0 to 1, of programs that judge: above 0.95 the answer is good
	Note     string   `json:"note,omitempty"`
	Better   string   `json:"better,omitempty"`   // a better answer, with [Source N] behind what source N says
	Promote  bool     `json:"promote,omitempty"`  // later questions find Better, if its sources say it; needs the scope upload
	Question string   `json:"question,omitempty"` // title of a promoted answer
}

type ratingsReply struct {
	Feedback []ragflow.Feedback `json:"feedback"`
}

type ratingsRequest struct {
	Thread string `json:"-" query:"thread_id"`        // of one thread; empty: of all
	Like   string `json:"-" query:"like"`             // of questions that share 0.7 of its words, the most similar first
	Limit  int    `json:"-" query:"limit" max:"1000"` // 0: 100
}

func (s *service) ratings() []endpoint {
	return []endpoint{
		call("GET /api/feedback", tokens.Ask, "Ratings of the caller's answers, the newest first", s.listRatings),
		call("POST /api/feedback", tokens.Ask, "Rate an answer; a good one is found by later questions", s.rate),
	}
}

// listRatings returns the ratings of the caller's answers.
func (s *service) listRatings(ctx context.Context, r *ratingsRequest) (ratingsReply, error) {
	all, err := s.a.Ratings(ctx, r.Like)
	out := ratingsReply{Feedback: []ragflow.Feedback{}}
	for _, f := range all {
		if len(out.Feedback) < cmp.Or(r.Limit, 100) && (r.Thread == "" || f.ThreadID == r.Thread) {
			out.Feedback = append(out.Feedback, shownTo(ctx, f))
		}
	}
	return out, err
}

// shownTo leaves out the folder of this machine for callers of others.
func shownTo(ctx context.Context, f ragflow.Feedback) ragflow.Feedback {
	if !door.Of(ctx).Local {
		f.Document = ""
	}
	return f
}

func (s *service) rate(ctx context.Context, r *ratingRequest) (out ragflow.Feedback, err error) {
	if (r.Run == "") == (r.Thread == "") {
		return out, senseless("name the answer by run_id, or by thread_id and turn")
	}
	f, err := s.a.Rate(ctx, ragflow.Rating{
		Run: r.Run, Thread: r.Thread, Turn: r.Turn, Good: r.Good, Quality: r.Quality, Note: r.Note, Better: r.Better, Question: r.Question,
		Promote: r.Promote && door.Of(ctx).May(tokens.Upload),
	})
	if err != nil {
		return out, err
	}
	return shownTo(ctx, *f), nil
}
