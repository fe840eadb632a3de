package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/llm/rerank"
	"example.com/ragflow/search"
	"example.com/ragflow/skills/model"
)

// models is what is configured about language models. A model is used only
// where one is named; a key alone does nothing.
type models struct {
	smart, grader, fallback, embedding  string
	provider                            string // of models whose name has no provider; empty: see chatAt
	smartPrice, graderPrice, embedPrice *llm.PerMillion
	fallbackPrice                       *llm.PerMillion
	variables                           map[string]*string // addresses and keys of the known providers
	embeddingURL, embeddingKey          string
	reranker, rerankURL, rerankKey      string
	rerankProtocol                      string
	firstByte, stall                    time.Duration // 0: the defaults of package openai
	plainGrades                         bool          // no model grades
	offline                             bool
}

// variable returns an address or key of a known provider.
func (m *models) variable(name string) string {
	if v := m.variables[name]; v != nil {
		return *v
	}
	return ""
}

// modelFlags adds --model, --grader-model and --offline to a command.
func (a *app) modelFlags(f *pflag.FlagSet) {
	a.textFlag(f, "SMART_LLM_MODEL", "model", "language model `NAME` to rewrite, summarise and answer with (default: SMART_LLM_MODEL, else none)")
	a.textFlag(f, "GRADER_LLM_MODEL", "grader-model", "language model `NAME` to grade with (default: GRADER_LLM_MODEL, else --model)")
	a.textFlag(f, "LLM_FALLBACK", "fallback-model", "language model `NAME` that takes over where --model fails (default: LLM_FALLBACK, else none)")
	a.textFlag(f, "LLM_TRANSFORMS", "transform", "let the model add queries to the question: `NAMES` of "+strings.Join(model.Transforms(), ", ")+", separated by commas")
	a.textFlag(f, "LLM_SYNTHESIS", "synthesis", "how the model writes the answer: `NAME` of "+strings.Join(model.Syntheses(), ", "))
	f.BoolVar(&a.flags.offline, "offline", false, "use no model, even where one is configured")
}

// endpoint is where a model is asked for.
type endpoint struct {
	provider string
	baseURL  string
	key      string
	keyName  string // variable of the key; empty for servers that need none
	model    string // as the provider calls it
}

// chatAt is where a chat model is asked for: at the provider that its name or
// LLM_PROVIDER says; else at OPENAI_BASE_URL; without one, at OpenRouter if the name
// has a slash and there is a key for it, else at OpenAI.
func (m *models) chatAt(name string) endpoint {
	provider, model := openai.SplitModel(name)
	if provider == "" && m.provider == "" && m.variable("OPENAI_BASE_URL") == "" &&
		strings.Contains(name, "/") && m.variable("OPENROUTER_API_KEY") != "" {
		provider = "openrouter"
	}
	known, _ := openai.KnownProvider(cmp.Or(provider, m.provider, "openai"))
	c, _ := known.Config(m.variable)
	e := endpoint{c.Provider, c.BaseURL, c.Key, known.KeyName, model}
	if known.Name == "openai" {
		e.provider = providerOf(c.BaseURL)
	}
	return e
}

// embeddingAt is where the embedding model is asked for. An address of its own
// gets a key of its own, never that of another provider.
func (m *models) embeddingAt() endpoint {
	if m.embeddingURL != "" {
		return endpoint{providerOf(m.embeddingURL), m.embeddingURL, m.embeddingKey, "EMBEDDING_API_KEY", m.embedding}
	}
	e := m.chatAt(m.embedding)
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

// client returns a client for an endpoint.
func (m *models) client(e endpoint) (*openai.Client, error) {
	if e.baseURL == "" {
		return nil, usagef("use the model %q: the address of the provider is not known", e.model).with("set AZURE_OPENAI_ENDPOINT, such as https://NAME.openai.azure.com")
	}
	c, err := openai.New(openai.Config{Provider: e.provider, BaseURL: e.baseURL, Key: e.key, FirstByte: m.firstByte, Stall: m.stall})
	if err != nil {
		f := usagef("use the model %q: %w", e.model, err)
		f.hint = "set " + cmp.Or(e.keyName, "OPENAI_API_KEY") + " in the environment or in .env; for a server of your own, OPENAI_BASE_URL"
		if e.keyName == "" {
			f.hint = "an address of another machine needs a key; name the server with OPENAI_BASE_URL and its key with OPENAI_API_KEY"
		}
		return nil, f
	}
	return c, nil
}

// configure puts the models into c. Nothing is called.
func (m *models) configure(c *ragflow.Config, asked askedModels) (err error) {
	if m.offline || asked == noModels {
		return nil
	}
	if asked == searchModels && c.Retrieval.Rerank != search.RerankLLM {
		return m.configureSearch(c)
	}
	if m.smart != "" {
		if c.Chat, err = m.chat(m.smart, m.smartPrice); err != nil {
			return err
		}
		c.PlainGrades = m.plainGrades
		if m.grader != "" && m.grader != m.smart {
			if c.Grader, err = m.chat(m.grader, m.graderPrice); err != nil {
				return err
			}
		}
		if m.fallback != "" && m.fallback != m.smart {
			if c.Fallback, err = m.chat(m.fallback, m.fallbackPrice); err != nil {
				return err
			}
		}
	} else if m.grader != "" {
		return usagef("GRADER_LLM_MODEL is set, but SMART_LLM_MODEL is not").with("name the model that answers too: SMART_LLM_MODEL or --model")
	}
	return m.configureSearch(c)
}

// askedModels says which models a command asks. A command needs no key for others.
type askedModels int

const (
	allModels askedModels = iota
	searchModels
	noModels
)

// configureSearch puts the models of the search into c.
func (m *models) configureSearch(c *ragflow.Config) (err error) {
	if m.embedding != "" {
		at := m.embeddingAt()
		client, err := m.client(at)
		if err != nil {
			return err
		}
		c.Embedder = llm.RetryEmbedder(client.Embedder(openai.EmbedderConfig{Model: at.model}), llm.RetryOptions{})
		if m.embedPrice != nil {
			c.Embedder = llm.PriceEmbedder(c.Embedder, *m.embedPrice)
		}
	}
	c.Reranker, err = m.crossEncoder()
	return err
}

// crossEncoder is the reranking model; nil where none is configured.
func (m *models) crossEncoder() (llm.Reranker, error) {
	if m.reranker == "" {
		return nil, nil //nolint:nilnil // none is configured, which is no error
	}
	client, err := m.rerankClient()
	if err != nil {
		return nil, err
	}
	return llm.RetryReranker(client, llm.RetryOptions{}), nil
}

func (m *models) rerankClient() (llm.Reranker, error) {
	if m.rerankURL == "" {
		return nil, usagef("RERANK_MODEL is set, but RERANK_BASE_URL is not").with("say where it is served, such as http://localhost:8080/v1")
	}
	client, err := rerank.New(rerank.Config{
		Provider: providerOf(m.rerankURL), BaseURL: m.rerankURL, Key: m.rerankKey, Model: m.reranker, Protocol: m.rerankProtocol,
	})
	if err != nil {
		return nil, usagef("use the reranker %q: %w", m.reranker, err).with("an address of another machine needs a key: RERANK_API_KEY")
	}
	return client, nil
}

func (m *models) chat(name string, price *llm.PerMillion) (llm.Chat, error) {
	at := m.chatAt(name)
	client, err := m.client(at)
	if err != nil {
		return nil, err
	}
	chat := llm.Retry(client.Chat(at.model), llm.RetryOptions{})
	if price != nil {
		chat = llm.Price(chat, *price)
	}
	return llm.Breaker(chat, 0, nil), nil
}

// modelUse is a model that is configured.
type modelUse struct {
	setting string
	model   string
	at      endpoint
}

// uses lists the models that are configured, with what each is for.
func (m *models) uses() []modelUse {
	var out []modelUse
	for _, u := range []modelUse{
		{"SMART_LLM_MODEL", m.smart, m.chatAt(m.smart)},
		{"GRADER_LLM_MODEL", m.grader, m.chatAt(m.grader)},
		{"LLM_FALLBACK", m.fallback, m.chatAt(m.fallback)},
		{"EMBEDDING_MODEL", m.embedding, m.embeddingAt()},
		{"RERANK_MODEL", m.reranker, endpoint{providerOf(m.rerankURL), m.rerankURL, m.rerankKey, "RERANK_API_KEY", m.reranker}},
	} {
		if u.model != "" && !m.offline {
			out = append(out, u)
		}
	}
	return out
}

// describe says in lines which models are used, and where.
func (m *models) describe() []string {
	uses := m.uses()
	if len(uses) == 0 {
		return []string{offlineModel}
	}
	var out []string
	for _, u := range uses {
		out = append(out, fmt.Sprintf("%s: %s at %s", u.setting, u.model, u.at.baseURL))
	}
	return out
}

// probe asks the provider of a model which models it has: a cheap call that
// tells whether address, key and name are right (REQUIREMENTS L09). A reranker,
// which has no such list, scores one word.
func (m *models) probe(ctx context.Context, u modelUse) error {
	if u.setting == "RERANK_MODEL" {
		reranker, err := m.rerankClient()
		if err == nil {
			_, err = reranker.Rerank(ctx, "test", []string{"test"})
		}
		return err
	}
	client, err := m.client(u.at)
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	names, err := client.Models(ctx)
	if err != nil || len(names) == 0 || slices.Contains(names, u.at.model) {
		return err // a server that lists none may serve any
	}
	return fmt.Errorf("%s answers, but lists no model %q; it has %s", u.at.provider, u.at.model, some(names, listedModels))
}

// listedModels is how many models a message lists.
const listedModels = 8

// some lists at most n names.
func some(names []string, n int) string {
	out := strings.Join(names[:min(len(names), n)], ", ")
	if more := len(names) - n; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}
