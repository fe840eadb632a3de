package offline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// library is a small index.
type library []state.Chunk

func (library) Analyzer() text.Analyzer { return text.For("en") }

func (l library) Docs() int { return len(l) }

func (l library) sources() []state.Source {
	out := make([]state.Source, len(l))
	for i, c := range l {
		out[i] = state.Source{Chunk: c, Score: 1}
	}
	return out
}

func (l library) DocFreq(term string) int {
	n := 0
	for _, c := range l {
		if slices.ContainsFunc(l.Analyzer().Analyze(c.Title+"\n"+c.Text), func(t text.Token) bool { return t.Term == term }) {
			n++
		}
	}
	return n
}

func page(id, body string) state.Chunk {
	return state.Chunk{
		ID: id, Source: id + ".md", Title: id, Text: body, Start: 10, End: 10 + len(body), StartLine: 3, Hash: "hash-" + id,
	}
}

func ask(q string) []state.Query { return []state.Query{{Text: q, Weight: 1, Attempt: 1}} }

func task(question string, grade float64, chunks ...state.Chunk) state.Task {
	t := state.Task{
		Question: question, Language: text.Language(question), Route: state.RouteSearch,
		Queries: ask(question), Grade: state.Grade{Score: grade}, Abstain: grade < offline.DefaultThreshold,
	}
	for i, c := range chunks {
		t.Sources = append(t.Sources, state.Source{Chunk: c, Score: 1 / float64(i+1)})
	}
	return t
}

// answer answers a task and checks the promises of every answer: each quote is in its source, numbers follow
// the order of use, the length is bounded.
func answer(t *testing.T, l library, in state.Task) state.Answer {
	t.Helper()
	a := offline.New(l, 0).Answerer
	got, err := a.Answer(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, c := range got.Citations {
		src := in.Sources[got.Order[c.N-1]-1]
		if c.Quote != src.Text[c.Start-src.Start:c.End-src.Start] {
			t.Errorf("the quote %q does not stand in %s at %d", c.Quote, c.Source, c.Start)
		}
		if c.N > last+1 {
			t.Errorf("source %d is used before source %d", c.N, last+1)
		}
		last = max(last, c.N)
		if !strings.Contains(got.Text, fmt.Sprintf("[Source %d]", c.N)) {
			t.Errorf("source %d has no mark in:\n%s", c.N, got.Text)
		}
	}
	if last > 3 || len(strings.Fields(got.Text)) > 220 {
		t.Errorf("%d sources and %d words", last, len(strings.Fields(got.Text)))
	}
	return got
}

const settings = `The server reads its settings from one file.

- ` + "`backlog`" + `
  Length of the queue of connections that wait. The default is 511.
- ` + "`timeout`" + `
  Seconds after which an idle connection is closed. The default is 75.
- ` + "`workers`" + `
  Number of processes that serve requests. The default is one for each processor core of the machine that it runs on, which suits most sites.
- ` + "`log_level`" + `
  How much is written to the log. One of debug, info, warn and error.
`

func TestWholePassages(t *testing.T) {
	for _, tt := range []struct {
		name, body, question string
		want                 []string
	}{
		{
			"the entry of a definition list with its term", settings, "After how many seconds is an idle connection closed?",
			[]string{"`timeout`", "Seconds after which an idle connection is closed.", "The default is 75."},
		},
		{
			"a paragraph with the code it introduces", "Volumes keep data.\n\nTo create a volume, run this command:\n\n```console\n$ docker volume create my-vol\n```\n\nIt prints the name.",
			"How do I create a volume?",
			[]string{"To create a volume, run this command:", "```console\n$ docker volume create my-vol\n```"},
		},
		{
			"code with the paragraph before it", "Something else entirely is said here first.\n\nThe archive is written like this:\n\n    tar cvf backup.tar /data\n\nAnd then more.",
			"tar cvf backup.tar",
			[]string{"The archive is written like this:", "tar cvf backup.tar /data"},
		},
		{
			"a table row with its header", "| Port | Use |\n| --- | --- |\n| 2377 | cluster management |\n| 7946 | node discovery |\n",
			"Which port is for cluster management?",
			[]string{"| Port | Use |", "| --- | --- |", "| 2377 | cluster management |"},
		},
		{
			"the steps that a sentence introduces", "Follow these steps to install the engine:\n\n1. Remove old packages.\n2. Add the repository.\n3. Install the package.\n",
			"How do I install the engine?",
			[]string{"1. Remove old packages.", "2. Add the repository.", "3. Install the package."},
		},
		{
			"what follows a message that is quoted", "Connection refused by the storage daemon:\n\nThe socket is owned by root. Add yourself to the group.\n",
			"Connection refused by the storage daemon",
			[]string{"Add yourself to the group."},
		},
		{
			"the text below a term of a manual page", "       -f FILE\n              Read patterns from FILE, one on each line.\n\n       -i     Ignore case.\n",
			"How are patterns read from a file?",
			[]string{"-f FILE", "Read patterns from FILE, one on each line."},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := library{page("p", tt.body), page("q", "Nothing of the kind is told here.")}
			got := answer(t, l, task(tt.question, 0.9, l...)).Text
			for _, want := range tt.want {
				if !strings.Contains(strings.ReplaceAll(got, "**", ""), want) {
					t.Errorf("%q is missing in:\n%s", want, got)
				}
			}
		})
	}
}

// TestPlainTextKeepsItsLines checks that a line below a list of short items in plain text is not part of the
// last item, as it would be in Markdown.
func TestPlainTextKeepsItsLines(t *testing.T) {
	chunk := page("a", "Buy eggs and milk:\n- milk\n- twelve eggs\nPay the plumber on Friday.\n")
	chunk.Source = "list.txt"
	got := answer(t, library{chunk}, task("How many eggs?", 0.9, chunk))
	if !strings.Contains(got.Text, "- **twelve eggs**\n\nPay the plumber") {
		t.Errorf("got:\n%s", got.Text)
	}
}

// TestNoHeaderWithoutRows checks that the header of a table is left out if no row fits.
func TestNoHeaderWithoutRows(t *testing.T) {
	long := strings.Repeat("words about other things ", 40)
	l := library{page("p", "The engine listens on these ports:\n\n| Port | Use |\n| --- | --- |\n| 2377 | "+long+" |\n"), page("q", "Nothing of the kind.")}
	got := answer(t, l, task("On which ports does the engine listen?", 0.9, l...)).Text
	if !strings.Contains(got, "listens on these ports") || strings.Contains(got, "| Port | Use |") {
		t.Errorf("answer:\n%s", got)
	}
	first := page("p", "The engine listens on the ports 2377 and 7946. "+strings.Repeat("It waits there for other engines. ", 8))
	second := page("q", "| ports of the engine | on which it listens |\n| --- | --- |\n| 2377 | "+long+" |\n")
	l = library{first, second}
	if got := answer(t, l, task("On which ports does the engine listen?", 0.9, l...)).Text; !strings.Contains(got, "2377 and 7946") || strings.Contains(got, "| --- |") {
		t.Errorf("answer:\n%s", got)
	}
}

func TestTellingSentenceIsBold(t *testing.T) {
	l := library{page("p", "Volumes live outside of containers. Data in a volume survives when the container is removed. Names are free.")}
	got := answer(t, l, task("What survives when a container is removed?", 0.9, l...)).Text
	if !strings.Contains(got, "**Data in a volume survives when the container is removed.**") || strings.Count(got, "**") != 2 {
		t.Errorf("the telling sentence alone should be bold:\n%s", got)
	}
}

func TestLongListSaysWhatIsLeftOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("The tool has these options:\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "- Option%d changes the behaviour of part number %d in some way.\n", i, i)
	}
	l := library{page("p", b.String())}
	got := answer(t, l, task("What does option17 change?", 0.9, l...)).Text
	if !strings.Contains(got, "Option17") || !strings.Contains(got, " more") {
		t.Errorf("want the option and how many more there are:\n%s", got)
	}
}

func TestCertaintyInWords(t *testing.T) { // Y06
	l := library{page("p", "Volumes keep data when a container is removed.")}
	for _, tt := range []struct {
		question string
		grade    float64
		want     string
		abstains bool
	}{
		{"Does data survive when a container is removed?", 0.9, "This answers it, from your documents:", false},
		{"Does data survive when a container is removed?", 0.6, "This probably answers it, from your documents:", false},
		{"Does data survive when a tape is removed?", 0.3, "I did not find the exact answer to this in your documents. Closest passages:", true},
		{"Gdzie są dane kontenera?", 0.9, "Pytanie jest w innym języku niż dokumenty, więc dopasować można było tylko nazwy, liczby i polecenia.\n\nOto odpowiedź", false},
		{"Dữ liệu của container ở đâu?", 0.6, "Câu hỏi dùng ngôn ngữ khác với tài liệu, nên chỉ có thể đối chiếu tên riêng, con số và câu lệnh.\n\nTài liệu của bạn có lẽ trả lời", false},
	} {
		got := answer(t, l, task(tt.question, tt.grade, l...))
		if !strings.HasPrefix(got.Text, tt.want) || got.Abstained != tt.abstains || len(got.Citations) == 0 {
			t.Errorf("%s at %.1f: abstained %v, answer\n%s", tt.question, tt.grade, got.Abstained, got.Text)
		}
	}
}

// TestOneAnswerFirst checks that the passages of an answer are those that say enough of the question, and one alone
// if it answers.
func TestOneAnswerFirst(t *testing.T) {
	l := library{
		page("a", "The ferry to Hel leaves from pier four at nine."), page("b", "The ferry to Hel leaves from pier four in winter."),
		page("c", "Soup is served in the harbour."),
	}
	sure := answer(t, l, task("From which pier does the ferry to Hel leave?", 0.9, l...))
	if want := []int{1}; !slices.Equal(sure.Order, want) {
		t.Errorf("a sure answer shows %v, want %v", sure.Order, want)
	}
	unsure := answer(t, l, task("From which pier does the ferry to Hel leave?", 0.6, l...))
	if want := []int{1, 2}; !slices.Equal(unsure.Order, want) {
		t.Errorf("an unsure answer shows %v, want %v", unsure.Order, want)
	}
	named := answer(t, l, task("From which pier does the ferry F-12 to Hel leave?", 0.6, l...))
	if !strings.HasPrefix(named.Text, "No document that was read mentions: F-12. This probably answers it") {
		t.Errorf("a ferry that no document mentions: %s", named.Text)
	}
	none := answer(t, l, task("How deep is Lake 4711 near Zakopane?", 0.2, l...))
	if len(none.Order) > 0 || !none.Abstained || !strings.HasSuffix(none.Text, "mentions: Lake, 4711, Zakopane.") {
		t.Errorf("nothing close was found, and %v is shown:\n%s", none.Order, none.Text)
	}
}

// TestNeedsModel checks that a question that no single passage answers has no passage that surely does.
func TestNeedsModel(t *testing.T) {
	l := library{page("a", "We paid 40 euros for the ferry to Hel.")}
	for _, tt := range []struct {
		question string
		want     string
	}{
		{"What did we pay for the ferry to Hel?", state.BandAnswers},
		{"What did we pay in all for the ferry to Hel?", state.BandProbably},
	} {
		got, score := answer(t, l, task(tt.question, 0.9, l...)), 0.9
		if got.Grade != nil {
			score = got.Grade.Score
		}
		if band := state.Band(score, got.Abstained); band != tt.want || (band == state.BandAnswers) != strings.HasPrefix(got.Text, "This answers") {
			t.Errorf("%s: band %q, want %q, answer:\n%s", tt.question, band, tt.want, got.Text)
		}
	}
}

// TestValueAskedFor checks that a passage without a value of the kind that is asked for does not answer.
func TestValueAskedFor(t *testing.T) {
	l := library{page("a", "The ferry to Hel leaves from pier four.")}
	got := answer(t, l, task("When does the ferry to Hel leave?", 0.9, l...))
	if got.Grade == nil || state.Band(got.Grade.Score, got.Abstained) != state.BandProbably || !strings.HasPrefix(got.Text, "This probably") {
		t.Errorf("grade %+v, answer:\n%s", got.Grade, got.Text)
	}
}

// TestValueBesideTheWords checks that a value of the kind asked for beside all words of the question is not declined.
func TestValueBesideTheWords(t *testing.T) {
	l := library{page("a", "Article: K-310; Description: Bone glue; Price: 18.90 €\n\nArticle: K-311; Description: Linseed oil; Price: on demand")}
	for question, least := range map[string]float64{"What does bone glue cost?": 0.5, "What does linseed oil cost?": 0, "What does bone china cost?": 0} {
		grade, err := offline.New(l, 0).Grader.Grade(t.Context(), []state.Query{{Text: question, Weight: 1}}, []state.Source{{Chunk: l[0], Score: 1}})
		if err != nil || grade.Score < least || least == 0 && grade.Score >= 0.5 {
			t.Errorf("%s: grade %.2f, %v", question, grade.Score, err)
		}
	}
}

// TestNewestAnswersFirst checks that a question for what comes next, or holds now, is answered by the newest document,
// though an older one says it in fewer words.
func TestNewestAnswersFirst(t *testing.T) {
	older := page("a", "Date: 6 November 2025\n\nThe next meeting of the board is on 12 March 2026.")
	newer := page("b", "Date: 12 March 2026\n\nThe roof is repaired in May, and the keeper asks for three offers.\n\nThe next meeting of the board is on 16 April 2026.")
	l := library{older, newer}
	question := task("When is the next meeting of the board?", 0.9, older, newer)
	question.Sources[1].Score = question.Sources[0].Score / 2
	if got := answer(t, l, question).Text; !strings.Contains(got, "**The next meeting of the board is on 16 April 2026.**") || strings.Contains(got, "is on 12 March") {
		t.Errorf("shown is:\n%s", got)
	}
	queries := []state.Query{{Text: "What is the current meeting of the board?", Weight: 1}}
	with, err := offline.New(l, 0).Grader.Grade(t.Context(), queries, question.Sources)
	queries[0].Text = "What is the meeting of the board?"
	without, other := offline.New(l, 0).Grader.Grade(t.Context(), queries, question.Sources)
	if err != nil || other != nil || with.Score < without.Score/2 {
		t.Errorf("grade %.2f with a word for the present, %.2f without, %v", with.Score, without.Score, errors.Join(err, other))
	}
}

// TestRowAskedFor checks that a row with the code of a question is shown alone.
func TestRowAskedFor(t *testing.T) {
	var rows strings.Builder
	for i := range 20 {
		fmt.Fprintf(&rows, "Order: A-%d; Town: Kiel; Amount: %d\n\n", 100+i, i*i)
	}
	l := library{page("a", rows.String())}
	got := answer(t, l, task("What is the amount of order A-113?", 0.9, l...)).Text
	if want := "This answers it, from your documents:\n\nOrder: A-113; Town: Kiel; Amount: 169 [Source 1]"; got != want {
		t.Errorf("shown is:\n%s", got)
	}
}

// TestQuestionsOverRows checks that what has to be calculated from several rows is declined, and what one row says
// is not.
func TestQuestionsOverRows(t *testing.T) {
	l := library{page("a", "Order: A-1; Town: Kiel; Pieces: 7\n\nOrder: A-2; Town: Kiel; Pieces: 9\n\nOrder: A-3; Town: Jena; Pieces: 4")}
	for question, declined := range map[string]bool{
		"How many orders are there in Kiel?": true, "Which order of Kiel has the most pieces?": true, "Wie hoch ist die Summe der Pieces in Kiel?": true,
		"How many pieces has order A-2?": false, "Which town is order A-3 for?": false,
	} {
		got := answer(t, l, task(question, 0.9, l...))
		if got.Abstained != declined || strings.Contains(got.Text, "ragflow models --help") != declined {
			t.Errorf("%s: declined %v:\n%s", question, got.Abstained, got.Text)
		}
	}
}

// TestTotalInARow checks that a row with the total of a document answers, but not for a part of the document.
func TestTotalInARow(t *testing.T) {
	l := library{page("bill-771", "Item: Cork; Town: Kiel; Amount: 7.10\n\nItem: Twine; Town: Jena; Amount: 9.20\n\nItem: Subtotal; Amount: 16.30\n\nItem: Total due; Amount: 19.40")}
	for question, declined := range map[string]bool{
		"Total of bill 771": false, "Gesamtbetrag bill 771": false, "razem bill 771": false, "total amount of Kiel": true, "cork and twine together": true,
	} {
		got := answer(t, l, task(question, 0.9, l...))
		if got.Abstained != declined || !declined && !strings.Contains(strings.ReplaceAll(got.Text, "**", ""), "Item: Total due; Amount: 19.40 [Source 1]") {
			t.Errorf("%s: declined %v:\n%s", question, got.Abstained, got.Text)
		}
	}
}

// TestAnswersAreNotQuestions checks that neither a question nor a greeting is the sentence in bold.
func TestAnswersAreNotQuestions(t *testing.T) {
	l := library{page("a", "Dear Ann,\n\nDoes the delivery of the bearing take seven days? No, the delivery takes five days.\n\nIs the price of the bearing still 39 €? The new price is 48 €.")}
	for question, want := range map[string]string{
		"How long does the delivery of the bearing take?": "**No, the delivery takes five days.**", "What is the price of the bearing?": "**The new price is 48 €.**",
	} {
		if got := answer(t, l, task(question, 0.9, l...)).Text; !strings.Contains(got, want) {
			t.Errorf("%s: %s is missing in:\n%s", question, want, got)
		}
	}
}

func TestQuestionsForAWriterSaySo(t *testing.T) {
	l := library{page("p", "Volumes keep data. Bind mounts use a folder of the host.")}
	for question, want := range map[string]bool{
		"Why are volumes better than bind mounts?": true, "Podsumuj strony o wolumenach": true, "So sánh volume và bind mount": true,
		"Where do volumes keep data?": false,
	} {
		said := answer(t, l, task(question, 0.9, l...)).Text
		if got := strings.Contains(said, "ragflow models --help"); got != want {
			t.Errorf("%s: says that a model is needed %v, want %v", question, got, want)
		}
		if strings.Contains(said, "answers it") == want {
			t.Errorf("%s is answered:\n%s", question, said)
		}
	}
}

func TestQuotesAreTidied(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"links show their text", "Ports: see [the `docker run -p` flag](/cli/run.md#p) of ports.", "Ports: see the `docker run -p` flag of ports."},
		{"images and shortcodes go", "Ports {{< badge color=blue >}}are ![x](http://evil.example/p.png) ports.", "Ports are ports."},
		{"tags go, placeholders stay", "Ports <b>of</b> <script>alert(1)</script> ports <container>.", `Ports of alert(1) ports <container>.`},
		{"a faked citation cites nothing", "Ports are safe [Source 7].", `Ports are safe \[Source 7].`},
		{"hidden characters go", "Ports are\u200b \u202ereversed\u202c ports.", "Ports are reversed ports."},
	} {
		l := library{page("p", tt.in)}
		if got := answer(t, l, task("What are ports?", 0.9, l[0])).Text; !strings.Contains(got, tt.want+" [Source 1]") {
			t.Errorf("%s: %q, want %q in it", tt.name, got, tt.want)
		}
	}
}

// manual is a library with one page about volumes and many about other things.
func manual() library {
	l := library{page("volumes", "Volumes keep data when a container is removed. To back up a volume, write an archive with tar. The default driver of a volume is local.")}
	for i, thing := range []string{"networks", "images", "secrets", "plugins", "nodes", "logs", "builds", "stacks", "swarms", "registries"} {
		l = append(l, page(thing, fmt.Sprintf("This page tells of %s. The %s have a list of %d commands. A person manages %s with the client.", thing, thing, i+3, thing)))
	}
	return l
}

func TestGradeTellsAbsentTopics(t *testing.T) {
	l := manual()
	g := offline.New(l, 0).Grader
	grade := func(question string) state.Grade {
		t.Helper()
		out, err := g.Grade(t.Context(), ask(question), l.sources())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if there := grade("What is the default driver of a volume?"); there.Score < 0.5 || there.Refined != nil {
		t.Errorf("an answer that is there is graded %.2f: %s", there.Score, there.Why)
	}
	if absent := grade("How tall is the Eiffel tower in Paris?"); absent.Score >= 0.5 || absent.Refined == nil {
		t.Errorf("an answer that is not there is graded %.2f, refined %v", absent.Score, absent.Refined)
	}
	if none := grade("and the?"); none.Score != 0 {
		t.Errorf("no words to look for are graded %.2f", none.Score)
	}
}

// TestGradeReadsTheTranslation checks that a question translated by a model is graded by its translation.
func TestGradeReadsTheTranslation(t *testing.T) {
	l := manual()
	g := offline.New(l, 0).Grader
	own := ask("Jaki jest domyślny sterownik wolumenu?")
	translated := append(own, state.Query{Text: "What is the default driver of a volume?", Weight: 1, Attempt: 1})
	before, err := g.Grade(t.Context(), own, l.sources())
	if err != nil {
		t.Fatal(err)
	}
	after, err := g.Grade(t.Context(), translated, l.sources())
	if err != nil || before.Score >= 0.5 || after.Score < 0.5 {
		t.Errorf("graded %.2f by itself and %.2f with its translation, %v", before.Score, after.Score, err)
	}
}

// TestFollowUpIsReadInTwoWays checks that words of earlier turns count in grade and order if a model
// misunderstood a follow-up.
func TestFollowUpIsReadInTwoWays(t *testing.T) {
	l := manual()
	s := offline.New(l, 0)
	queries := []state.Query{
		{Text: "and the driver?", Weight: 0.2, Attempt: 1},
		{Text: "How tall is the Eiffel tower in Paris?", Weight: 1, Attempt: 1},
		{Text: "and the driver?", Boosts: []state.Boost{{Text: "default volume", Weight: 0.5}}, Weight: 1, Attempt: 1},
	}
	alone, err := s.Grader.Grade(t.Context(), queries[:2], l.sources())
	if err != nil {
		t.Fatal(err)
	}
	both, err := s.Grader.Grade(t.Context(), queries, l.sources())
	if err != nil || both.Score <= alone.Score {
		t.Errorf("graded %.2f by what the model wrote, and %.2f with the conversation, %v", alone.Score, both.Score, err)
	}
	ranked, err := s.Reranker.Rerank(t.Context(), queries, l.sources())
	if err != nil || !strings.Contains(ranked[0].Text, "driver") {
		t.Errorf("first is %q, %v", ranked[0].Text, err)
	}
}

// TestUnknownIdentifier checks that a passage about another model, place or room than the one in the question is no
// answer, and that one with no number of the question is not a sure one.
func TestUnknownIdentifier(t *testing.T) {
	l := append(manual(), page("pumps", "The pump P-200 has a warranty of 24 months. The warranty of the pump P-200 covers the motor. 7. The lease of unit 4 in hall B ends on 3 May 2028."))
	for question, want := range map[string]string{
		"How many months of warranty has the pump P-200?": state.BandAnswers, "How many months of warranty has the pump P-300?": state.BandUnsure,
		"When does the lease of unit 4 end?": state.BandAnswers, "When does the lease of unit 7 end?": state.BandUnsure,
		"When does the lease of unit 4 in hall 9 end?": state.BandProbably, "Does the lease of unit 4 in hall B end in May 2029?": state.BandProbably,
	} {
		got, err := offline.New(l, 0).Grader.Grade(t.Context(), ask(question), slices.Concat(l[len(l)-1:], l[:len(l)-1]).sources())
		if band := state.Band(got.Score, false); err != nil || band != want {
			t.Errorf("%s: band %q (%.2f, %v), want %q", question, band, got.Score, err, want)
		}
	}
}

func TestRewriting(t *testing.T) {
	r := offline.New(manual(), 0).Rewriter
	memory := state.Memory{Recent: []state.Exchange{
		{Question: "What do networks do?", Terms: []string{"bridge"}},
		{Question: "How do I back up a volume?", Terms: []string{"tar", "archive"}, Chunks: []string{"volumes"}, QuoteEnds: []state.QuoteEnd{{Chunk: "volumes", End: 50}}},
	}}
	for _, tt := range []struct {
		question   string
		standalone bool
		holds      string // in the boosts
		cited      int
		told       int
	}{
		{"and how do I restore it?", false, "back up volume", 1, 0},
		{"Which commands manage secrets and plugins?", true, "back up volume", 0, 0},
		{"Welche Befehle schreibt er dabei in welche Ordner?", false, "back up volume", 1, 0},
		{"tell me more", false, "networks", 0, 1},
	} {
		plan, err := r.Rewrite(t.Context(), tt.question, memory)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Queries[0].Text != tt.question || plan.Standalone != tt.standalone || len(plan.Queries) != 2 {
			t.Fatalf("%s: %+v", tt.question, plan)
		}
		var boosts []string
		for _, b := range plan.Queries[1].Boosts {
			boosts = append(boosts, b.Text)
		}
		q := plan.Queries[1]
		if !strings.Contains(strings.Join(boosts, "; "), tt.holds) || len(q.Cited) != tt.cited || len(q.QuoteEnds) != tt.told {
			t.Errorf("%s: lends %q, cited %v, quote ends %v", tt.question, boosts, q.Cited, q.QuoteEnds)
		}
	}
}

// TestFollowUpsKeepTheirTopic checks that the question which pronouns stand for weighs the same after five turns, and
// that a question which stands alone ends it.
func TestFollowUpsKeepTheirTopic(t *testing.T) {
	r := offline.New(manual(), 0).Rewriter
	var memory state.Memory
	for _, tt := range []struct{ question, topic string }{
		{"What does a bridge network isolate?", ""},
		{"how do I remove it?", "What does a bridge network isolate?"},
		{"and who may use that?", "What does a bridge network isolate?"},
		{"wann wird er gelöscht?", "What does a bridge network isolate?"},
		{"is it encrypted?", "What does a bridge network isolate?"},
		{"where is it stored?", "What does a bridge network isolate?"},
		{"Which commands manage secrets and plugins?", ""},
		{"can they be listed?", "Which commands manage secrets and plugins?"},
	} {
		plan, err := r.Rewrite(t.Context(), tt.question, memory)
		if err != nil {
			t.Fatal(err)
		}
		q := plan.Queries[len(plan.Queries)-1]
		if q.Topic != tt.topic {
			t.Errorf("%s: continues %q, want %q", tt.question, q.Topic, tt.topic)
		}
		kept := func(b state.Boost) bool {
			return b.Weight == 0.5 && strings.Contains(tt.topic, strings.Fields(b.Text)[0])
		}
		if tt.topic != "" && !slices.ContainsFunc(q.Boosts, kept) {
			t.Errorf("%s: the words of its topic are not in %v", tt.question, q.Boosts)
		}
		memory.Recent = append(memory.Recent, state.Exchange{Question: tt.question})
	}
}

// nearest is a Reader to which the passage with a word is near.
type nearest struct{ word, question string }

func (n *nearest) Near(_ context.Context, question string, passages []state.Source) ([]float64, error) {
	n.question = question
	out := make([]float64, len(passages))
	for i, p := range passages {
		if strings.Contains(p.Text, n.word) {
			out[i] = 1
		}
	}
	return out, nil
}

// TestByMeaning checks that follow-ups are ordered by meaning as well, behind the question that they continue.
func TestByMeaning(t *testing.T) {
	reader := &nearest{word: "bridge"}
	candidates := []state.Source{{Chunk: state.Chunk{ID: "a", Text: "volumes"}, Score: 0.9}, {Chunk: state.Chunk{ID: "b", Text: "a bridge"}, Score: 0.1}}
	queries := []state.Query{{Text: "is it encrypted?", Weight: 0.2, Attempt: 1}, {
		Text: "is it encrypted?", Topic: "What is a bridge?", Boosts: []state.Boost{{Text: "bridge", Weight: 0.5}}, Weight: 1, Attempt: 1,
	}}
	got, err := offline.ByMeaning(t.Context(), reader, queries, candidates, 2)
	if err != nil || got[0].ID != "b" || reader.question != "What is a bridge? is it encrypted?" {
		t.Errorf("first is %q for %q, %v", got[0].ID, reader.question, err)
	}
}

func TestSmallTalk(t *testing.T) { // Z12
	r := offline.New(manual(), 0).Rewriter
	for question, want := range map[string]string{
		"Hello there": state.RouteChitchat, "Dziękuję bardzo!": state.RouteChitchat, "tạm biệt": state.RouteChitchat,
		"What can you do?": state.RouteMeta, "What did I ask before?": state.RouteMeta,
		"Vielen Dank!": state.RouteChitchat, "Guten Tag": state.RouteChitchat, "Was kannst du?": state.RouteMeta, "Hilfe im Alter": state.RouteSearch,
		"hello world example": state.RouteSearch, "Thanks, but how do I stop it?": state.RouteSearch,
	} {
		plan, err := r.Rewrite(t.Context(), question, state.Memory{})
		if err != nil || plan.Route != want {
			t.Errorf("%s: route %s (%v), want %s", question, plan.Route, err, want)
		}
	}
}

func TestRerankPutsTheAnswerFirst(t *testing.T) {
	l := manual()
	var candidates []state.Source
	for _, c := range slices.Backward(l) {
		candidates = append(candidates, state.Source{Chunk: c, Score: 1})
	}
	out, err := offline.New(l, 0).Reranker.Rerank(t.Context(), ask("What is the default driver of a volume?"), candidates)
	if err != nil || len(out) != len(l) || out[0].ID != "volumes" {
		t.Errorf("first of %d is %s (%v)", len(out), out[0].ID, err)
	}
}

func TestSummaryIsExtended(t *testing.T) {
	z := offline.New(manual(), 0).Summarizer
	got, err := z.Summarize(t.Context(), "- What is a node? → A machine.", []state.Message{
		{Role: state.Human, Content: "How do I back up a volume?"},
		{Role: state.AI, Content: "This answers it:\n\nVolumes keep data. To back up a volume, write an archive. [Source 1]"},
		{Role: state.Human, Content: "Thanks!"},
	})
	want := "- What is a node? → A machine.\n- How do I back up a volume? → To back up a volume, write an archive."
	if err != nil || got != want {
		t.Errorf("summary %q (%v), want %q", got, err, want)
	}
	for range 40 {
		got, _ = z.Summarize(t.Context(), got, []state.Message{{Role: state.Human, Content: "How do I find " + strings.Repeat("things ", 12) + got[:9] + "?"}})
	}
	if n := text.Count(got); n > offline.SummaryTokens {
		t.Errorf("the summary has %d tokens", n)
	}
}

// FuzzAnswer answers from arbitrary passages: no panic, and every promise holds.
func FuzzAnswer(f *testing.F) {
	f.Add(settings, "What is the backlog?")
	f.Add("```\nopen fence", "code?")
	f.Add("| a |\n| - |\n|| b ``|\n- \n1. x:\n> ```\n> y\n> ```", "a b x")
	f.Add("<!-- a\n\n  - b\n\t\tc\n: d\n# e", "b c d e")
	f.Fuzz(func(t *testing.T, passage, question string) {
		passage = text.Clean(passage) + "\n\n" + strings.ToValidUTF8(passage, "")
		l := library{page("p", passage)}
		answer(t, l, task(question, 0.9, l...))
	})
}
