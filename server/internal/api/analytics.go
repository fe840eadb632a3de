package api

import (
	"context"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

type analyticsRequest struct {
	Days       int    `json:"-" query:"days" max:"3650"` // until now; 0: all that are kept
	Collection string `json:"-" query:"collection"`
	Owner      string `json:"-" query:"owner"`
}

func (s *service) sums() []endpoint {
	return []endpoint{call("GET /api/analytics", tokens.Admin, "What was asked, what took long, and what the documents do not hold", s.analytics)}
}

// analytics sums up the questions of the collections that the token may use.
func (s *service) analytics(ctx context.Context, r *analyticsRequest) (*ragflow.Analytics, error) {
	collections, err := door.Of(ctx).Choose(r.Collection)
	if err != nil {
		return nil, err
	}
	return s.a.Analytics(ctx, ragflow.AnalyticsQuery{Last: time.Duration(r.Days) * 24 * time.Hour, Collections: collections, Owner: r.Owner})
}
