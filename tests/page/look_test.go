package page_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"example.com/ragflow/tests/browser"
)

// sizes are the widths that pages are looked at in.
var sizes = []int64{360, 1280, 2000}

// TestIntegrationLook opens every page in three widths and both themes: nothing is cut off, and axe finds no serious
// fault. With RAGFLOW_SHOTS, a folder, it leaves pictures there to look at.
func TestIntegrationLook(t *testing.T) {
	tab := open(t)
	axe, err := os.ReadFile(filepath.Join(os.Getenv("RAGFLOW_CLIENTS"), "page/node/node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Skip("RAGFLOW_CLIENTS names no folder with axe-core: scripts/clients FILE installs it")
	}
	_, url := serve(t, map[string]string{
		"leave.md":  leave["leave.md"],
		"prices.md": "# Prices\n\n| Item | Price |\n| --- | --- |\n| Hammer | 12.50 EUR |\n| Saw | 18.00 EUR |\n",
		"notes.txt": strings.Repeat("A line of notes.\n", 200),
	}, nil)
	browser.Do(tab, t, chromedp.Navigate(url))
	ask(tab, t, "How many days of leave?")
	until(tab, t, over+" == 1")
	ask(tab, t, "What does the hammer cost?")
	until(tab, t, over+" == 2")
	thread := eval[string](tab, t, "location.pathname")
	run := eval[string](tab, t, `document.querySelector(".tools a").getAttribute("href")`)
	cite := eval[string](tab, t, `document.querySelector(".sources a").getAttribute("href")`)
	pages := map[string]string{
		"home": "/", "thread": thread, "trace": run, "source": cite, "threads": "/threads", "evaluation": "/evaluation", "settings": "/settings", "models": "/models", "none": "/t/nosuch", "login": "/login",
	}
	for name, path := range pages {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range sizes {
				browser.Do(tab, t, chromedp.EmulateViewport(width, 900), prefers(theme), chromedp.Navigate(url+path))
				until(tab, t, `document.querySelector("main")`)
				if name == "thread" && width > 900 {
					eval[any](tab, t, `document.querySelector(".sources a").click()`)
					until(tab, t, `document.querySelector("#pane mark")`)
				}
				what := fmt.Sprintf("%s-%s-%d", name, theme, width)
				if over := eval[int64](tab, t, `document.documentElement.scrollWidth`); over > width {
					t.Errorf("%s is %d wide", what, over)
				}
				shoot(tab, t, what)
				if width != 1280 {
					continue
				}
				eval[any](tab, t, string(axe)+";0")
				found, err := chromedp.Run(tab, chromedp.Evaluate[[]string](
					`axe.run().then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join("; ")))`,
					chromedp.EvalAwaitPromise,
				))
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range found {
					t.Errorf("%s: %s", what, f)
				}
			}
		}
	}
}

// prefers sets the theme of the system.
func prefers(theme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
		})
		return err
	})
}

// shoot leaves a picture of a page.
func shoot(tab context.Context, t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("RAGFLOW_SHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600)
	}
	if err != nil {
		t.Errorf("picture of %s: %v", name, err)
	}
}
