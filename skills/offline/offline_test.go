package offline_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// library is a small index: chunks by id, and how common their words are.
type library []state.Chunk

func (library) Analyzer() text.Analyzer { return text.For("en") }

func (l library) Docs() int { return len(l) }

func (library) Documents(context.Context, int) ([]state.Document, int, error) {
	return []state.Document{{Source: "a.md", Title: "Chapter <1>"}}, 14, nil
}

func (l library) DocFreq(term string) int {
	n := 0
	for _, c := range l {
		all := c.Title + "\n" + strings.Join(c.Headings, "\n") + "\n" + c.Text
		if slices.ContainsFunc(l.Analyzer().Analyze(all), func(t text.Token) bool { return t.Term == term }) {
			n++
		}
	}
	return n
}

func (l library) Chunks(_ context.Context, ids []string) ([]state.Chunk, error) {
	var out []state.Chunk
	for _, id := range ids {
		for _, c := range l {
			if c.ID == id {
				out = append(out, c)
			}
		}
	}
	return out, nil
}

func page(id, title, body string) state.Chunk {
	return state.Chunk{
		ID: id, Source: id + ".md", Title: title, Text: body, Start: 10, End: 10 + len(body),
		StartLine: 3, EndLine: 3 + strings.Count(body, "\n"), Hash: "hash-" + id,
	}
}

func docs() library {
	return library{
		page("volumes", "Volumes", "Volumes keep data when a container is removed. They live outside the container.\n\n"+
			"To create a volume, run this command:\n\n```console {title=\"shell\"}\n$ docker volume create my-vol\n```\n\n"+
			"## Back up a volume\n\nTo back up a volume, mount it in a helper container and write an archive with `tar`.\n"),
		page("ports", "Networking", "Published ports lead traffic from the host to a container.\n\n"+
			"| Port | Use |\n| --- | --- |\n| 2377 | cluster management |\n| 7946 | node discovery |\n"),
		page("images", "Images", "An image is a template for containers. This makes it portable.\n"),
		page("steps", "Install", "Follow these steps to install the engine on Ubuntu:\n\n1. Remove old packages.\n2. Add the repository.\n3. Install the engine.\n"),
	}
}

func ask(q string) []state.Query { return []state.Query{{Text: q, Weight: 1, Attempt: 1}} }

func task(question string, grade float64, chunks ...state.Chunk) state.Task {
	t := state.Task{
		Question: question, Language: text.Language(question), Route: state.RouteSearch,
		Queries: ask(question), Grade: state.Grade{Score: grade},
	}
	for i, c := range chunks {
		t.Sources = append(t.Sources, state.Source{Chunk: c, Score: 1 / float64(i+61)})
	}
	return t
}

// answer answers a task and checks what every answer promises: each quote
// stands in its source, and the same task gives the same answer.
func answer(t *testing.T, l library, in state.Task) state.Answer {
	t.Helper()
	a := offline.NewAnswerer(l, 0)
	got, err := a.Answer(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.Answer(t.Context(), in)
	if diff := cmp.Diff(got, again); diff != "" || err != nil {
		t.Errorf("the same task gave another answer (%v):\n%s", err, diff)
	}
	for _, c := range got.Citations {
		src := in.Sources[c.N-1]
		if c.Quote != src.Text[c.Start-src.Start:c.End-src.Start] {
			t.Errorf("quote %q does not stand in %s at %d", c.Quote, c.Source, c.Start)
		}
	}
	return got
}

func TestAnswers(t *testing.T) {
	d := docs()
	for _, tt := range []struct {
		name string
		task state.Task
		want string
	}{
		{
			"a sentence", task("Does data survive when a container is removed?", 0.9, d[0]),
			"From your documents:\n\nVolumes keep data when a container is removed. [Source 1]",
		},
		{
			"a how-to with its code, attributes of the fence aside", task("How do I create a volume?", 0.9, d[0]),
			"From your documents:\n\nTo create a volume, run this command: [Source 1]\n\n```console\n$ docker volume create my-vol\n```\n[Source 1]",
		},
		{
			"a small table with its header", task("Which port is for cluster management?", 0.9, d[1]),
			"From your documents:\n\n| Port | Use |\n| --- | --- |\n| 2377 | cluster management |\n| 7946 | node discovery |\n\n[Source 1]",
		},
		{
			"all the steps", task("How do I install the engine on Ubuntu?", 0.9, d[3]),
			"From your documents:\n\nFollow these steps to install the engine on Ubuntu: [Source 1]\n\n" +
				"1. Remove old packages. [Source 1]\n2. Add the repository. [Source 1]\n3. Install the engine. [Source 1]",
		},
		{
			"what a pronoun points to", task("Why is it portable?", 0.9, d[2]),
			"From your documents:\n\nAn image is a template for containers. [Source 1] This makes it portable. [Source 1]",
		},
		{
			"the framing speaks the language of the question", task("Czy można użyć `tar`?", 0.9, d[0]),
			"Pytanie jest w innym języku niż dokumenty, więc dopasować można było tylko nazwy, liczby i polecenia.\n\nZ Twoich dokumentów:\n\n" +
				"To back up a volume, mount it in a helper container and write an archive with `tar`. [Source 1]",
		},
		{
			"a question in a language that has no phrases of its own", task("Wann braucht man `tar`?", 0.9, d[0]),
			"Your question is in another language than the documents, so only names, numbers and commands in it could be matched.\n\nFrom your documents:\n\n" +
				"To back up a volume, mount it in a helper container and write an archive with `tar`. [Source 1]",
		},
		{
			"abstaining says so and offers the closest passage", task("How do I back up to a tape drive?", 0.3, d[0]), // Y06
			"I did not find the exact answer to this in your documents.\n\nClosest information:\n\n" +
				"To back up a volume, mount it in a helper container and write an archive with `tar`. [Source 1]",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, d, tt.task)
			if diff := cmp.Diff(tt.want, got.Text); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if got.Model != "offline" || got.Abstained != (tt.task.Grade.Score < 0.5) {
				t.Errorf("model %q, abstained %v", got.Model, got.Abstained)
			}
		})
	}
}

func TestAnswerShowsMarkdownForReading(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"links show their text", "Ports: see [the `docker run -p` flag](/cli/run.md#p) of ports.", "Ports: see the `docker run -p` flag of ports. [Source 1]"},
		{"images and shortcodes go", "Ports {{< badge color=blue >}}are ![x](http://evil.example/p.png) ports.", "Ports are ports. [Source 1]"},
		{"tags go, placeholders stay", "Ports <b>of</b> <script>alert(1)</script> ports <container>.", `Ports of alert(1) ports \<container>. [Source 1]`},
		{"inline code is left alone", "Ports are `<b>ports</b> {{.Ports}}`.", "Ports are `<b>ports</b> {{.Ports}}`. [Source 1]"},
		{"quotes and alerts", "> [!NOTE]\n> Ports of the\n> host are ports.", "Ports of the host are ports. [Source 1]"},
		{"a faked citation cites nothing", "Ports are safe [Source 7].", `Ports are safe \[Source 7]. [Source 1]`},
		{"hidden characters go", "Ports are\u200b \u202ereversed\u202c ports.", "Ports are reversed ports. [Source 1]"},
		{"initials end no sentence", "Ports of the U.S. Government ports.", "Ports of the U.S. Government ports. [Source 1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := library{page("p", "P", tt.in)}
			got := answer(t, l, task("What are ports?", 0.9, l[0])).Text
			if want := "From your documents:\n\n" + tt.want; got != want {
				t.Errorf("answer = %q, want %q", got, want)
			}
		})
	}
}

// checkWords checks that a text holds some words, and others not.
func checkWords(t *testing.T, got string, want, not []string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q is missing in:\n%s", w, got)
		}
	}
	for _, w := range not {
		if strings.Contains(got, w) {
			t.Errorf("%q is in:\n%s", w, got)
		}
	}
}

// TestAbstains checks that what is shown as the closest is close, and that
// nothing is where nothing is.
func TestAbstains(t *testing.T) {
	d := docs()
	nothing := "I did not find the exact answer to this in your documents.\n\nNothing in the documents comes close to it."
	for _, tt := range []struct {
		name string
		task state.Task
		want string
	}{
		{"no word in common", task("Quarterly dividend payouts?", 0.1, d[0]), nothing},
		{"a name whose words stand apart only", task("When was Helper Container released?", 0.1, d[3]), nothing},
		{"somebody else", task("Who is the maker of Zebra?", 0.9, page("ann", "People", "Ann is the maker of Apple and lives in Paris.")), nothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, d, tt.task)
			if got.Text != tt.want || !got.Abstained || len(got.Citations) != 0 {
				t.Errorf("answer = %q, abstained %v, %d citations", got.Text, got.Abstained, len(got.Citations))
			}
		})
	}
}

// TestRank checks that the first of the ranking is what the answer shows first.
func TestRank(t *testing.T) {
	d := docs()
	in := task("Does data survive when a container is removed?", 0.9, d[2], d[0])
	ranked := offline.NewAnswerer(d, 0).Rank(in)
	got := answer(t, d, in)
	if len(ranked) == 0 || len(got.Citations) == 0 {
		t.Fatalf("%d ranked, %d cited", len(ranked), len(got.Citations))
	}
	first, c := ranked[0], got.Citations[0]
	if first.N != c.N || in.Sources[first.N-1].Start+first.Start != c.Start {
		t.Errorf("ranked first: source %d from %d; cited first: source %d from %d", first.N, first.Start, c.N, c.Start)
	}
	if names := offline.FeatureNames(); len(names) != len(first.Evidence) {
		t.Errorf("%d names of %d features", len(names), len(first.Evidence))
	}
	for i := 1; i < len(ranked); i++ {
		if ranked[i].Score > ranked[i-1].Score {
			t.Errorf("rank %d scores %v, more than %v before it", i+1, ranked[i].Score, ranked[i-1].Score)
		}
	}
}

func TestAnswerWithoutSources(t *testing.T) {
	got := answer(t, docs(), task("Why?", 0.9, page("x", "X", "# Only a heading\n")))
	if got.Text != "No relevant documents found for your query." || !got.Abstained {
		t.Errorf("answer = %q, abstained %v", got.Text, got.Abstained)
	}
}

func TestSmallTalk(t *testing.T) { // Z12
	for _, tt := range []struct{ question, route, answer string }{
		{"Hello there!", state.RouteChitchat, "Hello. Ask me something about your documents."},
		{"Thanks a lot", state.RouteChitchat, "You're welcome."},
		{"Dziękuję bardzo", state.RouteChitchat, "Proszę bardzo."},
		{"Xin chào", state.RouteChitchat, "Xin chào. Hãy hỏi tôi về tài liệu của bạn."},
		{"What did I ask before?", state.RouteMeta, "You asked before:\n\n- What is a volume?\n- And a bind mount?"},
		{"What did I ask first?", state.RouteMeta, "You asked before:\n\n- What is a volume?"},
		{"What was my last question?", state.RouteMeta, "You asked before:\n\n- And a bind mount?"},
		{"What can you do?", state.RouteMeta, "I answer questions from your documents and cite the passage behind each statement. I remember this conversation, so you can ask follow-up questions."},
		{"What documents do you have?", state.RouteMeta, "Your documents: 14\n\n- Chapter \\<1> (a.md)\n- …"},
		{"Which files must be backed up?", state.RouteSearch, ""},
		{"Hello world image: what does it do?", state.RouteSearch, ""},
		{"Help me install it", state.RouteSearch, ""},
	} {
		t.Run(tt.question, func(t *testing.T) {
			plan, err := offline.NewRewriter(docs(), nil).Rewrite(t.Context(), tt.question, state.Memory{})
			if err != nil || plan.Route != tt.route {
				t.Fatalf("route = %q, %v, want %q", plan.Route, err, tt.route)
			}
			if tt.route == state.RouteSearch {
				return
			}
			got := answer(t, docs(), state.Task{
				Question: tt.question, Language: plan.Language, Route: plan.Route,
				Messages: []state.Message{{Role: state.Human, Content: "What is a volume?"}, {Role: state.AI, Content: "…"}, {Role: state.Human, Content: "thanks!"}, {Role: state.Human, Content: "And a bind mount?"}, {Role: state.Human, Content: tt.question}},
			})
			if got.Text != tt.answer || got.Abstained || len(got.Citations) != 0 {
				t.Errorf("answer = %q, want %q", got.Text, tt.answer)
			}
		})
	}
}

func rewrite(t *testing.T, question string, recent ...state.Exchange) state.Plan {
	t.Helper()
	plan, err := offline.NewRewriter(docs(), docs()).Rewrite(t.Context(), question, state.Memory{Recent: recent})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(plan.Queries); n < 1 || n > 3 || plan.Queries[0].Text != question {
		t.Fatalf("queries = %+v, want 1 to 3, the raw turn first", plan.Queries)
	}
	return plan
}

func TestRewriteFollowUp(t *testing.T) {
	plan := rewrite(t, "And how do I back it up?",
		state.Exchange{Question: "Which ports are published?"},
		state.Exchange{Question: "What is a volume?", Terms: []string{"outside", "removed"}, Chunks: []string{"volumes"}})
	want := []state.Boost{
		{Text: "volume", Weight: 0.6},
		{Text: "Volumes", Weight: 0.3},
		{Text: "outside removed", Weight: 0.15},
		{Text: "ports published", Weight: 0.25},
	}
	if plan.Standalone || plan.Queries[0].Weight >= plan.Queries[1].Weight {
		t.Errorf("standalone %v, weights %v and %v", plan.Standalone, plan.Queries[0].Weight, plan.Queries[1].Weight)
	}
	if diff := cmp.Diff(want, plan.Queries[1].Boosts); diff != "" {
		t.Errorf("boosts (-want +got):\n%s", diff)
	}
}

func TestRewriteKeepsTheTopic(t *testing.T) {
	plan := rewrite(t, "And is it fast?",
		state.Exchange{Question: "How do volumes keep container data?"}, state.Exchange{Question: "Can I share it?"}, state.Exchange{Question: "Is it safe?"})
	for _, b := range plan.Queries[1].Boosts {
		if strings.Contains(b.Text, "volumes") {
			if b.Weight < 0.3 {
				t.Errorf("after two dependent turns the topic weighs %v, want more than a turn of its age", b.Weight)
			}
			return
		}
	}
	t.Errorf("the topic is lost: %+v", plan.Queries[1].Boosts)
}

func TestStandalone(t *testing.T) {
	before := state.Exchange{Question: "What is a volume?"}
	for _, tt := range []struct {
		question string
		want     bool
	}{
		{"How do I publish ports of a container to the host?", true},
		{"How do I install the engine from the package repository on Ubuntu?", true},
		{"Is it possible to publish container ports to the host?", true},
		{"Can I move it to another host?", false},
		{"How do I back one up?", false},
		{"How do I switch that off?", false},
		{"And on Windows?", false},
		{"What about networks of containers?", false},
		{"Which one should I create for container data?", false},
		{"yes", false},
		{"A co z portami kontenera na hoście?", false},
		{"Jak usunąć go z hosta razem z danymi?", false},
	} {
		if got := rewrite(t, tt.question, before).Standalone; got != tt.want {
			t.Errorf("%q stands by itself: %v, want %v", tt.question, got, tt.want)
		}
		if !rewrite(t, tt.question).Standalone {
			t.Errorf("%q: the first turn of a thread leans on nothing", tt.question)
		}
	}
}

func TestRewriteComposite(t *testing.T) {
	plan := rewrite(t, "How do I create a docker volume, and which published ports lead to the host container?")
	if len(plan.Queries) != 2 || plan.Queries[1].Text != "which published ports lead to the host container?" {
		t.Errorf("queries = %+v, want the last clause besides", plan.Queries)
	}
}

func TestSynonyms(t *testing.T) { // W2
	plan := rewrite(t, "Which volumes retain container data after they erase the container on the host?")
	want := []state.Boost{{Text: "keep; persist; preserve; survive; remove; delete", Weight: 0.3}}
	if len(plan.Queries) < 2 || !cmp.Equal(want, plan.Queries[1].Boosts) {
		t.Errorf("queries = %+v, want one with %v", plan.Queries, want)
	}
	got := answer(t, docs(), task("Is data preserved when someone deletes a container?", 0.9, docs()[0]))
	if want := "From your documents:\n\nVolumes keep data when a container is removed. [Source 1]"; got.Text != want {
		t.Errorf("answer = %q, want %q", got.Text, want)
	}
}

func TestGrade(t *testing.T) {
	d := docs()
	for _, tt := range []struct {
		name, question string
		pass           bool
	}{
		{"said", "Do volumes keep data when the container is removed?", true},
		{"said under a heading", "How do I back up a volume?", true},
		{"a name nobody knows", "How do I back up a volume to Nomad?", false},
		{"another topic", "Who painted the ceiling of the chapel?", false},
		{"no words at all", "???", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := offline.NewGrader(d).Grade(t.Context(), ask(tt.question), d[:3])
			if err != nil || g.By != "offline" || g.Score < 0 || g.Score > 1 {
				t.Fatalf("grade = %+v, %v", g, err)
			}
			if got := g.Score >= 0.5; got != tt.pass {
				t.Errorf("grade %.2f (%s), want passing: %v", g.Score, g.Why, tt.pass)
			}
		})
	}
}

// TestGradeRefines: the refined query is the question with the words that the best
// passages share, together a quarter of what the question's own weigh (W2).
func TestGradeRefines(t *testing.T) {
	d := docs()
	g, err := offline.NewGrader(d).Grade(t.Context(), ask("please tell me about tape drives"), d[:2])
	if err != nil || g.Refined == nil {
		t.Fatalf("grade = %+v, %v", g, err)
	}
	if g.Refined.Text != "please tell me about tape drives" || g.Refined.Attempt != 2 {
		t.Errorf("refined = %+v", g.Refined)
	}
	var words []string
	sum := 0.0
	for _, b := range g.Refined.Boosts {
		words = append(words, b.Text)
		sum += b.Weight
	}
	want := []string{"volumes", "container", "ports", "create", "back", "up", "published", "lead", "traffic", "host"}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Errorf("words borrowed (-want +got):\n%s", diff)
	}
	own := 4.0 // please, tell, tape, drives
	if got, want := sum, own*0.2/0.8; got < want-0.01 || got > want+0.01 {
		t.Errorf("borrowed words weigh %.3f in all, want %.3f", got, want)
	}
}

// TestGradeFollowUp: a follow-up is neither failed for the words it borrows nor
// passed by them alone.
func TestGradeFollowUp(t *testing.T) {
	d := docs()
	grade := func(text, lent string) float64 {
		q := []state.Query{
			{Text: text, Weight: 0.2, Attempt: 1},
			{Text: text, Boosts: []state.Boost{{Text: lent, Weight: 0.5}}, Weight: 1, Attempt: 1},
		}
		g, err := offline.NewGrader(d).Grade(t.Context(), q, d)
		if err != nil {
			t.Fatal(err)
		}
		return g.Score
	}
	if got := grade("And how do I back up a volume?", "zeppelin airship"); got < 0.5 {
		t.Errorf("a turn that its passage covers, with words of another topic: %.2f, want at least 0.50", got)
	}
	if got := grade("And the zeppelin airship?", "back up a volume container archive"); got >= 0.5 {
		t.Errorf("an absent topic with words of one that is there: %.2f, want below 0.50", got)
	}
	if got := grade("who invented it?", "back up a volume; mount it in a helper container and write an archive with tar"); got >= 0.5 {
		t.Errorf("no word of the turn itself: %.2f, want below 0.50", got)
	}
	if got := grade("which archive?", "back up a volume; mount it in a helper container and write it with tar"); got < 0.5 {
		t.Errorf("a short turn whose words are there: %.2f, want at least 0.50", got)
	}
}

func TestSummary(t *testing.T) { // M03
	z := offline.NewSummarizer(docs())
	summarize := func(before string, ms ...state.Message) string {
		t.Helper()
		got, err := z.Summarize(t.Context(), before, ms)
		if err != nil {
			t.Fatal(err)
		}
		if n := text.Count(got); n > offline.SummaryTokens {
			t.Errorf("summary of %d tokens", n)
		}
		return got
	}
	first := summarize("", human("I use Ubuntu 22.04. What keeps data of a container?"),
		ai("From your documents:\n\nVolumes keep data when a container is removed. [Source 1]"))
	want := "* I use Ubuntu 22.04.\n- What keeps data of a container? → Volumes keep data when a container is removed."
	if first != want {
		t.Errorf("summary = %q, want %q", first, want)
	}
	second := summarize(first, human("And ports?"), ai("Published ports lead traffic. [Source 1]"))
	if want := first + "\n- And ports? → Published ports lead traffic."; second != want {
		t.Errorf("extended summary = %q, want %q", second, want)
	}
	third := summarize(first+"\n- Why so?", ai("Because volumes live outside."))
	if want := first + "\n- Why so? → Because volumes live outside."; third != want {
		t.Errorf("an answer that left after its question: %q, want %q", third, want)
	}
	var many []state.Message
	for i := range 60 {
		many = append(many, human(fmt.Sprintf("Question number %d about volumes and ports?", i)), ai("Volumes keep data. [Source 1]"))
	}
	last := summarize(first, many...)
	if !strings.HasPrefix(last, "* I use Ubuntu 22.04.") || !strings.Contains(last, "number 59") || strings.Contains(last, "number 1 ") {
		t.Errorf("a long summary keeps what the person said and the newest turns:\n%s", last)
	}
}

func TestTypeOf(t *testing.T) {
	for question, want := range map[string]offline.QuestionType{
		"How do I create a volume?":                      offline.HowTo,
		"Jak utworzyć wolumen?":                          offline.HowTo,
		"What is a volume?":                              offline.Definition,
		"What's a volume?":                               offline.Definition,
		"who's the owner?":                               offline.Person,
		"When’s the next meeting?":                       offline.Time,
		"How many ports are there?":                      offline.Number,
		"Where does it store data?":                      offline.Place,
		"When does it restart?":                          offline.Time,
		"Why does it fail?":                              offline.Reason,
		"Is it safe?":                                    offline.YesNo,
		"Which driver does the daemon recommend to use?": offline.Fact,
		"Who wrote it?":                                  offline.Person,
		"Kto to napisał?":                                offline.Person,
		"I can't connect to the daemon":                  offline.Fact,
		"I cannot pull an image.":                        offline.Fact,
		"cannot pull an image":                           offline.Message,
		"i kto to napisał?":                              offline.Person,
		"i jak to cofnąć?":                               offline.HowTo,
		"Ai đã viết?":                                    offline.Person,
		"Bao nhiêu cổng?":                                offline.Number,
		"Tại sao nó hỏng?":                               offline.Reason,
		"Kiedy się uruchamia?":                           offline.Time,
		"What is the difference between a and b?":        offline.Compare,
		"Czym różni się a od b?":                         offline.Compare,
		"What kinds of mounts are there?":                offline.List,
		"Which command lists the images?":                offline.HowTo,
		"Cannot connect to the daemon":                   offline.Message,
		"permission denied while trying to connect":      offline.Message,
		"How do I keep data when a container stops?":     offline.HowTo,
		"In which year was it founded?":                  offline.Time,
	} {
		if got := offline.TypeOf(question); got != want {
			t.Errorf("TypeOf(%q) = %s, want %s", question, got, want)
		}
	}
}

// asLongAsUsed is the beginning of a question that the nodes give to skills.
func asLongAsUsed(question string) string { return question[:min(len(question), 10_000)] }

// FuzzAnswer feeds arbitrary passages: no panic, and every promise holds.
func FuzzAnswer(f *testing.F) {
	for _, c := range docs() {
		f.Add(c.Text, "How do I create a volume?")
	}
	f.Add("```\nopen fence", "code?")
	f.Add("| a |\n| - |\n|| b ``|\n- \n1. x:\n> ```\n> y\n> ```", "a b x")
	f.Add("/**\n * To run x, use `x y`:\n *\n *     >\n *     x y\n */\nf() {\n}\n\n//", "How do I run x?")
	f.Add("<!-- never\nclosed \x00 \xff [a](b `c` ![", "closed ignore all previous instructions")
	f.Fuzz(func(t *testing.T, body, question string) {
		if strings.TrimSpace(body) == "" {
			return
		}
		question = asLongAsUsed(question)
		c := page("p", "P", strings.ToValidUTF8(body, "\uFFFD"))
		c.Cut.Language = []string{"", "python", "java", "sql"}[len(body)%4]
		l := library{c}
		in := task(question, 0.9, l...)
		got := answer(t, l, in)
		if !got.Abstained && (len(got.Citations) == 0 || !strings.Contains(got.Text, "[Source 1]")) {
			t.Errorf("nothing is cited: %q", got.Text)
		}
	})
}

func ExampleAnswerer() {
	d := docs()
	got, err := offline.NewAnswerer(d, 0).Answer(context.Background(), task("What happens to data when a container is removed?", 0.8, d[0]))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(got.Text)
	fmt.Printf("line %d: %q\n", got.Citations[0].StartLine, got.Citations[0].Quote)
	// Output:
	// From your documents:
	//
	// Volumes keep data when a container is removed. [Source 1]
	// line 3: "Volumes keep data when a container is removed."
}

func ExampleRewriter() {
	plan, err := offline.NewRewriter(docs(), nil).Rewrite(context.Background(), "And how do I back it up?",
		state.Memory{Recent: []state.Exchange{{Question: "What is a volume?"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range plan.Queries {
		fmt.Println(q.Weight, q.Text, q.Boosts)
	}
	// Output:
	// 0.2 And how do I back it up? []
	// 1 And how do I back it up? [{volume 0.6}]
}

func TestRerank(t *testing.T) {
	d := docs()
	in := []state.Source{{Chunk: d[2], Score: 0.0164}, {Chunk: d[0], Score: 0.0161}, {Chunk: d[1], Score: 0.0159}}
	got, err := offline.NewReranker(d).Rerank(t.Context(), ask("How do volumes keep data when a container is removed?"), in)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, s := range got {
		order = append(order, s.ID)
	}
	if diff := cmp.Diff([]string{"volumes", "images", "ports"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if in[0].ID != "images" || in[0].Score != 0.0164 {
		t.Errorf("the candidates were written to: %+v", in[0])
	}
}

func TestTopicSwitches(t *testing.T) {
	before := state.Exchange{Question: "How do I publish ports of a container to the host?"}
	for _, tt := range []struct {
		question string
		want     bool
	}{
		{"What is a volume?", true},
		{"What are images?", true},
		{"Who is a helper?", true},
		{"How do I create a volume?", true},
		{"How do I remove packages?", true},
		{"how can I publish ports", true},
		{"thanks! now something else: volumes of the host", true},
		{"ok, another question: archive and tar", true},
		{"Great! How do I create a volume?", true},
		{"How do I remove it?", false},
		{"What is the default?", false},
		{"What is that?", false},
		{"no, I meant on Mac", false},
	} {
		if got := rewrite(t, tt.question, before).Standalone; got != tt.want {
			t.Errorf("%q stands by itself: %v, want %v", tt.question, got, tt.want)
		}
	}
}
