package page_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/ragflow/tests/browser"
)

// person does tasks on the page and counts what she has to do: each click, each text and each choice of a file.
type person struct {
	t     *testing.T
	tab   context.Context //nolint:containedctx // how chromedp names a tab
	steps int
}

func (p *person) ask(question string) {
	p.t.Helper()
	turns := eval[int](p.tab, p.t, `document.querySelectorAll(".turn").length`)
	ask(p.tab, p.t, question)
	p.steps++
	until(p.tab, p.t, `document.querySelectorAll(".turn[data-state=done]").length > `+strconv.Itoa(turns))
}

// click clicks the last thing that is seen and has a text.
func (p *person) click(text string) {
	p.t.Helper()
	script := `(() => { const all = [...document.querySelectorAll("a, button, summary")].filter(e => e.checkVisibility() && e.innerText.trim().startsWith("` + text +
		`")); all.at(-1)?.scrollIntoView(); all.at(-1)?.click(); return all.length; })()`
	if eval[int](p.tab, p.t, script) == 0 {
		p.t.Fatalf("there is no %q to click; the page shows:\n%s", text, browser.Text(p.tab, p.t))
	}
	p.steps++
}

// TestIntegrationTasks is a person who never saw the page: each task takes less than a minute and few steps.
func TestIntegrationTasks(t *testing.T) {
	tab := open(t)
	price, err := os.ReadFile("../../eval/tables/docs/price-list.pdf")
	if err != nil {
		t.Fatal(err)
	}
	_, url := serve(t, map[string]string{"leave.md": leave["leave.md"], "price-list.pdf": string(price)}, nil)
	folder := t.TempDir()
	for name, text := range map[string]string{"bees.md": "# Bees\n\nOur bees live on the roof of house 4.\n", "tea.txt": "The tea is kept in the green cupboard.\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, task := range []struct {
		name  string
		steps int
		do    func(p *person)
	}{
		{"find a price in a PDF and see it marked", 2, func(p *person) {
			p.ask("What does the lantern cost?")
			p.click("Chandlery price list")
			until(p.tab, p.t, `document.querySelector("#pane svg rect.marked") && document.querySelector("#pane img").naturalWidth > 300`)
		}},
		{"ask why", 2, func(p *person) {
			p.ask("How many days of leave?")
			p.click("How it was found")
			until(p.tab, p.t, `document.body.innerText.split("check_and_refine").length > 1`)
		}},
		{"add files and ask them", 5, func(p *person) {
			p.click("Documents")
			until(p.tab, p.t, `document.querySelector("input[webkitdirectory]")`)
			browser.Do(p.tab, p.t, chromedp.SetUploadFiles(`input[type=file][multiple]`, []string{filepath.Join(folder, "bees.md"), filepath.Join(folder, "tea.txt")}))
			p.steps++
			until(p.tab, p.t, `document.querySelector("#shelf-link")?.checkVisibility()`)
			p.click("Show the collection")
			until(p.tab, p.t, `document.body.innerText.includes("bees.md") && location.search.includes("files")`)
			p.click("Ask these")
			until(p.tab, p.t, `document.querySelector("#question")`)
			p.ask("Where do the bees live?")
			until(p.tab, p.t, `document.body.innerText.split("roof of house 4").length > 1`)
		}},
		{"compare two answers", 4, func(p *person) {
			p.ask("How many days of leave?")
			p.click("Edit")
			until(p.tab, p.t, `document.querySelector(".edit[open] textarea")`)
			eval[any](p.tab, p.t, `document.querySelector(".edit[open] textarea").value = "How is leave asked for?"`)
			p.steps++
			eval[any](p.tab, p.t, `document.querySelector(".edit[open] form").requestSubmit()`)
			p.steps++
			until(p.tab, p.t, `document.body.innerText.split("This began as an edit").length > 1`)
			until(p.tab, p.t, over+" == 1")
			p.click("an earlier conversation")
			p.steps-- // the new answer was seen before
			until(p.tab, p.t, `document.body.innerText.split("How many days of leave?").length > 1`)
		}},
		{"save a conversation", 3, func(p *person) {
			p.ask("How many days of leave?")
			p.click("This conversation")
			until(p.tab, p.t, `document.querySelector("a[href$='/export']").checkVisibility()`)
			p.steps++
			saved := eval[string](p.tab, p.t, `document.querySelector("a[href$='/export']").href`)
			text, err := chromedp.Run(p.tab, chromedp.Evaluate[string](`fetch("`+saved+`").then(r => r.text())`, chromedp.EvalAwaitPromise))
			if err != nil || !strings.Contains(text, "26 days") {
				p.t.Errorf("saved %q, %v", text, err)
			}
		}},
	} {
		p := &person{t: t, tab: tab}
		browser.Do(tab, t, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url))
		begun := time.Now()
		task.do(p)
		t.Logf("%s: %d steps, %v", task.name, p.steps, time.Since(begun).Round(100*time.Millisecond))
		if p.steps > task.steps || time.Since(begun) > time.Minute {
			t.Errorf("%s took %d steps and %v", task.name, p.steps, time.Since(begun))
		}
	}
}
