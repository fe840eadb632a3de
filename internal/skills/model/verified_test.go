package model_test

import (
	"os"
	"strings"
	"testing"

	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/state"
)

// TestVerified reports what a model adds to the check of answers that reads each supported
// statement again, as LLM_VERIFY=on lets it: on the half that is only reported of near.txt.
// It takes a quarter of an hour, so it runs only if VERIFY is set.
func TestVerified(t *testing.T) {
	address, name := os.Getenv("RAGFLOW_TEST_BASE_URL"), os.Getenv("RAGFLOW_TEST_CHAT_MODEL")
	if os.Getenv("VERIFY") == "" || address == "" {
		t.Skip("set VERIFY=1, run scripts/models start, and set the variables that it writes")
	}
	client, err := openai.New(openai.Config{BaseURL: address})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdle()
	v := model.NewVerifier(llm.Retry(client.Chat(name), llm.RetryOptions{}))
	data, err := os.ReadFile("../cite/testdata/near.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all, rules, both [2]int // of true and of altered statements, those that are objected to
	unread := 0
	for _, block := range strings.Split(string(data), "\n= report ")[1:] {
		lines := strings.Split(block, "\n")
		passage := lines[1]
		for _, l := range lines[2:] {
			kind, said := 0, strings.TrimPrefix(l, "+ ")
			switch {
			case strings.HasPrefix(l, "- "):
				kind = 1
				_, said, _ = strings.Cut(l, ": ")
			case said == l:
				continue
			}
			all[kind]++
			source := state.Source{Chunk: state.Chunk{Text: passage}}
			r := cite.Check(said+" "+cite.Marker(1), []state.Source{source}, cite.Options{Language: strings.Split(lines[0], "/")[1]})
			if !r.Sentences[0].Supported {
				rules[kind]++
				both[kind]++
				continue
			}
			switch holds, err := v.Verify(t.Context(), []string{said}, []string{passage}); {
			case err != nil:
				unread++
				t.Log(err)
			case !holds[0]:
				both[kind]++
			}
		}
	}
	t.Logf("of %d true and %d altered statements objected to: %d by the rules, %d by them or %s; %d replies could not be read", all[0], all[1], rules, both, name, unread)
}
