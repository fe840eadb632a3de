package state

// Settings say how one question is answered. The zero value of a field is its default.
// They are saved with the question, so that a run which is resumed keeps them.
type Settings struct {
	Model       string   `json:"model,omitempty"`       // name of a model; empty: the default one
	Offline     bool     `json:"offline,omitempty"`     // no language model takes part
	Temperature *float64 `json:"temperature,omitempty"` // of the answer, from 0 to 2
	Tokens      int      `json:"max_tokens,omitempty"`  // maximum length of the answer
	Window      int      `json:"window,omitempty"`      // context window of the model in tokens; 0: large enough for the defaults
	System      string   `json:"system,omitempty"`      // system prompt; the sources replace {context}
	Language    string   `json:"language,omitempty"`    // language of the answer, ISO 639-1; empty: that of the question

	TopK       int      `json:"top_k,omitempty"`      // hits per query
	MinScore   float64  `json:"min_score,omitempty"`  // hits of a query with a lower score are left out
	Threshold  float64  `json:"threshold,omitempty"`  // minimum grade that passes, in (0, 1]
	Transforms []string `json:"transforms,omitempty"` // names of methods by which a model adds queries
	Synthesis  string   `json:"synthesis,omitempty"`  // method by which a model writes an answer from several sources

	Checked        bool `json:"checked,omitempty"`          // words are shown when their sentence is checked, and never withdrawn
	Strict         bool `json:"strict,omitempty"`           // unsupported statements of a model are dropped, not marked
	Verify         bool `json:"verify,omitempty"`           // a model reads each statement again, beside its source
	NoRefusals     bool `json:"no_refusals,omitempty"`      // the model is not told how to decline
	NoModelGrading bool `json:"no_model_grading,omitempty"` // no model grades the search result, which saves one call
	Speculate      bool `json:"speculate,omitempty"`        // the answer is begun while a model grades

	SummaryTokens int            `json:"summary_tokens,omitempty"` // live messages with more tokens are summarised
	ContentTokens int            `json:"content_tokens,omitempty"` // maximum of the messages that a model gets with a question
	Context       ContextOptions `json:"context,omitzero"`
}

// ContextOptions say how the context of an answer is made of the passages that were found.
type ContextOptions struct {
	MaxSources   int    `json:"max_sources,omitempty"`   // maximum number of chunks, at most 6
	MaxTokens    int    `json:"max_tokens,omitempty"`    // maximum of all sources with their labels
	Separator    string `json:"separator,omitempty"`     // between the sources of the assembled context
	Scores       bool   `json:"scores,omitempty"`        // adds the relevance of each source to its label
	Metadata     bool   `json:"metadata,omitempty"`      // adds type and ID of a document above the text
	Sentences    int    `json:"sentences,omitempty"`     // sentences to keep of each document; 0: whole chunks
	WholeSources bool   `json:"whole_sources,omitempty"` // drops a source that does not fit instead of cutting its end
	// TrustDocuments keeps passages that look like prompt injection. They are still noted.
	TrustDocuments bool `json:"trust_documents,omitempty"`
}
