// Package telemetry tells others how an assistant works: spans over OTLP, metrics over OTLP and for Prometheus, by
// the names of OpenTelemetry.
//
//	t, err := telemetry.Start(ctx, telemetry.Options{Metrics: true})
//	t.Instrument(&config) // before ragflow.Open
//	defer t.Close()
//
// A [Telemetry] is the graph's hook, the observer of searches, and wraps the models. If nothing is to be
// recorded, Start returns nil, and a nil Telemetry leaves the configuration as it is: there is no hook at all.
//
// Spans name models, threads, runs and nodes. Questions, answers and passages are in them only with
// Options.Content. Metrics never hold them.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
)

// Options say what is recorded. The receiver of OTLP is in the variables OTEL_EXPORTER_OTLP_… of the environment, as
// OpenTelemetry defines them; without an endpoint there, nothing is sent. The zero value records nothing else.
type Options struct {
	Metrics       bool      // for Handler
	Content       bool      // questions, answers and passages are part of spans
	OpenInference bool      // spans also have the keys of OpenInference
	LangSmith     LangSmith // gets the spans, too
	Version       string    // of the program
	Logger        *slog.Logger
}

// LangSmith is a project there. The zero value is none.
type LangSmith struct {
	Tracing  bool
	Endpoint string // empty: https://api.smith.langchain.com
	Key      string
	Project  string // empty: the default one of the key
}

// Telemetry records what an assistant does. Nil records nothing. It is safe for concurrent use.
type Telemetry struct {
	o          Options
	tracer     trace.Tracer
	meters     *meters
	traces     *sdktrace.TracerProvider
	metrics    *metric.MeterProvider
	registry   *prometheus.Registry // nil: no Handler
	snapshot   *metric.ManualReader
	recipients []string
}

// Start begins to record. It sends nothing yet. It returns nil if nothing is to be recorded. The error says which
// setting makes no sense.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	t := &Telemetry{o: o}
	on, err := t.export(ctx)
	if err != nil || !on {
		return nil, err
	}
	t.tracer = t.traces.Tracer(workflow)
	t.meters, err = newMeters(t.metrics.Meter(workflow))
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// closeTime is how long the end of a program waits for what is still to be sent.
const closeTime = 3 * time.Second

// Close sends what is left, for at most three seconds.
func (t *Telemetry) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return errors.Join(t.traces.Shutdown(ctx), t.metrics.Shutdown(ctx))
}

// Recipients are the addresses that spans and metrics are sent to.
func (t *Telemetry) Recipients() []string {
	if t == nil {
		return nil
	}
	return t.recipients
}

// Instrument makes an assistant with this configuration tell t what it does.
func (t *Telemetry) Instrument(c *ragflow.Config) {
	if t == nil {
		return
	}
	c.Hook, c.Observer = t, t.search
	m := &c.Models
	m.Chat = t.chat(m.Chat)
	named, tasks := map[string]llm.Chat{}, map[string]llm.Task{}
	for name, chat := range m.Named {
		named[name] = t.chat(chat)
	}
	for name, task := range m.Tasks {
		task.Chat = t.chat(task.Chat)
		tasks[name] = task
	}
	m.Named, m.Tasks = named, tasks
	if _, own := m.Embedder.(*meaning.Transformer); m.Embedder != nil && !own { // the built-in one is a part of the search
		m.Embedder = &embedder{m.Embedder, t}
	}
	if m.Reranker != nil {
		m.Reranker = &reranker{m.Reranker, t}
	}
}

// begin starts a span. kind is that of OpenInference.
func (t *Telemetry) begin(ctx context.Context, name, kind string, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(attributes...))
	if t.o.OpenInference {
		span.SetAttributes(attribute.String(inferKind, kind))
	}
	return ctx, span
}

// end ends a span. The text of an error may quote a question, so only its type is told.
func (t *Telemetry) end(span trace.Span, err error) {
	if err != nil {
		span.SetAttributes(attribute.String(attrErrorType, errorType(err)))
		text := ""
		if t.o.Content {
			text = err.Error()
		}
		span.SetStatus(codes.Error, text)
	}
	span.End()
}

// errorType is the tag of an error, one of few.
func errorType(err error) string {
	for _, known := range []struct {
		err  error
		name string
	}{
		{llm.ErrCredentials, "credentials"},
		{llm.ErrRateLimited, "rate_limited"},
		{llm.ErrTimeout, "timeout"},
		{llm.ErrModelNotFound, "model_not_found"},
		{llm.ErrRefused, "refused"},
		{llm.ErrContextLength, "context_length"},
		{llm.ErrBadResponse, "bad_response"},
		{llm.ErrUnavailable, "unavailable"},
		{graph.ErrDrained, "drained"},
		{graph.ErrCancelled, "cancelled"},
		{graph.ErrSuperseded, "superseded"},
		{context.Canceled, "cancelled"},
		{context.DeadlineExceeded, "timeout"},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	if _, ok := errors.AsType[*graph.PanicError](err); ok {
		return "panic"
	}
	return "_OTHER"
}

// propagator reads and writes the headers of the W3C.
var propagator propagation.TraceContext //nolint:gochecknoglobals // it has no fields
