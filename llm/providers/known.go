// Package providers lists the known providers of models with their addresses and keys, and
// makes clients for them.
//
//	chat, err := providers.FromEnvironment(os.Getenv)
package providers

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"example.com/ragflow/llm"
	"example.com/ragflow/llm/anthropic"
	"example.com/ragflow/llm/openai"
)

// Known is a provider at a known address.
type Known struct {
	Name     string
	BaseURL  string // usual address; empty for an address that each customer has alone
	URLName  string // environment variable with another address
	KeyName  string // environment variable with the key; empty for servers that need none
	Suffix   string // path that the address in URLName may lack
	Protocol string // its own protocol; empty for one that speaks that of OpenAI
}

// All lists the known providers. The servers without a key run on this machine.
func All() []Known {
	return []Known{
		{Name: "openai", BaseURL: openai.DefaultBaseURL, URLName: "OPENAI_BASE_URL", KeyName: "OPENAI_API_KEY"},
		{Name: "anthropic", BaseURL: anthropic.DefaultBaseURL, URLName: "ANTHROPIC_BASE_URL", KeyName: "ANTHROPIC_API_KEY", Suffix: "/v1", Protocol: anthropic.Protocol},
		{Name: "google", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", URLName: "GOOGLE_BASE_URL", KeyName: "GOOGLE_API_KEY"},
		{Name: "cohere", BaseURL: "https://api.cohere.ai/compatibility/v1", URLName: "COHERE_BASE_URL", KeyName: "COHERE_API_KEY"},
		{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", URLName: "MISTRAL_BASE_URL", KeyName: "MISTRAL_API_KEY"},
		{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", URLName: "GROQ_BASE_URL", KeyName: "GROQ_API_KEY"},
		{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", URLName: "OPENROUTER_BASE_URL", KeyName: "OPENROUTER_API_KEY"},
		{Name: "azure", URLName: "AZURE_OPENAI_ENDPOINT", KeyName: "AZURE_OPENAI_API_KEY", Suffix: "/openai/v1"},
		{Name: "ollama", BaseURL: "http://localhost:11434/v1", URLName: "OLLAMA_BASE_URL", Suffix: "/v1"},
		{Name: "lmstudio", BaseURL: "http://localhost:1234/v1", URLName: "LMSTUDIO_BASE_URL", Suffix: "/v1"},
		{Name: "llamacpp", BaseURL: "http://localhost:8080/v1", URLName: "LLAMACPP_BASE_URL", Suffix: "/v1"},
		{Name: "vllm", BaseURL: "http://localhost:8000/v1", URLName: "VLLM_BASE_URL", Suffix: "/v1"},
	}
}

// Named returns the known provider of a name.
func Named(name string) (Known, bool) {
	for _, k := range All() {
		if k.Name == name {
			return k, true
		}
	}
	return Known{}, false
}

// SplitModel splits "PROVIDER:MODEL" if PROVIDER is the name of a known provider. A
// model's own name may hold a colon; any other name is returned whole.
func SplitModel(name string) (provider, model string) {
	before, after, found := strings.Cut(name, ":")
	if _, known := Named(before); found && known && after != "" {
		return before, after
	}
	return "", name
}

// Endpoint returns the endpoint of a provider. get returns the value of an environment
// variable, empty if it is not set. ok is false if the key or the address is missing.
func (k Known) Endpoint(get func(variable string) string) (e llm.Endpoint, ok bool) {
	address := strings.TrimRight(get(k.URLName), "/")
	if address != "" && !strings.HasSuffix(address, k.Suffix) {
		address += k.Suffix
	}
	e = llm.Endpoint{Provider: k.Name, BaseURL: cmp.Or(address, k.BaseURL), Protocol: k.Protocol}
	if k.KeyName != "" {
		e.Key = get(k.KeyName)
	}
	return e, e.BaseURL != "" && (k.KeyName == "" || e.Key != "")
}

// New returns the client of an endpoint, by its Protocol. It sends no request.
func New(e llm.Endpoint) (llm.Provider, error) {
	if e.Protocol == anthropic.Protocol {
		return anthropic.New(e)
	}
	return openai.New(e)
}

// PerMinute returns a limiter that lets at most n requests through in any minute, the first few
// of them at once. Further ones wait in the order of their calls. n is at least 1.
func PerMinute(n int) llm.Limiter {
	const atOnce = 6 // one in so many
	burst := max(1, n/atOnce)
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(max(1, n-burst))), burst)
}

// FromEnvironment returns the chat model that the command ragflow uses: SMART_LLM_MODEL names
// it, as MODEL or PROVIDER:MODEL, and the variables of its provider, such as OPENAI_BASE_URL
// and OPENAI_API_KEY, tell address and key. LLM_PROTOCOL names the protocol of a provider that
// has none of its own. The model retries: see [llm.Retry].
func FromEnvironment(get func(variable string) string) (llm.Chat, error) {
	provider, model := SplitModel(get("SMART_LLM_MODEL"))
	if model == "" {
		return nil, errors.New("no model: set SMART_LLM_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY")
	}
	known, _ := Named(cmp.Or(provider, "openai"))
	e, _ := known.Endpoint(get)
	e.Protocol = cmp.Or(e.Protocol, get("LLM_PROTOCOL"))
	client, err := New(e)
	if err != nil {
		return nil, err
	}
	return llm.Retry(client.Chat(model), llm.RetryOptions{}), nil
}
