package page_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/ragflow"
	"example.com/ragflow/server"
	"example.com/ragflow/tests/browser"
)

// TestIntegrationDescription opens the address of a server as a person does, who finds what it offers, and the
// browser has nothing to complain about.
func TestIntegrationDescription(t *testing.T) {
	tab, cancel := context.WithTimeout(browser.Open(t), time.Minute)
	defer cancel()
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir(), Docs: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	s, err := server.New(a, server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	defer h.Close()

	messages := chromedp.Console(tab)
	if err := chromedp.Do(tab, chromedp.Navigate(h.URL)); err != nil {
		t.Fatal(err)
	}
	if got, err := chromedp.Run(tab, chromedp.Title()); err != nil || got != "ragflow API" {
		t.Errorf("title %q, %v", got, err)
	}
	rows, err := chromedp.Run(tab, chromedp.Evaluate[int]("document.querySelectorAll('tbody tr').length"))
	if err != nil || rows < 10 {
		t.Errorf("%d endpoints, %v", rows, err)
	}
	// The last message is ours, so those of the page come before it.
	if _, err := chromedp.Run(tab, chromedp.Evaluate[any]("console.log('end')")); err != nil {
		t.Fatal(err)
	}
	for m, err := range messages {
		if err != nil {
			t.Fatal(err)
		}
		if m.Text == "end" {
			break
		}
		t.Errorf("the browser says: %s", m)
	}
}
