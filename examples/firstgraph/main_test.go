package main

import (
	"os"
	"strings"
	"testing"
)

func Example() {
	main()
	// Output:
	// waits for answers to "pay/pay"
	// {tea 30 true} <nil>
}

// The page shows this program and what it prints.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/first-graph.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(code), "\n") // without the line about the page
	for _, want := range []string{"```go\n" + program + "```\n", "```text\nwaits for answers to \"pay/pay\"\n{tea 30 true} <nil>\n```\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/first-graph.md does not show\n%s", want)
		}
	}
	if n := strings.Count(program, "\n"); n > 40 {
		t.Errorf("the program has %d lines, want at most 40", n)
	}
}
