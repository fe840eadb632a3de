package settings

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/llm/providers"
	"example.com/ragflow/llm/rerank"
)

// Endpoint is where a model is asked.
type Endpoint struct {
	llm.Endpoint

	model   string // as the provider calls it
	keyName string // Variable of the key; empty for servers that need none
	unknown string // word before a colon in the model's name that is no known provider, and no provider is configured
}

// ChatAt is where a chat model is asked: at the provider of its name or of LLM_PROVIDER; else at
// OPENAI_BASE_URL; without one, at OpenRouter if the name has a slash and there is a key for it,
// else at OpenAI.
func (m *Models) ChatAt(name string) Endpoint {
	provider, model := providers.SplitModel(name)
	if provider == "" && m.provider == "" && m.Variable("OPENAI_BASE_URL") == "" &&
		strings.Contains(name, "/") && m.Variable("OPENROUTER_API_KEY") != "" {
		provider = "openrouter"
	}
	known, _ := providers.Named(cmp.Or(provider, m.provider, "openai"))
	at, _ := known.Endpoint(m.Variable)
	e := Endpoint{at, model, known.KeyName, ""}
	if known.Name == "openai" {
		e.Provider = providerOf(at.BaseURL)
	}
	if before, _, colon := strings.Cut(model, ":"); colon && before != fineTuned && e.Provider == "openai" && provider+m.provider == "" {
		e.unknown = before
	}
	return e
}

// fineTuned begins the names of models of OpenAI that its customers made.
const fineTuned = "ft"

// embeddingAt is where the embedding model is asked. EMBEDDING_BASE_URL never gets the key of
// another provider.
func (m *Models) embeddingAt(name string) Endpoint {
	if m.embeddingURL != "" {
		return Endpoint{llm.Endpoint{Provider: providerOf(m.embeddingURL), BaseURL: m.embeddingURL, Key: m.embeddingKey}, name, "EMBEDDING_API_KEY", ""}
	}
	e := m.ChatAt(name)
	e.Key = cmp.Or(m.embeddingKey, e.Key)
	return e
}

// rerankAt is where the reranking model is asked.
func (m *Models) rerankAt(name string) Endpoint {
	return Endpoint{llm.Endpoint{Provider: providerOf(m.rerankURL), BaseURL: m.rerankURL, Key: m.rerankKey}, name, "RERANK_API_KEY", ""}
}

// providerOf names the provider of an address in messages.
func providerOf(address string) string {
	if address == "" || address == openai.DefaultBaseURL {
		return "openai"
	}
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return "the provider"
}

// remote returns the host of an endpoint, "" for this machine, and whether it is asked over plain
// http.
func (e Endpoint) remote() (host string, plain bool) {
	address, err := llm.CheckBaseURL(cmp.Or(e.BaseURL, openai.DefaultBaseURL))
	if err != nil || llm.Loopback(address) {
		return "", false
	}
	return address.Host, address.Scheme == "http"
}

// Client returns a client for an endpoint.
func (m *Models) Client(e Endpoint) (llm.Provider, error) {
	if e.unknown != "" {
		return nil, errorf("use the model %q: there is no provider %q", e.model, e.unknown).
			with("there are: " + strings.Join(ProviderNames(), ", ") + "; a model of your own server: OPENAI_BASE_URL, or LLM_PROVIDER")
	}
	if e.BaseURL == "" {
		return nil, errorf("use the model %q: the address of the provider is not known", e.model).with("set AZURE_OPENAI_ENDPOINT, such as https://NAME.openai.azure.com")
	}
	at := e.Endpoint
	at.Protocol, at.FirstByte, at.Stall, at.Limiter = cmp.Or(at.Protocol, m.protocol), m.firstByte, m.stall, m.limiter(at.Provider)
	c, err := providers.New(at)
	if err != nil {
		f := errorf("use the model %q: %w", e.model, err)
		if e.keyName == "" {
			return nil, f.with("an address of another machine needs a key; name the server with OPENAI_BASE_URL and its key with OPENAI_API_KEY")
		}
		return nil, f.with("set " + e.keyName + " in the environment or in .env; for a server of your own, OPENAI_BASE_URL")
	}
	return c, nil
}

// limiter returns the limiter that all models of a provider share; nil if there is no limit.
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

// embedder returns the embedding model.
func (m *Models) embedder() (llm.Embedder, error) {
	at := m.embeddingAt(m.Embedding)
	client, err := m.Client(at)
	if err != nil {
		return nil, err
	}
	embeds, ok := client.(*openai.Client)
	if !ok {
		return nil, errorf("use the embedding model %q: %s has none", m.Embedding, at.Provider).with("name one of another provider, or set EMBEDDING_BASE_URL")
	}
	e := llm.RetryEmbedder(embeds.Embedder(openai.EmbedderConfig{Model: at.model}), llm.RetryOptions{})
	price, known, err := m.priceOf(m.Embedding, at)
	if known {
		e = llm.PriceEmbedder(e, price)
	}
	return e, err
}

// reranker returns the reranking model, which does not retry.
func (m *Models) reranker() (llm.Reranker, error) {
	if m.rerankURL == "" {
		return nil, errorf("RERANK_MODEL is set, but RERANK_BASE_URL is not").with("say where it is served, such as http://localhost:8080/v1")
	}
	client, err := rerank.New(rerank.Config{
		Provider: providerOf(m.rerankURL), BaseURL: m.rerankURL, Key: m.rerankKey, Model: m.Reranker, Protocol: m.rerankProtocol,
	})
	if err != nil {
		return nil, errorf("use the reranker %q: %w", m.Reranker, err).with("an address of another machine needs a key: RERANK_API_KEY")
	}
	return client, nil
}

// Chat returns a chat model by its name, with its price, retries and a circuit breaker. It sends
// no request. Errors are an [*Error].
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
	price, known, err := m.priceOf(name, at)
	if err != nil {
		return nil, err
	}
	if known {
		chat = llm.Price(chat, price)
	}
	if m.chats == nil {
		m.chats = map[string]llm.Chat{}
	}
	m.chats[name] = chat
	return chat, nil
}

// Listed lists the first names, and how many more there are.
func Listed(names []string) string {
	const maxNamed = 8
	out := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}
