package web

import (
	"net/http"
	"strconv"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/server/internal/door"
)

type usagePage struct {
	*ragflow.Analytics

	Days int
}

// usage shows what was asked, what took long, and what the documents do not hold.
func (s *site) usage(r *http.Request) (answer, error) {
	ctx := r.Context()
	days, err := strconv.Atoi(r.URL.Query().Get("days"))
	if err != nil || days < 1 || days > 3650 {
		days = 30
	}
	collections, err := door.Of(ctx).Choose("")
	if err != nil {
		return answer{}, err
	}
	report, err := s.a.Analytics(ctx, ragflow.AnalyticsQuery{Last: time.Duration(days) * 24 * time.Hour, Collections: collections})
	return answer{name: "usage", data: usagePage{report, days}}, err
}
