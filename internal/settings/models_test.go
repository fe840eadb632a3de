package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/llm"
)

// configured takes settings NAME=VALUE into a configuration, with servers on this machine.
func configured(t *testing.T, settings ...string) (ragflow.Config, *Models, error) {
	t.Helper()
	var c ragflow.Config
	m := &Models{}
	table := tableOf(&c, t.TempDir(), m)
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		for _, row := range table {
			if row.name == name && !row.take([]string{value}) {
				t.Fatalf("%s must be %s", s, row.allowed)
			}
		}
	}
	return c, m, m.Configure(&c, AllModels)
}

// chats are the models that are asked in turn.
func chats(c llm.Chat) (out []llm.Chat) {
	if c != nil {
		llm.Each(c, func(c llm.Chat) llm.Chat { out = append(out, c); return c })
	}
	return out
}

func names(c llm.Chat) (out []string) {
	for _, c := range chats(c) {
		out = append(out, c.Model())
	}
	return out
}

// TestBuiltInEmbedder checks that the model in the program needs no address, also offline.
func TestBuiltInEmbedder(t *testing.T) {
	c, m, err := configured(t, "EMBEDDING_MODEL="+BuiltIn)
	if err != nil || c.Models.Embedder == nil || len(m.Uses()) > 0 {
		t.Errorf("%v, %v, asked elsewhere: %v", c.Models.Embedder, err, m.Uses())
	}
	var offline ragflow.Config
	m.Offline = true
	if err := m.Configure(&offline, AllModels); err != nil || offline.Models.Embedder == nil {
		t.Errorf("offline: %v, %v", offline.Models.Embedder, err)
	}
	if got := m.Describe(); len(got) != 2 || !strings.Contains(got[1], BuiltIn) {
		t.Errorf("described as %q", got)
	}
}

func TestTasks(t *testing.T) { // Z04
	c, m, err := configured(
		t, "LLM_PROVIDER=ollama", "SMART_LLM_MODEL=large", "GRADER_LLM_MODEL=small", "LLM_FALLBACK=second, large third", "LLM_PRICES=large=2/4 second=1",
		"LLM_TASKS=rewrite=small second tokens=300, multi_query=small temperature=0.9, answer= temperature=0.1 tokens=900, judge=strict",
	)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{"": names(c.Models.Chat)}
	for name, task := range c.Models.Tasks {
		got[name] = names(task.Chat)
	}
	want := map[string][]string{
		"": {"large", "second", "third"}, model.TaskGrade: {"small", "second", "large", "third"}, model.TaskRewrite: {"small", "second", "large", "third"},
		"multi_query": {"small", "second", "large", "third"}, model.TaskAnswer: nil, model.TaskJudge: {"strict", "second", "large", "third"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.Models.Tasks[model.TaskRewrite].Tokens != 300 || *c.Models.Tasks["multi_query"].Temperature != 0.9 || c.Settings.Tokens != 900 || *c.Settings.Temperature != 0.1 {
		t.Errorf("tasks %+v, answers %+v", c.Models.Tasks, c.Settings)
	}
	if chats(c.Models.Tasks[model.TaskRewrite].Chat)[2] != chats(c.Models.Chat)[0] {
		t.Error("a model has two circuit breakers")
	}
	if judge, err := m.Judge(""); err != nil || judge.Model() != "strict" {
		t.Errorf("judge %v, %v", judge, err)
	}
	if uses := strings.Join(m.Describe(), "\n"); strings.Count(uses, "LLM_TASKS: ") != 3 || strings.Count(uses, "LLM_FALLBACK: ") != 3 {
		t.Errorf("uses\n%s", uses)
	}
}

// TestPrices is N02: which source gives the price of a model.
func TestPrices(t *testing.T) {
	list := filepath.Join(t.TempDir(), "prices.txt")
	if err := os.WriteFile(list, []byte("date 2031-01-01\nopenai:gpt-4o=7/8\nhouse=3/4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, m, err := configured(t, "LLM_PRICES=mine=1/2", "LLM_PRICE_LIST="+list)
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]*llm.PerMillion{
		"mine": {Input: 1, Output: 2}, "house": {Input: 3, Output: 4},
		"gpt-4o": {Input: 7, Output: 8}, "openai:gpt-4o": {Input: 7, Output: 8}, // by the provider
		"ollama:llama3.2": {}, // on this machine
		"azure:gpt-4o":    nil, "openai:no-such": nil,
	} {
		p, known, err := m.priceOf(model, m.ChatAt(model))
		if err != nil || known != (want != nil) || known && p != *want {
			t.Errorf("%s: %v, %t, %v; want %v", model, p, known, err, want)
		}
	}
	for _, other := range []string{"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OLLAMA_BASE_URL=https://models.example.com/v1"} {
		_, m, _ := configured(t, other)
		for _, model := range []string{"gpt-4o", "ollama:llama3.2"} {
			at := m.ChatAt(model)
			if _, known, _ := m.priceOf(model, at); known && strings.Contains(other, at.BaseURL) {
				t.Errorf("%s: the price of %s is known", other, model)
			}
		}
	}
	if err := os.WriteFile(list, []byte("house=cheap\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err = configured(t, "SMART_LLM_MODEL=ollama:m", "LLM_PRICE_LIST="+list); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a wrong list: %v", err)
	}
}

// TestPriceOfReranker checks that calls of a reranker cost what LLM_PRICES says, and are not priced without.
func TestPriceOfReranker(t *testing.T) {
	s := llmtest.NewServer(llmtest.Body("application/json", `{"results":[{"index":0,"relevance_score":0.5}],"usage":{"total_tokens":1000}}`))
	t.Cleanup(s.Close)
	for prices, want := range map[string]float64{"": 0, "r=2": 0.002} {
		c, _, err := configured(t, "RERANK_MODEL=r", "RERANK_BASE_URL="+s.URL(), "LLM_PRICES="+prices)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Models.Reranker.Rerank(t.Context(), "q", []string{"text"})
		if err != nil || got.CostUSD != want || got.Priced != (want > 0) {
			t.Errorf("%q: %+v, %v", prices, got, err)
		}
	}
}

func TestBadTasks(t *testing.T) {
	for _, text := range []string{"small", "sing=small", "rewrite=small temperature=hot", "rewrite=small tokens=0", "temperature=1"} {
		if taskList(&Models{})(text) {
			t.Errorf("%q is taken", text)
		}
	}
	if _, _, err := configured(t, "LLM_TASKS=rewrite=ollama:small"); err == nil || !strings.Contains(err.Error(), "LLM_TASKS is set, but SMART_LLM_MODEL is not") {
		t.Errorf("got %v", err)
	}
}

// TestSpeculate checks that the answer begins early if a model is on another machine.
func TestSpeculate(t *testing.T) {
	for settings, want := range map[string]bool{
		"SMART_LLM_MODEL=ollama:small":                                  false,
		"SMART_LLM_MODEL=ollama:small LLM_SPECULATE=on":                 true,
		"SMART_LLM_MODEL=groq:small GROQ_API_KEY=key":                   true,
		"SMART_LLM_MODEL=groq:small GROQ_API_KEY=key LLM_SPECULATE=off": false,
	} {
		if c, _, err := configured(t, strings.Fields(settings)...); err != nil || c.Settings.Speculate != want {
			t.Errorf("%s: %v, %v", settings, c.Settings.Speculate, err)
		}
	}
}

// TestRefusals checks that a model on this machine is not told how to decline.
func TestRefusals(t *testing.T) {
	for settings, want := range map[string]bool{
		"SMART_LLM_MODEL=ollama:small": true, "SMART_LLM_MODEL=groq:large GROQ_API_KEY=k": false,
		"SMART_LLM_MODEL=ollama:small LLM_REFUSALS=model": false, "SMART_LLM_MODEL=groq:large GROQ_API_KEY=k LLM_REFUSALS=check": true,
		"SMART_LLM_MODEL=groq:large GROQ_API_KEY=k LLM_TASKS=answer=ollama:small": true,
	} {
		if c, _, err := configured(t, strings.Fields(settings)...); err != nil || c.Settings.NoRefusals != want {
			t.Errorf("%s: %v, %v", settings, c.Settings.NoRefusals, err)
		}
	}
}

// TestProtocol checks that chat models are asked in the protocol that is set.
func TestProtocol(t *testing.T) {
	for _, tt := range [][3]string{
		{"small", "chat", "/v1/chat/completions"}, {"small", "responses", "/v1/responses"}, {"anthropic:small", "responses", "/v1/messages"},
	} {
		model, protocol, path := tt[0], tt[1], tt[2]
		s := llmtest.NewServer(llmtest.Status(400, "no"))
		c, _, err := configured(t, "SMART_LLM_MODEL="+model, "OPENAI_BASE_URL="+s.URL(), "ANTHROPIC_BASE_URL="+s.URL(), "LLM_PROTOCOL="+protocol)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Models.Chat.Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "q"}}}, nil)
		if calls := s.Calls(); !errors.Is(err, llm.ErrRefused) || len(calls) != 1 || calls[0].Path != path {
			t.Errorf("%s by %s: asked %+v, %v", model, protocol, calls, err)
		}
		s.Close()
	}
	for _, row := range tableOf(&ragflow.Config{}, t.TempDir(), &Models{}) {
		if row.name == "LLM_PROTOCOL" && row.take([]string{"response"}) {
			t.Error("a protocol that does not exist is taken")
		}
	}
}
