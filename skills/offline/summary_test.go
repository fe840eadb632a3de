package offline_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

func human(s string) state.Message { return state.Message{Role: state.Human, Content: s} }
func ai(s string) state.Message    { return state.Message{Role: state.AI, Content: s} }

func summarize(t *testing.T, before string, ms ...state.Message) string {
	t.Helper()
	got, err := offline.NewSummarizer(docs()).Summarize(t.Context(), before, ms)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSummaryKeepsWhatThePersonSaid(t *testing.T) {
	for _, tt := range []struct{ message, want string }{
		{"I use Ubuntu 22.04. How do I install it?", "* I use Ubuntu 22.04."},
		{"We have no internet, how do I install it?", "* We have no internet"},
		{"By the way, our budget is 20 euros.", "* By the way, our budget is 20 euros."},
		{"My name is Ola and I work at Larder.", "* My name is Ola and I work at Larder."},
		{"Let's go with the second plan.", "* Let's go with the second plan."},
		{"We decided to keep data for 30 days.", "* We decided to keep data for 30 days."},
		{"I want to know how volumes work.", ""},
		{"I have a question about ports.", ""},
		{"How do I back up a volume?", ""},
		{"Używam Fedory 40. Jak to zainstalować?", "* Używam Fedory 40."},
		{"Nie mamy dostępu do internetu.", "* Nie mamy dostępu do internetu."},
		{"Mam pytanie o porty.", ""},
		{"Tôi dùng Windows 11. Làm sao để cài đặt?", "* Tôi dùng Windows 11."},
		{"Tôi muốn hỏi về cổng.", ""},
	} {
		var got strings.Builder
		for line := range strings.Lines(summarize(t, "", human(tt.message), ai("Volumes keep data. [Source 1]"))) {
			if strings.HasPrefix(line, "* ") {
				got.WriteString(strings.TrimSpace(line))
			}
		}
		if got.String() != tt.want {
			t.Errorf("%q: fact %q, want %q", tt.message, got.String(), tt.want)
		}
	}
}

func TestSummaryOfWhatChanged(t *testing.T) {
	got := summarize(t, "Person: I use Ubuntu 22.04.\n- What is a volume?",
		human("I use Fedora now. What keeps data?"), ai("Volumes keep data. [Source 1]"),
		human("thanks!"), ai("You're welcome."), human("more"), ai("Ports lead traffic. [Source 1]"),
		human("what is a volume"), ai("A volume keeps data. [Source 1]"))
	want := "* I use Fedora now.\n- What keeps data? → Volumes keep data.\n- what is a volume → A volume keeps data."
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSummaryProperties extends a summary over a thousand turns of random
// words: it stays within its bounds, is the same each time, keeps what the
// person said once and tells of the newest turn.
func TestSummaryProperties(t *testing.T) {
	said := []string{"I use Ubuntu 22.04.", "We have no internet.", "My name is Ola.", "Our budget is 20 euros.", "Używam portu 8420."}
	turns := 1000
	if testing.Short() {
		turns = 200
	}
	run := func(turns int) (summary, at100 string) {
		random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // reproducible on purpose
		words := strings.Fields("volume port żółw container dữ liệu backup 2024 Windows restore key 日本語 network disk 🙂 swarm")
		phrase := func(n int) string {
			out := make([]string, 1+random.IntN(n))
			for i := range out {
				out[i] = words[random.IntN(len(words))]
			}
			return strings.Join(out, " ")
		}
		for i := range turns {
			question := fmt.Sprintf("What about %s number %d?", phrase(40), i)
			if i < len(said) {
				question = said[i] + " " + question
			}
			summary = summarize(t, summary, human(question), ai(phrase(80)+". [Source 1]"))
			if n := text.Count(summary); n > offline.SummaryTokens {
				t.Fatalf("turn %d: %d tokens", i, n)
			}
			for line := range strings.Lines(summary) {
				line = strings.TrimSpace(strings.NewReplacer("* ", "", "- ", "", " → ", " ").Replace(line))
				if n := len(strings.Fields(line)); n > 25 {
					t.Fatalf("turn %d: a line of %d words: %s", i, n, line)
				}
			}
			if !strings.Contains(summary, "What about") {
				t.Fatalf("turn %d: no turn is told:\n%s", i, summary)
			}
			if i == 99 {
				at100 = summary
			}
		}
		return summary, at100
	}
	first, early := run(turns)
	for _, s := range said {
		if !strings.Contains(first, "* "+s) {
			t.Errorf("%q is forgotten:\n%s", s, first)
		}
	}
	if again, _ := run(100); again != early {
		t.Errorf("the second time another summary:\n%s\n---\n%s", early, again)
	}
}

func TestSummaryOfManyFacts(t *testing.T) {
	var ms []state.Message
	for i := range 200 {
		ms = append(ms, human(fmt.Sprintf("We use server number %d in Room%d. What is a volume?", i, i)), ai("Volumes keep data. [Source 1]"))
	}
	got := summarize(t, "", ms...)
	if n := text.Count(got); n > offline.SummaryTokens || !strings.Contains(got, "number 199") || !strings.Contains(got, "What is a volume?") {
		t.Errorf("%d tokens, want at most %d with the newest fact and the newest turn:\n%s", n, offline.SummaryTokens, got)
	}
}
