package page_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/server"
	"example.com/ragflow/tests/browser"
)

// scribe is a model that writes an answer word by word.
type scribe struct {
	words int
	pause time.Duration
}

func (scribe) Model() string { return "scribe" }

func (s scribe) answer() string {
	var b strings.Builder
	b.WriteString("Every employee has 26 days of paid leave a year [Source 1].")
	for i := range s.words {
		fmt.Fprintf(&b, " w%d", i)
	}
	return b.String()
}

func (s scribe) Complete(ctx context.Context, r llm.Request, piece func(string)) (llm.Response, error) {
	text := s.answer()
	if piece == nil { // a step that is not the answer
		return llm.Response{}, fmt.Errorf("%s writes answers only", s.Model())
	}
	for _, word := range strings.SplitAfter(text, " ") {
		select {
		case <-time.After(s.pause):
			piece(word)
		case <-ctx.Done():
			return llm.Response{}, context.Cause(ctx)
		}
	}
	return llm.Response{Text: text}, nil
}

// serve serves documents by name to a browser, and returns the address.
func serve(t *testing.T, documents map[string]string, chat llm.Chat) (*ragflow.Assistant, string) {
	t.Helper()
	return serveModels(t, documents, ragflow.Models{Chat: chat})
}

func serveModels(t *testing.T, documents map[string]string, models ragflow.Models) (*ragflow.Assistant, string) {
	t.Helper()
	docs := t.TempDir()
	for name, text := range documents {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir(), Docs: []string{docs}, Models: models})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	if _, err := a.Library().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := server.New(a, server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		_ = h.Listener.Close()
		h.CloseClientConnections() // the streams of pages
		h.Close()
	})
	return a, h.URL
}

var leave = map[string]string{"leave.md": "# Leave\n\nEvery employee has 26 days of paid leave a year.\n\nIt is asked for in writing.\n"}

// open opens a browser for a test that takes at most some minutes.
func open(t *testing.T) context.Context {
	t.Helper()
	tab, cancel := context.WithTimeout(browser.Open(t), 2*time.Minute)
	t.Cleanup(cancel)
	return tab
}

func eval[T any](tab context.Context, t *testing.T, script string) T {
	t.Helper()
	v, err := chromedp.Run(tab, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

// until waits until a script is true, also while the page changes for another one.
func until(tab context.Context, t *testing.T, script string) {
	t.Helper()
	var err error
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var holds bool
		if holds, err = chromedp.Run(tab, chromedp.Evaluate[bool]("Boolean("+script+")")); err == nil && holds {
			return
		}
	}
	t.Fatalf("%s never holds: %v; the page shows:\n%s", script, err, browser.Text(tab, t))
}

// ask types a question and sends it with the Enter key.
func ask(tab context.Context, t *testing.T, question string) {
	t.Helper()
	browser.Do(tab, t, chromedp.SendKeys("#question", question+"\r"))
}

const over = `[...document.querySelectorAll(".turn")].every(t => t.dataset.state == "done") && document.querySelectorAll(".turn").length`

// TestIntegrationAsk asks, reads the source beside the answer and asks more, with keys alone.
func TestIntegrationAsk(t *testing.T) {
	tab := open(t)
	_, url := serve(t, leave, nil)
	browser.Do(tab, t, chromedp.Navigate(url))
	if got := eval[string](tab, t, "document.activeElement.id"); got != "question" {
		t.Errorf("the page begins at %q", got)
	}
	ask(tab, t, "How many days of leave?")
	until(tab, t, over+" == 1")
	browser.Seen(tab, t, "26 days", 1)
	ask(tab, t, "Is it paid?")
	until(tab, t, over+" == 2")
	if got := eval[string](tab, t, "document.activeElement.id + document.activeElement.value"); got != "question" {
		t.Errorf("after a question the person is at %q", got)
	}
	eval[any](tab, t, "document.activeElement.blur()")
	browser.Do(tab, t, chromedp.KeyEvent("j"))
	until(tab, t, `document.querySelector("#pane mark")?.innerText.includes("26 days")`)
	browser.Do(tab, t, chromedp.KeyEvent("\x1b"))
	until(tab, t, `!document.querySelector("#pane.open") && document.activeElement.matches("a[data-into]")`)
	if said := eval[string](tab, t, `document.querySelector("#said").innerText`); !strings.Contains(said, "26 days") {
		t.Errorf("people who listen hear %q", said)
	}
}

// shown is the answer that a page shows, as plain text without citations.
const shown = `document.querySelector(".turn .answer").innerText.replace(/\s+/g, " ").trim()`

// TestIntegrationReload reloads a page at moments of an answer that is written: it loses nothing and doubles nothing.
func TestIntegrationReload(t *testing.T) {
	tab := open(t)
	model := scribe{words: 300, pause: 25 * time.Millisecond}
	a, url := serve(t, leave, model)
	browser.Do(tab, t, chromedp.Navigate(url))
	ask(tab, t, "How many days of leave?")
	until(tab, t, `document.querySelector(".turn[data-state=running]") != null`)
	random := rand.New(rand.NewPCG(40, 1)) //nolint:gosec // moments of a test
	before, grown := -1, 0
	for range 20 {
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		browser.Do(tab, t, chromedp.Reload())
		until(tab, t, `document.querySelector(".turn") != null`)
		time.Sleep(150 * time.Millisecond) // the first picture of the stream
		if eval[bool](tab, t, `document.querySelector(".turn").dataset.state == "done"`) {
			break // the checked answer is another text
		}
		words := strings.Fields(eval[string](tab, t, shown))
		at := slices.Index(words, "w0")
		for i := 0; at >= 0 && at+i < len(words); i++ {
			if words[at+i] != fmt.Sprintf("w%d", i) {
				t.Fatalf("word %d is %q: %q", i, words[at+i], words)
			}
		}
		if len(words) < before {
			t.Errorf("after %d words a reload shows %d", before, len(words))
		}
		if len(words) > before {
			grown++
		}
		before = len(words)
	}
	if grown < 5 {
		t.Errorf("the answer grew %d times in 20 reloads", grown)
	}
	until(tab, t, over+" == 1")
	reply, err := a.Reply(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("[Source 1]", "1", "> ", "", "*", "").Replace(reply.Answer)
	if got := eval[string](tab, t, shown); strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
		t.Errorf("the page shows\n%s\nand the log has\n%s", got, want)
	}
}

// TestIntegrationTabs opens eight tabs of a conversation, which is more than the connections that a browser makes to one
// server.
func TestIntegrationTabs(t *testing.T) {
	tab := open(t)
	_, url := serve(t, leave, scribe{words: 100, pause: 20 * time.Millisecond})
	browser.Do(tab, t, chromedp.Navigate(url))
	ask(tab, t, "How many days of leave?")
	until(tab, t, `document.querySelector(".turn") != null`)
	thread := eval[string](tab, t, "location.href")
	tabs := []context.Context{tab}
	for range 7 {
		other, cancel := chromedp.NewContext(tab)
		defer cancel()
		begun := time.Now()
		browser.Do(other, t, chromedp.Navigate(thread))
		until(other, t, `document.querySelector(".turn") != null`)
		t.Logf("tab %d is there after %v", len(tabs)+1, time.Since(begun))
		tabs = append(tabs, other)
	}
	last := tabs[len(tabs)-1]
	until(last, t, over+" == 1")
	ask(last, t, "Is it paid?")
	until(last, t, over+" == 2")
}
