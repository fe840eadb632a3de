package settings

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/agent/mcp"
	"example.com/ragflow/internal/prices"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/telemetry"
	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
	"example.com/ragflow/search"
)

// Models is the configuration of language models. A model is used only if one is named; a key
// alone does nothing. It is not safe for concurrent use.
type Models struct {
	Smart     string // the model that answers; empty: none
	Embedding string // empty: none
	Reranker  string // empty: none
	Offline   bool   // use no model

	// Telemetry says what is recorded. Its receivers are added to those of the OTEL_ variables.
	Telemetry telemetry.Options

	Servers []mcp.Config // whose tools an agent may call

	store                      string // address of the threads; empty: they are in the data folder
	grader                     string
	fallback                   []string
	tasks                      map[string]taskModels
	prices                     map[string]llm.PerMillion // of LLM_PRICES
	priceList                  string                    // file; empty: none
	table                      *prices.Table             // see [Models.Prices]; nil until it is read
	chats                      map[string]llm.Chat       // by name; a model has one circuit breaker
	provider                   string                    // of models whose name has no provider; empty: see ChatAt
	variables                  map[string]*string        // addresses and keys of the known providers
	embeddingURL, embeddingKey string
	rerankURL, rerankKey       string
	protocol, rerankProtocol   string
	firstByte, stall           time.Duration          // 0: the defaults of llm.Endpoint
	perMinute                  int                    // requests to a provider; 0: any number
	limiters                   map[string]llm.Limiter // by provider
	noGrading                  bool                   // no model grades
	refusals                   string                 // byModel, byCheck or [automatic]; empty: automatic
	speculate                  string                 // "on", "off" or [automatic]
	systemPrompt               string                 // file; empty: the built-in one
}

// Variable returns an address or key of a known provider.
func (m *Models) Variable(name string) string {
	if v := m.variables[name]; v != nil {
		return *v
	}
	return ""
}

// Asked says which models a command asks. It needs no key for others.
type Asked int

// The kinds of commands.
const (
	AllModels    Asked = iota // answers questions
	SearchModels              // searches only
	NoModels
)

// Configure puts the models, and the text of the system prompt, into c. It sends no request.
func (m *Models) Configure(c *ragflow.Config, asked Asked) (err error) {
	if err := m.readSystemPrompt(c, asked); err != nil {
		return err
	}
	if m.Embedding == BuiltIn && asked != NoModels {
		if c.Models.Embedder, err = meaning.Open(); err != nil {
			return fmt.Errorf("open the built-in model: %w", err)
		}
	}
	if m.Offline || asked == NoModels {
		return nil
	}
	c.Cache.Models = m.origin()
	if asked == AllModels || c.Retrieval.Rerank == search.RerankLLM {
		if err := m.configureChats(c); err != nil {
			return err
		}
	}
	if m.Embedding != "" && m.Embedding != BuiltIn {
		if c.Models.Embedder, err = m.embedder(); err != nil {
			return err
		}
	}
	if m.Reranker != "" {
		reranker, err := m.reranker()
		if err != nil {
			return err
		}
		c.Models.Reranker = llm.RetryReranker(reranker, llm.RetryOptions{})
		price, known, err := m.priceOf(m.Reranker, m.rerankAt(m.Reranker))
		if err != nil {
			return err
		}
		if known {
			c.Models.Reranker = pricedReranker{c.Models.Reranker, price}
		}
	}
	return nil
}

// readSystemPrompt puts the text of the file with the system prompt into c.
func (m *Models) readSystemPrompt(c *ragflow.Config, asked Asked) error {
	if m.systemPrompt == "" || asked != AllModels {
		return nil
	}
	f, err := os.Open(m.systemPrompt)
	if err != nil {
		return fmt.Errorf("open the system prompt: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, prompts.MaxFile+1))
	if err == nil {
		_, err = prompts.Set{}.WithSystem(string(text))
	}
	if err != nil {
		return fmt.Errorf("read the system prompt %s: %w", m.systemPrompt, err)
	}
	c.Settings.System = string(text)
	return nil
}

// origin tells apart models of the same name: it has their addresses, without the keys.
func (m *Models) origin() string {
	out := fmt.Sprint(m.Smart, m.grader, m.fallback, m.provider, m.embeddingURL, m.rerankURL, m.protocol, m.rerankProtocol)
	for _, name := range slices.Sorted(maps.Keys(m.variables)) {
		if !strings.HasSuffix(name, "_KEY") {
			out += " " + name + "=" + m.Variable(name)
		}
	}
	return out
}

// Who declines to answer, by LLM_REFUSALS; [automatic] is byCheck for a model on this machine,
// which is small as a rule.
const (
	byModel = "model"
	byCheck = "check"
)

// configureChats puts the chat models into c.
func (m *Models) configureChats(c *ragflow.Config) error {
	if m.Smart == "" {
		for _, u := range m.Uses() {
			if slices.Contains([]string{"GRADER_LLM_MODEL", "LLM_TASKS", "LLM_FALLBACK"}, u.Setting) {
				return errorf("%s is set, but SMART_LLM_MODEL is not", u.Setting).with("name the model that answers too: SMART_LLM_MODEL or --model")
			}
		}
		return nil
	}
	chat, err := m.inTurn(m.Smart)
	if err != nil {
		return err
	}
	c.Models.Chat, c.Models.Tasks = chat, map[string]llm.Task{}
	tasks := m.byTask()
	host, _ := m.ChatAt(append(tasks[model.TaskAnswer].models, m.Smart)[0]).remote()
	s := &c.Settings
	s.NoModelGrading = m.noGrading
	s.NoRefusals = m.refusals == byCheck || m.refusals != byModel && host == ""
	s.Speculate = m.speculate == "on" || m.speculate != "off" && host != "" // calls queue on this machine
	for name, t := range tasks {
		task := llm.Task{Temperature: t.temperature, Tokens: t.tokens}
		if name == model.TaskAnswer {
			s.Temperature, s.Tokens = cmp.Or(t.temperature, s.Temperature), cmp.Or(t.tokens, s.Tokens)
			task = llm.Task{}
		}
		if len(t.models) > 0 {
			if task.Chat, err = m.inTurn(t.models...); err != nil {
				return err
			}
		}
		c.Models.Tasks[name] = task
	}
	return nil
}

// byTask returns the configuration of single tasks.
func (m *Models) byTask() map[string]taskModels {
	out := map[string]taskModels{}
	if m.grader != "" {
		out[model.TaskGrade] = taskModels{models: []string{m.grader}}
	}
	maps.Copy(out, m.tasks)
	return out
}

// inTurn returns models as one: each is asked if those before it fail, those of LLM_FALLBACK
// last.
func (m *Models) inTurn(names ...string) (llm.Chat, error) {
	var out []llm.Chat
	var seen []string
	for _, name := range slices.Concat(names, m.fallback) {
		if slices.Contains(seen, name) {
			continue
		}
		c, err := m.Chat(name)
		if err != nil {
			return nil, err
		}
		out, seen = append(out, c), append(seen, name)
	}
	return llm.Fallback(out[0], out[1:]...), nil
}

// Judge returns the model that grades answers: the one of a name, else of the task, else the one
// that answers; nil if there is none.
func (m *Models) Judge(name string) (llm.Chat, error) {
	t := m.tasks[model.TaskJudge]
	if name == "" && !m.Offline {
		name = append(t.models, m.Smart)[0]
	}
	if name == "" {
		return nil, nil //nolint:nilnil // there is no model, which is no error
	}
	c, err := m.Chat(name)
	return llm.Task{Chat: c, Temperature: t.temperature, Tokens: t.tokens}, err
}

// Use is a configured model.
type Use struct {
	Setting string
	Model   string
	at      Endpoint
}

// String names the setting, the model and its address.
func (u Use) String() string { return fmt.Sprintf("%s: %s at %s", u.Setting, u.Model, u.at.BaseURL) }

// Remote returns the host that the model is asked at, "" for this machine, and whether it is
// asked over plain http.
func (u Use) Remote() (host string, plain bool) { return u.at.remote() }

// Uses lists the configured models, with the setting of each.
func (m *Models) Uses() []Use {
	if m.Offline {
		return nil
	}
	var out []Use
	add := func(setting string, at func(name string) Endpoint, names ...string) {
		for _, n := range names {
			if u := (Use{setting, n, at(n)}); n != "" && !slices.Contains(out, u) {
				out = append(out, u)
			}
		}
	}
	add("SMART_LLM_MODEL", m.ChatAt, m.Smart)
	add("GRADER_LLM_MODEL", m.ChatAt, m.grader)
	for _, task := range ragflow.Tasks() {
		add("LLM_TASKS", m.ChatAt, m.tasks[task].models...)
	}
	add("LLM_FALLBACK", m.ChatAt, m.fallback...)
	if m.Embedding != BuiltIn {
		add("EMBEDDING_MODEL", m.embeddingAt, m.Embedding)
	}
	add("RERANK_MODEL", m.rerankAt, m.Reranker)
	return out
}

// BuiltIn is the value of EMBEDDING_MODEL for the model of package meaning, which needs no server.
const BuiltIn = "built-in"

// OfflineModel says what answers if no model does.
const OfflineModel = "offline: answers quote your documents; no model is used"

// Describe lists the models in use with their addresses, one a line.
func (m *Models) Describe() []string {
	var out []string
	for _, u := range m.Uses() {
		out = append(out, u.String())
	}
	if len(out) == 0 {
		out = []string{OfflineModel}
	}
	if m.Embedding == BuiltIn {
		out = append(out, "EMBEDDING_MODEL "+BuiltIn+": in this program, without a server")
	}
	return out
}

// Probe checks the address, key and name of a model with a cheap call: it lists the models of the
// provider, or scores one word with a reranker.
func (m *Models) Probe(ctx context.Context, u Use) error {
	if u.Setting == "RERANK_MODEL" {
		reranker, err := m.reranker()
		if err == nil {
			_, err = reranker.Rerank(ctx, "test", []string{"test"})
		}
		return err
	}
	client, err := m.Client(u.at)
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	names, err := client.Models(ctx)
	if err != nil || len(names) == 0 || slices.Contains(names, u.at.model) {
		return err // a server that lists none may serve any
	}
	return fmt.Errorf("%s answers, but lists no model %q; it has %s", u.at.Provider, u.at.model, Listed(names))
}
