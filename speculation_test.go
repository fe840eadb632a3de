package ragflow_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
)

// The answer is being written before the grade is known, and nothing of it is shown until then.
func TestAnswerIsWrittenWhileGraded(t *testing.T) {
	begun := make(chan struct{})
	var told strings.Builder
	var shown atomic.Int64 // bytes
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: grades, Do: func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-begun:
			case <-r.Context().Done():
			}
			if n := shown.Load(); n > 0 {
				t.Errorf("told %d bytes before the grade", n)
			}
			llmtest.Say("SCORE: 0.85\nREFINED: volumes")(w, r)
		}},
		llmtest.Entry{When: answers, Do: func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			llmtest.Say("A volume keeps it. [Source 1]")(w, r)
		}},
	))
	defer s.Close()
	a := modelled(t, s, func(c *ragflow.Config) {
		c.Settings.Speculate = true
	})
	r := streamed(t, a, ragflow.Question{Text: question, Trace: true}, func(e ragflow.Event) {
		told.WriteString(e.Text)
		shown.Store(int64(told.Len()))
	})
	if want := "A volume keeps it. [Source 1]"; r.Answer != want || told.String() != want || r.Usage.Calls != 2 || r.Grade.Score != 0.85 {
		t.Errorf("answer %q, told %q, %d calls, grade %v", r.Answer, told.String(), r.Usage.Calls, r.Grade.Score)
	}
	if !strings.Contains(r.FlowTraceMD, "- began early: ") {
		t.Error("flow_trace.md does not tell that the answer began early")
	}
}

// An answer that was begun in vain is not shown, and its cost is.
func TestAnswerBegunInVain(t *testing.T) {
	begun := make(chan struct{})
	var asked atomic.Int32
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: grades, Do: func(w http.ResponseWriter, r *http.Request) {
			<-begun
			llmtest.Say("SCORE: 0.1\nREFINED: back up a volume with tar")(w, r)
		}},
		llmtest.Entry{When: answers, Do: func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == 1 {
				close(begun)
				llmtest.SayThen("A wrong ", nil, "start.")(w, r) // until it is cancelled
				return
			}
			llmtest.Say("A volume keeps it. [Source 1]")(w, r)
		}},
	))
	defer s.Close()
	var told strings.Builder
	a := modelled(t, s, func(c *ragflow.Config) {
		c.Settings.Speculate = true
	})
	r := streamed(t, a, ragflow.Question{Text: question, Trace: true}, func(e ragflow.Event) { told.WriteString(e.Text) })
	if want := "A volume keeps it. [Source 1]"; r.Answer != want || told.String() != want || r.Grade.Attempts != 2 {
		t.Errorf("answer %q, told %q, %d attempts", r.Answer, told.String(), r.Grade.Attempts)
	}
	for _, line := range []string{"- begun in vain: generate, ", "- call in vain: smart, "} {
		if !strings.Contains(r.FlowTraceMD, line) {
			t.Errorf("flow_trace.md does not hold %q:\n%s", line, r.FlowTraceMD)
		}
	}
	if r.Usage.Calls != 3 {
		t.Errorf("%d calls, want the one in vain, too", r.Usage.Calls)
	}
}

// If the model fails, the answer without it has a grade of its own: the turn has none yet.
func TestFallbackOfAnEarlyAnswer(t *testing.T) {
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: grades, Do: llmtest.Say("SCORE: 0.9")},
		llmtest.Entry{When: answers, Do: llmtest.Status(http.StatusBadRequest, "no")},
	))
	defer s.Close()
	plain, err := modelled(t, s, func(c *ragflow.Config) { c.Models.Chat, c.Models.Tasks = nil, nil }).Ask(t.Context(), ragflow.Question{Text: question})
	if err != nil {
		t.Fatal(err)
	}
	early, err := modelled(t, s, func(c *ragflow.Config) { c.Settings.Speculate = true }).Ask(t.Context(), ragflow.Question{Text: question})
	if err != nil {
		t.Fatal(err)
	}
	if early.Answer != plain.Answer || early.Certainty != plain.Certainty || early.Abstained != plain.Abstained {
		t.Errorf("got %q, %+v; without a model %q, %+v", early.Answer, early.Certainty, plain.Answer, plain.Certainty)
	}
	if len(early.Warnings) != 1 {
		t.Errorf("warnings %q, want one", early.Warnings)
	}
}
