// Package browser opens pages in a real Chromium, for tests.
package browser

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Open starts a browser of its own for a test and returns the context of its tab, for chromedp. The
// browser ends with the test. Without one, the test is skipped.
func Open(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("RAGFLOW_TEST_CHROMIUM")
	if path == "" {
		t.Skip("RAGFLOW_TEST_CHROMIUM is not set: scripts/clients FILE unpacks the browser and writes it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // root has none, and the pages are those of the test
	)
	all, end := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, closeTab := chromedp.NewContext(all)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has ended
		closeTab()
		end()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return ctx
}

// Do takes steps in a tab, or ends the test with what the page shows.
func Do(tab context.Context, t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab, steps...); err != nil {
		t.Fatalf("%v; the page shows:\n%s", err, Text(tab, t))
	}
}

// Seen waits up to a minute until the page shows a text so many times, or more often.
func Seen(tab context.Context, t *testing.T, text string, times int) {
	t.Helper()
	script := fmt.Sprintf("document.body.innerText.split(%q).length > %d", text, times)
	if _, err := chromedp.Run(tab, chromedp.Poll[bool](script, chromedp.WithPollingTimeout(time.Minute))); err != nil {
		t.Fatalf("the page does not show %q %d times: %v; it shows:\n%s", text, times, err, Text(tab, t))
	}
}

// Text returns what the page shows.
func Text(tab context.Context, t *testing.T) string {
	t.Helper()
	text, err := chromedp.Run(tab, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		t.Logf("read the page: %v", err)
	}
	return text
}
