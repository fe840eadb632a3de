package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTelemetryTold: a receiver of spans and metrics is named once, and a wrong one has advice that fits.
func TestTelemetryTold(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "a.md"), []byte("# Parking\n\nPark behind the house.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	search := func(endpoint string) (int, string) {
		var out, errs strings.Builder
		env := []string{"RAGFLOW_DATA_DIR=" + t.TempDir(), "OTEL_EXPORTER_OTLP_ENDPOINT=" + endpoint}
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
		code := run(t.Context(), []string{"search", "--docs", docs, "--leg", "lexical", "parking"}, nil, &out, &errs, env)
		return code, errs.String()
	}
	code, errs := search(receiver.URL)
	if told := "telemetry with names, times and numbers of tokens goes to " + receiver.URL; code != exitOK || strings.Count(errs, told) != 1 {
		t.Errorf("code %d, want %q once: %s", code, told, errs)
	}
	code, errs = search("nowhere")
	if code != exitUsage || !strings.Contains(errs, "hint: correct the variable in the environment") {
		t.Errorf("code %d: %s", code, errs)
	}
}
