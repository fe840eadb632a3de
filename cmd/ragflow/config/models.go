package config

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/llm/providers"
	"example.com/ragflow/llm/rerank"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search"
)

// Models is what is configured about language models. A model is used only
// where one is named; a key alone does nothing.
type Models struct {
	Smart     string // the model that answers; empty: none
	Embedding string // empty: none
	Reranker  string // empty: none
	Offline   bool   // use no model

	grader                     string
	fallback                   []string
	tasks                      map[string]taskModels
	smartPrice, embedPrice     *llm.PerMillion
	prices                     map[string]llm.PerMillion
	chats                      map[string]llm.Chat // by name; a model has one circuit breaker
	provider                   string              // of models whose name has no provider; empty: see ChatAt
	variables                  map[string]*string  // addresses and keys of the known providers
	embeddingURL, embeddingKey string
	rerankURL, rerankKey       string
	protocol, rerankProtocol   string
	firstByte, stall           time.Duration          // 0: the defaults of llm.Endpoint
	perMinute                  int                    // requests to a provider; 0: any number
	limiters                   map[string]llm.Limiter // by provider
	plainGrades                bool                   // no model grades
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

// Endpoint is where a model is asked for.
type Endpoint struct {
	provider string
	BaseURL  string
	key      string
	keyName  string // Variable of the key; empty for servers that need none
	model    string // as the provider calls it
	protocol string // the provider's own; empty: LLM_PROTOCOL
	unknown  string // in front of a colon in the model's name, where a provider is meant and none is configured
}

// ChatAt is where a chat model is asked for: at the provider that its name or
// LLM_PROVIDER says; else at OPENAI_BASE_URL; without one, at OpenRouter if the name
// has a slash and there is a key for it, else at OpenAI.
func (m *Models) ChatAt(name string) Endpoint {
	provider, model := providers.SplitModel(name)
	if provider == "" && m.provider == "" && m.Variable("OPENAI_BASE_URL") == "" &&
		strings.Contains(name, "/") && m.Variable("OPENROUTER_API_KEY") != "" {
		provider = "openrouter"
	}
	known, _ := providers.Named(cmp.Or(provider, m.provider, "openai"))
	c, _ := known.Endpoint(m.Variable)
	e := Endpoint{c.Provider, c.BaseURL, c.Key, known.KeyName, model, c.Protocol, ""}
	if known.Name == "openai" {
		e.provider = providerOf(c.BaseURL)
	}
	if before, _, colon := strings.Cut(model, ":"); colon && before != fineTuned && e.provider == "openai" && provider+m.provider == "" {
		e.unknown = before
	}
	return e
}

// fineTuned begins the names of models of OpenAI that its customers made.
const fineTuned = "ft"

// embeddingAt is where the embedding model is asked for. An address of its own
// gets a key of its own, never that of another provider.
func (m *Models) embeddingAt() Endpoint {
	if m.embeddingURL != "" {
		return Endpoint{providerOf(m.embeddingURL), m.embeddingURL, m.embeddingKey, "EMBEDDING_API_KEY", m.Embedding, "", ""}
	}
	e := m.ChatAt(m.Embedding)
	e.key = cmp.Or(m.embeddingKey, e.key)
	return e
}

// providerOf names a provider in messages.
func providerOf(address string) string {
	if address == "" || address == openai.DefaultBaseURL {
		return "openai"
	}
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return "the provider"
}

// Client returns a client for an endpoint.
func (m *Models) Client(e Endpoint) (llm.Provider, error) {
	if e.unknown != "" {
		return nil, modelErrorf("use the model %q: there is no provider %q", e.model, e.unknown).
			with("there are: " + strings.Join(ProviderNames(), ", ") + "; a model of your own server: OPENAI_BASE_URL, or LLM_PROVIDER")
	}
	if e.BaseURL == "" {
		return nil, modelErrorf("use the model %q: the address of the provider is not known", e.model).with("set AZURE_OPENAI_ENDPOINT, such as https://NAME.openai.azure.com")
	}
	c, err := providers.New(llm.Endpoint{
		Provider: e.provider, BaseURL: e.BaseURL, Key: e.key, Protocol: cmp.Or(e.protocol, m.protocol),
		FirstByte: m.firstByte, Stall: m.stall, Limiter: m.limiter(e.provider),
	})
	if err != nil {
		f := modelErrorf("use the model %q: %w", e.model, err)
		f.Hint = "set " + cmp.Or(e.keyName, "OPENAI_API_KEY") + " in the environment or in .env; for a server of your own, OPENAI_BASE_URL"
		if e.keyName == "" {
			f.Hint = "an address of another machine needs a key; name the server with OPENAI_BASE_URL and its key with OPENAI_API_KEY"
		}
		return nil, f
	}
	return c, nil
}

// limiter returns the limiter of a provider, the same for all its models; nil where there is no limit.
func (m *Models) limiter(provider string) llm.Limiter {
	if m.perMinute == 0 {
		return nil
	}
	if m.limiters == nil {
		m.limiters = map[string]llm.Limiter{}
	}
	if m.limiters[provider] == nil {
		m.limiters[provider] = providers.PerMinute(m.perMinute)
	}
	return m.limiters[provider]
}

// Asked says which models a command asks. A command needs no key for others.
type Asked int

// The kinds of commands.
const (
	AllModels    Asked = iota // answers questions
	SearchModels              // searches only
	NoModels
)

// Configure puts the models into c. Nothing is called.
func (m *Models) Configure(c *ragflow.Config, asked Asked) error {
	if err := m.readSystemPrompt(c, asked); err != nil {
		return err
	}
	if m.Offline || asked == NoModels {
		return nil
	}
	if asked == AllModels || c.Retrieval.Rerank == search.RerankLLM {
		if err := m.configureChats(c); err != nil {
			return err
		}
	}
	if m.Embedding != "" {
		at := m.embeddingAt()
		client, err := m.Client(at)
		if err != nil {
			return err
		}
		embeds, ok := client.(*openai.Client)
		if !ok {
			return modelErrorf("use the embedding model %q: %s has none", m.Embedding, at.provider).with("name one of another provider, or set EMBEDDING_BASE_URL")
		}
		c.Models.Embedder = llm.RetryEmbedder(embeds.Embedder(openai.EmbedderConfig{Model: at.model}), llm.RetryOptions{})
		if m.embedPrice != nil {
			c.Models.Embedder = llm.PriceEmbedder(c.Models.Embedder, *m.embedPrice)
		}
	}
	if m.Reranker != "" {
		client, err := m.rerankClient()
		if err != nil {
			return err
		}
		c.Models.Reranker = llm.RetryReranker(client, llm.RetryOptions{})
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
			if u.Setting == "GRADER_LLM_MODEL" || u.Setting == "LLM_TASKS" {
				return modelErrorf("%s is set, but SMART_LLM_MODEL is not", u.Setting).with("name the model that answers too: SMART_LLM_MODEL or --model")
			}
		}
		return nil
	}
	chat, err := m.inTurn(m.Smart)
	if err != nil {
		return err
	}
	c.Models.Chat, c.Models.Tasks = chat, map[string]llm.Task{}
	c.Settings.NoModelGrading = m.plainGrades
	writer := slices.Concat(m.byTask()[model.TaskAnswer].models, []string{m.Smart})[0]
	host, _ := Use{at: m.ChatAt(writer)}.Remote()
	c.Settings.NoRefusals = m.refusals == byCheck || m.refusals != byModel && host == ""
	c.Settings.Speculate = m.speculate == "on" || m.speculate != "off" && host != "" // calls queue on this machine
	for name, t := range m.byTask() {
		task := llm.Task{Temperature: t.temperature, Tokens: t.tokens}
		if name == model.TaskAnswer {
			c.Settings.Temperature, c.Settings.Tokens = cmp.Or(t.temperature, c.Settings.Temperature), cmp.Or(t.tokens, c.Settings.Tokens)
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

// byTask returns what is configured of single tasks.
func (m *Models) byTask() map[string]taskModels {
	out := map[string]taskModels{}
	if m.grader != "" {
		out[model.TaskGrade] = taskModels{models: []string{m.grader}}
	}
	maps.Copy(out, m.tasks)
	return out
}

// inTurn returns models as one, with those of LLM_FALLBACK behind them.
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

// Judge returns the model that grades answers: the one of a name, else that of the task, else
// the one that answers; nil where there is none.
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

// rerankClient returns a client for the reranking model.
func (m *Models) rerankClient() (llm.Reranker, error) {
	if m.rerankURL == "" {
		return nil, modelErrorf("RERANK_MODEL is set, but RERANK_BASE_URL is not").with("say where it is served, such as http://localhost:8080/v1")
	}
	client, err := rerank.New(rerank.Config{
		Provider: providerOf(m.rerankURL), BaseURL: m.rerankURL, Key: m.rerankKey, Model: m.Reranker, Protocol: m.rerankProtocol,
	})
	if err != nil {
		return nil, modelErrorf("use the reranker %q: %w", m.Reranker, err).with("an address of another machine needs a key: RERANK_API_KEY")
	}
	return client, nil
}

// Chat returns a chat model by its name, with its price, retries and a circuit breaker. Nothing
// is called. Errors are a [*ModelError].
func (m *Models) Chat(name string) (llm.Chat, error) {
	if c := m.chats[name]; c != nil {
		return c, nil
	}
	at := m.ChatAt(name)
	client, err := m.Client(at)
	if err != nil {
		return nil, err
	}
	chat := llm.Retry(client.Chat(at.model), llm.RetryOptions{})
	if price, ok := m.prices[name]; ok {
		chat = llm.Price(chat, price)
	} else if m.smartPrice != nil && name == m.Smart {
		chat = llm.Price(chat, *m.smartPrice)
	}
	if m.chats == nil {
		m.chats = map[string]llm.Chat{}
	}
	m.chats[name] = chat
	return m.chats[name], nil
}

// Use is a model that is configured.
type Use struct {
	Setting string
	Model   string
	at      Endpoint
}

// String names the setting, the model and its address.
func (u Use) String() string { return fmt.Sprintf("%s: %s at %s", u.Setting, u.Model, u.at.BaseURL) }

// Remote returns the host that a model is asked at, "" for this machine, and whether what is
// sent there can be read on the way.
func (u Use) Remote() (host string, plain bool) {
	address, err := llm.CheckBaseURL(cmp.Or(u.at.BaseURL, openai.DefaultBaseURL))
	if err != nil || llm.Loopback(address) {
		return "", false
	}
	return address.Host, address.Scheme == "http"
}

// Uses lists the models that are configured, with what each is for.
func (m *Models) Uses() []Use {
	if m.Offline {
		return nil
	}
	var out []Use
	add := func(setting string, at func(string) Endpoint, names ...string) {
		for _, n := range names {
			u := Use{setting, n, Endpoint{}}
			if u.at = at(n); n != "" && !slices.Contains(out, u) {
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
	add("EMBEDDING_MODEL", func(string) Endpoint { return m.embeddingAt() }, m.Embedding)
	add("RERANK_MODEL", func(string) Endpoint {
		return Endpoint{providerOf(m.rerankURL), m.rerankURL, m.rerankKey, "RERANK_API_KEY", m.Reranker, "", ""}
	}, m.Reranker)
	return out
}

// Describe says in lines which models are used, and where.
func (m *Models) Describe() []string {
	uses := m.Uses()
	if len(uses) == 0 {
		return []string{OfflineModel}
	}
	var out []string
	for _, u := range uses {
		out = append(out, u.String())
	}
	return out
}

// Probe asks the provider of a model which models it has: a cheap call that
// tells whether address, key and name are right. A reranker,
// which has no such list, scores one word.
func (m *Models) Probe(ctx context.Context, u Use) error {
	if u.Setting == "RERANK_MODEL" {
		reranker, err := m.rerankClient()
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
	return fmt.Errorf("%s answers, but lists no model %q; it has %s", u.at.provider, u.at.model, Listed(names))
}

// Listed lists the first names, and how many more there are.
func Listed(names []string) string {
	const most = 8
	out := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// OfflineModel says what answers where no model does.
const OfflineModel = "offline: answers quote your documents; no model is used"

// ModelError is a setting about models that cannot be used, and what to do about it.
type ModelError struct {
	Err  error
	Hint string
}

func (e *ModelError) Error() string { return e.Err.Error() }

func (e *ModelError) Unwrap() error { return e.Err }

func modelErrorf(format string, args ...any) *ModelError {
	return &ModelError{Err: fmt.Errorf(format, args...)}
}

func (e *ModelError) with(hint string) *ModelError {
	e.Hint = hint
	return e
}
