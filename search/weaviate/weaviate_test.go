package weaviate_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/ragflow/search/weaviate"
)

func TestCheckAddress(t *testing.T) {
	for _, tt := range []struct{ address, fault string }{
		{"weaviate://localhost:8080", ""},
		{"weaviate://a:8080,b:8080/Handbook?grpc=50051&replicas=3&consistency=QUORUM", ""},
		{"weaviates://host?hybrid=server", ""},
		{"weaviate://host?hybrid=ours", "hybrid=ours"},
		{"weaviates://host?grpc=443", "TLS"},
		{"http://localhost:8080", `begins with "http"`},
		{"weaviate://", "no host"},
		{"weaviate://:8080", "no host"},
		{"weaviate://key@host", "WEAVIATE_API_KEY"},
		{"weaviate://host/handbook", "capital letter"},
		{"weaviate://host?grpc=x", "grpc=x"},
		{"weaviate://host?tenant=x", "tenant=x"},
	} {
		err := weaviate.CheckAddress(tt.address)
		if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %v, want %q", tt.address, err, tt.fault)
		}
	}
}

// TestHosts asks hosts; some are down or refuse the key.
func TestHosts(t *testing.T) {
	status := http.StatusNotFound // no such class: the index is empty
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(status)
	}))
	defer up.Close()
	down := httptest.NewServer(nil)
	down.Close()
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	for _, tt := range []struct {
		hosts, key string
		want       error
		told       string // host that is said not to answer
	}{
		{host(up), "key", nil, ""},
		{host(down) + "," + host(up), "key", nil, host(down)},
		{host(down), "key", weaviate.ErrUnreachable, ""},
		{host(up), "", weaviate.ErrKey, ""},
	} {
		var log strings.Builder
		_, err := weaviate.Open(t.Context(), "weaviate://"+tt.hosts, weaviate.Options{Key: tt.key, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if !errors.Is(err, tt.want) {
			t.Errorf("%s with key %q: %v, want %v", tt.hosts, tt.key, err, tt.want)
		}
		if strings.Count(log.String(), "\n") != min(1, len(tt.told)) || !strings.Contains(log.String(), tt.told) {
			t.Errorf("%s: the log has %q, want %q", tt.hosts, &log, tt.told)
		}
	}
}
