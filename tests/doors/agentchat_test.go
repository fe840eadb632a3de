package doors_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/ragflow/tests/browser"
)

// TestIntegrationAgentChat uses the web chat of LangChain in a browser: two questions of one thread, the page
// loaded again, and the thread chosen from the list.
func TestIntegrationAgentChat(t *testing.T) {
	pages := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(clients(t, "agentchat"), "node", "app", "dist"))))
	defer pages.Close()
	tab, cancel := context.WithTimeout(browser.Open(t), patience)
	defer cancel()
	address, _ := newHouse(t).serve(t, "127.0.0.1:0", "--offline", "--allow-origin", pages.URL)
	start := pages.URL + "/?" + url.Values{"apiUrl": {address}, "assistantId": {"ragflow"}}.Encode()

	ask := func(question string) {
		t.Helper()
		browser.Do(tab, t, chromedp.WaitVisible(chromedp.CSS("textarea")), chromedp.SendKeys(chromedp.CSS("textarea"), question+"\r"))
	}
	browser.Do(tab, t, chromedp.EmulateViewport(1400, 900), chromedp.Navigate(start))
	ask("How many days of leave?")
	browser.Seen(tab, t, "26 days", 1)
	ask("How many days does every employee have?")
	browser.Seen(tab, t, "26 days", 2)
	browser.Do(tab, t, chromedp.Reload())
	browser.Seen(tab, t, "26 days", 2)

	browser.Do(tab, t, chromedp.Navigate(start+"&chatHistoryOpen=true"))
	browser.Seen(tab, t, "Thread History", 1)
	browser.Do(tab, t, chromedp.Click(`//p[contains(., "How many days")]`))
	browser.Seen(tab, t, "26 days", 2)
	if text := browser.Text(tab, t); strings.Contains(text, "An error occurred") || strings.Contains(text, "Failed to connect") {
		t.Errorf("the chat complains:\n%s", text)
	}
}
