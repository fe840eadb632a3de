package text_test

import (
	"fmt"

	"example.com/ragflow/internal/text"
)

func ExampleAnalyzer() {
	for _, t := range text.For("en").Analyze("Restarting with docker-compose.yml") {
		fmt.Println(t.Pos, t.Term)
	}
	// Output:
	// 0 restart
	// 2 dockercomposeyml
	// 2 docker
	// 3 compos
	// 4 yml
}

func ExampleSentences() {
	s := "Node.js reads it, e.g. at start.\nIt costs 24.000 đồng."
	for _, p := range text.Sentences(s) {
		fmt.Printf("%q\n", s[p.Start:p.End])
	}
	// Output:
	// "Node.js reads it, e.g. at start."
	// "It costs 24.000 đồng."
}

func ExampleLanguage() {
	fmt.Println(text.Language("and on Windows?"), text.Language("Jak usunąć obrazy?"), text.Language("Docker là gì?"))
	// Output: en pl vi
}

func ExampleTrim() {
	fmt.Println(text.Count("hello brave new world"), text.Trim("hello brave new world", 2))
	// Output: 4 hello brave
}

func ExampleClean() {
	fmt.Printf("%q\n", text.Clean("  What is\u200b a\n volume?\x00 "))
	// Output: "What is a volume?"
}
