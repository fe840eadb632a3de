package offline_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// TestHowATurnIsRead shows what is searched for, beside the raw turn, for the
// ways in which a turn can take up the one before it.
func TestHowATurnIsRead(t *testing.T) {
	before := state.Exchange{
		Question: "How do I back up a volume on Linux?", Terms: []string{"tar"}, Chunks: []string{"volumes"},
		Told: []state.Told{{Chunk: "volumes", End: 40}}, Items: []string{"Stop the container.", "Run the backup."},
	}
	offering := before
	offering.Offer = "Shall I show how to restore the volume?"
	for _, tt := range []struct {
		name, turn string
		before     state.Exchange
		text, why  string
		told       []state.Told
		lacks      string // a word that is not borrowed
	}{
		{"yes to an offer", "Yes, please", offering, offering.Offer, "offered", nil, ""},
		{"yes to nothing", "yes", before, before.Question, "asks for more", before.Told, ""},
		{"more", "More…", before, before.Question, "asks for more", before.Told, ""},
		{"more in Polish", "Coś jeszcze?", before, before.Question, "asks for more", before.Told, ""},
		{"more in Vietnamese", "còn gì nữa không?", before, before.Question, "asks for more", before.Told, ""},
		{"an item", "What does the second step do?", before, "What does Run the backup do?", `"the second step"`, nil, "tar"},
		{"no such item", "What does the ninth step do?", before, "What does the ninth step do?", "words of earlier", nil, ""},
		{"a correction", "no, I meant a network", before, "a network", "correction", nil, "tar"},
		{"another system", "and on Windows?", before, "and on Windows?", "words of earlier", nil, "linux"},
		{"denied", "not the volume, the container", before, "the container", "correction", nil, "volume"},
		{"instead of", "can it be a network instead of a volume?", before, "can it be a network?", "words of earlier", nil, "volume"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := rewrite(t, tt.turn, tt.before)
			if plan.Standalone || len(plan.Queries) < 2 {
				t.Fatalf("plan = %+v, want one that leans", plan)
			}
			q := plan.Queries[1]
			if q.Text != tt.text || !strings.Contains(q.Why, tt.why) || q.Weight <= plan.Queries[0].Weight {
				t.Errorf("query = %+v, want %q because of %q", q, tt.text, tt.why)
			}
			if diff := cmp.Diff(tt.told, q.Told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			for _, b := range q.Boosts {
				if tt.lacks != "" && strings.Contains(strings.ToLower(b.Text), tt.lacks) {
					t.Errorf("%q is borrowed in %+v", tt.lacks, b)
				}
			}
		})
	}
}

// TestWhatIsLent looks at the words that a turn borrows from a conversation that
// put something away, or that strayed.
func TestWhatIsLent(t *testing.T) {
	for _, tt := range []struct {
		name, turn string
		recent     []state.Exchange
		lent, not  []string
	}{
		{
			"what was replaced stays replaced", "How long does it take?",
			[]state.Exchange{{Question: "How do I create a volume on Linux?"}, {Question: "And on Windows?"}},
			[]string{"volume", "windows"},
			[]string{"linux"},
		},
		{
			"until it is named again", "And is it fast on Linux?",
			[]state.Exchange{{Question: "How do I create a volume on Linux?"}, {Question: "And on Windows?"}},
			[]string{"volume", "linux"},
			[]string{"windows"},
		},
		{
			"instead of the means", "What do I write instead?",
			[]state.Exchange{{Question: "How do I create a volume with --archive?", Chunks: []string{"steps"}}},
			[]string{"volume"},
			[]string{"archive", "install"},
		},
		{
			"instead, two turns ago", "Where is it?",
			[]state.Exchange{{Question: "How do I create a volume with --archive?"}, {Question: "What do I write instead?"}},
			[]string{"volume"},
			[]string{"archive"},
		},
		{
			"an answer about something else", "Is it safe?",
			[]state.Exchange{{Question: "How do volumes keep data?", Chunks: []string{"steps"}, Terms: []string{"ubuntu"}}},
			[]string{"volumes", "data"},
			[]string{"install", "ubuntu"},
		},
		{
			"an answer about it", "Is it safe?",
			[]state.Exchange{{Question: "How do volumes keep data?", Chunks: []string{"volumes"}, Terms: []string{"removed"}}},
			[]string{"volumes", "data", "removed"},
			nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := rewrite(t, tt.turn, tt.recent...).Queries[1]
			texts := []string{q.Text}
			for _, b := range q.Boosts {
				texts = append(texts, b.Text)
			}
			said := strings.ToLower(strings.Join(texts, " "))
			checkWords(t, said, tt.lent, tt.not)
		})
	}
}

func TestMoreTwiceForgetsNothing(t *testing.T) {
	plan := rewrite(t, "go on",
		state.Exchange{Question: "What is a volume?", Told: []state.Told{{Chunk: "a", End: 1}}},
		state.Exchange{Question: "more", Told: []state.Told{{Chunk: "b", End: 2}}})
	want := []state.Told{{Chunk: "a", End: 1}, {Chunk: "b", End: 2}}
	if diff := cmp.Diff(want, plan.Queries[1].Told); diff != "" || plan.Queries[1].Text != "What is a volume?" {
		t.Errorf("query %+v, told (-want +got):\n%s", plan.Queries[1], diff)
	}
	first := rewrite(t, "more")
	if !first.Standalone || len(first.Queries) != 1 {
		t.Errorf("more of nothing: %+v, want the raw turn", first)
	}
	forgotten := rewrite(t, "more", state.Exchange{Question: "go on"})
	if forgotten.Standalone || forgotten.Queries[1].Text != "go on" {
		t.Errorf("more of what is forgotten: %+v", forgotten)
	}
}

func TestWhatThePersonSaidHelps(t *testing.T) {
	for _, tt := range []struct {
		name, question string
		memory         state.Memory
		want           bool
	}{
		{"in the summary", "How do I back it up?", state.Memory{Summary: "* I use Tape drives.\n- What is a volume?"}, true},
		{"in a summary of earlier versions", "How do I back it up?", state.Memory{Summary: "Person: I use Tape drives."}, true},
		{"in a live message", "How do I back it up?", state.Memory{Messages: []state.Message{human("I use Tape drives. What is a volume?")}}, true},
		{"not in what was only asked", "How do I back it up?", state.Memory{Summary: "- What is a Tape?"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.memory.Recent = []state.Exchange{{Question: "What is a volume?"}}
			plan, err := offline.NewRewriter(tapes(), nil).Rewrite(t.Context(), tt.question, tt.memory)
			if err != nil {
				t.Fatal(err)
			}
			got := false
			for _, b := range plan.Queries[len(plan.Queries)-1].Boosts {
				got = got || b.Text == "Tape" && b.Weight < 0.2
			}
			if got != tt.want {
				t.Errorf("Tape borrowed: %v, want %v in %+v", got, tt.want, plan.Queries)
			}
		})
	}
}

// tapes are the documents with one about tapes.
func tapes() library {
	d := docs()
	d = append(d, state.Chunk{ID: "tape", Source: "tape.md", Title: "Tape", Text: "A Tape keeps a backup.", End: 22})
	return d
}

func TestTermsAreThoseThatAreRead(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         []string
	}{
		{"not where a link leads", "Keep data in [archives](../storage/vaults.md).", []string{"archives", "keep", "data"}},
		{"of code the commands", "```console\n$ tar volume\nnode05 1mhtdwhvsgr3\n```", []string{"tar", "volume"}},
		{"of code without a prompt all", "```yaml\nprofiles: volume\n```", []string{"yaml", "profiles", "volume"}},
	} {
		got := offline.Terms(docs(), tt.answer)
		slices.Sort(got)
		slices.Sort(tt.want)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestOwnWordsLead looks for what a turn wants done, with the thing and not with the
// action of the question before it.
func TestOwnWordsLead(t *testing.T) {
	before := state.Exchange{Question: "How do I back up a volume?", Terms: []string{"tar", "archive"}, Chunks: []string{"volumes"}}
	for _, tt := range []struct {
		name, question string
		want           []string // of the queries' borrowed words
		not            []string
	}{
		{"another action", "how do I delete one?", []string{"volume"}, []string{"back", "tar"}},
		{"asked whether it can be done", "and can I encrypt them?", []string{"volume"}, []string{"back", "tar"}},
		{"the same action", "How often should I back it up?", []string{"volume", "tar"}, nil},
		{"something about the action", "and how long does it take?", []string{"back up volume", "tar"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lent []string
			for _, b := range rewrite(t, tt.question, before).Queries[1].Boosts {
				lent = append(lent, b.Text)
			}
			checkWords(t, strings.Join(lent, "; "), tt.want, tt.not)
		})
	}
}

// TestOwnWordsOfAnAnswer abstains where nothing holds what a turn asks itself, or only of
// another thing, instead of answering with what was asked before.
func TestOwnWordsOfAnAnswer(t *testing.T) {
	backup := page("backup", "Store boxes", "## Back up a shelf\n\nTo back up a shelf, write an archive of the shelf with `tar`. Archives of a shelf are small.\n")
	seal := page("seal", "Letters", "You can encrypt a letter with a key. Keys are long.\n")
	sealed := page("sealed", "Plugins", "A plugin lets you encrypt a shelf with a key.\n")
	before := state.Exchange{Question: "How do I back up a shelf?", Chunks: []string{"backup"}}
	for _, tt := range []struct {
		name      string
		chunks    []state.Chunk
		abstained bool
		want, not []string
	}{
		{"nothing holds the word", []state.Chunk{backup}, true, nil, nil},
		{"it is said of another thing", []state.Chunk{backup, seal}, true, nil, nil},
		{"it is said", []state.Chunk{backup, seal, sealed}, false, []string{"documents:\n\nA plugin lets you encrypt a shelf"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := task("and can I encrypt it?", 0.9, tt.chunks...)
			in.Queries = rewrite(t, in.Question, before).Queries
			got := answer(t, docs(), in)
			if got.Abstained != tt.abstained {
				t.Errorf("abstained %v, want %v:\n%s", got.Abstained, tt.abstained, got.Text)
			}
			checkWords(t, got.Text, tt.want, tt.not)
		})
	}
}
