package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/llm/rerank"
	"example.com/ragflow/skills/model"
)

// modelTable lists the settings that say which models to use, and where.
func modelTable(m *Models) []Setting {
	const (
		aName     = "the name of a model, without spaces"
		aPrice    = "US dollars for a million tokens, input/output, such as 2.5/10"
		anAddress = "an http or https address without user, password and query"
	)
	aModel := func(variable, also string, to *string) Setting {
		return Setting{
			Name: variable, also: also, Key: strings.ToLower(variable), is: FirstPage | OfModel, Allowed: aName,
			set: name(func(*ragflow.Config) *string { return to }),
		}
	}
	price := func(variable string, to **llm.PerMillion) Setting {
		return Setting{Name: variable, Key: strings.ToLower(variable), is: OfModel, Allowed: aPrice, set: func(_ *ragflow.Config, v string) bool {
			p, ok := parsePrice(v)
			*to = &p
			return ok
		}}
	}
	at := func(variable string, to *string) Setting {
		set := func(_ *ragflow.Config, v string) bool {
			_, err := llm.CheckBaseURL(v)
			*to = strings.TrimRight(v, "/")
			return err == nil
		}
		return Setting{Name: variable, Key: strings.ToLower(variable), is: Address | OfModel, Allowed: anAddress, set: set}
	}
	key := func(variable string, to *string) Setting {
		return Setting{Name: variable, is: Secret | OfModel, Allowed: "a key", set: text(func(*ragflow.Config) *string { return to })}
	}
	duration := func(variable string, to *time.Duration) Setting {
		return Setting{
			Name: variable, Key: strings.ToLower(variable), Preset: automatic, is: OfModel | Safe, Allowed: "a time such as 90s or 10m, or auto",
			set: or(automatic, func(_ *ragflow.Config, v string) bool {
				d, err := time.ParseDuration(v)
				*to = d
				return err == nil && d > 0
			}),
		}
	}
	rows := []Setting{
		aModel("SMART_LLM_MODEL", "OPENAI_DEFAULT_LLM_MODEL", &m.Smart), price("SMART_LLM_PRICE", &m.SmartPrice),
		aModel("GRADER_LLM_MODEL", "", &m.grader), price("GRADER_LLM_PRICE", &m.graderPrice),
		{
			Name: "LLM_PROVIDER", Key: "llm_provider", is: OfModel | FirstPage, Allowed: "one of " + strings.Join(ProviderNames(), ", "),
			set: oneOf(ProviderNames(), func(*ragflow.Config) *string { return &m.provider }),
		},
		{
			Name: "LLM_GRADER", Key: "llm_grader", Preset: "on", is: OfModel | Safe, Allowed: "on, or off: what was found is graded without a model",
			set: func(_ *ragflow.Config, v string) bool { m.plainGrades = v == "off"; return v == "on" || v == "off" },
		},
		aModel("LLM_FALLBACK", "", &m.fallback), price("LLM_FALLBACK_PRICE", &m.fallbackPrice),
		{
			Name: "LLM_TRANSFORMS", Key: "llm_transforms", is: OfModel | Safe, Allowed: "names of " + strings.Join(model.Transforms(), ", ") + ", separated by commas",
			set: func(c *ragflow.Config, v string) bool {
				c.Transforms = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
				return model.CheckTransforms(c.Transforms, true) == nil
			},
		},
		{
			Name: "LLM_SYNTHESIS", Key: "llm_synthesis", Preset: automatic, is: OfModel | Safe,
			Allowed: "one of " + strings.Join(model.Syntheses(), ", ") + "; auto is as the preset says, else " + model.Compact,
			set:     or(automatic, oneOf(model.Syntheses(), func(c *ragflow.Config) *string { return &c.Answers.Synthesis })),
		},
		{
			Name: "LLM_ANSWER_TOKENS", Key: "llm_answer_tokens", Preset: strconv.Itoa(model.AnswerTokens), is: OfModel | Safe,
			Allowed: "a whole number of tokens from 1 to 100000", set: whole(100_000, func(c *ragflow.Config) *int { return &c.Answers.Tokens }),
		},
		{
			Name: "LLM_TEMPERATURE", Key: "llm_temperature", Preset: fmt.Sprint(model.AnswerTemperature), is: OfModel | Safe,
			Allowed: "a number from 0 to 2", set: func(c *ragflow.Config, v string) bool {
				c.Answers.Temperature = new(float64)
				return numeric(0, 2, func(c *ragflow.Config) *float64 { return c.Answers.Temperature })(c, v)
			},
		},
		{
			Name: "LLM_CONTEXT_TOKENS", Key: "llm_context_tokens", Preset: automatic, is: OfModel | Safe,
			Allowed: "the context window of the model in tokens, from 1024 to 10000000, or auto",
			set: or(automatic, func(c *ragflow.Config, v string) bool {
				return whole(10_000_000, func(c *ragflow.Config) *int { return &c.Answers.Window })(c, v) && c.Answers.Window >= 1024
			}),
		},
		duration("LLM_FIRST_TOKEN_TIMEOUT", &m.firstByte), duration("LLM_STALL_TIMEOUT", &m.stall),
		aModel("EMBEDDING_MODEL", "", &m.Embedding), price("EMBEDDING_PRICE", &m.embedPrice),
		at("EMBEDDING_BASE_URL", &m.embeddingURL), key("EMBEDDING_API_KEY", &m.embeddingKey),
		aModel("RERANK_MODEL", "RERANKER_MODEL", &m.Reranker), at("RERANK_BASE_URL", &m.rerankURL),
		{
			Name: "RERANK_PROTOCOL", Key: "rerank_protocol", is: OfModel,
			Allowed: rerank.Documents + " (Cohere, Jina, llama.cpp) or " + rerank.Texts + " (Text Embeddings Inference)",
			set:     oneOf([]string{rerank.Documents, rerank.Texts}, func(*ragflow.Config) *string { return &m.rerankProtocol }),
		},
		key("RERANK_API_KEY", &m.rerankKey),
	}
	m.variables = map[string]*string{}
	for _, k := range openai.KnownProviders() {
		m.variables[k.URLName], m.variables[k.KeyName] = new(string), new(string)
		rows = append(rows, at(k.URLName, m.variables[k.URLName]))
		if k.KeyName != "" {
			rows = append(rows, key(k.KeyName, m.variables[k.KeyName]))
		}
	}
	for i, row := range rows {
		if strings.HasPrefix(row.Name, "EMBEDDING_") && !row.Has(Secret) {
			rows[i].is |= Own
		}
	}
	return rows
}

// ProviderNames lists the known providers of models.
func ProviderNames() []string {
	var names []string
	for _, k := range openai.KnownProviders() {
		names = append(names, k.Name)
	}
	return names
}
