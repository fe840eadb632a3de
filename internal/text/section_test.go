package text_test

import (
	"slices"
	"testing"

	"example.com/ragflow/internal/text"
)

func TestSectionAsked(t *testing.T) {
	for question, want := range map[string]string{
		"What does clause 3.2 say?":         "3.2",
		"Was steht in §5?":                  "5",
		"Was steht in § 12 des Vertrags?":   "12",
		"Co mówi paragraf 4?":               "4",
		"co jest w punkcie 2.1":             "2.1",
		"Điều 7 quy định gì?":               "7",
		"What is in section 4a?":            "4a",
		"How many people are in room 5?":    "",
		"Which section costs 5 euros more?": "",
	} {
		if got, _ := text.SectionAsked(question); got != want {
			t.Errorf("%q asks for section %q, want %q", question, got, want)
		}
	}
}

func TestSections(t *testing.T) {
	const lease = "# Lease\n\n## § 5 Notice\nThree months.\n3.2 Rent\n7) Keys\n5 euros are due.\n12 rooms\n**Điều 7.** Nghỉ phép\nArticle 4a\n"
	want := []text.Section{
		{Start: 9, End: 38, Number: "5", Named: true},
		{Start: 38, End: 47, Number: "3.2"},
		{Start: 47, End: 109, Number: "7"},
		{Start: 81, End: 109, Number: "7", Named: true},
		{Start: 109, End: 120, Number: "4a", Named: true},
	}
	if got := text.Sections(lease); !slices.Equal(got, want) {
		t.Errorf("sections %v, want %v", got, want)
	}
}
