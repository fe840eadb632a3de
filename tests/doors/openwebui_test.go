package doors_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/ragflow/tests/browser"
)

// TestIntegrationOpenWebUI asks twice in one chat of Open WebUI, in a browser. The server shows steps and sources
// there, and keeps one conversation, of the person for whom Open WebUI signs.
func TestIntegrationOpenWebUI(t *testing.T) {
	program := os.Getenv("RAGFLOW_TEST_OPENWEBUI")
	if program == "" {
		t.Skip("RAGFLOW_TEST_OPENWEBUI is not set: scripts/openwebui FILE installs it and writes the variable")
	}
	tab, cancel := context.WithTimeout(browser.Open(t), 2*patience)
	defer cancel()
	const secret = "0123456789abcdef0123456789abcdef"
	t.Setenv("RAGFLOW_OPENWEBUI_SECRET", secret)
	h := newHouse(t)
	added, err := h.ragflow(t, "tokens", "add", "webui", "--scope", "ask,speak").Output()
	if err != nil {
		t.Fatal(err)
	}
	address, _ := h.serve(t, "127.0.0.1:0", "--offline", "--token")
	page := openWebUI(tab, t, program,
		"OPENAI_API_BASE_URL="+address+"/v1", "OPENAI_API_KEY="+strings.TrimSpace(string(added)),
		"ENABLE_FORWARD_USER_INFO_HEADERS=True", "FORWARD_USER_INFO_HEADER_JWT_SECRET="+secret,
	)

	browser.Do(tab, t, chromedp.EmulateViewport(1400, 900), chromedp.Navigate(page))
	done := `//button[contains(., "Okay, Let")]` // below what is new
	browser.Do(tab, t, chromedp.WaitVisible(chromedp.CSS(`button[aria-label="Selected model: ragflow"]`)), chromedp.Click(done), chromedp.WaitNotPresent(done))
	for n, question := range []string{"How many days of leave?", "How many days does every employee have?"} {
		input := chromedp.CSS("#chat-input")
		browser.Do(tab, t, chromedp.WaitVisible(input), chromedp.SendKeys(input, question+"\r"))
		for _, text := range []string{"26 days of paid leave", "Read one passage", "1 Source"} {
			browser.Seen(tab, t, text, n+1)
		}
		browser.Do(tab, t, chromedp.WaitNotPresent(chromedp.CSS(`button[aria-label="Stop"]`)))
	}
	threads, err := h.ragflow(t, "threads", "list", "--json").Output()
	if got := string(threads); err != nil || strings.Count(got, `"id"`) != 1 || !strings.Contains(got, `"turns": 2`) || !strings.Contains(got, `"owner": "webui/`) {
		t.Errorf("%v: %s", err, got)
	}
}

// openWebUI starts Open WebUI for one person without a login, and returns its address when it answers.
func openWebUI(ctx context.Context, t *testing.T, program string, env ...string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	host, port, _ := strings.Cut(address, ":")
	c := exec.CommandContext(ctx, program, "serve", "--host", host, "--port", port)
	c.Env = append(os.Environ(), "DATA_DIR="+t.TempDir(), "WEBUI_AUTH=False", "WEBUI_SECRET_KEY=of a test", "OFFLINE_MODE=True", "HF_HUB_OFFLINE=1",
		"ENABLE_OLLAMA_API=False", "RAG_EMBEDDING_ENGINE=openai", "ANONYMIZED_TELEMETRY=False")
	c.Env = append(c.Env, env...)
	c.Dir = t.TempDir()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for {
		status, err := call(ctx, http.MethodGet, "http://"+address+"/health", "", nil)
		if err == nil && status == http.StatusOK {
			return "http://" + address
		}
		if ctx.Err() != nil {
			t.Fatalf("Open WebUI does not answer: %v", err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}
