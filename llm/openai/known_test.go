package openai_test

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

func TestDiscover(t *testing.T) { // L02, L03, Z06
	for _, tt := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, nil},
		{map[string]string{"OPENAI_API_KEY": planted}, []string{"openai"}},
		{map[string]string{"OLLAMA_BASE_URL": "http://localhost:11434"}, []string{"ollama"}},
		{map[string]string{"AZURE_OPENAI_API_KEY": planted}, nil},
		{
			map[string]string{"GOOGLE_API_KEY": planted, "COHERE_API_KEY": planted, "ANTHROPIC_API_KEY": planted},
			[]string{"anthropic", "google", "cohere"},
		},
		{map[string]string{"GROQ_API_KEY": "two words"}, nil},
	} {
		var log bytes.Buffer
		r := openai.Discover(func(name string) string { return tt.env[name] }, slog.New(slog.NewTextHandler(&log, nil)))
		if got := r.Names(); !slices.Equal(got, tt.want) {
			t.Errorf("%v: registered %q, want %q", tt.env, got, tt.want)
		}
		if strings.Contains(log.String(), planted) {
			t.Error("the log holds the key")
		}
		for _, k := range openai.KnownProviders() {
			line := "Skipped LLM provider: " + k.Name
			if slices.Contains(tt.want, k.Name) {
				line = "Registered LLM provider: " + k.Name
			}
			if !strings.Contains(log.String(), line) {
				t.Errorf("%v: the log does not hold %q", tt.env, line)
			}
		}
		p, chosen, err := r.Default()
		if tt.want == nil && !errors.Is(err, llm.ErrNoProvider) || tt.want != nil && (err != nil || chosen || p.Provider() != tt.want[0]) {
			t.Errorf("%v: default %v, chosen %v, %v", tt.env, p, chosen, err)
		}
	}
}

func TestRegistry(t *testing.T) { // Z06
	s := llmtest.NewServer(llmtest.Say("fine"))
	defer s.Close()
	var r llm.Registry
	for _, name := range []string{"first", "second", "first"} {
		r.Register(client(t, s, func(c *openai.Config) { c.Provider = name }))
	}
	if got := r.Names(); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("names %q", got)
	}
	if _, err := r.Get("third"); !errors.Is(err, llm.ErrUnknownProvider) || !strings.Contains(err.Error(), "second") {
		t.Errorf("third: %v", err)
	}
	if err := r.SetDefault("third"); !errors.Is(err, llm.ErrUnknownProvider) {
		t.Errorf("default third: %v", err)
	}
	if err := r.SetDefault("second"); err != nil {
		t.Fatal(err)
	}
	p, chosen, err := r.Default()
	if err != nil || !chosen || p.Provider() != "second" {
		t.Errorf("default %v, chosen %v, %v", p, chosen, err)
	}
}

func TestKnownAddress(t *testing.T) {
	for _, tt := range []struct{ provider, variable, value, want string }{
		{"ollama", "", "", "http://localhost:11434/v1"},
		{"ollama", "OLLAMA_BASE_URL", "http://127.0.0.1:9000", "http://127.0.0.1:9000/v1"},
		{"ollama", "OLLAMA_BASE_URL", "http://127.0.0.1:9000/v1/", "http://127.0.0.1:9000/v1"},
		{"azure", "AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/", "https://mine.openai.azure.com/openai/v1"},
		{"google", "", "", "https://generativelanguage.googleapis.com/v1beta/openai"},
	} {
		k, ok := openai.KnownProvider(tt.provider)
		c, _ := k.Config(func(name string) string {
			if name == tt.variable {
				return tt.value
			}
			return ""
		})
		if !ok || c.BaseURL != tt.want {
			t.Errorf("%s with %q: %s, want %s", tt.provider, tt.value, c.BaseURL, tt.want)
		}
	}
}

func TestSplitModel(t *testing.T) {
	for name, want := range map[string][2]string{
		"ollama:llama3.2:1b": {"ollama", "llama3.2:1b"},
		"llama3.2:1b":        {"", "llama3.2:1b"},
		"openai/gpt-4o":      {"", "openai/gpt-4o"},
		"groq:":              {"", "groq:"},
	} {
		if p, m := openai.SplitModel(name); p != want[0] || m != want[1] {
			t.Errorf("%s: %q and %q", name, p, m)
		}
	}
}
