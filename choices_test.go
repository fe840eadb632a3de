package ragflow_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/llm/providers"
	"example.com/ragflow/llm/rerank"
	"example.com/ragflow/search"
)

// TestEveryChoice asks with every preset, transform, synthesis, reranking and provider.
func TestEveryChoice(t *testing.T) { // U01, Y01 to Y03, Q09 to Q11, K03
	type choice struct {
		name   string
		change func(c *ragflow.Config, url string)
		asked  string // what one of the requests says
	}
	var choices []choice
	for _, p := range ragflow.Presets() {
		choices = append(choices, choice{"preset " + p.Name, func(c *ragflow.Config, _ string) { c.Preset = p.Name }, ""})
	}
	for name, asked := range map[string]string{model.MultiQuery: "other ways to ask", model.HyDE: "short passage", model.Decompose: "You combine partial answers"} {
		choices = append(choices, choice{"transform " + name, func(c *ragflow.Config, _ string) { c.Settings.Transforms = []string{name} }, asked})
	}
	for name, asked := range map[string]string{model.Compact: "[Source 6]", model.Refine: "improve", model.TreeSummarize: "You combine partial answers"} {
		choices = append(choices, choice{"synthesis " + name, func(c *ragflow.Config, _ string) { c.Settings.Synthesis = name }, asked})
	}
	for _, name := range search.RerankMethods() {
		asked := ""
		if name == search.RerankLLM {
			asked = "You score how well"
		}
		choices = append(choices, choice{"reranking " + name, func(c *ragflow.Config, url string) {
			c.Retrieval.Rerank = name
			if name == search.RerankCrossEncoder {
				client, err := rerank.New(rerank.Config{BaseURL: url, Model: "cross"})
				if err != nil {
					t.Fatal(err)
				}
				c.Models.Reranker = client
			}
		}, asked})
	}
	for _, k := range providers.All() {
		choices = append(choices, choice{"provider " + k.Name, func(c *ragflow.Config, url string) {
			at, ok := k.Endpoint(func(name string) string {
				return map[string]string{k.URLName: strings.TrimSuffix(url, "/v1"), k.KeyName: plantedKey}[name]
			})
			client, err := providers.New(at)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			t.Cleanup(client.CloseIdle)
			c.Models.Chat = llm.Retry(client.Chat("smart"), llm.RetryOptions{})
		}, ""})
	}
	docs := t.TempDir()
	for name, what := range map[string]string{
		"local": "It needs no server and no password.", "nfs": "Shares of other machines are mounted with it.", "ceph": "Blocks are copied to three hosts.",
		"cloud": "Snapshots are paid by their size.", "memory": "Nothing stays after a restart.", "crypt": "Keys are asked for when it begins.",
	} {
		page := fmt.Sprintf("# The driver %s\n\nThe driver %s stores the data of a volume on a disk. %s\n", name, name, what)
		if err := os.WriteFile(filepath.Join(docs, name+".md"), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range choices {
		t.Run(tt.name, func(t *testing.T) {
			s := everything()
			defer s.Close()
			r, err := modelled(t, s, func(c *ragflow.Config) {
				client, err := openai.New(openai.Config{BaseURL: s.URL()})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(client.CloseIdle)
				c.Docs, c.Models.Tasks, c.Models.Embedder = []string{docs}, nil, client.Embedder(openai.EmbedderConfig{Model: "vectors"})
				tt.change(c, s.URL())
			}).Ask(t.Context(), ragflow.Question{Text: "Where does a driver store the data of a volume?", Trace: true})
			if err != nil {
				t.Fatal(err)
			}
			if r.Model != "smart" || r.Abstained || len(r.Warnings) > 0 || len(r.Citations) == 0 || r.Citations[0].Quote == "" {
				t.Errorf("answered %q by %s, cited %+v, warnings %q", r.Answer, r.Model, r.Citations, r.Warnings)
			}
			all := ""
			for _, c := range s.Calls() {
				all += c.System + c.User
			}
			if !strings.Contains(all, tt.asked) {
				t.Errorf("no request says %q", tt.asked)
			}
			secretless(t, r.FlowTraceMD+r.AnswerMD)
		})
	}
}

// everything plays a provider that does everything well.
func everything() *llmtest.Server {
	var s *llmtest.Server
	chat := llmtest.Script(
		llmtest.Entry{When: grades, Do: llmtest.Say("SCORE: 0.85")},
		llmtest.Entry{When: "other ways to ask", Do: llmtest.Say(`["disk of a volume", "volume driver"]`)},
		llmtest.Entry{When: "short passage", Do: llmtest.Say("A driver stores it on a disk.")},
		llmtest.Entry{When: "You split a question", Do: llmtest.Say(`[{"question":"What does a driver do?","dependency":null},{"question":"Where is the data of a volume?","dependency":0}]`)},
		llmtest.Entry{When: "You score how well", Do: func(w http.ResponseWriter, r *http.Request) {
			calls := s.Calls()
			var scores []string
			for i := 1; strings.Contains(calls[len(calls)-1].User, fmt.Sprintf("\n%d. ", i)); i++ {
				scores = append(scores, "5")
			}
			llmtest.Say("["+strings.Join(scores, ", ")+"]")(w, r)
		}},
		llmtest.Entry{When: "", Do: llmtest.Say("A driver stores the data of a volume on a disk. [Source 1]")},
	)
	s = llmtest.NewServer(func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "embeddings":
			llmtest.Embed(3)(w, r)
		case "rerank":
			calls := s.Calls()
			var asked struct{ Documents []string }
			_ = json.Unmarshal([]byte(calls[len(calls)-1].Body), &asked) // a test of the client checks what it sends
			var results []string
			for i := range asked.Documents {
				results = append(results, fmt.Sprintf(`{"index":%d,"relevance_score":0.5}`, i))
			}
			llmtest.Body("application/json", `{"results":[`+strings.Join(results, ",")+`]}`)(w, r)
		default:
			chat(w, r)
		}
	})
	return s
}
