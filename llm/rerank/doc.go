// Package rerank calls cross-encoders over HTTP: models that read a question and a passage
// together and score how well they match.
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
// Replies are validated: each text must have exactly one finite score. Results can be in any
// order. Size and time of a reply are limited. Redirects are not followed. The key is sent
// only to the base URL. The scale of scores depends on the model: logits, or 0 to 1.
package rerank
