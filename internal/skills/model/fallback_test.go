package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// within runs do in a task of a graph and returns what it noted: details, warnings and calls.
func within(t *testing.T, do func(context.Context) error) graph.Notes {
	t.Helper()
	notes, _ := live(t, do)
	return notes
}

// live is within. It also returns the words that were shown and not withdrawn.
func live(t *testing.T, do func(context.Context) error) (notes graph.Notes, shown string) {
	t.Helper()
	plan, err := graph.Compile(graph.Graph[int, int]{
		Apply: func(s, _ int) (int, error) { return s, nil },
		Nodes: map[string]graph.Task[int, int]{"do": {Run: func(ctx context.Context, _ int) (int, error) { return 0, do(ctx) }}},
		Edges: []graph.Edge{{From: graph.Start, To: "do"}, {From: "do", To: graph.End}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range plan.Runner(graph.Options{Store: memstore.New()}).Stream(t.Context(), graph.Request[int]{Thread: "t"}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == graph.TaskDone {
			notes = e.Tasks[0].Notes
		}
		if piece, ok := e.Value.(nodes.Token); ok {
			if piece.Void {
				shown = ""
			}
			shown += piece.Text
		}
	}
	return notes, shown
}

// details returns the noted values of a key.
func details(n graph.Notes, key string) (out []string) {
	for _, d := range n.Details {
		if d.Key == key {
			out = append(out, d.Value)
		}
	}
	return out
}

// calls returns the names of the models that were called, "!" behind those that failed.
func calls(n graph.Notes) (out []string) {
	for _, c := range n.Calls {
		if c.Error != "" {
			c.Name += "!"
		}
		out = append(out, c.Name)
	}
	return out
}

// played returns models with behaviours of their own, one for each name, that are asked in turn.
func played(t *testing.T, chats ...any) llm.Chat {
	t.Helper()
	var all []llm.Chat
	for i := 0; i < len(chats); i += 2 {
		s := llmtest.NewServer(chats[i+1].(llmtest.Behaviour))
		t.Cleanup(s.Close)
		c, err := openai.New(openai.Config{Provider: "played", BaseURL: s.URL()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.CloseIdle)
		all = append(all, c.Chat(chats[i].(string)))
	}
	return llm.Fallback(all[0], all[1:]...)
}

// plain does every task without a model.
type plain struct {
	planned
	score float64
}

func (p plain) Grade(context.Context, []state.Query, []state.Source) (state.Grade, error) {
	return state.Grade{Score: p.score, By: offline.Name, Refined: &state.Query{Text: "refined"}}, nil
}

func (plain) Summarize(context.Context, string, []state.Message) (string, error) {
	return "A summary.", nil
}

func (plain) Answer(_ context.Context, t state.Task) (state.Answer, error) {
	first := t.Declined
	if first == "" {
		first = prompts.Say(prompts.NotFound, "en")
	}
	return state.Answer{Text: first + " Closest passages: one.", Model: offline.Name, Abstained: true, Order: []int{1}}, nil
}

func skills(chat llm.Chat, p plain, change func(*model.Setup)) model.Skills {
	o := model.Setup{Models: model.Models{Chat: chat}, Threshold: 0.5, Stats: vocabulary(page)}
	if change != nil {
		change(&o)
	}
	return o.Skills(model.Skills{Rewriter: p, Grader: p, Summarizer: p})
}

func followUp() plain {
	return plain{planned: planned{Language: "en", Route: state.RouteSearch, Queries: []state.Query{{Text: "and how do I back it up?", Weight: 1}}}, score: 0.3}
}

// If models fail, the next ones do the work, and finally the skill without a model, and the trace says so.
func TestSkillsFallBack(t *testing.T) {
	down := llmtest.Status(400, "no")
	older := []state.Message{{Role: state.Human, Content: "What is a volume?"}}
	for _, tt := range []struct {
		name    string
		second  llmtest.Behaviour // of the second model; the first one is down
		do      func(context.Context, model.Skills) (string, error)
		made    string
		by      []string // noted
		offline bool
	}{
		{"rewrite", llmtest.Say("Q1: How do I back up a volume?"), rewrite, "How do I back up a volume?", []string{"second"}, false},
		{"rewrite offline", down, rewrite, "and how do I back it up?", []string{"offline"}, true},
		{"grade", llmtest.Say("SCORE: 0.85"), grade, "second 0.85", nil, false},
		{"grade offline", down, grade, "offline 0.30 refined", nil, true},
		{"poor grade", llmtest.Say("SCORE: 0.10"), grade, "second 0.10 refined", nil, false},
		{"summarise", llmtest.Say("Volumes."), summarize(older), "Volumes.", []string{"second"}, false},
		{"summarise offline", down, summarize(older), "A summary.", []string{"offline"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := skills(played(t, "first", down, "second", tt.second), followUp(), nil)
			var made string
			n := within(t, func(ctx context.Context) (err error) {
				made, err = tt.do(ctx, s)
				return err
			})
			falls, asked := []string{"first → second: "}, []string{"first!", "second"}
			warned := []string{`The model "first" failed, so "second" did its work: `}
			if tt.offline {
				falls, asked = append(falls, "second → offline: "), []string{"first!", "second!"}
				warned = append(warned, `The model "second" failed, so ragflow went on without it: `)
			}
			if made != tt.made || !begin(details(n, "fallback"), falls) || !begin(n.Warnings, warned) {
				t.Errorf("made %q, want %q\nfell back %q\nwarnings  %q", made, tt.made, details(n, "fallback"), n.Warnings)
			}
			if diff := cmp.Diff(tt.by, details(n, "by")) + cmp.Diff(asked, calls(n)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// begin reports whether the texts are as many as the beginnings and begin so.
func begin(texts, beginnings []string) bool {
	for i, b := range beginnings {
		if len(texts) != len(beginnings) || !strings.HasPrefix(texts[i], b) {
			return false
		}
	}
	return true
}

func rewrite(ctx context.Context, s model.Skills) (string, error) {
	plan, err := s.Rewriter.Rewrite(ctx, "and how do I back it up?", state.Memory{Recent: []state.Exchange{{Question: "What is a volume?"}}})
	return plan.Queries[len(plan.Queries)-1].Text, err
}

func grade(ctx context.Context, s model.Skills) (string, error) {
	g, err := s.Grader.Grade(ctx, []state.Query{{Text: "What?"}}, []state.Source{{Chunk: state.Chunk{Text: page}}})
	out := g.By + " " + map[float64]string{0.85: "0.85", 0.1: "0.10", 0.3: "0.30"}[g.Score]
	if g.Refined != nil {
		out += " " + g.Refined.Text
	}
	return out, err
}

func summarize(older []state.Message) func(context.Context, model.Skills) (string, error) {
	return func(ctx context.Context, s model.Skills) (string, error) {
		return s.Summarizer.Summarize(ctx, "", older)
	}
}

// A caller who left gets the error, and nothing is noted.
func TestNoFallbackAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := skills(played(t, "first", llmtest.Stall("A")), followUp(), nil)
	cancel()
	if _, err := s.Grader.Grade(ctx, []state.Query{{Text: "What?"}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Verifier and transforms are left out if they fail, with a warning.
func TestSkillsLeftOut(t *testing.T) {
	t.Parallel()
	s := skills(played(t, "first", llmtest.Say("I cannot.")), followUp(), func(o *model.Setup) {
		o.Verify, o.Transforms = true, []string{model.Decompose}
	})
	n := within(t, func(ctx context.Context) error {
		holds, err := s.Verifier.Verify(ctx, []string{"A volume keeps data."}, []string{page})
		if holds != nil {
			t.Errorf("verdicts %v", holds)
		}
		_, rewriteErr := rewrite(ctx, s)
		return errors.Join(err, rewriteErr)
	})
	if !strings.HasPrefix(n.Warnings[0], "Rules alone checked the answer, no model: ") ||
		!strings.HasPrefix(n.Warnings[len(n.Warnings)-1], "The question was searched without a transform: decompose: ") {
		t.Errorf("warnings %q", n.Warnings)
	}
}

// Each task has its model and settings; a task without a model of its own has that of all.
func TestModelsOfTasks(t *testing.T) {
	t.Parallel()
	all, other := &replying{}, &replying{text: "SCORE: 0.9"}
	m := model.Models{Chat: all, Tasks: map[string]llm.Task{
		model.TaskGrade: {Chat: other, Tokens: 7}, model.TaskTransform: {Temperature: new(float64)},
	}}
	if m.Task(model.TaskGrade).Chat != other || m.Task(model.TaskAnswer).Chat != all ||
		m.Task(model.HyDE, model.TaskTransform).Chat != all || m.Task(model.HyDE, model.TaskTransform).Temperature == nil {
		t.Error("a task has the wrong model")
	}
	n := within(t, func(ctx context.Context) error {
		_, err := m.For(model.TaskGrade).Complete(ctx, llm.Request{}, nil)
		return err
	})
	if got := other.asked[0].MaxTokens; got != 7 || len(n.Calls) != 1 || n.Calls[0].Counts[llm.CountRetries] != 0 {
		t.Errorf("asked with %d tokens, calls %+v", got, n.Calls)
	}
}

// TestWriter has answers that a model cannot write, and what becomes of them.
func TestWriter(t *testing.T) {
	const right, refusal = "A volume keeps the data of a container. [Source 1]", "I don't have enough information to answer that question."
	quoted := prompts.Say(prompts.NotFound, "en") + " Closest passages: one."
	short := llmtest.Script(llmtest.Entry{When: "[Source 2]", Do: llmtest.Status(400, "it exceeds the context size")}, llmtest.Entry{When: "", Do: llmtest.Say(right)})
	for _, tt := range []struct {
		name    string
		chats   []any // as for played
		unasked bool  // the model cannot decline
		score   float64
		text    string
		model   string
		shown   string // the rest of the stream after the last withdrawal
		note    string
		warned  string
	}{
		{"by the model", []any{"a", llmtest.Say(right)}, false, 0.9, right, "a", right, "", ""},
		{"refusal", []any{"a", llmtest.Say(refusal)}, false, 0.9, refusal + " Closest passages: one.", "a", "", "closest passage", ""},
		{"cut", []any{"a", llmtest.Cut("Half an ans")}, false, 0.9, quoted, "offline", "", "fallback", "went on without it"},
		{"cut, and another model", []any{"a", llmtest.Cut("Half an ans"), "b", llmtest.Say(right)}, false, 0.9, right, "b", right, "fallback", "so \"b\" did its work"},
		{"unlikely", []any{"a", llmtest.Say(right)}, true, 0.01, quoted, "offline", "", "not asked", ""},
		{"held until supported", []any{"a", llmtest.Say("Zebras are striped at home. " + right + " Ah.")}, true, 0.9, "Zebras are striped at home (unsupported). " + right + " Ah.", "a", "Zebras are striped at home. " + right + " Ah.", "", ""},
		{"nothing supported", []any{"a", llmtest.Say("Zebras are striped at home.")}, true, 0.9, quoted, "a", "", "closest passage", "was withdrawn"},
		{"too long for the first", []any{"a", short, "b", llmtest.Say("No.")}, false, 0.9, right, "a", right, "", "answers from the first 1 of 2 sources"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := followUp()
			p.score = tt.score
			s := skills(played(t, tt.chats...), p, func(o *model.Setup) { o.Answers.NoRefusals = tt.unasked })
			node := nodes.Generate(nodes.Answering{
				Quotes: p, Writer: s.Writer, Grader: p, NoRefusals: tt.unasked,
				NewID: func() string { return "id" }, Clock: func() time.Time { return time.Time{} },
			})
			turn := state.Turn{Query: "What is a volume?", Language: "en", Route: state.RouteSearch, Sources: append(sources(), sources()...)}
			var u state.Update
			n, shown := live(t, func(ctx context.Context) (err error) {
				u, err = node(ctx, state.State{Turn: turn})
				return err
			})
			if *u.Answer != tt.text || *u.Model != tt.model || shown != tt.shown {
				t.Errorf("%q by %s, shown %q", *u.Answer, *u.Model, shown)
			}
			if tt.note != "" && details(n, tt.note) == nil || !strings.Contains(strings.Join(n.Warnings, "\n"), tt.warned) || tt.warned == "" && n.Warnings != nil {
				t.Errorf("notes %v, warnings %q", n.Details, n.Warnings)
			}
		})
	}
}
