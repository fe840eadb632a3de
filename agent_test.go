package ragflow_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
)

// An agent searches twice; its answer is cited, checked and kept as any other.
func TestAgent(t *testing.T) {
	find := func(q string) llmtest.Behaviour { return llmtest.CallTool("search", `{"query":"`+q+`"}`) }
	s := llmtest.NewServer(
		find("networks"), llmtest.CallTools(llm.ToolCall{ID: "2", Name: "search", Arguments: `{"query":"secrets"}`}, llm.ToolCall{ID: "3", Name: "serch", Arguments: `{}`}),
		llmtest.Say("Networks connect containers by name. [Source 2] Secrets are encrypted at rest. [Source 3] The moon is far. [Source 9]"),
		llmtest.Say("As I said."),
	)
	defer s.Close()
	a := modelled(t, s, func(c *ragflow.Config) {
		c.Docs = pages(t, map[string]string{
			"volumes.md":  "# Volumes\n\nA volume keeps the data of a container after the container is removed.",
			"networks.md": "# Networks\n\nNetworks connect containers by name on one host.",
			"secrets.md":  "# Secrets\n\nSecrets are encrypted at rest in the store of the managers.",
		})
	})
	r, err := a.Ask(t.Context(), ragflow.Question{Text: question, Agent: true, Thread: "t", Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	var cited []string
	for _, c := range r.Citations {
		cited = append(cited, c.Source)
	}
	if !strings.HasPrefix(r.Answer, "Networks connect containers by name. [Source 1] Secrets are encrypted at rest. [Source 2]") || !strings.Contains(r.Answer, "(unsupported)") {
		t.Errorf("answered %q", r.Answer)
	}
	if strings.Join(cited, " ") != "networks.md secrets.md" || r.Model != "smart" || r.Usage.Calls != 3 {
		t.Errorf("cited %q by %s after %d calls", cited, r.Model, r.Usage.Calls)
	}
	if n := len(r.Queries); r.Queries[n-2].Text != "networks" || r.Queries[n-1].Text != "secrets" {
		t.Errorf("queries %+v", r.Queries)
	}
	for _, want := range []string{"agent/model", "agent/tools", `- call: search {"query":"networks"}`, "result: serch: There is no tool"} {
		if !strings.Contains(strings.ReplaceAll(r.FlowTraceMD, "\\", ""), want) {
			t.Errorf("flow_trace.md does not hold %q:\n%s", want, r.FlowTraceMD)
		}
	}
	if _, err = a.Ask(t.Context(), ragflow.Question{Text: "Are they encrypted in the manager store?", Agent: true, Thread: "t"}); err != nil {
		t.Fatal(err)
	}
	calls := s.Calls()
	if last := calls[len(calls)-1].Body; !strings.Contains(last, "Networks connect containers by name.") || strings.Contains(last, "serch") {
		t.Errorf("the second turn was asked with\n%s", last)
	}
}

func TestAgentWithoutModel(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{"docs"}})
	if _, err := a.Ask(t.Context(), ragflow.Question{Text: question, Agent: true}); !errors.Is(err, ragflow.ErrNoModel) {
		t.Errorf("got %v", err)
	}
}

// A model that is gone ends as in the plain way: the answer is written offline.
func TestAgentWhoseModelFails(t *testing.T) {
	s := llmtest.NewServer(llmtest.Status(500, "broken"))
	defer s.Close()
	a := modelled(t, s, nil)
	r, err := a.Ask(t.Context(), ragflow.Question{Text: question, Agent: true})
	if err != nil || r.Model != "offline" || len(r.Citations) == 0 || len(r.Warnings) == 0 {
		t.Errorf("%+v %v", r, err)
	}
}
