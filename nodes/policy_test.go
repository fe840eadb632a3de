package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// scripted is a model that writes pieces, each after a time, and then fails or not.
type scripted struct {
	pieces   []string
	pause    time.Duration
	err      error
	declines bool
}

func (w scripted) Write(_ context.Context, _ state.Task, d nodes.Draft) (state.Answer, error) {
	for _, p := range w.pieces {
		time.Sleep(w.pause)
		d.Write(p)
	}
	if w.err != nil {
		return state.Answer{}, &nodes.WriterError{Model: "small", Err: w.err}
	}
	return state.Answer{Text: strings.TrimSpace(strings.Join(w.pieces, "")), Model: "small", Abstained: w.declines}, nil
}

// shownWhile runs generate and returns the words that were shown, when the first were, and the
// state after it.
func shownWhile(t *testing.T, o nodes.Answering, st state.State) (tokens []nodes.Token, first time.Duration, after state.State, n graph.Notes) {
	t.Helper()
	plan, err := graph.Compile(graph.Graph[state.State, state.Update]{
		Name: "one", Apply: state.Apply, Order: []string{"node"},
		Nodes: map[string]graph.Task[state.State, state.Update]{"node": {Run: func(ctx context.Context, _ state.State) (state.Update, error) {
			return nodes.Generate(o)(ctx, st)
		}}},
		Edges: []graph.Edge{{From: graph.Start, To: "node"}, {From: "node", To: graph.End}},
	})
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for e, err := range plan.Runner(graph.Options{}).Stream(t.Context(), graph.Request[state.Update]{Thread: "t"}) {
		if err != nil {
			t.Fatal(err)
		}
		if token, ok := e.Value.(nodes.Token); ok {
			if tokens = append(tokens, token); first == 0 {
				first = time.Since(begun)
			}
		}
		if len(e.Tasks) > 0 && e.Tasks[0].Node == "node" {
			after, n = e.State, e.Tasks[0].Notes
		}
	}
	return tokens, first, after, n
}

// joined returns the text of tokens; withdrawn reports whether any takes words back.
func joined(tokens []nodes.Token) (text string, withdrawn bool) {
	for _, token := range tokens {
		text, withdrawn = text+token.Text, withdrawn || token.Void
	}
	return text, withdrawn
}

const volumes, backups = "A volume outlives its container. It is removed with docker volume rm.", "Backups are kept for 14 days."

// checked answers in sentences that are checked before they are shown.
func checked(w nodes.Writer) (nodes.Answering, state.State) {
	o := answering(answererFunc(func(task state.Task) (state.Answer, error) {
		first := task.Declined
		if first == "" {
			first = "Not found."
		}
		return state.Answer{Text: first + "\n\n" + backups + " [Source 1]", Abstained: true, Model: "offline", Order: []int{2}}, nil
	}), w)
	o.Checked, o.Grader = true, &reading{score: 0.7}
	st := searching(state.Query{Text: "q"})
	st.Turn.Language = "en"
	st.Turn.Sources = []state.Source{{Chunk: chunk("c1", "a.md", volumes)}, {Chunk: chunk("c2", "b.md", backups)}}
	return o, st
}

// TestChecked: what was shown is the answer, and nothing is taken back.
func TestChecked(t *testing.T) {
	const quoted = "\n\n" + backups + " [Source 1]"
	broken := errors.New("no route")
	for _, tt := range []struct {
		name, said string
		err        error
		strict     bool
		declines   bool
		want       string
		abstained  bool
		warns      string
	}{
		{name: "supported", said: "A volume outlives its container. [Source 1] " + backups + " [Source 2]", want: "A volume outlives its container. [Source 1] " + backups + " [Source 2]"},
		{name: "wrong source and invented", said: backups + " [Source 1] Sharks never sleep at home. [Source 7]\n\nA volume outlives its container.", want: backups + " [Source 2] Sharks never sleep at home (unsupported).\n\nA volume outlives its container. [Source 1]"},
		{name: "strict", strict: true, said: backups + " [Source 2] Sharks never sleep at home. [Source 1]\n\nA volume outlives its container. [Source 1] Whales never dream at work.", want: backups + " [Source 2] \n\nA volume outlives its container. [Source 1]"},
		{name: "invented first", said: "Sharks never sleep at home. " + backups + " [Source 2]", want: "Sharks never sleep at home (unsupported). " + backups + " [Source 2]"},
		{name: "all invented", said: "Sharks never sleep at home. Whales never dream at work.", want: "Not found." + quoted, abstained: true, warns: "was withdrawn"},
		{name: "all invented, strict", strict: true, said: "Sharks never sleep at home.", want: "Not found." + quoted, abstained: true, warns: "was withdrawn"},
		{name: "one word", said: "Backups", want: "Backups [Source 2]"},
		{name: "list", said: "Steps:\n\n- A volume outlives its container. [Source 1]\n- " + backups, want: "Steps:\n\n- A volume outlives its container. [Source 1]\n- " + backups + " [Source 2]"},
		{name: "table", said: "| Thing | Days |\n|---|---|\n| Backups are kept for | 14 days |\n\n[Source 2]\n", want: "| Thing | Days |\n|---|---|\n| Backups are kept for | 14 days |\n\n[Source 2]"},
		{name: "code", said: "Run it:\n\n```sh\ndocker volume rm\n\nA. B\n```\n\nA volume outlives its container.", want: "Run it:\n\n```sh\ndocker volume rm\n\nA. B\n```\n\nA volume outlives its container. [Source 1]"},
		{name: "declines", said: "I cannot say.", declines: true, want: "I cannot say." + quoted, abstained: true},
		{name: "declines too late", said: backups + " I cannot say more.", declines: true, want: backups + " [Source 2] I cannot say more."},
		{name: "fails before", said: "Sharks never sl", err: broken, want: "Not found." + quoted, abstained: true, warns: "without it: no route"},
		{name: "fails after a sentence", said: backups + " [Source 2] A volume outli", err: broken, want: backups + " [Source 2]", warns: "the answer ends early: no route"},
		{name: "empty pieces", said: "", err: broken, want: "Not found." + quoted, abstained: true, warns: "without it: no route"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				w := scripted{pieces: split(rand.New(rand.NewPCG(seed, 1)), tt.said), err: tt.err, declines: tt.declines}
				o, st := checked(w)
				o.Strict = tt.strict
				tokens, _, after, n := shownWhile(t, o, st)
				shown, withdrawn := joined(tokens)
				if shown != tt.want || after.Turn.Answer != tt.want || withdrawn || after.Turn.Abstained != tt.abstained {
					t.Fatalf("pieces %q\nshown  %q\nanswer %q\nwant   %q\nwithdrawn %v, abstained %v", w.pieces, shown, after.Turn.Answer, tt.want, withdrawn, after.Turn.Abstained)
				}
				if warned := strings.Join(n.Warnings, "\n"); !strings.Contains(warned, tt.warns) || tt.warns == "" && warned != "" {
					t.Errorf("warnings %q", n.Warnings)
				}
			}
		})
	}
}

// split cuts a text into random pieces.
func split(r *rand.Rand, s string) (pieces []string) {
	for s != "" {
		n := 1 + r.IntN(min(len(s), 1+r.IntN(40)))
		pieces, s = append(pieces, s[:n]), s[n:]
	}
	return pieces
}

// TestCheckedAtRandom: random answers of supported, invented and hostile parts, cut at
// random, are shown as they end, whole sentence by sentence, and never withdrawn.
func TestCheckedAtRandom(t *testing.T) {
	t.Parallel()
	parts := []string{
		backups, " [Source 2]", "[Source 9]", " ", "\n", "\n\n", "\n- ", "\n1. ", "A volume outlives its container.", " [Source 1]", "Sharks never sleep!", "e.g.", "14", "。",
		"```\n", "`a", "| a | b |\n", "|---|---|\n", "# ", "[Source", "1]", "<img src=https://evil.test>", "[x](https://evil.test)", "Is it?", "見て。", "**It is.**",
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		var said strings.Builder
		for range 1 + r.IntN(14) {
			said.WriteString(parts[r.IntN(len(parts))])
		}
		var answer string
		for i := range uint64(3) {
			w := scripted{pieces: split(rand.New(rand.NewPCG(seed, i)), said.String())}
			o, st := checked(w)
			tokens, _, after, _ := shownWhile(t, o, st)
			shown, withdrawn := joined(tokens)
			if shown != after.Turn.Answer || withdrawn {
				t.Fatalf("%q: shown %q, answer %q, withdrawn %v", said.String(), shown, after.Turn.Answer, withdrawn)
			}
			if i > 0 && answer != after.Turn.Answer {
				t.Fatalf("%q: the answer is %q, and cut in another way %q", said.String(), answer, after.Turn.Answer)
			}
			answer = after.Turn.Answer
		}
	}
}

// TestCheckedShowsAtOnce: a sentence is shown when the first character after it is there.
func TestCheckedShowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := backups + " [Source 2] A volume outlives its container. [Source 1]"
		w := scripted{pieces: strings.SplitAfter(said, ""), pause: time.Second}
		o, st := checked(w)
		_, first, _, _ := shownWhile(t, o, st)
		if sentence := time.Duration(len(backups+" [Source 2]")) * time.Second; first > sentence*13/10 || first < sentence {
			t.Errorf("first words after %v, the first sentence after %v", first, sentence)
		}
	})
}

// TestCheckedIsLinear: an answer that is 16 times as long takes about 16 times as long, in
// sentences and in one block of code.
func TestCheckedIsLinear(t *testing.T) {
	for _, code := range []bool{false, true} {
		took := func(n int) time.Duration {
			var said strings.Builder
			if code {
				said.WriteString("```\n")
			}
			for i := range n {
				fmt.Fprintf(&said, "Backup %d is kept for 14 days. [Source 2]\n", i)
			}
			o, st := checked(scripted{pieces: strings.SplitAfter(said.String(), " ")})
			best := time.Hour
			for range 3 {
				begun := time.Now()
				shownWhile(t, o, st)
				best = min(best, time.Since(begun))
			}
			return best
		}
		if short, long := took(50), took(800); long > 80*short { // a quadratic cost is 256 times as high
			t.Errorf("code %v: %v for 50 sentences, %v for 800", code, short, long)
		}
	}
}

// TestFailureWithdrawsWords: without Checked, words of a model that fails or declines are
// taken back.
func TestFailureWithdrawsWords(t *testing.T) {
	for name, w := range map[string]scripted{
		"fails":    {pieces: []string{backups}, err: errors.New("no route")},
		"declines": {pieces: []string{"I cannot."}, declines: true},
	} {
		o, st := checked(w)
		o.Checked = false
		tokens, _, after, _ := shownWhile(t, o, st)
		if _, withdrawn := joined(tokens); !withdrawn || !after.Turn.Abstained {
			t.Errorf("%s: tokens %v, answer %q", name, tokens, after.Turn.Answer)
		}
		if name == "fails" && after.Turn.Grade.Score != 0.7 {
			t.Errorf("the grade is %v, want that of the grader without a model", after.Turn.Grade.Score)
		}
	}
}

// TestUnlikely: a model that cannot decline is not asked about sources that do not look like
// an answer.
func TestUnlikely(t *testing.T) {
	asked := false
	o, st := checked(writerFunc(func(state.Task) (state.Answer, error) {
		asked = true
		return state.Answer{Text: backups, Model: "small"}, nil
	}))
	o.NoRefusals, o.Grader = true, &reading{score: 0.05}
	_, n := notes(t, nodes.Generate(o), st)
	if asked || detail(n, "not asked") == "" {
		t.Errorf("asked %v, noted %v", asked, n.Details)
	}
	judged := 1.0
	if st.Turn.Ranking.Judged = &judged; true {
		notes(t, nodes.Generate(o), st)
	}
	if !asked {
		t.Error("a reranking model found the answer, and the model was not asked")
	}
}

// TestErrors: an error that is no failure of a model ends the node, and so does a verifier's.
func TestErrors(t *testing.T) {
	cause := errors.New("disk")
	fails := writerFunc(func(state.Task) (state.Answer, error) { return state.Answer{}, cause })
	o, st := checked(fails)
	if _, err := nodes.Generate(o)(t.Context(), st); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
	o, st = checked(scripted{pieces: []string{backups}})
	o.Verifier = denying("fails")
	if _, err := nodes.Generate(o)(t.Context(), st); err == nil || !strings.Contains(err.Error(), "verify the answer") {
		t.Errorf("error %v", err)
	}
	o, st = checked(nil)
	o.Quotes = answererFunc(func(state.Task) (state.Answer, error) { return state.Answer{}, cause })
	if _, err := nodes.Generate(o)(t.Context(), st); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
	o.Writer = scripted{pieces: []string{"No."}, declines: true}
	if _, err := nodes.Generate(o)(t.Context(), st); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
	o.Grader = failing{cause}
	for _, o.NoRefusals = range []bool{true, false} {
		o.Writer = scripted{err: errors.New("no route")}
		if _, err := nodes.Generate(o)(t.Context(), st); !errors.Is(err, cause) {
			t.Errorf("error %v", err)
		}
	}
}

// TestFailureAfterTheEnd: if nobody waits any more, the error is the model's, and nothing is
// answered in its place.
func TestFailureAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, st := checked(scripted{err: context.Canceled})
	if _, err := nodes.Generate(o)(ctx, st); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

type failing struct{ err error }

func (f failing) Grade(context.Context, []state.Query, []state.Source) (state.Grade, error) {
	return state.Grade{}, f.err
}

// TestAnswerIsCheckedOnce: the report of one check serves the verifier, the repair, the
// citations and the quality. Sentences that are checked before they are shown are not
// checked again.
func TestAnswerIsCheckedOnce(t *testing.T) {
	said := "Sharks never sleep at home. [Source 1] A volume outlives its container. [Source 2] " + backups
	for _, tt := range []struct {
		name string
		set  func(*nodes.Answering)
		want int
	}{
		{"plain", func(o *nodes.Answering) { o.Checked = false }, 1},
		{"verified", func(o *nodes.Answering) { o.Checked, o.Verifier = false, denying("14") }, 1},
		{"strict, held until supported", func(o *nodes.Answering) { o.Checked, o.Strict, o.NoRefusals = false, true, true }, 1},
		{"sentence by sentence", func(*nodes.Answering) {}, 0},
	} {
		o, st := checked(scripted{pieces: strings.SplitAfter(said, " ")})
		tt.set(&o)
		n := 0
		after, _ := notes(t, nodes.Generate(o.CountChecks(&n)), st)
		if n != tt.want || after.Turn.Abstained || len(after.Turn.Citations) == 0 {
			t.Errorf("%s: %d checks, want %d; answer %q", tt.name, n, tt.want, after.Turn.Answer)
		}
	}
}
