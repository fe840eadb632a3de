package telemetry

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"
)

// Request begins the span of a request to a server, below that of the header traceparent. route is its pattern, id its
// X-Request-Id. ended is called with the status.
func (t *Telemetry) Request(r *http.Request, route, id string) (ctx context.Context, ended func(status int)) {
	begun := time.Now()
	ctx = propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, route, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String(attrMethod, r.Method), attribute.String(attrRoute, route), attribute.String(attrRequest, id),
	))
	return ctx, func(status int) {
		span.SetAttributes(attribute.Int(attrStatus, status))
		if status >= http.StatusInternalServerError {
			span.SetAttributes(attribute.String(attrErrorType, http.StatusText(status)))
		}
		span.End()
		t.meters.requestDuration.Record(ctx, time.Since(begun).Seconds(),
			tags(attribute.String(attrMethod, r.Method), attribute.String(attrRoute, route), attribute.Int(attrStatus, status)))
	}
}

// MCP begins to measure a request by the Model Context Protocol. ended is called with its error.
func (t *Telemetry) MCP(ctx context.Context, method string) (ended func(err error)) {
	begun := time.Now()
	if !slices.Contains([]string{"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list", "prompts/list", "prompts/get", "completion/complete"}, method) {
		method = "other" // a client may make up as many as it likes
	}
	return func(err error) {
		list := []attribute.KeyValue{attribute.String(attrMCPMethod, method)}
		if err != nil {
			list = append(list, attribute.String(attrErrorType, errorType(err)))
		}
		t.meters.mcpDuration.Record(ctx, time.Since(begun).Seconds(), tags(list...))
	}
}

// Handler serves the metrics as Prometheus reads them, or as JSON with ?format=json. It is nil without
// Options.Metrics.
func (t *Telemetry) Handler() http.Handler {
	if t == nil || t.registry == nil {
		return nil
	}
	text := promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch format := r.FormValue("format"); format {
		case "":
			text.ServeHTTP(w, r)
		case "json":
			t.serveJSON(w, r)
		default:
			http.Error(w, "format must be json, or left out for Prometheus", http.StatusBadRequest)
		}
	})
}

// series is a metric with one set of tags.
type series struct {
	Name  string            `json:"name"`
	Tags  map[string]string `json:"tags,omitempty"`
	Value *float64          `json:"value,omitempty"` // of a counter
	Count uint64            `json:"count,omitempty"` // of a histogram
	Sum   float64           `json:"sum,omitempty"`
}

func (t *Telemetry) serveJSON(w http.ResponseWriter, r *http.Request) {
	list, err := t.series(r.Context())
	if err != nil {
		http.Error(w, "the metrics cannot be read", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"metrics": list}) // a reader that has left needs nothing
}

// series reads all metrics by their own names.
func (t *Telemetry) series(ctx context.Context) ([]series, error) {
	var all metricdata.ResourceMetrics
	if err := t.snapshot.Collect(ctx, &all); err != nil {
		return nil, err
	}
	out := []series{}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			out = append(out, seriesOf(m)...)
		}
	}
	return out, nil
}

func seriesOf(m metricdata.Metrics) (out []series) {
	counter := func(value float64, tags attribute.Set) {
		out = append(out, series{Name: m.Name, Tags: tagsOf(tags), Value: &value})
	}
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			counter(float64(p.Value), p.Attributes)
		}
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			counter(p.Value, p.Attributes)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			out = append(out, series{Name: m.Name, Tags: tagsOf(p.Attributes), Count: p.Count, Sum: p.Sum})
		}
	}
	return out
}

func tagsOf(set attribute.Set) map[string]string {
	out := map[string]string{}
	for _, kv := range set.ToSlice() {
		out[string(kv.Key)] = kv.Value.String()
	}
	return out
}
