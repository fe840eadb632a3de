package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/llm/providers"
	"example.com/ragflow/llm/rerank"
)

// modelTable lists the settings that say which models to use, and where.
func modelTable(c *ragflow.Config, m *Models) []setting {
	aModel := func(variable string, more traits, to *string) setting {
		return row(variable, "", firstPage|ofModel|more, "the name of a model, without spaces", name(to))
	}
	at := func(variable string, more traits, to *string) setting {
		return row(variable, "", isAddress|ofModel|more, "an http or https address without user, password and query", address(to))
	}
	key := func(variable string, to *string) setting {
		return row(variable, "", isSecret|ofModel, "a key", text(to))
	}
	const aTime = "a time such as 90s or 10m, or auto"
	window := whole(1024, 10_000_000, &c.Settings.Window)
	rows := []setting{
		aModel("SMART_LLM_MODEL", 0, &m.Smart).called("OPENAI_DEFAULT_LLM_MODEL").
			flagged("model", "language model `NAME` to rewrite, summarise and answer with (default: SMART_LLM_MODEL, else none)"),
		row("LLM_PRICES", "", ofModel|isWords, "models and US dollars for a million tokens, input/output, such as groq:llama-3.1-8b-instant=0.05/0.08", ownPrices(&m.prices)),
		row("LLM_PRICE_LIST", "", ofModel|isPath, "a file with lines MODEL=INPUT/OUTPUT in US dollars for a million tokens", text(&m.priceList)),
		aModel("GRADER_LLM_MODEL", 0, &m.grader).
			flagged("grader-model", "language model `NAME` to grade with (default: GRADER_LLM_MODEL, else --model)"),
		row("LLM_TASKS", "", ofModel|isWords, "tasks and models, such as: rewrite=ollama:qwen2.5:0.5b tokens=200, summarise=groq:llama-3.1-8b-instant; tasks are "+
			strings.Join(ragflow.Tasks(), ", "), taskList(m)),
		row("MCP_SERVERS", "", ofModel|isWords, someServers, toolServers(&m.Servers)).
			flagged("mcp", "let an agent call tools of MCP servers: `SERVERS` such as \"files=mcp-files /srv/manuals allow=read,list\""),
		row("LLM_PROVIDER", "", ofModel|firstPage, "one of "+strings.Join(ProviderNames(), ", "), oneOf(ProviderNames(), &m.provider)),
		row("LLM_PROTOCOL", openai.ChatCompletions, ofModel, openai.ChatCompletions+", or "+openai.Responses+" (OpenAI and some servers); models of anthropic have a protocol of their own",
			oneOf([]string{openai.ChatCompletions, openai.Responses}, &m.protocol)),
		row("LLM_GRADER", "on", ofModel|isSafe, "on, or off: what was found is graded without a model",
			func(v string) bool { m.noGrading = v == "off"; return v == "on" || v == "off" }),
		row("LLM_REFUSALS", automatic, ofModel|isSafe, "model: it is told to decline what the sources do not answer; check: it always answers, and ragflow declines; auto is check where the model is on this machine",
			oneOf([]string{automatic, byModel, byCheck}, &m.refusals)),
		row("LLM_VERIFY", "off", ofModel|isSafe, "on: each statement of an answer is read again beside its source, with one call; or off",
			func(v string) bool { c.Settings.Verify = v == "on"; return v == "on" || v == "off" }),
		row("LLM_SPECULATE", automatic, ofModel|isSafe, "on: the answer is written while what was found is graded; off; auto is on where the model is on another machine",
			oneOf([]string{automatic, "on", "off"}, &m.speculate)),
		row("LLM_FALLBACK", "", firstPage|ofModel|isWords, "names of models in the order in which they take over",
			func(v string) bool { m.fallback = fields(v); return true }).
			flagged("fallback-model", "language model `NAME` that takes over if --model fails; several are asked in turn (default: LLM_FALLBACK, else none)"),
		row("LLM_TRANSFORMS", "", ofModel|isSafe|isWords, "names of "+strings.Join(model.Transforms(), ", ")+", separated by commas", func(v string) bool {
			c.Settings.Transforms = fields(v)
			return model.CheckTransforms(c.Settings.Transforms, true) == nil
		}).
			flagged("transform", "let the model add queries to the question: `NAMES` of "+strings.Join(model.Transforms(), ", ")+", separated by commas").shows(func(c ragflow.Config) any { return strings.Join(c.Settings.Transforms, ", ") }),
		row("LLM_SYNTHESIS", automatic, ofModel|isSafe, "one of "+strings.Join(model.Syntheses(), ", ")+"; auto is as the preset says, else "+model.Compact,
			or(automatic, oneOf(model.Syntheses(), &c.Settings.Synthesis))).
			flagged("synthesis", "how the model writes the answer: `NAME` of "+strings.Join(model.Syntheses(), ", ")).
			shows(func(c ragflow.Config) any { return cmp.Or(c.Settings.Synthesis, automatic) }),
		row("LLM_ANSWER_TOKENS", strconv.Itoa(model.AnswerTokens), ofModel|isSafe, "a whole number of tokens from 1 to 100000", whole(1, 100_000, &c.Settings.Tokens)),
		row("LLM_TEMPERATURE", fmt.Sprint(model.AnswerTemperature), ofModel|isSafe, "a number from 0 to 2", func(v string) bool {
			c.Settings.Temperature = new(float64)
			return numeric(0, 2, c.Settings.Temperature)(v)
		}),
		row("LLM_CONTEXT_TOKENS", automatic, ofModel|isSafe, "the context window of the model in tokens, from 1024 to 10000000, or auto", or(automatic, window)),
		row("LLM_FIRST_TOKEN_TIMEOUT", automatic, ofModel|isSafe, aTime, or(automatic, duration(&m.firstByte))),
		row("LLM_STALL_TIMEOUT", automatic, ofModel|isSafe, aTime, or(automatic, duration(&m.stall))),
		row("LLM_REQUESTS_PER_MINUTE", "none", ofModel|isSafe, "how many requests a provider takes in a minute, from 1 to 100000, or none",
			or("none", whole(1, 100_000, &m.perMinute))),
		aModel("EMBEDDING_MODEL", ofCollection, &m.Embedding),
		at("EMBEDDING_BASE_URL", ofCollection, &m.embeddingURL),
		aModel("RERANK_MODEL", 0, &m.Reranker).called("RERANKER_MODEL"),
		at("RERANK_BASE_URL", 0, &m.rerankURL),
		row("RERANK_PROTOCOL", "", ofModel, rerank.Documents+" (Cohere, Jina, llama.cpp) or "+rerank.Texts+" (Text Embeddings Inference)",
			oneOf([]string{rerank.Documents, rerank.Texts}, &m.rerankProtocol)),
	}
	m.variables = map[string]*string{}
	keys := []setting{key("EMBEDDING_API_KEY", &m.embeddingKey), key("RERANK_API_KEY", &m.rerankKey)} // behind all addresses
	for _, k := range providers.All() {
		m.variables[k.URLName], m.variables[k.KeyName] = new(string), new(string)
		rows = append(rows, at(k.URLName, 0, m.variables[k.URLName]))
		if k.KeyName != "" {
			keys = append(keys, key(k.KeyName, m.variables[k.KeyName]))
		}
	}
	return slices.Concat(rows, keys)
}

// taskModels is what is configured of a task.
type taskModels struct {
	models      []string // in the order in which they take over
	temperature *float64
	tokens      int
}

// taskList reads tasks as words: TASK=MODEL begins a task, further models of it follow, and
// temperature=N and tokens=N belong to it.
func taskList(m *Models) setter {
	return func(v string) bool {
		m.tasks = map[string]taskModels{}
		task := ""
		for _, w := range fields(v) {
			key, value, is := strings.Cut(w, "=")
			if is && slices.Contains(ragflow.Tasks(), key) {
				task, w = key, value
			} else if is && key != "temperature" && key != "tokens" || task == "" {
				return false
			}
			t, ok := m.tasks[task], true
			switch {
			case is && key == "temperature":
				t.temperature = new(float64)
				ok = numeric(0, 2, t.temperature)(value)
			case is && key == "tokens":
				ok = whole(1, 100_000, &t.tokens)(value)
			case w != "":
				t.models = append(t.models, w)
			}
			if !ok {
				return false
			}
			m.tasks[task] = t
		}
		return true
	}
}

// addressesOf lists the settings that may say where a key is sent: the first one that is set does.
func addressesOf(key string) []string {
	var all []string
	for _, k := range providers.All() {
		if k.KeyName == key {
			return []string{k.URLName}
		}
		all = append(all, k.URLName)
	}
	if key == "WEAVIATE_API_KEY" {
		return []string{"RAGFLOW_INDEX"}
	}
	address := strings.TrimSuffix(key, "_API_KEY") + "_BASE_URL"
	if key == "EMBEDDING_API_KEY" { // without an address of its own, the provider's
		return append([]string{address}, all...)
	}
	return []string{address}
}

// ProviderNames lists the known providers of models.
func ProviderNames() []string {
	var names []string
	for _, k := range providers.All() {
		names = append(names, k.Name)
	}
	return names
}
