package eval_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/search"
)

// TestRankingMetrics compares with values worked out by hand from the
// definitions of trec_eval; log2(3) = 1.5850, log2(4) = 2, log2(6) = 2.5850.
func TestRankingMetrics(t *testing.T) {
	eleven := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "a"}
	for _, tt := range []struct {
		name    string
		ranking []string
		gains   map[string]int
		want    map[string]float64
	}{
		{"one relevant, first", []string{"a", "b"}, map[string]int{"a": 1}, map[string]float64{
			"ndcg_10": 1, "recall_5": 1, "recall_10": 1, "recall_100": 1, "mrr": 1, "map": 1,
		}},
		{"two of three relevant, second and third", []string{"x", "a", "b"}, map[string]int{"a": 1, "b": 1, "c": 1}, map[string]float64{
			"ndcg_10":  (1/math.Log2(3) + 1/math.Log2(4)) / (1 + 1/math.Log2(3) + 1/math.Log2(4)), // 0.5307
			"recall_5": 2.0 / 3, "recall_10": 2.0 / 3, "recall_100": 2.0 / 3, "mrr": 0.5, "map": (1.0/2 + 2.0/3) / 3,
		}},
		{"graded, the better one later", []string{"a", "x", "b"}, map[string]int{"a": 1, "b": 3, "n": 0}, map[string]float64{
			"ndcg_10":  (1 + 3/2.0) / (3 + 1/math.Log2(3)), // 0.6885
			"recall_5": 1, "recall_10": 1, "recall_100": 1, "mrr": 1, "map": (1 + 2.0/3) / 2,
		}},
		{"found at rank 11", eleven, map[string]int{"a": 1}, map[string]float64{
			"ndcg_10": 0, "recall_5": 0, "recall_10": 0, "recall_100": 1, "mrr": 1.0 / 11, "map": 1.0 / 11,
		}},
		{"nothing found", nil, map[string]int{"a": 1}, map[string]float64{
			"ndcg_10": 0, "recall_5": 0, "recall_10": 0, "recall_100": 0, "mrr": 0, "map": 0,
		}},
		{"nothing relevant", []string{"a"}, nil, map[string]float64{
			"ndcg_10": 0, "recall_5": 0, "recall_10": 0, "recall_100": 0, "mrr": 0, "map": 0,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := eval.RankingMetrics(tt.ranking, tt.gains)
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
			if diff := cmp.Diff(tt.want, got, near); diff != "" {
				t.Errorf("RankingMetrics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadQrels(t *testing.T) {
	tests := []struct {
		name, in string
		want     []eval.Qrel
		fault    string
	}{
		{"with a header", "query-id\tcorpus-id\tscore\nq1\td1\t1\n", []eval.Qrel{{"q1", "d1", 1, 2}}, ""},
		{"four columns of TREC", "q1 0 d1 2\r\nq1 0 d2 -1\r\n", []eval.Qrel{{"q1", "d1", 2, 1}, {"q1", "d2", -1, 2}}, ""},
		{"blanks in ids", "q 1\tLuật 12@3\t1\n", []eval.Qrel{{"q 1", "Luật 12@3", 1, 1}}, ""},
		{"byte order mark", "\ufeffq1\td1\t1", []eval.Qrel{{"q1", "d1", 1, 1}}, ""},
		{"said twice", "q1\td1\t1\nq1\td1\t1.0\n", []eval.Qrel{{"q1", "d1", 1, 1}}, ""},
		{"said differently", "q1\td1\t1\nq1\td1\t0\n", nil, "line 2: document \"d1\" is judged 0 for query \"q1\", but 1 on line 1"},
		{"a word for a score", "q1\td1\t1\nq1\td2\tyes\n", nil, "line 2: the score is \"yes\""},
		{"two columns", "q1\td1\n", nil, "line 1: not a judgement such as"},
		{"empty", "query-id\tcorpus-id\tscore\n", nil, "line 1: there are no judgements"},
		{"UTF-16", "\xff\xfeq\x00", nil, "line 1: not valid UTF-8"},
		{"Latin-1", "q1\td1\t1\nq\xe9\td1\t1\n", nil, "line 2: not valid UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := eval.ReadQrels(strings.NewReader(tt.in))
			if tt.fault != "" {
				if _, ok := errors.AsType[*eval.DatasetError](err); !ok || !strings.Contains(err.Error(), tt.fault) {
					t.Fatalf("error %v, want one that holds %q", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadQueries(t *testing.T) {
	for _, tt := range []struct{ name, in, fault string }{
		{"not JSON", "{\"_id\": \"q1\", \"text\": \"a\"}\nnonsense\n", "line 2: no JSON object such as"},
		{"no id", `{"text": "a"}`, "line 1: no _id"},
		{"an empty id", `{"_id": " ", "text": "a"}`, "line 1: no _id"},
		{"twice the same id", "{\"_id\": \"q1\", \"text\": \"a\"}\n\n{\"_id\": \"q1\", \"text\": \"b\"}", "line 3: the id \"q1\" is that of line 1"},
		{"an empty text", `{"_id": "q1", "text": " "}`, "line 1: the text of query \"q1\" is empty"},
		{"a number for a text", `{"_id": "q1", "text": 7}`, "line 1: \"text\" is a number"},
		{"empty", "\n\n", "line 1: the file is empty"},
		{"a huge line", `{"_id": "q1", "text": "` + strings.Repeat("a", eval.MaxLine) + `"}`, "line 1: the line is longer than 32 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := eval.ReadQueries(strings.NewReader(tt.in))
			if _, ok := errors.AsType[*eval.DatasetError](err); !ok || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("error %.300v, want one that holds %q", err, tt.fault)
			}
		})
	}
	got, err := eval.ReadQueries(strings.NewReader("{\"_id\": 7, \"text\": \"a\"}\r\n{\"_id\": \"q2\", \"text\": \"b\"}"))
	want := []eval.Query{{ID: "7", Text: "a"}, {ID: "q2", Text: "b"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, -want +got:\n%s", err, diff)
	}
}

func TestJudgedNamesWhatIsUnknown(t *testing.T) {
	queries := []eval.Query{{ID: "q1", Text: "a"}, {ID: "q2", Text: "b"}}
	qrels := []eval.Qrel{{"q1", "d1", 1, 1}, {"q3", "d1", 1, 2}, {"q1", "gone", 1, 3}}
	_, err := eval.NewJudged("set", queries, qrels, func(d string) bool { return d == "d1" })
	want := `dataset line 2: there is no query "q3"; line 3: there is no document "gone" in the corpus`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	j, err := eval.NewJudged("set", queries, qrels[:1], nil)
	if err != nil || len(j.Queries) != 1 {
		t.Errorf("%d queries, %v; want the judged one", len(j.Queries), err)
	}
}

// shelf finds the documents it was given for a query, each in two passages.
type shelf map[string][]string

func (s shelf) Search(_ context.Context, query string, o ragflow.SearchOptions) (*ragflow.SearchReply, error) {
	reply := &ragflow.SearchReply{}
	if query == "broken" {
		return nil, errors.New("this one fails")
	}
	for i, d := range s[query+o.Leg] {
		for range 2 {
			if len(reply.Hits) < o.K {
				reply.Hits = append(reply.Hits, ragflow.SearchHit{Source: d, Score: float64(1 - i/2)})
			}
		}
	}
	return reply, nil
}

func TestRetrieve(t *testing.T) {
	j := eval.Judged{Name: "set", Queries: []eval.Query{
		{ID: "q1", Text: "first", Gains: map[string]int{"b": 1, "c": 2}},
		{ID: "q2", Text: "broken", Gains: map[string]int{"a": 1}},
	}}
	from := shelf{"first": {"a", "b", "c"}, "firstlexical": {"b"}}
	got, err := eval.Retrieve(t.Context(), from, j, eval.RetrievalOptions{Depth: 3, Legs: []string{search.LegLexical}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"mrr": 0.25, "mrr_lexical": 0.5, "recall_5": 0.5, "recall_5_lexical": 0.25} {
		if m, _ := got.Summary.Metric(name); m.Mean != want {
			t.Errorf("%s is %v, want %v", name, m.Mean, want)
		}
	}
	if got.Summary.Errors != 1 || got.Outcomes[1].Error == "" {
		t.Errorf("the query that failed is not told: %+v", got.Summary)
	}
}

func ExampleRankingMetrics() {
	m := eval.RankingMetrics([]string{"setup.md", "volumes.md", "backup.md"}, map[string]int{"volumes.md": 1, "backup.md": 1})
	fmt.Printf("nDCG@10 %.3f, MRR %.2f, MAP %.3f\n", m["ndcg_10"], m["mrr"], m["map"])
	// Output: nDCG@10 0.693, MRR 0.50, MAP 0.583
}
