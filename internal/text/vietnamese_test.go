package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"example.com/ragflow/internal/text"
)

func termsOf(a text.Analyzer, s string) []string {
	var out []string
	for _, t := range a.Analyze(s) {
		out = append(out, t.Term)
	}
	return out
}

func TestVietnamese(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"syllables, pairs, folded", "tìm kiếm", "tìm kiếm|~tim kiem|tìm|~tim|kiếm|~kiem"},
		{"function words", "Bao nhiêu điểm?", "nhiêu điểm|~nhieu diem|điểm|~diem"},
		{"a stop word inside a compound", "không gian mạng", "không gian|~khong gian|gian mạng|~gian mang|gian|mạng|~mang"},
		{"either place of the tone mark", "hoà thủy", "hòa thủy|~hoa thuy|hòa|~hoa|thủy|~thuy"},
		{"words of English", "Cách xoá containers cũ", "cách xóa|~cach xoa|cách|~cach|xóa|~xoa|contain|cũ|~cu"},
		{"no pair across punctuation", "đỏ, đen", "đỏ|~do|đen|~den"},
		{"a code of law", "Nghị định 123/NĐ-CP", "nghị định|~nghi dinh|nghị|~nghi|định|~dinh|123/nd-cp|123|nđcp|~ndcp|nđ|~nd|cp"},
		{"a number with points", "phạt 24.000 đồng", "phạt|~phat|24.000|24|000|đồng|~dong"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range []string{tt.in, norm.NFD.String(tt.in)} {
				if diff := cmp.Diff(strings.Split(tt.want, "|"), termsOf(text.For("vi"), in)); diff != "" {
					t.Errorf("terms of %q (-want +got):\n%s", in, diff)
				}
			}
		})
	}
}

// TestMultilingual: each text is analyzed in its own language, and text typed without
// diacritics shares terms with text that has them.
func TestMultilingual(t *testing.T) {
	a := text.Multilingual()
	if diff := cmp.Diff(termsOf(text.For("en"), "Restarting the containers in Hanoi"), termsOf(a, "Restarting the containers in Hanoi")); diff != "" {
		t.Errorf("English (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(termsOf(text.For("vi"), "khởi động lại"), termsOf(a, "khởi động lại")); diff != "" {
		t.Errorf("Vietnamese (-want +got):\n%s", diff)
	}
	document := map[string]bool{}
	for _, term := range termsOf(a, "Công cụ tìm kiếm của thư viện") {
		document[term] = true
	}
	var shared []string
	for _, term := range termsOf(a, "tim kiem thu vien") {
		if document[term] {
			shared = append(shared, term)
		}
	}
	if diff := cmp.Diff([]string{"~tim kiem", "~tim", "~kiem", "~thu vien", "~thu", "~vien"}, shared); diff != "" {
		t.Errorf("shared terms (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"toa", "nha", "samsung", "cao", "bao", "nhieu", "~toa nha", "~toa", "~nha", "~cao bao", "~cao", "~bao nhieu", "~bao", "~nhieu"}, termsOf(a, "toa nha Samsung cao bao nhieu")); diff != "" {
		t.Errorf("a name in Vietnamese without diacritics (-want +got):\n%s", diff)
	}
	for _, english := range []string{"what can you do in Hanoi", "The man has gone to the bank", "a new menu", "cut the thyme"} {
		if got := strings.Join(termsOf(a, english), " "); strings.Contains(got, "~") {
			t.Errorf("%q is searched for as Vietnamese: %s", english, got)
		}
	}
	for in, want := range map[string]string{"2023/QH15": "2023/qh15|2023|qh15", "5/2": "5|2", "and/or 24/7": "24|7"} {
		if diff := cmp.Diff(strings.Split(want, "|"), termsOf(a, in)); diff != "" {
			t.Errorf("terms of %q (-want +got):\n%s", in, diff)
		}
	}
}

func FuzzMultilingual(f *testing.F) {
	f.Add("Điều 5. Nghị định 123/NĐ-CP của \xff tìm kiếm")
	f.Add("tim kiem 1/A-/")
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for _, token := range text.Multilingual().Analyze(s) {
			if token.Term == "" || token.Start < 0 || token.Start >= token.End || token.End > len(s) || token.Pos < last {
				t.Fatalf("%+v in %q", token, s)
			}
			last = token.Pos
		}
	})
}
