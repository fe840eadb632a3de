package telemetry_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/telemetry"
	"example.com/ragflow/llm"
)

// TestOff: if nothing is recorded, the configuration has no hook, and its models are the same.
func TestOff(t *testing.T) {
	for name, value := range map[string]string{"": "", "OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "none"} {
		if name != "" {
			t.Setenv(name, value)
			t.Setenv("OTEL_METRICS_EXPORTER", "none")
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
		}
		x, err := telemetry.Start(t.Context(), telemetry.Options{Content: true})
		if x != nil || err != nil {
			t.Fatalf("%s: %v, %v", name, x, err)
		}
	}
	chat := llm.Price(nil, llm.PerMillion{})
	c := ragflow.Config{Models: ragflow.Models{Chat: chat}}
	var x *telemetry.Telemetry
	if n := testing.AllocsPerRun(100, func() { x.Instrument(&c) }); n != 0 || c.Hook != nil || c.Observer != nil || c.Models.Chat != chat || x.Handler() != nil || x.Close() != nil {
		t.Errorf("%v allocations, %+v", n, c)
	}
}

// TestLangfuse: its address and headers, as OpenTelemetry's variables give them.
func TestLangfuse(t *testing.T) {
	r := newReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL+"/api/public/otel")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20cGs6c2s=,x-langfuse-ingestion-version=4")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	finish(t, start(t, telemetry.Options{}))
	q := r.requests[0]
	got := []string{q.Method, q.URL.Path, q.Header.Get("Authorization"), q.Header.Get("X-Langfuse-Ingestion-Version"), q.Header.Get("Content-Type")}
	if diff := cmp.Diff([]string{"POST", "/api/public/otel/v1/traces", "Basic cGs6c2s=", "4", "application/x-protobuf"}, got); diff != "" || len(r.requests) != 1 {
		t.Errorf("%d requests (-want +got):\n%s", len(r.requests), diff)
	}
}

// TestLangSmith: its address and headers, and none of those of another receiver.
func TestLangSmith(t *testing.T) {
	r, other := newReceiver(t), newReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", other.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=secret")
	x := start(t, telemetry.Options{LangSmith: telemetry.LangSmith{Tracing: true, Endpoint: r.URL, Key: "ls-key", Project: "house"}})
	if diff := cmp.Diff([]string{other.URL, r.URL, other.URL}, x.Recipients()); diff != "" {
		t.Error(diff)
	}
	finish(t, x)
	q := r.requests[0]
	got := []string{q.Method, q.URL.Path, q.Header.Get("X-Api-Key"), q.Header.Get("Langsmith-Project"), q.Header.Get("Authorization")}
	if diff := cmp.Diff([]string{"POST", "/otel/v1/traces", "ls-key", "house", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(other.spans) != 1 || len(r.spans) != 1 {
		t.Errorf("%d and %d spans", len(other.spans), len(r.spans))
	}
}

// finish sends one span.
func finish(t *testing.T, x *telemetry.Telemetry) {
	t.Helper()
	_, ended := x.Request(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), "GET /", "1")
	ended(http.StatusOK)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBadSettings: an error says which setting to change, and holds no key.
func TestBadSettings(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  map[string]string
		o    telemetry.Options
		want string
	}{
		{"no scheme", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"}, telemetry.Options{}, "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{"grpc", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, telemetry.Options{}, "http/protobuf"},
		{"no key", nil, telemetry.Options{LangSmith: telemetry.LangSmith{Tracing: true}}, "LANGSMITH_API_KEY"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			if _, err := telemetry.Start(t.Context(), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v does not name %s", err, tt.want)
			}
		})
	}
}

// TestReceiverAway: a receiver that is away fails no question, and is reported once.
func TestReceiverAway(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200")
	read, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := start(t, telemetry.Options{Logger: slog.New(slog.NewTextHandler(written, nil))})
	a := open(t, x, llmtest.Say("Everyone has "+secret+". [Source 1]"))
	if err := ask(t, x, a); err != nil {
		t.Fatal(err)
	}
	_ = x.Close()
	_ = written.Close()
	log, _ := io.ReadAll(read)
	if n := strings.Count(string(log), "\n"); n != 1 {
		t.Errorf("%d lines: %s", n, log)
	}
}
