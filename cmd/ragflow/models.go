package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/llm/rerank"
)

// defaultOpenRouter is where model names with a slash are asked for when there
// is a key for it.
const defaultOpenRouter = "https://openrouter.ai/api/v1"

// models is what is configured about language models. A model is used only
// where one is named; a key alone does nothing.
type models struct {
	smart, grader, embedding               string
	smartPrice, graderPrice, embedPrice    *llm.PerMillion
	baseURL, embeddingURL, openRouterURL   string
	openAIKey, embeddingKey, openRouterKey string
	reranker, rerankURL, rerankKey         string
	rerankProtocol                         string
	offline                                bool
}

// modelFlags adds --model, --grader-model and --offline to a command.
func (a *app) modelFlags(flags *pflag.FlagSet) {
	flags.StringVar(&a.flags.model, "model", "", "language model `NAME` to rewrite, summarise and answer with (default: SMART_LLM_MODEL, else none)")
	flags.StringVar(&a.flags.graderModel, "grader-model", "", "language model `NAME` to grade with (default: GRADER_LLM_MODEL, else --model)")
	flags.BoolVar(&a.flags.offline, "offline", false, "use no model, even where one is configured")
}

// settings are the rows of the table that say which models to use, and where.
func (m *models) settings() []setting {
	name := func(to *string) func(*ragflow.Config, []string) bool {
		return func(_ *ragflow.Config, v []string) bool { *to = v[0]; return !strings.ContainsAny(v[0], " \t\r\n") }
	}
	address := func(to *string) func(*ragflow.Config, []string) bool {
		return func(_ *ragflow.Config, v []string) bool {
			_, err := llm.CheckBaseURL(v[0])
			*to = strings.TrimRight(v[0], "/")
			return err == nil
		}
	}
	price := func(to **llm.PerMillion) func(*ragflow.Config, []string) bool {
		return func(_ *ragflow.Config, v []string) bool {
			p, ok := parsePrice(v[0])
			*to = &p
			return ok
		}
	}
	key := func(to *string) func(*ragflow.Config, []string) bool {
		return func(_ *ragflow.Config, v []string) bool { *to = v[0]; return true }
	}
	const (
		aName     = "the name of a model, without spaces"
		aPrice    = "US dollars for a million tokens, input/output, such as 2.5/10"
		anAddress = "an http or https address without user, password and query"
		aKey      = "a key"
	)
	return []setting{
		{name: "SMART_LLM_MODEL", key: "smart_llm_model", allowed: aName, set: name(&m.smart)},
		{name: "SMART_LLM_PRICE", key: "smart_llm_price", allowed: aPrice, set: price(&m.smartPrice)},
		{name: "GRADER_LLM_MODEL", key: "grader_llm_model", allowed: aName, set: name(&m.grader)},
		{name: "GRADER_LLM_PRICE", key: "grader_llm_price", allowed: aPrice, set: price(&m.graderPrice)},
		{name: "OPENAI_BASE_URL", key: "openai_base_url", address: true, allowed: anAddress, set: address(&m.baseURL)},
		{name: "OPENAI_API_KEY", secret: true, allowed: aKey, set: key(&m.openAIKey)},
		{name: "OPENROUTER_BASE_URL", key: "openrouter_base_url", address: true, allowed: anAddress, set: address(&m.openRouterURL)},
		{name: "OPENROUTER_API_KEY", secret: true, allowed: aKey, set: key(&m.openRouterKey)},
		{name: "EMBEDDING_MODEL", key: "embedding_model", allowed: aName, set: name(&m.embedding)},
		{name: "EMBEDDING_PRICE", key: "embedding_price", allowed: aPrice, set: price(&m.embedPrice)},
		{name: "EMBEDDING_BASE_URL", key: "embedding_base_url", address: true, allowed: anAddress, set: address(&m.embeddingURL)},
		{name: "EMBEDDING_API_KEY", secret: true, allowed: aKey, set: key(&m.embeddingKey)},
		{name: "RERANK_MODEL", key: "rerank_model", allowed: aName, set: name(&m.reranker)},
		{name: "RERANK_BASE_URL", key: "rerank_base_url", address: true, allowed: anAddress, set: address(&m.rerankURL)},
		{
			name: "RERANK_PROTOCOL", key: "rerank_protocol", allowed: rerank.Documents + " (Cohere, Jina, llama.cpp) or " + rerank.Texts + " (Text Embeddings Inference)",
			set: func(_ *ragflow.Config, v []string) bool {
				m.rerankProtocol = v[0]
				return v[0] == rerank.Documents || v[0] == rerank.Texts
			},
		},
		{name: "RERANK_API_KEY", secret: true, allowed: aKey, set: key(&m.rerankKey)},
	}
}

// parsePrice reads "2.5/10", or "0.1" for models that write nothing.
func parsePrice(s string) (llm.PerMillion, bool) {
	in, out, both := strings.Cut(s, "/")
	var p llm.PerMillion
	var err, err2 error
	p.Input, err = strconv.ParseFloat(strings.TrimSpace(in), 64)
	if both {
		p.Output, err2 = strconv.ParseFloat(strings.TrimSpace(out), 64)
	}
	sane := func(f float64) bool { return f >= 0 && !math.IsInf(f, 0) && !math.IsNaN(f) }
	return p, err == nil && err2 == nil && sane(p.Input) && sane(p.Output)
}

// endpoint is where a model is asked for.
type endpoint struct {
	provider string
	baseURL  string
	key      string
}

// chatAt is where a chat model is asked for: at OPENAI_BASE_URL; without one,
// at OpenRouter where the name has a slash and there is a key for it, else at
// OpenAI.
func (m *models) chatAt(name string) endpoint {
	if m.baseURL == "" && strings.Contains(name, "/") && m.openRouterKey != "" {
		return endpoint{"openrouter", orDefault(m.openRouterURL, defaultOpenRouter), m.openRouterKey}
	}
	return endpoint{providerOf(m.baseURL), orDefault(m.baseURL, openai.DefaultBaseURL), m.openAIKey}
}

// embeddingAt is where the embedding model is asked for. An address of its own
// gets a key of its own, never that of another provider.
func (m *models) embeddingAt() endpoint {
	if m.embeddingURL != "" {
		return endpoint{providerOf(m.embeddingURL), m.embeddingURL, m.embeddingKey}
	}
	e := m.chatAt(m.embedding)
	e.key = orDefault(m.embeddingKey, e.key)
	return e
}

func orDefault(s, preset string) string {
	if s == "" {
		return preset
	}
	return s
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

func (e endpoint) client(model string) (*openai.Client, error) {
	c, err := openai.New(openai.Config{Provider: e.provider, BaseURL: e.baseURL, Key: e.key})
	if err != nil {
		f := usagef("use the model %q: %w", model, err)
		f.hint = "set OPENAI_API_KEY in the environment or in .env; for a server of your own, OPENAI_BASE_URL"
		if e.provider != "openai" && e.provider != "openrouter" {
			f.hint = "an address of another machine needs a key: OPENAI_API_KEY, for embeddings EMBEDDING_API_KEY"
		}
		return nil, f
	}
	return c, nil
}

// configure puts the models into c. Nothing is called.
func (m *models) configure(c *ragflow.Config) (err error) {
	if m.offline {
		return nil
	}
	if m.smart != "" {
		if c.Chat, err = m.chat(m.smart, m.smartPrice); err != nil {
			return err
		}
		if m.grader != "" && m.grader != m.smart {
			if c.Grader, err = m.chat(m.grader, m.graderPrice); err != nil {
				return err
			}
		}
	} else if m.grader != "" {
		f := usagef("GRADER_LLM_MODEL is set, but SMART_LLM_MODEL is not")
		f.hint = "name the model that answers too: SMART_LLM_MODEL or --model"
		return f
	}
	if m.embedding != "" {
		client, err := m.embeddingAt().client(m.embedding)
		if err != nil {
			return err
		}
		c.Embedder = llm.RetryEmbedder(client.Embedder(openai.EmbedderConfig{Model: m.embedding}), llm.RetryOptions{})
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
	if m.rerankURL == "" {
		f := usagef("RERANK_MODEL is set, but RERANK_BASE_URL is not")
		f.hint = "say where it is served, such as http://localhost:8080/v1"
		return nil, f
	}
	client, err := rerank.New(rerank.Config{
		Provider: providerOf(m.rerankURL), BaseURL: m.rerankURL, Key: m.rerankKey, Model: m.reranker, Protocol: m.rerankProtocol,
	})
	if err != nil {
		f := usagef("use the reranker %q: %w", m.reranker, err)
		f.hint = "an address of another machine needs a key: RERANK_API_KEY"
		return nil, f
	}
	return llm.RetryReranker(client, llm.RetryOptions{}), nil
}

func (m *models) chat(name string, price *llm.PerMillion) (llm.Chat, error) {
	client, err := m.chatAt(name).client(name)
	if err != nil {
		return nil, err
	}
	chat := llm.Retry(client.Chat(name), llm.RetryOptions{})
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
	if m.offline {
		return out
	}
	if m.smart != "" {
		out = append(out, modelUse{"SMART_LLM_MODEL", m.smart, m.chatAt(m.smart)})
	}
	if m.grader != "" {
		out = append(out, modelUse{"GRADER_LLM_MODEL", m.grader, m.chatAt(m.grader)})
	}
	if m.embedding != "" {
		out = append(out, modelUse{"EMBEDDING_MODEL", m.embedding, m.embeddingAt()})
	}
	if m.reranker != "" {
		out = append(out, modelUse{"RERANK_MODEL", m.reranker, endpoint{providerOf(m.rerankURL), m.rerankURL, m.rerankKey}})
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

// reachable asks the provider of a model which models it has: a cheap call
// that tells whether address, key and name are right (REQUIREMENTS L09).
func (u modelUse) reachable(ctx context.Context) error {
	client, err := u.at.client(u.model)
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	names, err := client.Models(ctx)
	if err != nil {
		return err
	}
	if len(names) == 0 || slices.Contains(names, u.model) {
		return nil // a server that lists none may serve any
	}
	return fmt.Errorf("%s answers, but lists no model %q", u.at.provider, u.model)
}

// probeReranker asks the reranker to score one word, for rerankers have no list
// of models.
func (m *models) probeReranker(ctx context.Context) error {
	if m.rerankURL == "" {
		return errors.New("RERANK_MODEL is set, but RERANK_BASE_URL is not")
	}
	client, err := rerank.New(rerank.Config{
		Provider: providerOf(m.rerankURL), BaseURL: m.rerankURL, Key: m.rerankKey, Model: m.reranker, Protocol: m.rerankProtocol,
	})
	if err != nil {
		return err
	}
	_, err = client.Rerank(ctx, "test", []string{"test"})
	return err
}
