package doors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// freePort returns an address of this machine that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// background runs a program until the test ends. Its output goes to a file.
func background(t *testing.T, log, program string, args ...string) {
	t.Helper()
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		_ = out.Close()
	})
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what + " does not happen")
		}
	}
}

func listens(ctx context.Context, addr string) bool {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// TestIntegrationTelemetry: a real collector takes the spans and metrics of a question, and a real Prometheus reads
// the metrics of the server.
func TestIntegrationTelemetry(t *testing.T) {
	collector, prometheus := os.Getenv("RAGFLOW_TEST_COLLECTOR"), os.Getenv("RAGFLOW_TEST_PROMETHEUS")
	if collector == "" || prometheus == "" {
		t.Skip("RAGFLOW_TEST_COLLECTOR is not set: scripts/servers/telemetry FILE builds one and writes it")
	}
	dir, otlp, web := t.TempDir(), freePort(t), freePort(t)
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	received := filepath.Join(dir, "received")
	background(t, received, collector, "--config", write("collector.yaml", fmt.Sprintf(`
receivers: {otlp: {protocols: {http: {endpoint: "%s"}}}}
exporters: {debug: {verbosity: detailed}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {traces: {receivers: [otlp], exporters: [debug]}, metrics: {receivers: [otlp], exporters: [debug]}}
`, otlp)))
	eventually(t, "the collector's start", func() bool { return listens(t.Context(), otlp) })
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+otlp)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "500")
	url, _ := newHouse(t).serve(t, "127.0.0.1:0")
	background(t, filepath.Join(dir, "prometheus.log"), prometheus, "--storage.tsdb.path", dir, "--web.listen-address", web, "--config.file",
		write("prometheus.yaml", fmt.Sprintf(`{global: {scrape_interval: 1s}, scrape_configs: [{job_name: ragflow, static_configs: [{targets: ["%s"]}]}]}`, strings.TrimPrefix(url, "http://"))))

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/ask", strings.NewReader(`{"question": "How many days of leave?"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()

	for _, want := range []string{
		"0af7651916cd43dd8448eb211c80319c", "invoke_workflow ragflow", "retrieval hybrid", "service.name: Str(ragflow)",
		"Name: retriever.search.calls", "Name: pipeline.query.duration_ms",
	} {
		eventually(t, "the collector's "+want, func() bool {
			data, err := os.ReadFile(received)
			return err == nil && bytes.Contains(data, []byte(want))
		})
	}
	if data, _ := os.ReadFile(received); bytes.Contains(data, []byte("days of")) {
		t.Error("the collector has got a question or an answer")
	}
	eventually(t, "the number of questions in Prometheus", func() bool { return queried(t, web, "pipeline_query_calls_total") == "1" })
	eventually(t, "the number of searches in Prometheus", func() bool {
		return queried(t, web, `retriever_search_calls_total{retriever_type="hybrid",stage="retrieval"}`) != ""
	})
}

// queried returns the value of a metric in Prometheus; "" if it has none.
func queried(t *testing.T, addr, query string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/api/v1/query", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.RawQuery = "query=" + strings.NewReplacer("{", "%7B", "}", "%7D", `"`, "%22", "=", "%3D").Replace(query)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "" // it has not started
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	var reply struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if json.Unmarshal(body, &reply) != nil || len(reply.Data.Result) == 0 {
		return ""
	}
	return fmt.Sprint(reply.Data.Result[0].Value[1])
}
