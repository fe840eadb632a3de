package server_test

import (
	"regexp"
	"strings"
	"testing"

	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server"
)

// TestLinks: the link of an answer begins with the public address and leads to the lines of the document, for those who
// may read it.
func TestLinks(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	l, err := h.a.Collections().Make(t.Context(), "law")
	if err == nil {
		_, err = l.PutText(t.Context(), "court fees (1).md", "Fees", "# Fees\n\nThe court fee is 12 euros.\n", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	reads := h.token(t, tokens.Token{Name: "reads", Owner: "a", Scopes: []tokens.Scope{tokens.Ask, tokens.Read}})
	sales := h.token(t, tokens.Token{Name: "sales", Owner: "b", Scopes: []tokens.Scope{tokens.Read}, Collections: []string{"sales"}})
	if h.Server, err = server.New(h.a, server.Options{Token: true, Tokens: string(h.folder), PublicURL: "https://docs.example.com/x/"}); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]struct{ link, text string }{
		"ragflow":     {`^https://docs\.example\.com/x(/d/-/[0-9a-f]{8}/leave\.md)#L3-L3$`, "26 days"},
		"ragflow/law": {`^https://docs\.example\.com/x(/d/law/[0-9a-f]{8}/court%20fees%20%281%29\.md)#L\d-L\d$`, "12 euros"},
	} {
		body := `{"model": "` + model + `", "input": "How many days of leave, and how high is the court fee?"}`
		reply := h.want(t, 200, "POST", "/v1/responses", reads, body)
		again := h.want(t, 200, "GET", "/v1/responses/"+reply["id"].(string), reads, "")
		links := [2]string{}
		for i, r := range []map[string]any{reply, again} {
			part := r["output"].([]any)[0].(map[string]any)["content"].([]any)[0].(map[string]any)
			links[i], _ = part["annotations"].([]any)[0].(map[string]any)["url"].(string)
		}
		parts := regexp.MustCompile(want.link).FindStringSubmatch(links[0])
		if parts == nil || links[0] != links[1] {
			t.Fatalf("the links are %q", links)
		}
		if code, text := h.ask("GET", parts[1], reads, ""); code != 200 || !strings.Contains(text, want.text) {
			t.Errorf("%s: %d %s", parts[1], code, text)
		}
		foreign, a := h.ask("GET", parts[1], sales, "")
		unknown, b := h.ask("GET", "/d/nosuch/00000000/x.md", sales, "")
		a, b = nonce.ReplaceAllString(a, ""), nonce.ReplaceAllString(strings.ReplaceAll(b, "/d/nosuch/00000000/x.md", parts[1]), "")
		if foreign != 404 || foreign != unknown || a != b {
			t.Errorf("foreign %d %s, unknown %d %s", foreign, a, unknown, b)
		}
	}
	for _, bad := range []string{"docs.example.com", "ftp://x", "https://", "https://x/?a=b", "https://x/#y"} {
		if _, err := server.New(h.a, server.Options{PublicURL: bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
