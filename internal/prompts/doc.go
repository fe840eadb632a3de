// Package prompts holds the prompts for models: one template per node and language, with a typed input to
// render it and a parser for the reply. It also holds the fixed sentences that people read.
//
//	p := prompts.CheckAndRefine{Question: "What is a volume?", Passages: found, Boundary: prompts.NewBoundary()}
//	prompt := p.Render("en") // prompt.System, prompt.User
//	verdict, err := prompts.ParseCheckAndRefine(reply)
//
// Rules:
//
//   - Text of people and documents is between two boundary lines. The boundary is random and new for each
//     request, so no document can contain it. The prompt declares the text between the lines as data.
//   - English, Polish and Vietnamese have templates. For other languages the prompt is in English, and the
//     answer is in the language of the question.
//   - Parsers accept replies as models write them: any case, extra spaces, decimal commas, text around. A
//     reply that cannot be parsed is a [*ParseError]; parsers never guess.
//
// A file NAME.LANGUAGE.tmpl defines the templates "system" and "user". The files are embedded and parsed
// once. A broken template panics on first use. A [Set] replaces them by custom files, which it checks when it
// reads them.
package prompts
