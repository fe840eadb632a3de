// Package prompts holds what models are told: one template a node and language,
// with a typed input that renders it and a parser that reads the reply.
//
//	p := prompts.CheckAndRefine{Question: "What is a volume?", Passages: found, Boundary: prompts.NewBoundary()}
//	said := p.Render("en") // said.System, said.User
//	verdict, err := prompts.ParseCheckAndRefine(reply)
//
// Rules:
//
//   - What people and documents wrote stands between lines that hold a boundary.
//     The boundary is random and new for each request, so that no document can
//     close it, and the prompt declares what stands within to be data.
//   - English, Polish and Vietnamese have templates of their own; every other
//     language is asked about in English and answered in the language of the
//     question.
//   - Parsers take replies as models write them: other case, blanks, decimal
//     commas, words around. What cannot be read is a [*ParseError], never a guess.
//
// How it works: a file NODE.LANGUAGE.tmpl defines the templates "system" and
// "user". Files are embedded and parsed once; a broken one panics at start.
package prompts
