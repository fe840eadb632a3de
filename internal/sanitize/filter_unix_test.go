//go:build unix

package sanitize_test

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processorTime is what the process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestFilterIsLinear writes texts that make the filter hold back as much as it can, four bytes at a time. Eight
// times the text takes about eight times the processor time, not sixty-four times.
func TestFilterIsLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var any strings.Builder
	for any.Len() < 32<<10 {
		any.WriteString(mixed(r) + " ")
	}
	for name, s := range map[string]string{
		"prose": "A volume keeps the data. [Source 1] ", "no space": "ab", "brackets": "[", "backticks": "`a", "runs": "` `` ``` ", "open link": "[a](", "escapes": `\`,
		"address": "https://evil.test/", "mail": "a@b.test,", "tags": "<a", "lines": "\n", "spaces": " ", "code": "```\nx\n", "Chinese": "見て。", "hostile": any.String(),
	} {
		t.Run(name, func(t *testing.T) {
			spent := func(size int) time.Duration {
				least := time.Hour
				for range 3 {
					f := filters["answer"]()
					text := strings.Repeat(s, size/len(s)+1)[:size]
					begun := processorTime(t)
					for ; text != ""; text = text[min(4, len(text)):] {
						f.Write(text[:min(4, len(text))])
					}
					f.Close()
					least = min(least, processorTime(t)-begun)
				}
				return least
			}
			short, long := spent(4<<10), spent(32<<10)
			t.Logf("4 KiB %v, 32 KiB %v", short, long)
			if long > 24*max(short, 2*time.Millisecond) {
				t.Errorf("4 KiB took %v, 32 KiB %v", short, long)
			}
		})
	}
}
