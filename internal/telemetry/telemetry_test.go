package telemetry_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/telemetry"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// question is asked in each test.
const question = "How much leave is there?"

// secret is in the document, and with it in every prompt.
const secret = "28 days of leave"

// start makes telemetry that sends nothing anywhere else, and ends it with the test.
func start(t *testing.T, o telemetry.Options) *telemetry.Telemetry {
	t.Helper()
	x, err := telemetry.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// open opens an assistant over one document, with models of a server.
func open(t *testing.T, x *telemetry.Telemetry, answer llmtest.Behaviour) *ragflow.Assistant {
	t.Helper()
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "leave.md"), []byte("# Leave\n\nEveryone has "+secret+" a year.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: "You grade search results", Do: llmtest.Say("SCORE: 0.9")}, llmtest.Entry{When: "Sources:", Do: answer},
		llmtest.Entry{Do: llmtest.Say("Leave")},
	))
	vectors := llmtest.NewServer(llmtest.Embed(8))
	t.Cleanup(func() { s.Close(); vectors.Close() })
	client, err := openai.New(openai.Config{Provider: "played", BaseURL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	c := ragflow.Config{DataDir: t.TempDir(), Collection: "house", Docs: []string{docs}, Models: ragflow.Models{Chat: llm.Price(llm.Retry(client.Chat("m"), llmtest.Instantly(new([]time.Duration))), llm.PerMillion{Input: 1, Output: 1})}}
	if client, err = openai.New(openai.Config{BaseURL: vectors.URL()}); err != nil {
		t.Fatal(err)
	}
	c.Models.Embedder = client.Embedder(openai.EmbedderConfig{Model: "e"})
	x.Instrument(&c)
	a, err := ragflow.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// ask asks a question in a request to a server, as a client with a trace of its own does.
func ask(t *testing.T, x *telemetry.Telemetry, a *ragflow.Assistant) error {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/ask", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	ctx, ended := x.Request(r, "POST /api/ask", "request-1")
	defer ended(http.StatusOK)
	_, err := a.Ask(ctx, ragflow.Question{Text: question, Thread: "t1"})
	return err
}

// TestTurn: the spans of one turn hang together from the caller's trace to the calls of models, and no question,
// answer or passage is in them.
func TestTurn(t *testing.T) {
	r := newReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
	x := start(t, telemetry.Options{Version: "1"})
	a := open(t, x, llmtest.Say("Everyone has "+secret+". [Source 1]"))
	if err := ask(t, x, a); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	got := r.tree()
	want := []string{
		"POST /api/ask / embeddings e", // the first question indexes the document
		"POST /api/ask / invoke_workflow ragflow",
		"caller / POST /api/ask",
		"check_and_refine / chat m",
		"generate / chat m",
		"invoke_workflow ragflow / check_and_refine",
		"invoke_workflow ragflow / generate",
		"invoke_workflow ragflow / ingest",
		"invoke_workflow ragflow / post_retrieval",
		"invoke_workflow ragflow / pre_retrieval",
		"invoke_workflow ragflow / retrieval",
		"invoke_workflow ragflow / summarize_conversation",
		"retrieval / retrieval hybrid",
		"retrieval hybrid / embeddings e",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parent / span (-want +got):\n%s", diff)
	}
	for _, s := range r.spans {
		if text := fmt.Sprint(s); strings.Contains(text, secret) || strings.Contains(text, "How much") || strings.Contains(text, "Leave") {
			t.Errorf("%s has content: %s", s.Name, text)
		}
	}
	r.has(t, "POST /api/ask", map[string]string{"ragflow.request.id": "request-1", "http.route": "POST /api/ask"})
	r.has(t, "invoke_workflow ragflow", map[string]string{"gen_ai.operation.name": "invoke_workflow", "gen_ai.conversation.id": "t1"})
	r.has(t, "retrieval hybrid", map[string]string{"gen_ai.operation.name": "retrieval", "retriever_type": "hybrid", "gen_ai.data_source.id": "house"})
	r.has(t, "embeddings e", map[string]string{"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e"})
	r.has(t, "chat m", map[string]string{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": "int_value:11"})
	for _, name := range append(required(), "gen_ai.client.operation.duration", "gen_ai.client.token.usage", "gen_ai.client.operation.time_to_first_chunk") {
		if !r.metrics[name] {
			t.Errorf("no metric %s was sent", name)
		}
	}
}

// tree lists "parent / span", each once, in order.
func (r *receiver) tree() []string {
	names := map[string]string{}
	for _, s := range r.spans {
		names[string(s.SpanId)] = s.Name
	}
	var out []string
	for _, s := range r.spans {
		parent := names[string(s.ParentSpanId)]
		if hex.EncodeToString(s.ParentSpanId) == "b7ad6b7169203331" {
			parent = "caller"
		}
		out = append(out, parent+" / "+s.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// has fails unless a span of that name has these attributes.
func (r *receiver) has(t *testing.T, name string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, s := range r.spans {
		if s.Name != name {
			continue
		}
		got = tags(s)
		missing := false
		for k, v := range want {
			missing = missing || got[k] != v
		}
		if !missing {
			return
		}
	}
	t.Errorf("no span %q has %v; the last one has %v", name, want, got)
}

// required are the names that O06 to O09 prescribe.
func required() []string {
	return []string{
		"retriever.search.duration_ms", "retriever.search.calls", "retriever.search.errors", "retriever.results_returned", "retriever.empty_results",
		"context.build.duration_ms", "context.tokens_used", "context.chunks_included", "context.chunks_truncated",
		"llm.generate.duration_ms", "llm.generate.calls", "llm.generate.errors", "llm.generate.retries", "llm.tokens_input", "llm.tokens_output",
		"llm.streaming.chunks", "llm.streaming.first_token_ms",
		"pipeline.query.duration_ms", "pipeline.query.calls", "pipeline.query.errors",
	}
}

// TestContent: with the switches, questions, answers and passages are in spans, also by the keys of OpenInference.
func TestContent(t *testing.T) {
	r := newReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", r.URL+"/v1/traces")
	x := start(t, telemetry.Options{Content: true, OpenInference: true})
	a := open(t, x, llmtest.Say("Everyone has "+secret+". [Source 1]"))
	if err := ask(t, x, a); err != nil {
		t.Fatal(err)
	}
	_ = x.Close()
	r.has(t, "retrieval hybrid", map[string]string{
		"gen_ai.retrieval.query.text": question, "input.value": question, "openinference.span.kind": "RETRIEVER",
	})
	answer := "Everyone has " + secret + ". [Source 1]"
	r.has(t, "invoke_workflow ragflow", map[string]string{
		"session.id": "t1", "openinference.span.kind": "CHAIN", "input.value": question, "output.value": answer,
		"gen_ai.input.messages":  `[{"role":"user","parts":[{"type":"text","content":"` + question + `"}]}]`,
		"gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"text","content":"` + answer + `"}],"finish_reason":"stop"}]`,
	})
	r.has(t, "chat m", map[string]string{
		"output.value": answer, "openinference.span.kind": "LLM", "llm.model_name": "m",
		"gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"text","content":"` + answer + `"}],"finish_reason":"stop"}]`,
	})
}

// TestMetrics: the text for Prometheus is what its own parser reads, with the names and tags that are prescribed, and
// the JSON has the names themselves.
func TestMetrics(t *testing.T) {
	x := start(t, telemetry.Options{Metrics: true})
	a := open(t, x, llmtest.Say("Everyone has "+secret+". [Source 1]"))
	if err := ask(t, x, a); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Search(t.Context(), "leave", ragflow.SearchOptions{}); err != nil {
		t.Fatal(err)
	}
	x.MCP(t.Context(), "tools/call")(nil)
	x.MCP(t.Context(), "a method that a client made up")(context.DeadlineExceeded)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(metrics(t, x)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range required() {
		spelled := strings.ReplaceAll(name, ".", "_")
		if families[spelled] == nil && families[spelled+"_total"] == nil {
			t.Errorf("no %s or %s_total at /metrics", spelled, spelled)
		}
	}
	check := func(name string, want float64, tags ...string) {
		t.Helper()
		f := families[name]
		if f == nil {
			t.Errorf("no %s", name)
			return
		}
		for _, m := range f.Metric {
			if labels := labelsOf(m); !slices.ContainsFunc(tags, func(tag string) bool { return !strings.Contains(labels, tag) }) && m.Counter.GetValue()+float64(m.Histogram.GetSampleCount()) == want {
				return
			}
		}
		t.Errorf("%s: no series with %v is %v: %v", name, tags, want, f)
	}
	check("retriever_search_calls_total", 2, `retriever_type="hybrid"`, `stage="retrieval"`) // the question, and as the model wrote it
	check("retriever_search_calls_total", 1, `stage="none"`)
	check("retriever_search_errors_total", 0, `stage="retrieval"`)
	check("llm_generate_calls_total", 1, `model="m"`, `stage="generate"`, `provider="`)
	check("pipeline_query_duration_ms", 1)
	check("pipeline_query_errors_total", 0)
	check("pipeline_stage_duration_ms", 1, `stage="post_retrieval"`)
	check("context_chunks_included", 1)
	check("mcp_server_operation_duration_seconds", 1, `mcp_method_name="tools/call"`)
	check("mcp_server_operation_duration_seconds", 1, `mcp_method_name="other"`, `error_type=`)
	if sum := families["context_tokens_used"].Metric[0].Histogram.GetSampleSum(); sum < 5 {
		t.Errorf("the context has %v tokens", sum)
	}
	if families["gen_ai_client_operation_duration_seconds"] == nil || families["process_resident_memory_bytes"] == nil {
		t.Error("the conventions' own metrics or those of the process are missing")
	}
	asXML := httptest.NewRecorder()
	x.Handler().ServeHTTP(asXML, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics?format=xml", nil))
	if asXML.Code != http.StatusBadRequest || !strings.Contains(asXML.Body.String(), "json") {
		t.Errorf("as XML: %d %s", asXML.Code, asXML.Body)
	}
	asJSON := httptest.NewRecorder()
	x.Handler().ServeHTTP(asJSON, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics?format=json", nil))
	var reply struct{ Metrics []struct{ Name string } }
	if err := json.NewDecoder(asJSON.Body).Decode(&reply); err != nil {
		t.Fatal(err)
	}
	for _, name := range required() {
		if !slices.ContainsFunc(reply.Metrics, func(m struct{ Name string }) bool { return m.Name == name }) {
			t.Errorf("the JSON has no %s", name)
		}
	}
}

func labelsOf(m *dto.Metric) (out string) {
	for _, l := range m.Label {
		out += fmt.Sprintf("%s=%q ", l.GetName(), l.GetValue())
	}
	return out
}

// TestErrors: what failed is counted by its kind and by the node that it happened in, with the requests that were
// repeated.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answer  llmtest.Behaviour
		kind    string
		retries int
	}{
		{"key", llmtest.Status(http.StatusUnauthorized, "no"), "credentials", 0},
		{"rate", llmtest.Status(http.StatusTooManyRequests, "slow down"), "rate_limited", llm.MaxRetries},
		{"cut in the middle", llmtest.Cut("Everyone has"), "bad_response", 0}, // a person has seen the beginning
		{"error in the middle", llmtest.ErrorInStream("Everyone has", http.StatusServiceUnavailable, "busy"), "unavailable", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := start(t, telemetry.Options{Metrics: true})
			if err := ask(t, x, open(t, x, tt.answer)); err != nil { // the answer is made without a model
				t.Fatal(err)
			}
			text := metrics(t, x)
			of := `model="m",provider="played",stage="generate"}`
			for _, want := range []string{
				"llm_generate_calls_total{" + of + " 1",
				fmt.Sprintf("llm_generate_errors_total{error_type=%q,%s 1", tt.kind, of),
				fmt.Sprintf("llm_generate_retries_total{%s %d", of, tt.retries),
			} {
				if !strings.Contains(text, want) {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
		})
	}
}

// TestCancelledSearch: it is counted as an error of its kind.
func TestCancelledSearch(t *testing.T) {
	x := start(t, telemetry.Options{Metrics: true})
	a := open(t, x, llmtest.Say(""))
	if _, err := a.Search(t.Context(), "leave", ragflow.SearchOptions{}); err != nil { // indexes the document
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Search(ctx, "leave", ragflow.SearchOptions{}); err == nil {
		t.Error("a search was not cancelled")
	}
	if want := `retriever_search_errors_total{error_type="cancelled",retriever_type="hybrid",stage="none"} 1`; !strings.Contains(metrics(t, x), want) {
		t.Errorf("no %s", want)
	}
}

// metrics returns the text for Prometheus.
func metrics(t *testing.T, x *telemetry.Telemetry) string {
	t.Helper()
	text := httptest.NewRecorder()
	x.Handler().ServeHTTP(text, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return text.Body.String()
}
