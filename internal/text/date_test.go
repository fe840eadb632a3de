package text_test

import (
	"strings"
	"testing"
	"time"

	"example.com/ragflow/internal/text"
)

// FuzzFirstDate: no text makes it panic, and what it finds is a month or day that a calendar may have.
func FuzzFirstDate(f *testing.F) {
	for _, s := range []string{"valid from january 31, 2026", "ngày 45 tháng 99 năm 2026", "31.12.2099", "1899-01-01", "im märz 2025"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found := text.FirstDate(strings.ToLower(s))
		if found == "" {
			return
		}
		year, day, _ := strings.Cut(found, "-")
		month, day, _ := strings.Cut(day, "-")
		if year < "1900" || year > "2099" || len(year) != 4 || month > "12" || day > "31" {
			t.Errorf("%q in %q", found, s)
		}
		if month != "" {
			if _, err := time.Parse("2006-01", year+"-"+month); err != nil {
				t.Error(err)
			}
		}
	})
}
