package cite_test

import (
	"os"
	"testing"

	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/skills/model"
	"example.com/ragflow/state"
)

// TestVerified reports what a model adds that reads each supported statement again, as
// LLM_VERIFY=on lets it. It takes minutes, so it runs only where VERIFY_SET names the set.
func TestVerified(t *testing.T) {
	set, address, name := os.Getenv("VERIFY_SET"), os.Getenv("RAGFLOW_TEST_BASE_URL"), os.Getenv("RAGFLOW_TEST_CHAT_MODEL")
	if set == "" || address == "" {
		t.Skip("set VERIFY_SET=near, run scripts/models start, and set the variables that it writes")
	}
	client, err := openai.New(openai.Config{BaseURL: address})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdle()
	v := model.NewVerifier(llm.Retry(client.Chat(name), llm.RetryOptions{}))
	rules, both := judgements{}, judgements{}
	failed := 0
	for _, c := range alteredCases(t, "testdata/"+set+".txt") {
		if c.half != "report" {
			continue
		}
		r := cite.Check(c.text+" "+cite.Marker(1), []state.Source{c.source}, cite.Options{Language: c.language})
		holds := r.Sentences[0].Supported
		label := "report true"
		if c.kind != "" {
			label = "report altered"
		}
		rules.add(label, holds == (c.kind == ""))
		if holds {
			verdicts, err := v.Verify(t.Context(), []string{c.text}, []string{c.source.Text})
			if err != nil {
				failed++
				t.Log(err)
			} else {
				holds = verdicts[0]
			}
		}
		both.add(label, holds == (c.kind == ""))
	}
	for who, j := range map[string]judgements{"rules": rules, "rules and " + name: both} {
		t.Logf("%s: %s altered found, precision %.3f, %s true ones pass", who, j["report altered"], j.precision("report"), j["report true"])
	}
	t.Logf("%d replies could not be read", failed)
}
