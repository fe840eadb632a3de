// Package browser opens pages in a real Chromium, for tests.
package browser

import (
	"context"
	"os"
	"testing"

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
