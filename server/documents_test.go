package server_test

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/llm"
	"example.com/ragflow/server"
)

// add sends a file to a collection, which is made if it is missing, as the script of the page does.
func (v visitor) add(status int, collection, name string, content io.Reader) (answer string) {
	v.t.Helper()
	for _, path := range []string{"/api/collections/" + collection, "/api/documents/" + url.PathEscape(name) + "?collection=" + collection} {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPut, v.base+path, content)
		if strings.HasPrefix(path, "/api/collections/") {
			r.Body = http.NoBody
		}
		if err != nil {
			v.t.Fatal(err)
		}
		res, err := v.client.Do(r)
		if err != nil {
			v.t.Fatal(err)
		}
		data, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if answer = string(data); strings.HasPrefix(path, "/api/documents/") && res.StatusCode != status {
			v.t.Fatalf("PUT %s: %d, want %d: %s", path, res.StatusCode, status, answer)
		}
	}
	return answer
}

func text(s string) io.Reader { return strings.NewReader(s) }

// address returns the first link or form of a page whose address contains a text.
func (v visitor) address(page, part string) string {
	v.t.Helper()
	for _, m := range addresses.FindAllStringSubmatch(page, -1) {
		if a := html.UnescapeString(m[1]); strings.Contains(a, part) {
			return a
		}
	}
	v.t.Fatalf("no link with %q in %s", part, page)
	return ""
}

var addresses = regexp.MustCompile(`(?:href|action)="([^"]+)"`)

func (v visitor) lacks(page string, texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			v.t.Errorf("%q in %s", text, page)
		}
	}
}

// ready waits until the documents of a house are indexed, and returns their folder.
func ready(t *testing.T, h house) (root string) {
	t.Helper()
	l, err := h.a.Collections().Open(t.Context(), "")
	if err == nil {
		_, err = l.Ready(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return l.View().Roots[0]
}

// TestDocuments is the way of a person without scripts: look, add, see how a file was read, filter, delete.
func TestDocuments(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{}, nil)
	root := ready(t, h)
	v := visit(t, h)
	_, page := v.get(200, "/documents")
	v.holds(page, "leave.md", root, "1 document", "Files that you add are kept in the collection “files”.", "Files are deleted there")
	v.lacks(page, "/documents/delete", "/collections/delete")

	const at = "/documents?collection=files"
	v.add(201, "files", "fees/2026.md", text("---\nauthor: Anna\n---\n# Fees\n\nThe court fee is 30 euros.\n\n| kind | fee |\n|---|---|\n| court | 30 |\n"))
	_, page = v.get(200, at)
	v.holds(page, "fees/2026.md", "Fees", "Added here", "1 document")
	v.add(201, "files", "b.md", text("# B\n\nMore of it.\n"))
	v.add(415, "files", "x.png", text("x"))
	v.holds(v.add(201, "files", "broken.pdf", text("x")), "the file is damaged")
	_, page = v.get(200, at)
	v.holds(page, "3 documents", "b.md", "the file is damaged", "1 file was not read")
	if strings.Index(page, "broken.pdf") > strings.Index(page, "b.md") {
		t.Errorf("a problem does not come first: %s", page)
	}
	_, page = v.get(200, at+"&q=DAMAGED")
	v.holds(page, "broken.pdf")
	v.lacks(page, ">b.md<")
	_, page = v.get(200, at+"&show=problems")
	v.lacks(page, ">b.md<")
	_, page = v.get(200, at+"&q=nosuch")
	v.holds(page, "No file fits.")

	_, page = v.get(200, at)
	file := v.address(page, "2026.md")
	_, page = v.get(200, file)
	v.holds(page, "Fees", "1 passage", "read")
	_, page = v.get(200, file+"?passages=1")
	v.holds(page, "author", "Anna", "The court fee is 30 euros.", "lines 4–10")
	_, page = v.get(200, v.address(page, "/d/files/"))
	v.holds(page, "<th scope=\"col\">kind</th>", "<td>30</td>")
	_, page = v.get(200, "/?collection=files")
	v.holds(page, "<option selected>files</option>", "3 documents")

	_, page = v.get(200, at)
	v.holds(page, "Delete b.md", "cannot be undone")
	_, page = v.send(200, "/documents/delete", "collection", "files", "name", "b.md")
	v.lacks(page, ">b.md<")
	v.send(404, "/documents/delete", "collection", "files", "name", "b.md")
	v.send(422, "/documents/delete", "collection", "", "name", "leave.md")
	if _, err := os.Stat(filepath.Join(root, "leave.md")); err != nil {
		t.Errorf("a file of a folder was deleted: %v", err)
	}
}

// TestBegun: a conversation begins with the one collection that holds something.
func TestBegun(t *testing.T) {
	t.Parallel()
	v := visit(t, open(t, server.Options{}, func(c *ragflow.Config) { c.Docs = nil }))
	_, page := v.get(200, "/")
	v.holds(page, "There are no documents yet.")
	_, page = v.get(200, "/documents")
	v.holds(page, "There are no documents here yet.")
	v.add(201, "files", "fees.md", text("# Fees\n\nThe court fee is 30 euros.\n"))
	_, page = v.get(200, "/")
	v.holds(page, "1 document", "<option selected>files</option>")
	thread, _ := v.send(200, "/ask", "question", "How high is the court fee?", "collection", "files")
	v.holds(v.settled(thread), "30 euros")
}

// TestShelves makes and deletes collections.
func TestShelves(t *testing.T) {
	t.Parallel()
	v := visit(t, open(t, server.Options{}, nil))
	at, page := v.send(200, "/collections", "name", "law")
	v.holds(page, "There are no documents here yet.", "Delete the collection “law”")
	v.add(201, "law", "a.md", text("# A\n\nText.\n"))
	_, page = v.send(409, "/collections", "name", "law")
	v.holds(page, "exists already")
	_, page = v.send(422, "/collections", "name", "../law")
	v.holds(page, "1 to 64 of the characters")
	_, page = v.get(200, at)
	v.holds(page, "Delete the collection “law”", "This cannot be undone.")
	_, page = v.send(200, v.address(page, "/collections/delete"), "collection", "law")
	v.lacks(page, "law")
	v.get(404, at)
	v.send(404, "/collections/delete", "collection", "law")
	v.send(404, "/collections/delete", "collection", "")

	w := visit(t, open(t, server.Options{}, func(c *ragflow.Config) { c.Collection = "notes" }))
	_, page = w.send(409, "/collections/delete", "collection", "notes")
	w.holds(page, "so it stays")
}

// TestNames: a name that leads elsewhere, or that a system cannot store, is refused.
func TestNames(t *testing.T) {
	t.Parallel()
	v := visit(t, open(t, server.Options{}, nil))
	for _, n := range []string{
		"../x.md", "a/../../x.md", "/etc/x.md", strings.Repeat("n", 297) + ".md", strings.Repeat("d/", 300) + "x.md", "C:x.md", ".hidden.md", "CON.md", "a//b.md",
		"<b>.md",
	} {
		v.add(422, "files", n, text("# Bad\n"))
	}
	v.add(422, "files", "x.md.", text("# Bad\n"))
	v.add(422, "files", "x.meta.json", text("# Bad\n"))
	v.add(201, "files", "good.md", text("# Good\n\nText.\n"))
	_, page := v.get(200, "/documents?collection=files")
	v.holds(page, "good.md", "1 document")
	v.get(404, "/documents?collection=nosuch")
	v.get(404, "/documents/file/files/00000000/x.md")
	v.get(404, "/documents/file/-/x")
}

// TestLargeFile: a file that is too large is refused with its reason, and is not held in memory.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	v := visit(t, open(t, server.Options{}, nil))
	v.holds(v.add(413, "files", "large.md", io.LimitReader(zeros{}, 65<<20)), "too large")
	_, page := v.get(200, "/documents?collection=files")
	v.holds(page, "There are no documents here yet.")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestManyFiles: of 2,000 files with 30 broken ones each has a status, those with a reason come first, and no page is long.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	const many, broken = 2000, 30
	h := open(t, server.Options{}, func(c *ragflow.Config) {
		for i := range many - 1 { // leave.md is there
			name, content := fmt.Sprintf("note%04d.md", i), fmt.Sprintf("# Note %d\n\nThis is note %d.\n", i, i)
			switch {
			case i < broken/3:
				name, content = fmt.Sprintf("note%04d.pdf", i), "no PDF"
			case i < 2*broken/3:
				name, content = fmt.Sprintf("note%04d.docx", i), "no archive"
			case i < broken:
				name, content = fmt.Sprintf("note%04d.png", i), "another kind"
			}
			if err := os.WriteFile(filepath.Join(c.Docs[0], name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
	ready(t, h)
	v := visit(t, h)
	for _, n := range []int{1, 2, 20} {
		_, page := v.get(200, fmt.Sprintf("/documents?page=%d", n))
		if rows := strings.Count(page, "<tr><td>"); rows != 100 || len(page) > 100<<10 {
			t.Errorf("page %d: %d rows, %d bytes", n, rows, len(page))
		}
		v.holds(page, "1990 documents", "30 files were not read", fmt.Sprintf("%d–%d of 2000", 100*n-99, 100*n))
		want := 0
		if n == 1 {
			want = broken - broken/3 // those of other kinds come last
		}
		if n == 20 {
			want = broken / 3
		}
		if got := strings.Count(page, `class="warn reason"`); got != want {
			t.Errorf("page %d: %d reasons, want %d", n, got, want)
		}
	}
	_, page := v.get(200, "/documents?show=problems")
	if got := strings.Count(page, `class="warn reason"`); got != broken {
		t.Errorf("%d of %d problems", got, broken)
	}
	_, page = v.get(200, "/documents?page=999999999999999999999")
	v.holds(page, "1901–2000 of 2000")
	_, page = v.get(200, "/documents?page=-5&q=note1999")
	v.lacks(page, "rel=\"next\"")
}

// TestManyUploads puts 300 files with 20 broken ones, as a page with scripts does.
func TestManyUploads(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{}, nil)
	v := visit(t, h)
	h.want(t, 204, "PUT", "/api/collections/files", "", "")
	statuses := map[string]int{}
	for i := range 300 {
		name, content := fmt.Sprintf("a/note%d.md", i), fmt.Sprintf("# Note %d\n\nText %d.\n", i, i)
		if i%15 == 0 {
			name, content = fmt.Sprintf("a/note%d.pdf", i), "no PDF"
		}
		d := h.want(t, 201, "PUT", "/api/documents/"+name+"?collection=files", "", content)
		statuses[d["status"].(string)]++
		if d["status"] != "indexed" && d["reason"] == "" {
			t.Errorf("%v", d)
		}
	}
	if statuses["indexed"] != 280 || statuses["failed"] != 20 {
		t.Errorf("%v", statuses)
	}
	_, page := v.get(200, "/documents?collection=files&show=problems&part=files")
	v.holds(page, "300 documents", "20 files were not read")
	if n := strings.Count(page, "it is no PDF"); n != 20 {
		t.Errorf("%d reasons", n)
	}
	v.lacks(page, "<html")
}

// held is an embedder that waits until it is released.
type held struct{ begun, release chan struct{} }

func (held) Model() string { return "held" }

func (e held) Embed(ctx context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	select {
	case e.begun <- struct{}{}:
	default:
	}
	select {
	case <-e.release:
		out := llm.Embeddings{}
		for range texts {
			out.Vectors = append(out.Vectors, []float32{1, 0})
		}
		return out, nil
	case <-ctx.Done():
		return llm.Embeddings{}, context.Cause(ctx)
	}
}

// TestJobs: a job under way shows how far it is, also on a page that is loaded again, and can be stopped.
func TestJobs(t *testing.T) {
	t.Parallel()
	e := held{make(chan struct{}, 1), make(chan struct{})}
	h := open(t, server.Options{}, func(c *ragflow.Config) { c.Models.Embedder = e })
	v := visit(t, h)
	_, page := v.send(200, "/documents/index", "collection", "")
	v.holds(page, `data-running="true"`, `http-equiv="refresh"`)
	happens(t, e.begun, "embedding")
	for range 2 {
		_, page = v.get(200, "/documents?part=jobs")
		v.holds(page, `data-running="true"`, `<progress max="1" value="`)
		v.lacks(page, "<html")
	}
	v.send(200, v.address(page, "/documents/stop/"), "collection", "")
	over := func(want string) {
		t.Helper()
		for began := time.Now(); ; {
			_, page = v.get(200, "/documents?part=jobs")
			if strings.Contains(page, `data-running="false"`) {
				v.holds(page, want)
				return
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("the job does not end: %s", page)
			}
		}
	}
	over("stopped")
	v.send(200, "/documents/stop/nosuch", "collection", "")
	close(e.release)
	v.send(200, "/documents/index", "collection", "")
	over("done")
}

// TestDocumentsOfTokens: everybody sees the collections of the token, and what it may do with them.
func TestDocumentsOfTokens(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	root := ready(t, h)
	for _, name := range []string{"law", "sales"} {
		l, err := h.a.Collections().Make(t.Context(), name)
		if err == nil {
			_, err = l.Put(t.Context(), "note.md", bytes.NewReader([]byte("# Note\n\nThe fee of "+name+".\n")), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	reader := h.token(t, tokens.Token{Name: "reader", Owner: "r", Scopes: []tokens.Scope{tokens.Read}})
	law := h.token(t, tokens.Token{Name: "law", Owner: "l", Scopes: []tokens.Scope{tokens.Read, tokens.Upload}, Collections: []string{"law"}})
	s, err := server.New(h.a, server.Options{Token: true, Tokens: string(h.folder)})
	if err != nil {
		t.Fatal(err)
	}
	h.Server = s
	page := func(status int, method, path, secret string) string {
		t.Helper()
		code, text := h.ask(method, path, secret, "")
		if code != status {
			t.Fatalf("%s %s: %d, want %d: %s", method, path, code, status, text)
		}
		return text
	}
	v := visitor{t: t}
	got := page(200, "GET", "/documents", reader)
	v.holds(got, "leave.md", "law", "sales")
	v.lacks(got, root, `type="file"`, "/documents/index", "/collections", "/documents/stop")
	v.lacks(page(200, "GET", "/documents?collection=law", reader), "/documents/delete")

	got = page(200, "GET", "/documents", law)
	v.holds(got, "note.md", `type="file"`, `action="/documents/delete"`)
	v.lacks(got, "leave.md", "sales", "/collections")
	note := v.address(got, "/documents/file/law/")
	v.holds(page(200, "GET", note+"?passages=1", law), "The fee of law.")
	for _, path := range []string{"/documents?collection=sales", strings.Replace(note, "/law/", "/sales/", 1)} {
		foreign, none := page(404, "GET", path, law), page(404, "GET", strings.Replace(path, "sales", "nosuch", 1), law)
		if nonce.ReplaceAllString(foreign, "") != nonce.ReplaceAllString(strings.ReplaceAll(none, "nosuch", "sales"), "") {
			t.Errorf("%s answers otherwise than nothing", path)
		}
	}
}

// TestAddedAreAsked adds a file beside the documents of the server: a question for which no collection is chosen is
// answered from both, also the next one, and each source is shown.
func TestAddedAreAsked(t *testing.T) {
	t.Parallel()
	v := visit(t, open(t, server.Options{}, nil))
	v.add(201, "files", "bees.md", text("# Bees\n\nOur bees live on the roof of house 4.\n"))
	thread, _ := v.send(200, "/ask", "question", "Where do our bees live?")
	page := v.settled(thread)
	v.holds(page, "roof of house 4")
	_, source := v.get(200, v.link(page, "/cite/"))
	v.holds(source, "<mark>", "bees.md")
	v.send(200, thread+"/ask", "question", "How many days of paid leave does an employee have?")
	page = v.settled(thread)
	v.holds(page, "26 days")
	if strings.Contains(page, "<option selected>files") {
		t.Errorf("the next question is asked of the added files alone: %s", page)
	}
	cites := citeLink.FindAllString(page, -1)
	_, source = v.get(200, cites[len(cites)-1])
	v.holds(source, "<mark>", "leave.md")
}

var citeLink = regexp.MustCompile(`/t/[^"]*/cite/[^"]*`)
