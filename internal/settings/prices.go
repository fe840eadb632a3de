package settings

import (
	"context"
	"os"

	"example.com/ragflow/internal/prices"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/providers"
)

// Prices returns the built-in prices with those of LLM_PRICE_LIST. LLM_PRICES, which counts before both, is not in it.
func (m *Models) Prices() (prices.Table, error) {
	if m.table != nil {
		return *m.table, nil
	}
	table := prices.BuiltIn()
	if m.priceList != "" {
		f, err := os.Open(m.priceList)
		if err != nil {
			return table, failed("read the prices", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		if table, err = table.With(f); err != nil {
			return table, errorf("read the prices in %s: %w", m.priceList, err).with("correct the line, or take LLM_PRICE_LIST out")
		}
	}
	m.table = &table
	return table, nil
}

// priceOf returns the price of a model: of LLM_PRICES, of the lists by its configured name or by its provider, or nothing
// for the servers of models on this machine. Any other price is unknown.
func (m *Models) priceOf(name string, at Endpoint) (p llm.PerMillion, known bool, err error) {
	if own, ok := m.prices[name]; ok {
		return own, true, nil
	}
	table, err := m.Prices()
	if err != nil {
		return p, false, err
	}
	for _, n := range []string{name, at.Provider + ":" + at.model} {
		if listed, ok := table.Of(n); ok {
			return listed, true, nil
		}
	}
	host, _ := at.remote()
	local, ok := providers.Named(at.Provider)
	return p, ok && local.KeyName == "" && host == "", nil
}

// pricedReranker sets the cost of each call.
type pricedReranker struct {
	llm.Reranker

	price llm.PerMillion
}

func (r pricedReranker) Rerank(ctx context.Context, query string, texts []string) (llm.Scores, error) {
	out, err := r.Reranker.Rerank(ctx, query, texts)
	if err == nil {
		out.CostUSD, out.Priced = r.price.Cost(out.Usage), true
	}
	return out, err
}
