package providers_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/providers"
)

// planted is a key that must appear nowhere.
const planted = "sk-planted-0123456789abcdefghij"

func question() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "What is a volume?"}}, MaxTokens: 50}
}

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
		r := providers.Discover(func(name string) string { return tt.env[name] }, slog.New(slog.NewTextHandler(&log, nil)))
		if got := r.Names(); !slices.Equal(got, tt.want) {
			t.Errorf("%v: registered %q, want %q", tt.env, got, tt.want)
		}
		if strings.Contains(log.String(), planted) {
			t.Error("the log holds the key")
		}
		for _, k := range providers.All() {
			line := "Skipped LLM provider: " + k.Name
			if slices.Contains(tt.want, k.Name) {
				line = "Registered LLM provider: " + k.Name
			}
			if !strings.Contains(log.String(), line) {
				t.Errorf("%v: the log does not hold %q", tt.env, line)
			}
		}
		p, chosen, err := r.Default()
		if tt.want == nil && !errors.Is(err, providers.ErrNone) || tt.want != nil && (err != nil || chosen || p.Provider() != tt.want[0]) {
			t.Errorf("%v: default %v, chosen %v, %v", tt.env, p, chosen, err)
		}
	}
}

func TestRegistry(t *testing.T) { // Z06
	var r providers.Registry
	for _, name := range []string{"first", "second", "first"} {
		p, err := providers.New(llm.Endpoint{Provider: name, Key: planted})
		if err != nil {
			t.Fatal(err)
		}
		r.Register(p)
	}
	if got := r.Names(); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("names %q", got)
	}
	if _, err := r.Get("third"); !errors.Is(err, providers.ErrUnknown) || !strings.Contains(err.Error(), "second") {
		t.Errorf("third: %v", err)
	}
	if err := r.SetDefault("third"); !errors.Is(err, providers.ErrUnknown) {
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
		k, ok := providers.Named(tt.provider)
		c, _ := k.Endpoint(func(name string) string {
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
		if p, m := providers.SplitModel(name); p != want[0] || m != want[1] {
			t.Errorf("%s: %q and %q", name, p, m)
		}
	}
}

func TestResponsesFromEnvironment(t *testing.T) {
	s := llmtest.NewServer(llmtest.Body("text/event-stream", `data: {"type":"response.output_text.delta","delta":"A volume "}`+"\n\n"+
		`data: {"type":"response.completed","response":{"status":"completed"}}`+"\n\n"))
	defer s.Close()
	settings := map[string]string{"SMART_LLM_MODEL": "small", "OPENAI_BASE_URL": s.URL(), "LLM_PROTOCOL": "responses"}
	chat, err := providers.FromEnvironment(func(name string) string { return settings[name] })
	if err != nil {
		t.Fatal(err)
	}
	if r, err := chat.Complete(t.Context(), question(), nil); err != nil || r.Text != "A volume " || s.Calls()[0].Path != "/v1/responses" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// anthropic answers as the API of Anthropic does: only with its headers and without the other key.
func anthropic(t *testing.T, key string, then llmtest.Behaviour) llmtest.Behaviour {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("x-api-key") != key || r.Header.Get("anthropic-version") != "2023-06-01" || r.Header.Values("Authorization") != nil {
			t.Errorf("%s with the headers %v", r.URL, r.Header)
		}
		then(w, r)
	}
}

// TestAnthropic asks the known provider, whose protocol LLM_PROTOCOL does not change.
func TestAnthropic(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	for _, key := range []string{planted, ""} {
		settings := map[string]string{
			"SMART_LLM_MODEL": "anthropic:small", "ANTHROPIC_BASE_URL": strings.TrimSuffix(s.URL(), "/v1"), "ANTHROPIC_API_KEY": key, "LLM_PROTOCOL": "responses",
		}
		get := func(name string) string { return settings[name] }
		chat, err := providers.FromEnvironment(get)
		if err != nil {
			t.Fatal(err)
		}
		s.Then(anthropic(t, key, llmtest.Say("fine")))
		if r, err := chat.Complete(t.Context(), question(), nil); err != nil || r.Text != "fine" {
			t.Errorf("got %+v, %v", r, err)
		}
		known, _ := providers.Named("anthropic")
		config, _ := known.Endpoint(get)
		c, err := providers.New(config)
		if err != nil {
			t.Fatal(err)
		}
		s.Then(anthropic(t, key, llmtest.Body("application/json", `{"data":[{"type":"model","id":"small","display_name":"Small","created_at":"2025-05-14T00:00:00Z"}],"has_more":false,"first_id":"small","last_id":"small"}`)))
		names, err := c.Models(t.Context())
		if diff := cmp.Diff([]string{"small"}, names); err != nil || diff != "" {
			t.Error(err, diff)
		}
		c.CloseIdle()
	}
}

// TestPerMinute counts what a limiter lets through in every minute.
func TestPerMinute(t *testing.T) {
	for _, n := range []int{1, 5, 30, 500} {
		synctest.Test(t, func(t *testing.T) {
			l := providers.PerMinute(n)
			var at []time.Time
			for range 4 * n {
				if err := l.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				at = append(at, time.Now())
			}
			for i := range at[:len(at)-n] {
				if within := at[i+n].Sub(at[i]); within < time.Minute-time.Second {
					t.Fatalf("%d a minute: %d requests in %v", n, n+1, within)
				}
			}
			if most := 6 * time.Minute; at[len(at)-1].Sub(at[0]) > most {
				t.Errorf("%d a minute: %d requests took %v, want at most %v", n, len(at), at[len(at)-1].Sub(at[0]), most)
			}
		})
	}
}
