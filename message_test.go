package ragflow_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
)

// TestMessageIsFoundByItsWords finds the one page that holds a message word for word
// among many that hold its words more often.
func TestMessageIsFoundByItsWords(t *testing.T) {
	docs := t.TempDir()
	for i := range 60 {
		write(t, filepath.Join(docs, fmt.Sprintf("disk%02d.md", i)), fmt.Sprintf("# Disk space %d\n\nThe space of device %d: space left on a device, device space, no device without space.\n", i, i))
	}
	write(t, filepath.Join(docs, "faults.md"), "# Faults\n\n"+strings.Repeat("Programs fail for many reasons, of which a few are told below with their remedies. ", 12)+
		"\n\n`clone: no space left on device` is told when the limit of namespaces is too small. Raise `max_user_namespaces`.\n")
	a := open(t, ragflow.Config{Docs: []string{docs}})
	r := ask(t, a, "t", "no space left on device")
	if len(r.Citations) == 0 || filepath.Base(r.Citations[0].Source) != "faults.md" || !strings.Contains(r.Answer, "max_user_namespaces") {
		t.Errorf("the answer does not come of the page that holds the message:\n%s", r.Answer)
	}
	checkQuotes(t, r)
}
