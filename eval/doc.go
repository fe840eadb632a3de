// Package eval measures how well questions are answered: datasets, runs, metrics, reports and comparisons.
//
//	dataset, err := eval.Load("questions.jsonl")
//	result, err := eval.Run(ctx, assistant, dataset, eval.Options{})
//	err = eval.WriteHTML(file, result)
//	change, err := eval.Compare(before, result)
//
// # Rules
//
//   - Only the assistant calls a model, unless [Options] hold a [Judge].
//   - The outcomes of a run depend on documents, settings and questions, not on the number of workers.
//     Latencies are in fields that are never compared.
//   - Pages are ranked: all chunks of a page are one result, at the rank of the best ([PageRank]).
//   - Keywords are found regardless of case and white space; short numbers must be separate words
//     ([KeywordShare]).
//   - A metric is a mean over the questions it applies to, with a 95 % interval from a bootstrap with a fixed
//     seed. The turns of a dialogue are drawn together.
//   - Only what a dataset expects is measured. Its faults are all reported first, with their positions
//     ([ErrDataset]).
//   - Texts of documents and questions are data: they are escaped in HTML, cannot be formulas in CSV, and a
//     judge is told that they are data.
//
// # How it works
//
// [Run] gives items to workers; the turns of a dialogue are asked in order on one thread. Each reply becomes
// an [Outcome] and is measured at once. The figures of a [Summary] are computed from the outcomes.
package eval
