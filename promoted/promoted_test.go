package promoted_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/promoted"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

func open(t *testing.T, path string) *promoted.Store {
	t.Helper()
	s, err := promoted.Open(t.Context(), path, sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "promoted.db")
	s := open(t, path)
	first := promoted.Answer{
		Question: "and how do I back it up?", Standalone: "and how do I back it up? volume", Language: "en", Text: "So [Source 1].",
		Citations: []state.Citation{{N: 1, Source: "a.md", Quote: "So", Hash: "h"}}, Thread: "t", Run: "r",
		Promoted: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
	}
	second := promoted.Answer{Standalone: "What is a volume?", Text: "A thing.", Promoted: first.Promoted.Add(time.Second)}
	for _, a := range []*promoted.Answer{&first, &second} {
		id, replaced, err := s.Put(t.Context(), *a)
		if err != nil || replaced || id != promoted.ID(a.Standalone) {
			t.Fatalf("Put = %q, %v, %v", id, replaced, err)
		}
		a.ID = id
	}
	first.Text, first.Standalone = "Rather so.", "And how do I  back it up?  VOLUME"
	if _, replaced, err := s.Put(t.Context(), first); err != nil || !replaced {
		t.Fatalf("the same words again: replaced %v, %v", replaced, err)
	}
	got, err := open(t, path).All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]promoted.Answer{second, first}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}

	for begin, want := range map[string]error{"": promoted.ErrNotFound, "zz": promoted.ErrNotFound, "%": promoted.ErrNotFound} {
		if _, err := s.Delete(t.Context(), begin); !errors.Is(err, want) {
			t.Errorf("Delete(%q): %v, want %v", begin, err, want)
		}
	}
	if id, err := s.Delete(t.Context(), first.ID[:5]); err != nil || id != first.ID {
		t.Errorf("Delete = %q, %v", id, err)
	}
	if got, err := s.All(t.Context()); err != nil || len(got) != 1 || got[0].ID != second.ID {
		t.Errorf("after Delete: %+v, %v", got, err)
	}
}

func TestDeleteAmbiguous(t *testing.T) {
	s := open(t, "")
	for i := range 17 { // two of them begin with the same digit
		if _, _, err := s.Put(t.Context(), promoted.Answer{Standalone: string(rune('a' + i))}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, a := range all {
		if begin := a.ID[:1]; seen[begin] {
			if _, err := s.Delete(t.Context(), begin); !errors.Is(err, promoted.ErrAmbiguous) {
				t.Errorf("Delete(%q): %v", begin, err)
			}
		} else {
			seen[begin] = true
		}
	}
	if left, err := s.All(t.Context()); err != nil || len(left) != 17 {
		t.Errorf("%d are left, %v", len(left), err)
	}
}

func TestID(t *testing.T) {
	const question = "How do I use --mount, in v1.2?"
	for _, tt := range []struct {
		name, other string
		same        bool
	}{
		{"case, spaces and stops", "how do i use  --mount in V1.2", true},
		{"composed characters", "How do I use --mount, in v1.2?\u200b", true},
		{"another order", "How do I use in v1.2 --mount?", false},
		{"denied", "How do I not use --mount, in v1.2?", false},
		{"another figure", "How do I use --mount, in v1.3?", false},
		{"another option", "How do I use mount, in v1.2?", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := promoted.ID(question) == promoted.ID(tt.other); got != tt.same {
				t.Errorf("the same id: %v, want %v", got, tt.same)
			}
		})
	}
	if promoted.ID("???") == promoted.ID("!!!") || promoted.ID("C") == promoted.ID("C++") || promoted.ID("") == promoted.ID("a") {
		t.Error("different questions have one id")
	}
}

// library is an index of 100 chunks in which some words are common.
type library map[string]int

func (library) Analyzer() text.Analyzer   { return text.For("en") }
func (library) Docs() int                 { return 100 }
func (l library) DocFreq(term string) int { return l[term] }

func TestSimilarity(t *testing.T) {
	stats := library{"docker": 80, "contain": 60, "volum": 20, "back": 10, "us": 50, "name": 30}
	for _, tt := range []struct {
		name, a, b string
		similar    bool
	}{
		{"the same", "How do I back up a volume?", "how do I back up a volume", true},
		{"another frame", "How do I back up a volume?", "Can I back up volumes?", true},
		{"a common word more", "How do I back up a volume?", "How do I back up a Docker volume?", true},
		{"a rare word more", "How do I back up a volume?", "How do I back up a volume to Azure?", false},
		{"another thing", "How do I back up a volume?", "How do I back up a network?", false},
		{"nothing in common", "How do I back up a volume?", "What is swarm?", false},
		{"denied", "Which containers are restarted?", "Which containers are not restarted?", false},
		{"denied within", "Why can't a container reach the network?", "Why can a container reach the network?", false},
		{"the other way round", "Copy files from the host to a container", "Copy files from a container to the host", false},
		{"the other way round, without a direction", "Container restart policies", "What is the restart policy of a container?", true},
		{"the other way round in Polish", "Jak skopiować pliki z hosta do kontenera?", "Jak skopiować pliki z kontenera do hosta?", false},
		{"the opposite", "How do I enable live restore?", "How do I disable live restore?", false},
		{"another code", "What does exit code 137 mean?", "What does exit code 139 mean?", false},
		{"who and when", "Who created the registry?", "When was the registry created?", false},
		{"stop words alone", "What is it?", "Who are you?", false},
		{"denied in Polish", "Które kontenery są restartowane?", "Które kontenery nie są restartowane?", false},
		{"denied in Vietnamese", "Container nào được khởi động lại?", "Container nào không được khởi động lại?", false},
		{"nothing", "", "How do I back up a volume?", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := promoted.Similarity(tt.a, tt.b, stats)
			if (got >= promoted.Threshold) != tt.similar || got < 0 || got > 1 {
				t.Errorf("similarity %.3f, want similar %v", got, tt.similar)
			}
			if back := promoted.Similarity(tt.b, tt.a, stats); (back >= promoted.Threshold) != tt.similar {
				t.Errorf("the other way similarity %.3f, want similar %v", back, tt.similar)
			}
		})
	}
	if got := promoted.Similarity("Does the client trust the server?", "Does the server trust the client?", stats); got >= 1 {
		t.Errorf("two things changed places: %v, as if the same", got)
	}
	if got := promoted.Similarity("What is it?", "what is it", stats); got != 1 {
		t.Errorf("the same stop words: %v", got)
	}
	// One of three terms is in both, all equally rare without an index.
	if got := promoted.Similarity("zebra lion", "zebra tiger", nil); got < 0.333 || got > 0.334 {
		t.Errorf("one term of three in both: %v, want 1/3", got)
	}
}

func TestSimilar(t *testing.T) {
	old := promoted.Answer{Standalone: "How do I back up a volume?", Promoted: time.Unix(1, 0)}
	young := promoted.Answer{Standalone: "Back up a volume", Promoted: time.Unix(2, 0)}
	other := promoted.Answer{Standalone: "What is swarm?", Promoted: time.Unix(3, 0)}
	got := promoted.Similar("Can I back up volumes?", []promoted.Answer{other, old, young}, nil, promoted.Threshold)
	if len(got) != 2 || got[0].Answer.Standalone != young.Standalone || got[1].Answer.Standalone != old.Standalone {
		t.Errorf("got %+v", got)
	}
	if got := promoted.Similar("Can I back up volumes?", []promoted.Answer{other, old, young}, nil, 0); len(got) != 3 {
		t.Errorf("from 0 on: %+v", got)
	}
}
