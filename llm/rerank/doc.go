// Package rerank speaks to cross-encoders behind HTTP: models that read a
// question and a passage together and score how well they fit.
//
//	client, err := rerank.New(rerank.Config{BaseURL: "http://localhost:8080/v1", Model: "bge-reranker-v2-m3"})
//	scores, err := client.Rerank(ctx, "How do I keep data?", passages)
//
// # Protocols
//
// There is no standard, but nearly one: a POST to <base URL>/rerank. [Documents] is
// what Cohere (base URL https://api.cohere.com/v2), Jina (https://api.jina.ai/v1)
// and llama.cpp's server (http://localhost:8080/v1) speak:
//
//	{"model": …, "query": …, "documents": […]} → {"results": [{"index": 0, "relevance_score": 0.9}, …]}
//
// [Texts] is that of Hugging Face's Text Embeddings Inference (http://localhost:8080):
//
//	{"query": …, "texts": […]} → [{"index": 0, "score": 0.9}, …]
//
// # Rules
//
// Nothing of a reply is taken on trust: each text must be scored once, by a finite
// number. Results may come in any order. A reply is bounded in size and time,
// redirects are not followed, and a key goes to the base URL alone. Scores are of
// the model's own scale: logits, or within 0 and 1.
package rerank
