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
func (s *site) usage(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	days, err := strconv.Atoi(r.URL.Query().Get("days"))
	if err != nil || days < 1 || days > 3650 {
		days = 30
	}
	collections, err := door.Of(ctx).Choose("")
	if err != nil {
		s.fault(w, r, err)
		return
	}
	report, err := s.a.Analytics(ctx, ragflow.AnalyticsQuery{Last: time.Duration(days) * 24 * time.Hour, Collections: collections})
	if err != nil {
		s.fault(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, "usage", usagePage{report, days})
}
