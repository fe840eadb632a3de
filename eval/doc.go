// Package eval measures how well questions are answered: datasets, metrics and
// the runs between them.
//
//	set, err := eval.ReadFile("dev.jsonl")
//	for _, q := range set.Questions {
//		reply, err := assistant.Ask(ctx, ragflow.Question{Text: q.Question})
//		share, ok := eval.KeywordShare(reply.Answer, q.ExpectedKeywords)
//	}
//
// Rules:
//
//   - Pages are what is ranked: the chunks of one page count as one result, at
//     the rank of the best of them ([PageRank]).
//   - Keywords are looked for without regard to case and white space; short
//     numbers stand alone ([KeywordShare]).
//   - A mean comes with its bootstrap interval, drawn with a fixed seed
//     ([Bootstrap]).
//
// Everything is pure but for [Read] and [ReadFile], and deterministic.
package eval
