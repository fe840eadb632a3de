package cite_test

import (
	"fmt"

	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

func ExampleValidate() {
	answer := "Data in a volume outlives the container [sources 1, 3]. It costs nothing [Source 9]."
	checked := cite.Validate(answer, 3)
	fmt.Println(checked.Text)
	fmt.Println(checked.Cited, checked.Invalid)
	// Output:
	// Data in a volume outlives the container [Source 1][Source 3]. It costs nothing.
	// [1 3] 1
}

func ExampleBuild() {
	document := "# Volumes\n\nA volume outlives the container.\nBack it up.\n"
	sources := []state.Source{{Chunk: state.Chunk{
		Source: "volumes.md", Text: document[11:], Start: 11, StartLine: 3,
	}}}
	citations, err := cite.Build(sources, cite.Pick{N: 1, Start: 0, End: 32})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := citations[0]
	fmt.Printf("[%d] %s, line %d: %q\n", c.N, c.Source, c.StartLine, c.Quote)
	fmt.Println(c.QuotedIn([]byte(document)))
	// Output:
	// [1] volumes.md, line 3: "A volume outlives the container."
	// true
}

func ExampleCheck() {
	sources := []state.Source{{Chunk: state.Chunk{Text: "Backups are kept for 14 days. They are never compressed."}}}
	answer := "Backups are kept for 14 days [Source 1]. They are compressed [Source 1]."
	report := cite.Check(answer, sources, cite.Options{Language: "en"})
	for _, s := range report.Sentences {
		fmt.Printf("%s %v %q\n", s.Text, s.Supported, s.Why)
	}
	fmt.Printf("faithfulness %.2f\n", report.Faithfulness)
	fmt.Println(cite.Repair(answer, report, cite.Fixing{Unsupported: "(unsupported)"}).Text)
	// Output:
	// Backups are kept for 14 days. true ""
	// They are compressed. false "the source says the contrary: only one of the two denies “compress”"
	// faithfulness 0.50
	// Backups are kept for 14 days [Source 1]. They are compressed (unsupported).
}
