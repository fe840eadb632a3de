package openai

import (
	"cmp"
	"errors"
	"log/slog"
	"strings"

	"example.com/ragflow/llm"
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

// KnownProviders lists the known providers. The servers without a key run on the own machine.
func KnownProviders() []Known {
	return []Known{
		{Name: "openai", BaseURL: DefaultBaseURL, URLName: "OPENAI_BASE_URL", KeyName: "OPENAI_API_KEY"},
		{Name: "anthropic", BaseURL: "https://api.anthropic.com/v1", URLName: "ANTHROPIC_BASE_URL", KeyName: "ANTHROPIC_API_KEY", Suffix: "/v1", Protocol: Messages},
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

// KnownProvider returns the known provider of a name.
func KnownProvider(name string) (Known, bool) {
	for _, k := range KnownProviders() {
		if k.Name == name {
			return k, true
		}
	}
	return Known{}, false
}

// SplitModel splits "PROVIDER:MODEL" where PROVIDER is the name of a known provider. A
// model's own name may hold a colon; any other name is returned whole.
func SplitModel(name string) (provider, model string) {
	before, after, found := strings.Cut(name, ":")
	if _, known := KnownProvider(before); found && known && after != "" {
		return before, after
	}
	return "", name
}

// Config returns the configuration for a provider. get returns the value of an environment
// variable, empty if it is not set. ok is false if the key or the address is missing.
func (k Known) Config(get func(variable string) string) (c Config, ok bool) {
	address := strings.TrimRight(get(k.URLName), "/")
	if address != "" && !strings.HasSuffix(address, k.Suffix) {
		address += k.Suffix
	}
	c = Config{Provider: k.Name, BaseURL: cmp.Or(address, k.BaseURL), Protocol: k.Protocol}
	if k.KeyName != "" {
		c.Key = get(k.KeyName)
	}
	return c, c.BaseURL != "" && (k.KeyName == "" || c.Key != "")
}

// Discover registers the known providers for which get has a key, and the servers without a
// key for which it has an address. It sends no request. The log says of each provider whether
// it was registered.
func Discover(get func(variable string) string, log *slog.Logger) *llm.Registry {
	var r llm.Registry
	for _, k := range KnownProviders() {
		c, ok := k.Config(get)
		if ok && k.KeyName == "" {
			ok = get(k.URLName) != ""
		}
		if !ok {
			log.Info("Skipped LLM provider: " + k.Name + " (no credentials)") //nolint:sloglint // the text is prescribed
			continue
		}
		client, err := New(c)
		if err != nil {
			log.Warn("Skipped LLM provider: "+k.Name, "error", err) //nolint:sloglint // as above
			continue
		}
		r.Register(client)
		log.Info("Registered LLM provider: " + k.Name) //nolint:sloglint // as above
	}
	return &r
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
	known, _ := KnownProvider(cmp.Or(provider, "openai"))
	config, _ := known.Config(get)
	config.Protocol = cmp.Or(config.Protocol, get("LLM_PROTOCOL"))
	client, err := New(config)
	if err != nil {
		return nil, err
	}
	return llm.Retry(client.Chat(model), llm.RetryOptions{}), nil
}
