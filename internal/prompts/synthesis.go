package prompts

// Refine is the prompt that asks to improve an answer with one more source.
type Refine struct {
	Question string
	Answer   string // the answer so far
	Source   SourceText
	Boundary string
	Custom   Set
}

// Render renders the prompt. It is in English for every language.
func (p Refine) Render() Rendered { return p.Custom.render("refine", "en", p) }

// PartialAnswer is an answer from some of the sources, or to a part of the question.
type PartialAnswer struct {
	Question string // the part of the question, or "" for the whole question
	Answer   string
}

// Merge is the prompt that asks to combine partial answers.
type Merge struct {
	Question string
	Parts    []PartialAnswer
	Boundary string
	Custom   Set
}

// Render renders the prompt. It is in English for every language.
func (p Merge) Render() Rendered { return p.Custom.render("merge", "en", p) }
