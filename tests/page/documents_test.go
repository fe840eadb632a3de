package page_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"example.com/ragflow/tests/browser"
)

// folder makes a folder with 40 notes, one of them in a folder below, and two files that are not read.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "notes")
	files := map[string]string{"bad.pdf": "no PDF", "picture.png": "another kind", ".hidden.md": "# Hidden\n", "below/deep.md": "# Deep\n\nThe kiwi is here.\n"}
	for i := range 39 {
		files[fmt.Sprintf("note%d.md", i)] = fmt.Sprintf("# Note %d\n\nText %d.\n", i, i)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// drop drops files and folders onto the page, as from a window of the system.
func drop(paths ...string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
			_, err := chromedp.Call(ctx, input.DispatchDragEvent, input.DispatchDragEventParams{
				Type: kind, X: 100, Y: 300, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

const sum = `document.querySelector("#sum").textContent`

// TestIntegrationUpload adds files and folders: each has a row with what became of it, and an error of one stops none.
func TestIntegrationUpload(t *testing.T) {
	tab := open(t)
	_, url := serve(t, leave, nil)
	dir := folder(t)
	browser.Do(
		tab, t, chromedp.Navigate(url+"/documents"),
		chromedp.SetUploadFiles(`#add input[name="files"]`, []string{filepath.Join(dir, "note1.md"), filepath.Join(dir, "bad.pdf"), filepath.Join(dir, "picture.png")}),
	)
	until(tab, t, sum+` == "3 of 3 files · 2 with a problem"`)
	browser.Seen(tab, t, "the file is damaged", 1)
	browser.Seen(tab, t, "Files of this kind are not read.", 1)
	browser.Do(tab, t, chromedp.Click("#shelf-link"))
	until(tab, t, `document.querySelectorAll(".files tbody tr").length == 2`)

	browser.Do(tab, t, drop(dir, filepath.Join(dir, "note2.md")))
	until(tab, t, sum+` == "43 of 43 files · 2 with a problem"`) // the hidden one is left out
	until(tab, t, `document.querySelector("#files").innerText.includes("notes/below/deep.md")`)
	if got := eval[int](tab, t, `document.querySelectorAll(".uploads .bad").length`); got != 2 {
		t.Errorf("%d rows have a problem", got)
	}

	browser.Do(
		tab, t, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url+"/documents?collection=files&q=deep"),
		chromedp.Click(".files a"),
	)
	until(tab, t, `document.querySelector("#pane.open").innerText.includes("The kiwi is here.")`)
}

// TestIntegrationUploadAway: files that do not reach the server are told, and tried again when the person wants it.
func TestIntegrationUploadAway(t *testing.T) {
	tab := open(t)
	_, url := serve(t, leave, nil)
	browser.Do(tab, t, chromedp.Navigate(url+"/documents?collection="))
	eval[any](tab, t, `window.real = XMLHttpRequest.prototype.send; XMLHttpRequest.prototype.send = function () { setTimeout(() => this.onerror()); }; 0`)
	browser.Do(tab, t, chromedp.SetUploadFiles(`#add input[name="files"]`, []string{filepath.Join(folder(t), "note1.md")}))
	until(tab, t, sum+` == "1 of 1 files · 1 with a problem"`)
	browser.Seen(tab, t, "The server cannot be reached.", 1)
	eval[any](tab, t, `XMLHttpRequest.prototype.send = window.real; 0`)
	browser.Do(tab, t, chromedp.Click("#again"))
	until(tab, t, sum+` == "1 of 1 files"`)
}
