package llm

import "context"

// PerMillion is the price of a million tokens, in US dollars.
type PerMillion struct {
	Input  float64
	Output float64
}

// Cost returns the cost of u in US dollars.
func (p PerMillion) Cost(u Usage) float64 {
	return (p.Input*float64(u.Input) + p.Output*float64(u.Output)) / 1e6
}

// Price sets the cost of each call in its response. Without it the price is unknown: CostUSD
// is 0 and Priced false.
func Price(c Chat, p PerMillion) Chat { return &pricedChat{Chat: c, price: p} }

type pricedChat struct {
	Chat
	price PerMillion
}

func (c *pricedChat) Complete(ctx context.Context, r Request, token func(string)) (Response, error) {
	out, err := c.Chat.Complete(ctx, r, token)
	if err == nil {
		out.CostUSD, out.Priced = c.price.Cost(out.Usage), true
	}
	return out, err
}

// PriceEmbedder is [Price] for an [Embedder].
func PriceEmbedder(e Embedder, p PerMillion) Embedder { return &pricedEmbedder{Embedder: e, price: p} }

type pricedEmbedder struct {
	Embedder
	price PerMillion
}

func (e *pricedEmbedder) Embed(ctx context.Context, texts []string, p Purpose) (Embeddings, error) {
	out, err := e.Embedder.Embed(ctx, texts, p)
	if err == nil {
		out.CostUSD, out.Priced = e.price.Cost(out.Usage), true
	}
	return out, err
}
