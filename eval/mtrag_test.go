package eval_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/eval"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestMTRAG asks the last turns of MTRAG's conversations over its pooled passages in three ways, with the
// same index: as typed, with their history through the rewriter, and as people rewrote them. The rewriter
// must not find less than these.
//
// The history of a turn is the questions before it and the reference answers, reduced to what an exchange
// keeps; which passages those answers used is not known.
func TestMTRAG(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes 25,505 passages")
	}
	root := golden.Public(t, "mtrag")
	var out bytes.Buffer
	out.WriteString(mtragHead)
	for _, domain := range []string{"cloud", "clapnq"} {
		bench := openMTRAG(t, root, domain)
		bench.report(t, &out)
		bench.unanswerable(t, &out)
	}
	golden.Assert(t, "testdata/mtrag.golden", out.Bytes())
}

const mtragHead = `# MTRAG, human retrieval tasks, pooled passages: last turn with its history against the human rewrite.
# The history is the earlier questions and, of the reference answers, the words that an exchange keeps.
# The rewriter's weights are those published for the decay rule; how a turn is told that stands alone was chosen with docker-eval's dialogues and these figures in view.
# The floor is 1.00 × the human rewrite in both domains. Intervals are 95 % bootstraps of means over turns.
`

// mtragTask is a turn of a conversation with its reference answer.
type mtragTask struct {
	ID           string `json:"task_id"`
	Conversation string `json:"conversation"`
	Turn         int    `json:"turn"`
	Domain       string `json:"domain"`
	User         string `json:"user"`
	Agent        string `json:"agent"`
	Enrichments  struct {
		Answerability []string `json:"Answerability"`
	} `json:"enrichments"`
}

// mtrag is one domain: its index, conversations and judgements.
type mtrag struct {
	domain   string
	searcher *index.Searcher
	talks    map[string][]mtragTask // by conversation, in order
	raw      map[string]string      // by task
	human    map[string]string
	relevant map[string][]string // ids of passages by task
}

func openMTRAG(t *testing.T, root, domain string) *mtrag {
	t.Helper()
	m := &mtrag{
		domain: domain, searcher: indexMTRAG(t, filepath.Join(root, "corpus-pooled", domain+".jsonl.gz"), domain),
		talks: map[string][]mtragTask{}, relevant: map[string][]string{},
	}
	for _, task := range readLines[mtragTask](t, filepath.Join(root, "conversations", "tasks.jsonl.gz")) {
		if task.Domain == domain {
			m.talks[task.Conversation] = append(m.talks[task.Conversation], task)
		}
	}
	for _, talk := range m.talks {
		slices.SortFunc(talk, func(a, b mtragTask) int { return cmp.Compare(a.Turn, b.Turn) })
	}
	folder := filepath.Join(root, "human", domain)
	m.raw = queriesOf(t, filepath.Join(folder, "queries-lastturn.jsonl"))
	m.human = queriesOf(t, filepath.Join(folder, "queries-rewrite.jsonl"))
	qrels, err := os.ReadFile(filepath.Join(folder, "qrels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(qrels)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) == 3 && f[2] == "1" {
			m.relevant[f[0]] = append(m.relevant[f[0]], f[1])
		}
	}
	return m
}

// queriesOf reads queries by task, without the label of the speaker.
func queriesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	type query struct {
		ID   string `json:"_id"`
		Text string `json:"text"`
	}
	out := map[string]string{}
	for _, q := range readLines[query](t, path) {
		out[q.ID] = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(q.Text), "|user|:"))
	}
	return out
}

// readLines reads a file of JSON lines, gzipped or not.
func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var out []T
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out
}

// mtragDocument returns the document of a passage.
func mtragDocument(id, domain string) string {
	document, _, _ := strings.Cut(id, "-")
	if domain == "clapnq" {
		document, _, _ = strings.Cut(document, "_")
	}
	return document
}

// indexMTRAG indexes passages, grouped by document and in order.
func indexMTRAG(t *testing.T, path, domain string) *index.Searcher {
	t.Helper()
	type passage struct {
		ID    string `json:"_id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	documents := map[string][]passage{}
	for _, p := range readLines[passage](t, path) {
		document := mtragDocument(p.ID, domain)
		if strings.TrimSpace(p.Text) != "" {
			documents[document] = append(documents[document], p)
		}
	}
	entries := make([]search.Entry, 0, len(documents))
	for document, passages := range documents {
		slices.SortFunc(passages, func(a, b passage) int { return cmp.Compare(a.ID, b.ID) })
		e := search.Entry{File: search.File{Source: document, Title: passages[0].Title}}
		for i, p := range passages {
			e.Chunks = append(e.Chunks, state.Chunk{ID: p.ID, Source: document, Title: p.Title, Text: p.Text, End: len(p.Text), Ordinal: i})
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b search.Entry) int { return cmp.Compare(a.File.Source, b.File.Source) })
	db, err := index.Open(t.Context(), "", index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for batch := range slices.Chunk(entries, 500) {
		if err := db.Put(t.Context(), domain, batch); err != nil {
			t.Fatal(err)
		}
	}
	s, err := db.Searcher(t.Context(), domain)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// recent returns what a thread would remember before a turn.
func (m *mtrag) recent(conversation string, before int) []state.Exchange {
	var out []state.Exchange
	for _, task := range m.talks[conversation] {
		if task.Turn >= before {
			break
		}
		e := state.Exchange{Question: task.User}
		if !slices.Contains(task.Enrichments.Answerability, "UNANSWERABLE") {
			e.Terms = offline.Terms(m.searcher, task.Agent)
		}
		out = append(out, e)
	}
	return out[max(0, len(out)-state.MaxRecent):]
}

// plan searches for a turn as the product does, with the remembered exchanges.
func (m *mtrag) plan(t *testing.T, question string, recent []state.Exchange) state.State {
	t.Helper()
	s := state.State{Recent: recent, Turn: state.Turn{Query: question}}
	for _, node := range []nodes.Node{
		nodes.PreRetrieval(offline.New(m.searcher, 0).Rewriter), nodes.Retrieval(nodes.Retrieving{Searcher: phrased{m.searcher}, Workers: 1, Fuse: rank.RRF}),
	} {
		u, err := node(t.Context(), s)
		if err == nil {
			s, err = state.Apply(s, u)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// phrased is a searcher that honours the phrases of a query, as the product's does.
type phrased struct{ *index.Searcher }

func (p phrased) Search(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	e, err := search.New(ctx, p.Searcher, search.Options{})
	if err != nil {
		return nil, err
	}
	found, err := e.Search(ctx, q, k)
	return found.Hits, err
}

// direct searches for one text.
func (m *mtrag) direct(t *testing.T, question string) []state.Hit {
	t.Helper()
	hits, err := m.searcher.Search(t.Context(), state.Query{Text: question}, nodes.TopK)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// mtragScores holds the figures of one way of asking, by turn.
type mtragScores struct{ ndcg, recall []float64 }

func (s *mtragScores) add(hits []state.Hit, relevant []string) {
	var ids []string
	for _, h := range hits[:min(len(hits), 10)] {
		ids = append(ids, h.Chunk)
	}
	n, r := ndcg(ids, relevant)
	s.ndcg, s.recall = append(s.ndcg, n), append(s.recall, r)
}

// ndcg returns the normalized discounted cumulative gain of a ranking with gain 1 for each relevant passage,
// and its share of the relevant passages.
func ndcg(ranking, relevant []string) (gain, recall float64) {
	var got, ideal float64
	found := 0
	for i, id := range ranking {
		if slices.Contains(relevant, id) {
			got += 1 / math.Log2(float64(i+2))
			found++
		}
	}
	for i := range min(len(relevant), 10) {
		ideal += 1 / math.Log2(float64(i+2))
	}
	return got / ideal, float64(found) / float64(len(relevant))
}

func (m *mtrag) report(t *testing.T, out *bytes.Buffer) {
	t.Helper()
	var raw, ours, human mtragScores
	for _, id := range slices.Sorted(maps.Keys(m.raw)) {
		conversation, turn := taskID(t, id)
		relevant := m.relevant[id]
		raw.add(m.direct(t, m.raw[id]), relevant)
		human.add(m.direct(t, m.human[id]), relevant)
		ours.add(m.plan(t, m.raw[id], m.recent(conversation, turn)).Turn.Hits, relevant)
	}
	fmt.Fprintf(out, "\n## %s: %d turns\n", m.domain, len(raw.ndcg))
	for _, row := range []struct {
		name string
		mtragScores
	}{{"raw turn", raw}, {"with history", ours}, {"human rewrite", human}} {
		n, r := eval.Bootstrap(row.ndcg), eval.Bootstrap(row.recall)
		fmt.Fprintf(out, "%s: nDCG@10 %.3f [%.3f, %.3f], R@10 %.3f [%.3f, %.3f]\n", row.name,
			eval.Mean(row.ndcg), n.Low, n.High, eval.Mean(row.recall), r.Low, r.High)
	}
	ratio := func(base mtragScores) float64 { return eval.Mean(ours.ndcg) / eval.Mean(base.ndcg) }
	gain := make([]float64, len(ours.ndcg))
	for i := range gain {
		gain[i] = ours.ndcg[i] - human.ndcg[i]
	}
	ci := eval.Bootstrap(gain)
	fmt.Fprintf(out, "nDCG@10 with history: %.3f × raw turn, %.3f × human rewrite (floor 1.00); paired difference %+.3f [%+.3f, %+.3f]\n",
		ratio(raw), ratio(human), eval.Mean(gain), ci.Low, ci.High)
	if ratio(human) < 1 {
		t.Errorf("%s: nDCG@10 with history is %.3f × that of the human rewrite, want at least 1.00", m.domain, ratio(human))
	}
}

// unanswerable reports how well the grade separates turns without an answer in the documents from the others,
// as AUROC. The topics of both are in the documents, so words alone say little.
func (m *mtrag) unanswerable(t *testing.T, out *bytes.Buffer) {
	t.Helper()
	grader := offline.New(m.searcher, 0).Grader
	var with, without []float64
	for _, conversation := range slices.Sorted(maps.Keys(m.talks)) {
		for _, task := range m.talks[conversation] {
			if slices.Contains(task.Enrichments.Answerability, "CONVERSATIONAL") {
				continue
			}
			s := m.plan(t, task.User, m.recent(conversation, task.Turn))
			var ids []string
			for _, h := range s.Turn.Hits[:min(len(s.Turn.Hits), nodes.FeedbackChunks)] {
				ids = append(ids, h.Chunk)
			}
			chunks, err := m.searcher.Chunks(t.Context(), ids)
			if err != nil {
				t.Fatal(err)
			}
			best := make([]state.Source, len(chunks))
			for i, c := range chunks {
				best[i].Chunk = c
			}
			grade, err := grader.Grade(t.Context(), s.Turn.Queries, best)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(task.Enrichments.Answerability, "UNANSWERABLE") {
				without = append(without, grade.Score)
			} else {
				with = append(with, grade.Score)
			}
		}
	}
	fmt.Fprintf(out, "unanswerable turns told by their grade: AUROC %.2f (%d of %d turns; reported only)\n",
		auroc(with, without), len(without), len(with)+len(without))
}

// auroc returns the probability that a value of high exceeds one of low; ties count half.
func auroc(high, low []float64) float64 {
	wins := 0.0
	for _, h := range high {
		for _, l := range low {
			switch {
			case h > l:
				wins++
			case h == l:
				wins += 0.5
			}
		}
	}
	return wins / float64(len(high)*len(low))
}

func taskID(t *testing.T, id string) (conversation string, turn int) {
	t.Helper()
	conversation, n, ok := strings.Cut(id, "<::>")
	if _, err := fmt.Sscan(n, &turn); !ok || err != nil {
		t.Fatalf("task %q: no turn in it", id)
	}
	return conversation, turn
}
