package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/ragflow/internal/mutate"
)

// FuzzOutline takes strings out of JSON texts and puts them back: the bytes
// must be the same, whatever the text looks like, and no long string may stay.
func FuzzOutline(tf *testing.F) {
	f := mutate.New(tf)
	long := strings.Repeat("x", outlineOver+1)
	for _, seed := range []string{
		`{}`, `"\u0001"`, `["\u0001=5","\u0001x"]`, `{"\u00011":"\u00011"}`, `"` + long + `"`, `{"` + long + `" : "` + long + `\\"}`,
		`"\u0000` + long + `"`, `"\ud800` + long + `"`, `"\u003c` + long + `"`, `[1e2,-0, "é` + long + `" ,null]`, "\"\u2028" + long + `"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) || !utf8.Valid(body) {
			return
		}
		o := outline(body)
		ids := make([]int64, len(o.blobs))
		for i := range ids {
			ids[i] = int64(i)*7 + 1
			if b := o.blobs[i]; b.literal != json.Valid([]byte(b.text)) && b.literal {
				t.Errorf("blob %q is no JSON", b.text)
			}
		}
		stored := o.join(ids)
		if !json.Valid(stored) {
			t.Fatalf("stored %q is no JSON", stored)
		}
		eachString(stored, func(start, end int) {
			if end-start-2 > outlineOver {
				t.Errorf("%q stayed", stored[start:end])
			}
		})
		got, err := inline(stored, func(id int64) (string, error) { return o.blobs[(id-1)/7].text, nil })
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, body) {
			t.Errorf("got %q, want %q", got, body)
		}
	})
}

func TestInlineRefusesBrokenReferences(t *testing.T) {
	gone := errors.New("gone")
	for _, body := range []string{`"\u0001"`, `"\u0001x"`, `"\u0001="`, `"\u0001==1"`, `"\u000199999999999999999999"`, `"\u00015"`} {
		if got, err := inline([]byte(body), func(int64) (string, error) { return "", gone }); err == nil {
			t.Errorf("inline(%s) = %s, want an error", body, got)
		}
	}
}

func TestRunKey(t *testing.T) {
	for _, run := range []string{"", "r", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B810-9dad-11d1-80b4-00c04fd430c8", strings.Repeat("-", 36), strings.Repeat("a", 36)} {
		got, err := runOf(runKey(run))
		if err != nil || got != run {
			t.Errorf("runOf(runKey(%q)) = %q, %v", run, got, err)
		}
	}
	if _, ok := runKey("6ba7b810-9dad-11d1-80b4-00c04fd430c8").([]byte); !ok {
		t.Error("a UUID is not kept as bytes")
	}
}
