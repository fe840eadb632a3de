package telemetry

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"example.com/ragflow/graph"
)

// meters are the instruments. Durations whose name ends in _ms are in milliseconds.
type meters struct {
	searchDuration, results                                         metric.Float64Histogram
	searchCalls, searchErrors, empty                                metric.Int64Counter
	contextDuration, contextTokens, contextChunks, contextTruncated metric.Float64Histogram
	chatDuration, firstToken                                        metric.Float64Histogram
	chatCalls, chatErrors, chatRetries, inputTokens, outputTokens   metric.Int64Counter
	chunks                                                          metric.Int64Counter
	cost                                                            metric.Float64Counter
	queryDuration, stage                                            metric.Float64Histogram
	queryCalls, queryErrors                                         metric.Int64Counter
	clientDuration, clientTokens, clientFirstChunk, requestDuration metric.Float64Histogram
	mcpDuration                                                     metric.Float64Histogram
}

// newMeters makes the instruments.
func newMeters(m metric.Meter) (*meters, error) {
	var faults []error
	counter := func(name, about string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithDescription(about))
		faults = append(faults, err)
		return c
	}
	histogram := func(name, unit, about string, bounds ...float64) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(bounds...))
		faults = append(faults, err)
		return h
	}
	millis := []float64{1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000}
	seconds := []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokens := []float64{1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576}
	chunks := []float64{0, 1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100, 200}
	out := &meters{
		searchDuration:   histogram("retriever.search.duration_ms", "", "Time of a search.", millis...),
		searchCalls:      counter("retriever.search.calls", "Searches."),
		searchErrors:     counter("retriever.search.errors", "Searches that failed."),
		results:          histogram("retriever.results_returned", "", "Passages that a search returned.", chunks...),
		empty:            counter("retriever.empty_results", "Searches that found nothing."),
		contextDuration:  histogram("context.build.duration_ms", "", "Time to build the context of an answer.", millis...),
		contextTokens:    histogram("context.tokens_used", "", "Tokens of the context.", tokens...),
		contextChunks:    histogram("context.chunks_included", "", "Passages in the context.", chunks...),
		contextTruncated: histogram("context.chunks_truncated", "", "Chosen passages that the limit of tokens cut or left out.", chunks...),
		chatDuration:     histogram("llm.generate.duration_ms", "", "Time of a call of a language model, with its retries.", millis...),
		chatCalls:        counter("llm.generate.calls", "Calls of language models."),
		chatErrors:       counter("llm.generate.errors", "Calls of language models that failed."),
		chatRetries:      counter("llm.generate.retries", "Requests to language models that were repeated."),
		inputTokens:      counter("llm.tokens_input", "Tokens that language models read."),
		outputTokens:     counter("llm.tokens_output", "Tokens that language models wrote."),
		chunks:           counter("llm.streaming.chunks", "Pieces of streamed answers."),
		firstToken:       histogram("llm.streaming.first_token_ms", "", "Time to the first piece of a streamed answer.", millis...),
		queryDuration:    histogram("pipeline.query.duration_ms", "", "Time of a run, from the question to the answer.", millis...),
		queryCalls:       counter("pipeline.query.calls", "Runs."),
		queryErrors:      counter("pipeline.query.errors", "Runs that failed."),
		stage:            histogram("pipeline.stage.duration_ms", "", "Time of a node of the graph.", millis...),
		clientDuration:   histogram("gen_ai.client.operation.duration", "s", "Time of a call of a model.", seconds...),
		clientTokens:     histogram("gen_ai.client.token.usage", "{token}", "Tokens of a call of a model.", tokens...),
		clientFirstChunk: histogram("gen_ai.client.operation.time_to_first_chunk", "s", "Time to the first piece of a streamed answer.", seconds...),
		mcpDuration:      histogram("mcp.server.operation.duration", "s", "Time of a request by the Model Context Protocol.", seconds...),
		requestDuration:  histogram("http.server.request.duration", "s", "Time of a request.", seconds...),
	}
	var err error
	out.cost, err = m.Float64Counter("llm.cost_usd", metric.WithDescription("US dollars, of models whose price is known."))
	return out, errors.Join(append(faults, err)...)
}

// ms is a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// stage is the node that a call was made by; outside of a run it is none.
func stage(ctx context.Context) string { return cmp.Or(graph.Info(ctx).Node, "none") }

func tags(list ...attribute.KeyValue) metric.MeasurementOption { return metric.WithAttributes(list...) }

// failure tags what failed. Without an error a counter of errors is there too, with nothing counted.
func failure(err error) metric.MeasurementOption {
	if err == nil {
		return tags()
	}
	return tags(attribute.String(tagError, errorType(err)))
}

// one is 1 if something is true.
func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
