package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
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
func (a *app) modelFlags(f *pflag.FlagSet) {
	a.textFlag(f, "SMART_LLM_MODEL", "model", "language model `NAME` to rewrite, summarise and answer with (default: SMART_LLM_MODEL, else none)")
	a.textFlag(f, "GRADER_LLM_MODEL", "grader-model", "language model `NAME` to grade with (default: GRADER_LLM_MODEL, else --model)")
	f.BoolVar(&a.flags.offline, "offline", false, "use no model, even where one is configured")
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
		return endpoint{"openrouter", cmp.Or(m.openRouterURL, defaultOpenRouter), m.openRouterKey}
	}
	return endpoint{providerOf(m.baseURL), cmp.Or(m.baseURL, openai.DefaultBaseURL), m.openAIKey}
}

// embeddingAt is where the embedding model is asked for. An address of its own
// gets a key of its own, never that of another provider.
func (m *models) embeddingAt() endpoint {
	if m.embeddingURL != "" {
		return endpoint{providerOf(m.embeddingURL), m.embeddingURL, m.embeddingKey}
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
		return usagef("GRADER_LLM_MODEL is set, but SMART_LLM_MODEL is not").with("name the model that answers too: SMART_LLM_MODEL or --model")
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
	for _, u := range []modelUse{
		{"SMART_LLM_MODEL", m.smart, m.chatAt(m.smart)},
		{"GRADER_LLM_MODEL", m.grader, m.chatAt(m.grader)},
		{"EMBEDDING_MODEL", m.embedding, m.embeddingAt()},
		{"RERANK_MODEL", m.reranker, endpoint{providerOf(m.rerankURL), m.rerankURL, m.rerankKey}},
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
	client, err := u.at.client(u.model)
	if err != nil {
		return err
	}
	defer client.CloseIdle()
	names, err := client.Models(ctx)
	if err != nil || len(names) == 0 || slices.Contains(names, u.model) {
		return err // a server that lists none may serve any
	}
	return fmt.Errorf("%s answers, but lists no model %q", u.at.provider, u.model)
}
