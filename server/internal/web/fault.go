package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"example.com/ragflow"
	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/llm"
	"example.com/ragflow/server/internal/door"
)

// fault is an error as a page says it: Kind names a sentence, "fault.model", and Detail is the error itself.
type fault struct{ Kind, Detail string }

// kinds are the errors that a person can meet. The first that matches names the sentence.
var kinds = []struct {
	kind string
	errs []error
}{
	{"cancelled", []error{context.Canceled, graph.ErrCancelled, graph.ErrDrained}},
	{"rate", []error{llm.ErrRateLimited}},
	{"timeout", []error{llm.ErrTimeout, context.DeadlineExceeded}},
	{"key", []error{llm.ErrCredentials}},
	{"nomodel", []error{llm.ErrModelNotFound, ragflow.ErrNoSuchModel, ragflow.ErrNoModel}},
	{"long", []error{llm.ErrContextLength}},
	{"model", []error{llm.ErrUnavailable, llm.ErrBadResponse, llm.ErrRefused}},
	{"deleted", []error{errDeleted}},
	{"document", []error{ingest.ErrNoDocument}},
	{"collection", []error{ingest.ErrNoCollection}},
	{"documents", []error{ingest.ErrNoDocuments}},
	{"empty", []error{ragflow.ErrEmptyQuery}},
	{"busy", []error{graph.ErrBusy, graph.ErrSuperseded}},
	{"disk", []error{ragflow.ErrDiskFull, ragflow.ErrDisk, ragflow.ErrReadOnly, ragflow.ErrLocked, ingest.ErrReadOnly}},
	{"none", []error{graph.ErrNotFound}},
}

func newFault(err error) fault {
	_, limit := errors.AsType[*agent.LimitError](err)
	_, steps := errors.AsType[*graph.StepLimitError](err)
	if limit || steps {
		return fault{"budget", err.Error()}
	}
	for _, k := range kinds {
		for _, known := range k.errs {
			if errors.Is(err, known) {
				return fault{k.kind, err.Error()}
			}
		}
	}
	return fault{"other", err.Error()}
}

// errDeleted is the error for a form of a conversation that was deleted.
var errDeleted = errors.New("the conversation was deleted")

func statusOf(err error) int {
	switch {
	case errors.Is(err, errDeleted):
		return http.StatusGone
	case errors.Is(err, ragflow.ErrEmptyQuery):
		return http.StatusUnprocessableEntity
	}
	return door.Status(err)
}

// refused answers a request that the gate does not let through.
func (s *site) refused(w http.ResponseWriter, r *http.Request, status int, message string) {
	kind := map[int]string{
		http.StatusUnauthorized: "login", http.StatusForbidden: "forbidden", http.StatusTooManyRequests: "rate", http.StatusServiceUnavailable: "rate",
	}[status]
	s.write(w, r, faultPage(r, fault{cmp.Or(kind, "other"), message}, status))
}

type failedPage struct {
	fault

	Thread string // of a deleted conversation, which can be brought back
}

// faultPage shows an error: as a page, or as a notice for a page that is open. Somebody who is not logged in gets the
// page to do so. That something is another person's is not told from that it is nowhere.
func faultPage(r *http.Request, f fault, status int) answer {
	if status == http.StatusNotFound || status == http.StatusGone { // the sentence says it all
		f.Detail = ""
	}
	a := answer{status: status, name: "failed", data: failedPage{f, r.PathValue("thread")}}
	switch {
	case quiet(r):
		a.name, a.header = "failed#notice", http.Header{"Hx-Retarget": {"#notice"}, "Hx-Reswap": {"innerHTML"}}
	case status == http.StatusUnauthorized:
		a.name, a.data = "login", ""
	}
	return a
}
