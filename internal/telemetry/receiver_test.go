package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver takes OTLP over HTTP, as a collector does.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	spans    []*tracepb.Span
	metrics  map[string]bool // names
	requests []*http.Request
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{metrics: map[string]bool{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests = append(r.requests, q)
		var spans collectortrace.ExportTraceServiceRequest
		var metrics collectormetrics.ExportMetricsServiceRequest
		if q.URL.Path == "/v1/metrics" {
			err = proto.Unmarshal(body, &metrics)
		} else if err == nil {
			err = proto.Unmarshal(body, &spans)
		}
		for _, resource := range spans.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
		for _, resource := range metrics.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, m := range scope.Metrics {
					r.metrics[m.Name] = true
				}
			}
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// tags are the attributes of a span as text.
func tags(s *tracepb.Span) map[string]string {
	out := map[string]string{}
	for _, a := range s.Attributes {
		switch v := a.Value; {
		case v.GetStringValue() != "":
			out[a.Key] = v.GetStringValue()
		default:
			out[a.Key] = v.String()
		}
	}
	return out
}
