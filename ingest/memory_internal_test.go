package ingest

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/internal/index"
)

// TestFolderMemory indexes a folder of files that are made to take memory, in a process of its
// own. Its peak must stay below 500 MB, and the ordinary file is read.
func TestFolderMemory(t *testing.T) {
	if docs := os.Getenv("RAGFLOW_TEST_FOLDER"); docs != "" {
		indexFolder(t, docs)
		return
	}
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	docs := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(docs, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill := func(s string, size int) string { return strings.Repeat(s, size/len(s)) }
	for i := range 3 {
		write(fmt.Sprintf("paragraphs%d.md", i), []byte(fill("a\n\n", 300<<10)))
		write(fmt.Sprintf("headings%d.md", i), []byte(fill("# a\n\n", 4<<20)))
		write(fmt.Sprintf("records%d.jsonl", i), []byte(fill("{\"a\":1}\n", 400<<10)))
		write(fmt.Sprintf("page%d.html", i), []byte(fill("<p>a", 800<<10)))
		write(fmt.Sprintf("letter%d.docx", i), zipOf(t, "word/document.xml", "<document><body>"+fill("<p><r><t>a</t></r></p>", 1<<20)))
		write(fmt.Sprintf("text%d.docx", i), zipOf(t, "word/document.xml", "<document><body><p>"+fill("<r><t>A b. </t></r>", 14<<20)+"</p></body></document>"))
		write(fmt.Sprintf("book%d.epub", i), zipOf(t,
			"META-INF/container.xml", `<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>`,
			"p.opf", `<package><manifest><item id="a" href="a.html" media-type="html"/></manifest><spine><itemref idref="a"/></spine></package>`,
			"a.html", fill("A b. ", 3<<20)))
		write(fmt.Sprintf("unpacks%d.pdf", i), packedPDF(t, fill("BT (a) Tj ET ", 100<<20)))
	}
	write("ordinary.md", []byte("# Pump\n\nThe seal is changed every year.\n"))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFolderMemory$", "-test.v")
	cmd.Env = append(os.Environ(), "RAGFLOW_TEST_FOLDER="+docs)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var peak, files int
	for line := range strings.Lines(string(out)) {
		if _, said, ok := strings.Cut(line, "peak "); ok {
			_, err = fmt.Sscanf(said, "%d kB, %d files", &peak, &files)
		}
	}
	t.Logf("peak of %d MB, %d files", peak>>10, files)
	if err != nil || peak == 0 || peak > 500<<10 || files == 0 {
		t.Errorf("peak of %d MB, want at most 500\n%s", peak>>10, out)
	}
}

// indexFolder indexes a folder and says how much memory the process had at most.
func indexFolder(t *testing.T, docs string) {
	t.Helper()
	db, err := index.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := New(db, Options{Docs: []string{docs}, Clock: time.Now})
	report, err := l.Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report.Skipped, report.Failed, report.Warned)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	t.Logf("peak %s, %d files", strings.TrimSpace(peak[:strings.IndexByte(peak, '\n')]), report.Added)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// packedPDF is a PDF of one page whose content is compressed.
func packedPDF(t *testing.T, content string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, "%%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n"+
		"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R>>\nendobj\n"+
		"4 0 obj\n<</Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream\nendobj\ntrailer\n<</Root 1 0 R>>\n", packed.Len(), packed.Bytes())
}

// zipOf packs files, given as name and content in turn.
func zipOf(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
