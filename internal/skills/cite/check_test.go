package cite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

func sourcesOf(texts ...string) []state.Source {
	var out []state.Source
	for _, s := range texts {
		out = append(out, state.Source{Chunk: state.Chunk{Source: "a.md", Text: s, End: len(s), StartLine: 1}})
	}
	return out
}

const (
	volumes = "A volume outlives its container. Remove it with `docker volume rm`.\n\n| size | price |\n| --- | --- |\n| small | 10 GB |\n| large | 50 GB |\n\n```console\n$ docker volume create data\n```\n"
	backups = "Backups run every night and are kept for 14 days. Restoring one is not free."
)

// TestCheckSentences checks what is a claim and which marks belong to it.
func TestCheckSentences(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"empty", "", ""},
		{"one", "A volume outlives its container [Source 1].", "claim[1] supported"},
		{"mark behind the stop", "A volume outlives its container. [Source 1] Backups run every night. [Source 2]", "claim[1] supported; claim[2] supported"},
		{"not cited", "A volume outlives its container.", "claim[] grounded: not cited"},
		{"not cited, invented", "The moon is made of green cheese.", "claim[] : not cited"},
		{"wrong source", "A volume outlives its container [Source 2].", "claim[2] grounded: the source does not say this"},
		{"no such source", "A volume outlives its container [Source 7].", "claim[] grounded: not cited"},
		{"framing", "From your documents:\n\nIn short:\n\nA volume outlives its container [Source 1].", "framing[] ; framing[] ; claim[1] supported"},
		{"heading", "## Volumes outlive containers\n\nA volume outlives its container [Source 1].", "framing[] ; claim[1] supported"},
		{"question back", "Which volume do you mean?", "asking[] "},
		{"refusal", "I don't have enough information to answer that question.", "framing[] "},
		{"list", "- A volume outlives its container [Source 1]\n- Backups are kept for 14 days [Source 2]", "claim[1] supported; claim[2] supported"},
		{"numbered list", "1. Backups run every night [Source 2]\n2. Restoring one is not free [Source 2]", "claim[2] supported; claim[2] supported"},
		{"one mark an item", "- Backups run every night. Restoring one is not free. [Source 2]\n- A volume outlives its container.", "claim[2] supported; claim[2] supported; claim[] grounded: not cited"},
		{"table", "| size | price |\n| --- | --- |\n| large | 50 GB |\n\n[Source 1]", "claim[1] supported; claim[1] supported"},
		{"code", "```console\n$ docker volume create data\n```\n[Source 1]", "code[1] supported"},
		{"code of nobody", "```console\n$ rm -rf /\n```\n[Source 1]", "code[1] : not in the source: $ rm -rf /"},
		{"code without a mark", "```\nanything\n```", "code[] "},
		{"wrong figure", "Backups are kept for 41 days [Source 2].", "claim[2] : not in the source: 41"},
		{"contrary", "Restoring a backup is free [Source 2].", "claim[2] : the source says the contrary: only one of the two denies “free”"},
		{"two together", "A volume outlives its container and backups run every night for 14 days [Source 1][Source 2].", "claim[1 2] supported"},
		{"mark first", "[Source 2] Backups run every night.", "claim[2] supported"},
		{"word that a source holds", "Container.", "claim[] grounded: not cited"},
		{"word that none holds", "Absolutely.", "framing[] "},
		{"quoted mark", `Backups run every night \[Source 2].`, "claim[] : not cited"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			r := cite.Check(tt.answer, sourcesOf(volumes, backups), cite.Options{Language: "en"})
			for _, s := range r.Sentences {
				verdict := ""
				switch {
				case s.Supported:
					verdict = "supported"
				case s.Grounded:
					verdict = "grounded"
				}
				if s.Why != "" {
					verdict += ": " + s.Why
				}
				got = append(got, fmt.Sprintf("%s%v %s", s.Kind, s.Cited, verdict))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckShares checks the three shares, including 0/0 (X17).
func TestCheckShares(t *testing.T) {
	type shares struct{ precision, recall, faithfulness float64 }
	for _, tt := range []struct {
		name, answer string
		want         shares
	}{
		{"empty", "", shares{1, 1, 1}},
		{"framing only", "From your documents:", shares{1, 1, 1}},
		{"all right", "A volume outlives its container [Source 1]. Backups run every night [Source 2].", shares{1, 1, 1}},
		{"half cited", "A volume outlives its container [Source 1]. Backups run every night.", shares{1, 0.5, 1}},
		{"wrong source", "A volume outlives its container [Source 1]. Backups run every night [Source 1].", shares{0.5, 1, 1}},
		{"invented", "A volume outlives its container [Source 1]. Sharks never sleep at home [Source 1].", shares{0.5, 1, 0.5}},
		{"one mark too many", "A volume outlives its container [Source 1][Source 2].", shares{0.5, 1, 1}},
		{"no such source", "A volume outlives its container [Source 1][Source 9].", shares{0.5, 1, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := cite.Check(tt.answer, sourcesOf(volumes, backups), cite.Options{})
			if got := (shares{r.Precision, r.Recall, r.Faithfulness}); got != tt.want {
				t.Errorf("got %v, want %v: %+v", got, tt.want, r)
			}
		})
	}
}

// TestCheckForeign checks that a statement in another language than its source is compared by figures, codes
// and names only.
func TestCheckForeign(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         bool
	}{
		{"figure is there", "Các bản sao lưu được giữ lại trong 14 ngày [Source 2].", true},
		{"figure is not there", "Các bản sao lưu được giữ lại trong 30 ngày [Source 2].", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := cite.Check(tt.answer, sourcesOf(volumes, backups), cite.Options{Language: "vi"})
			if r.Sentences[0].Supported != tt.want || r.Sentences[0].Unchecked != tt.want {
				t.Errorf("got %+v, want supported %v", r.Sentences[0], tt.want)
			}
		})
	}
}

// TestCheckContrary checks the contradictions found in three languages.
func TestCheckContrary(t *testing.T) {
	for _, tt := range []struct{ language, source, said, want string }{
		{"en", "Backups are kept for 14 days.", "Backups are kept for 14 months.", "“14 months” where the source has “14 days”"},
		{"en", "Guests reach the internet but no printer.", "Guests cannot reach the printer.", ""},
		{"en", "The nurse labels each tube, the doctor reads the report.", "The doctor labels each tube, the nurse reads the report.", "“doctor” and “nurse” have changed places"},
		{"en", "The owner and the guests may print pages.", "Only the owner may print pages.", "“only” is not in the source"},
		{"pl", "Kopie są przechowywane przez 14 dni.", "Kopie przechowuje się po 14 dniach.", ""},
		{"pl", "Klucz jest przechowywany poza serwerem.", "Klucz jest przechowywany na serwerze.", "only one of the two denies “serwe”"},
		{"pl", "Decyzja o obsłudze stron należy do lokalnego administratora.", "Decyzja o obsłudze stron należy do każdego użytkownika.", "“każdego użytkownika” where the source has “lokalnego administratora”"},
		{"pl", "Studenci wyrabiają kartę bezpłatnie, pozostali płacą 15 zł.", "Studenci płacą 15 zł, pozostali wyrabiają kartę bezpłatnie.", "“studenci” and “pozostali” have changed places"},
		{"vi", "Chính phủ quy định chi tiết về canh tác hữu cơ.", "Quốc hội quy định chi tiết về canh tác hữu cơ.", "“quốc hội” where the source has “chính phủ”"},
		{"vi", "Cấm mang đồ ăn vào phòng đọc.", "Được phép mang đồ ăn vào phòng đọc.", "only one of the two denies “mang”"},
		{"vi", "Bên kia không thuộc quyền sở hữu thì có quyền hủy bỏ hợp đồng.", "Bên kia không có quyền hủy bỏ hợp đồng.", "only one of the two denies “có”"},
		{"vi", "Chế độ giặt nhanh kéo dài 15 phút.", "Chế độ giặt nhanh kéo dài 15 giây.", "“15 giây” where the source has “15 phút”"},
	} {
		r := cite.Check(tt.said+" [Source 1]", sourcesOf(tt.source), cite.Options{Language: tt.language})
		if got := r.Sentences[0].Best.Contrary; got != tt.want {
			t.Errorf("%q by %q: %q, want %q", tt.said, tt.source, got, tt.want)
		}
	}
}

func TestRepair(t *testing.T) {
	for _, tt := range []struct {
		name, answer, want string
		strict             bool
		counts             [3]int // reattached, unsupported, dropped
	}{
		{name: "empty"},
		{name: "right", answer: "A volume outlives its container [Source 1].", want: "A volume outlives its container [Source 1]."},
		{name: "wrong source", answer: "A volume outlives its container [Source 2].", want: "A volume outlives its container. [Source 1]", counts: [3]int{1, 0, 0}},
		{name: "no mark", answer: "Backups run every night.", want: "Backups run every night. [Source 2]", counts: [3]int{1, 0, 0}},
		{name: "no such source", answer: "Backups run every night [Source 8].", want: "Backups run every night. [Source 2]", counts: [3]int{1, 0, 0}},
		{name: "one mark too many", answer: "Backups run every night [Source 1][Source 2].", want: "Backups run every night. [Source 2]"},
		{name: "mark in front", answer: "[Source 2] Backups run every night.", want: "Backups run every night. [Source 2]"},
		{name: "mark in front of an item", answer: "1. [Source 1] A volume outlives its container.\n2. [Source 2] Backups run every night.", want: "1. A volume outlives its container. [Source 1]\n2. Backups run every night. [Source 2]"},
		{name: "word alone", answer: "Backups run every night [Source 2].\n\nContainer", want: "Backups run every night [Source 2].\n\nContainer [Source 1]", counts: [3]int{1, 0, 0}},
		{name: "invented", answer: "Sharks never sleep at home [Source 1].", want: "Sharks never sleep at home (unsupported).", counts: [3]int{0, 1, 0}},
		{name: "invented, strict", answer: "Sharks never sleep at home [Source 1]. Backups run every night [Source 2].", strict: true, want: "Backups run every night [Source 2].", counts: [3]int{0, 0, 1}},
		{name: "item, strict", answer: "- Sharks never sleep at home\n- Backups run every night [Source 2]\n- Whales sing at dawn", strict: true, want: "- Backups run every night [Source 2]", counts: [3]int{0, 0, 2}},
		{name: "row", answer: "| size | price |\n| --- | --- |\n| large | 70 GB |\n| small | 10 GB |\n\n[Source 1]", want: "| size | price |\n| --- | --- |\n| large | 70 GB (unsupported) |\n| small | 10 GB |\n\n[Source 1]", counts: [3]int{0, 1, 0}},
		{name: "code without a mark stays", answer: "```\nrm\n```\nBackups run every night [Source 2].", want: "```\nrm\n```\nBackups run every night [Source 2]."},
		{name: "mark before a line, strict", answer: "Sharks never sleep. .[Source 1, 9]\nBackups run every night [Source 2].", strict: true, want: "Backups run every night [Source 2].", counts: [3]int{0, 0, 1}},
		{name: "everything, strict", answer: "Sharks never sleep at home.", strict: true, counts: [3]int{0, 0, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sources := sourcesOf(volumes, backups)
			check := func(s string) cite.Report { return cite.Check(s, sources, cite.Options{Language: "en"}) }
			fixing := cite.Fixing{Unsupported: "(unsupported)", Strict: tt.strict}
			got := cite.Repair(tt.answer, check(tt.answer), fixing)
			if got.Text != tt.want || [3]int{got.Reattached, got.Unsupported, got.Dropped} != tt.counts {
				t.Errorf("got %+v\nwant %q %v", got, tt.want, tt.counts)
			}
			if again := cite.Repair(got.Text, check(got.Text), fixing); again.Text != got.Text {
				t.Errorf("repaired again: %q", again.Text)
			}
			if _, err := cite.Build(sources, got.Picks...); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSharesPhrase checks X18.
func TestSharesPhrase(t *testing.T) {
	for _, tt := range []struct {
		name, answer, chunk string
		want                bool
	}{
		{"empty", "", "", false},
		{"four words", "We know a volume outlives its container, always.", "Yes: A volume outlives its fate.", true},
		{"three words", "A volume outlives us all.", "A volume outlives its container.", false},
		{"across a mark", "A volume [Source 1] outlives its container.", "a volume outlives its", true},
	} {
		if got := cite.SharesPhrase(tt.answer, tt.chunk); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// long returns an answer of 30 sentences over six chunks of about 4,000 tokens.
func long() (string, []state.Source) {
	words := strings.Fields("volume container network image registry backup night kept mount flag daemon restart probe traffic " +
		"service cluster node memory limit quota price plan region version error code table index query answer source passage")
	var sources []state.Source
	var answer strings.Builder
	n := 0
	for i := range 6 {
		var b strings.Builder
		for j := range 40 {
			s := fmt.Sprintf("The %s of the %s is set to %d by `--%s` on Node%d.", words[n%31], words[(n*7+3)%31], n, words[(n*5+1)%29], j)
			b.WriteString(s + " ")
			if j%8 == 0 {
				answer.WriteString(s + " " + cite.Marker((i+j/8%2)%6+1) + " ")
			}
			n++
		}
		sources = append(sources, sourcesOf(b.String())...)
	}
	return answer.String(), sources
}

func BenchmarkCheck(b *testing.B) {
	answer, sources := long()
	for b.Loop() {
		cite.Check(answer, sources, cite.Options{Language: "en"})
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("A volume [Source 1]. | a |\n```\nx\n```\n[Source 2] 3.2.1 `x`", volumes)
	f.Add("| a [Source 1] |\n|---|\n\n[Source 1]", "| a |")
	f.Add("not \xff never [Source 1][Source 9]", "\xff")
	f.Fuzz(func(t *testing.T, answer, source string) {
		sources := sourcesOf(source, backups)
		r := cite.Check(answer, sources, cite.Options{})
		at := 0
		for _, s := range r.Sentences {
			if s.Start < at || s.End < s.Start || s.End > len(answer) {
				t.Fatalf("%q: sentence %d–%d after %d", answer, s.Start, s.End, at)
			}
			at = s.End
		}
		for _, share := range []float64{r.Precision, r.Recall, r.Faithfulness} {
			if share < 0 || share > 1 {
				t.Errorf("share %v", share)
			}
		}
		got := cite.Repair(answer, r, cite.Fixing{Unsupported: "(?)"})
		if v := cite.Validate(got.Text, len(sources)); v.Invalid != 0 {
			t.Errorf("%q keeps invalid marks", got.Text)
		}
	})
}

// TestFirm checks which statements a source says closely enough to be cited for those of a person.
func TestFirm(t *testing.T) {
	const english, polish, spanish = "Leave is paid. You have 14 days of leave a year.", "Urlop jest płatny. Masz 14 dni urlopu w roku.", "Las vacaciones son pagadas. Usted tiene 14 días de vacaciones al año."
	for _, tt := range []struct {
		language, source, claim string
		want                    bool
	}{
		{"en", english, "Leave is paid", true},
		{"en", english, "You have 14 days", true},
		{"en", english, "Nobody ever gets paid leave", false},
		{"en", english, "You have 14 days of leave, but they are not paid", false},
		{"pl", polish, "Masz 14 dni urlopu", true},
		{"pl", polish, "Urlop nie jest płatny", false},
		{"en", polish, "Masz 14 dni urlopu", false},
		{"es", spanish, "Las vacaciones son pagadas", true}, // the words of its negations are not known
		{"es", spanish, "Las vacaciones no son pagadas", false},
	} {
		source := state.Source{Chunk: state.Chunk{ID: "leave", Source: "leave.md", Text: tt.source}}
		s := cite.Check(tt.claim+" [Source 1].", []state.Source{source}, cite.Options{Language: tt.language}).Sentences[0]
		if got := s.Sources[0].Firm; got != tt.want {
			t.Errorf("%s: %v, want %v: %+v", tt.claim, got, tt.want, s.Sources[0])
		}
	}
}
