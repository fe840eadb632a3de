// Package eval measures how well questions are answered: datasets, runs, metrics,
// reports and comparisons.
//
//	dataset, err := eval.Load("questions.jsonl")
//	result, err := eval.Run(ctx, assistant, dataset, eval.Options{})
//	err = eval.WriteHTML(file, result)
//	change, err := eval.Compare(before, result)
//
// # Rules
//
//   - No model is called but that of the assistant, unless [Options] hold a
//     [Judge].
//   - The outcomes of a run depend on documents, settings and questions, not on
//     the number of workers; latencies stand in fields that nothing compares.
//   - Pages are what is ranked: the chunks of one page count as one result, at
//     the rank of the best of them ([PageRank]).
//   - Keywords are looked for without regard to case and white space; short
//     numbers stand alone ([KeywordShare]).
//   - A metric is a mean over the questions it applies to, with the 95 % interval
//     of a bootstrap with a fixed seed. The turns of a dialogue are drawn
//     together.
//   - What a dataset does not expect is not measured; what is wrong with it is
//     told at once, with its places ([ErrDataset]).
//   - Texts of documents and questions are data: in HTML they are escaped, in CSV
//     they are no formulas, and a judge is told so.
//
// # How it works
//
// [Run] gives items to workers; the turns of a dialogue are asked in order on
// one thread. Each reply is turned into an [Outcome] and measured at once.
// [Result.Summarise] makes the figures from outcomes, whenever they are read.
package eval
