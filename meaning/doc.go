// Package meaning runs a small transformer, which is part of the binary: no server, no key, no download and no cgo. It
// makes vectors that find texts of near meaning, and it judges whether a passage answers a question.
//
//	model, err := meaning.Open()
//	vectors, err := model.Embed(ctx, passages, llm.Passage)
//	scores, err := model.Rerank(ctx, "How do I keep data?", passages)
//
// # The model
//
// Both uses share six layers of width 384. A vector is the mean of all tokens of "query: " or "passage: " and the text.
// A score is a logit made of the first token of question and passage. A title stands before its passage as
// "title: passage". The model knows 21 languages; a question and a passage of different languages match less well.
//
// # Limits
//
// The model reads 512 tokens. All callers share two workers, with 7 MB each. A passage of 160 tokens takes 15 to 25 ms
// of one core with AVX2 or better, and about a second if [Fast] is false: scripts/reader has a table. NEON was not timed.
//
// # How it computes
//
// Weights are bytes of at most 63, and each row of activations becomes bytes with a range of its own, so that the large
// products are sums of integers. The rest is float32. There are kernels for AVX512-VNNI, AVX-VNNI, AVX2, NEON with SDOT
// and any processor, and all return the same bits, so that an index is good on another computer: sums of floats have one
// order, and each product is rounded before it is added. NEON was run in an emulator. AVX-VNNI was not run where this was
// written: it is AVX2's kernel with another instruction, whose bytes are those of GNU's assembler.
package meaning
