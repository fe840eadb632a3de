package main

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
func modelTable(m *models) []setting {
	const (
		aName     = "the name of a model, without spaces"
		aPrice    = "US dollars for a million tokens, input/output, such as 2.5/10"
		anAddress = "an http or https address without user, password and query"
	)
	aModel := func(variable, also string, to *string) setting {
		return setting{
			name: variable, also: also, key: strings.ToLower(variable), is: firstPage | ofModel, allowed: aName,
			set: name(func(*ragflow.Config) *string { return to }),
		}
	}
	price := func(variable string, to **llm.PerMillion) setting {
		return setting{name: variable, key: strings.ToLower(variable), is: ofModel, allowed: aPrice, set: func(_ *ragflow.Config, v string) bool {
			p, ok := parsePrice(v)
			*to = &p
			return ok
		}}
	}
	at := func(variable string, to *string) setting {
		set := func(_ *ragflow.Config, v string) bool {
			_, err := llm.CheckBaseURL(v)
			*to = strings.TrimRight(v, "/")
			return err == nil
		}
		return setting{name: variable, key: strings.ToLower(variable), is: address | ofModel, allowed: anAddress, set: set}
	}
	key := func(variable string, to *string) setting {
		return setting{name: variable, is: secret | ofModel, allowed: "a key", set: text(func(*ragflow.Config) *string { return to })}
	}
	duration := func(variable string, to *time.Duration) setting {
		return setting{
			name: variable, key: strings.ToLower(variable), preset: automatic, is: ofModel | safe, allowed: "a time such as 90s or 10m, or auto",
			set: or(automatic, func(_ *ragflow.Config, v string) bool {
				d, err := time.ParseDuration(v)
				*to = d
				return err == nil && d > 0
			}),
		}
	}
	rows := []setting{
		aModel("SMART_LLM_MODEL", "OPENAI_DEFAULT_LLM_MODEL", &m.smart), price("SMART_LLM_PRICE", &m.smartPrice),
		aModel("GRADER_LLM_MODEL", "", &m.grader), price("GRADER_LLM_PRICE", &m.graderPrice),
		{
			name: "LLM_PROVIDER", key: "llm_provider", is: ofModel | firstPage, allowed: "one of " + strings.Join(providerNames(), ", "),
			set: oneOf(providerNames(), func(*ragflow.Config) *string { return &m.provider }),
		},
		{
			name: "LLM_GRADER", key: "llm_grader", preset: "on", is: ofModel | safe, allowed: "on, or off: what was found is graded without a model",
			set: func(_ *ragflow.Config, v string) bool { m.plainGrades = v == "off"; return v == "on" || v == "off" },
		},
		aModel("LLM_FALLBACK", "", &m.fallback), price("LLM_FALLBACK_PRICE", &m.fallbackPrice),
		{
			name: "LLM_TRANSFORMS", key: "llm_transforms", is: ofModel | safe, allowed: "names of " + strings.Join(model.Transforms(), ", ") + ", separated by commas",
			set: func(c *ragflow.Config, v string) bool {
				c.Transforms = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
				return model.CheckTransforms(c.Transforms, true) == nil
			},
		},
		{
			name: "LLM_SYNTHESIS", key: "llm_synthesis", preset: automatic, is: ofModel | safe,
			allowed: "one of " + strings.Join(model.Syntheses(), ", ") + "; auto is as the preset says, else " + model.Compact,
			set:     or(automatic, oneOf(model.Syntheses(), func(c *ragflow.Config) *string { return &c.Answers.Synthesis })),
		},
		{
			name: "LLM_ANSWER_TOKENS", key: "llm_answer_tokens", preset: strconv.Itoa(model.AnswerTokens), is: ofModel | safe,
			allowed: "a whole number of tokens from 1 to 100000", set: whole(100_000, func(c *ragflow.Config) *int { return &c.Answers.Tokens }),
		},
		{
			name: "LLM_TEMPERATURE", key: "llm_temperature", preset: fmt.Sprint(model.AnswerTemperature), is: ofModel | safe,
			allowed: "a number from 0 to 2", set: func(c *ragflow.Config, v string) bool {
				c.Answers.Temperature = new(float64)
				return numeric(0, 2, func(c *ragflow.Config) *float64 { return c.Answers.Temperature })(c, v)
			},
		},
		{
			name: "LLM_CONTEXT_TOKENS", key: "llm_context_tokens", preset: automatic, is: ofModel | safe,
			allowed: "the context window of the model in tokens, from 1024 to 10000000, or auto",
			set: or(automatic, func(c *ragflow.Config, v string) bool {
				return whole(10_000_000, func(c *ragflow.Config) *int { return &c.Answers.Window })(c, v) && c.Answers.Window >= 1024
			}),
		},
		duration("LLM_FIRST_TOKEN_TIMEOUT", &m.firstByte), duration("LLM_STALL_TIMEOUT", &m.stall),
		aModel("EMBEDDING_MODEL", "", &m.embedding), price("EMBEDDING_PRICE", &m.embedPrice),
		at("EMBEDDING_BASE_URL", &m.embeddingURL), key("EMBEDDING_API_KEY", &m.embeddingKey),
		aModel("RERANK_MODEL", "RERANKER_MODEL", &m.reranker), at("RERANK_BASE_URL", &m.rerankURL),
		{
			name: "RERANK_PROTOCOL", key: "rerank_protocol", is: ofModel,
			allowed: rerank.Documents + " (Cohere, Jina, llama.cpp) or " + rerank.Texts + " (Text Embeddings Inference)",
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
		if strings.HasPrefix(row.name, "EMBEDDING_") && !row.has(secret) {
			rows[i].is |= own
		}
	}
	return rows
}

func providerNames() []string {
	var names []string
	for _, k := range openai.KnownProviders() {
		names = append(names, k.Name)
	}
	return names
}
