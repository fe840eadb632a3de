package offline_test

import (
	"testing"

	"example.com/ragflow/state"
)

// faults is a page of messages, one below a line in bold type and one with causes
// and solutions below headings of their own.
func faults() state.Chunk {
	return page("faults", "Troubleshooting", "**start failed: no room left on disk**\n\nThis occurs when the limit is too small:\n\n```console\n$ cat /proc/limit\n0\n```\n\n"+
		"To fix this, raise the limit.\n\n**start failed: operation forbidden**\n\nAsk your administrator.\n\n"+
		"## Taken ports\n\n### Message\n\n```text\nBind for 0.0.0.0:80 failed: the port is taken already\n```\n\n### Cause\n\nAnother program listens there.\n\n### Solution\n\n- Stop the other program.\n\n### Notes\n\nPorts are numbers.\n")
}

// TestMessages answers a pasted message with what stands behind it, up to the next.
func TestMessages(t *testing.T) {
	other := page("other", "Rooms", "A disk has room. The room of a disk is left to programs: no disk has more room than room left.\n")
	book := page("book", "Books", "Ann Lee wrote The Room Left on Disk in 1990.\n\nThe Room Left on Disk is a book. It has many pages, of which most are empty, and a cover of green cloth.\n")
	room := []string{"no room left on disk**", "This occurs when", "$ cat /proc/limit", "raise the limit"}
	port := []string{"port is taken already", "Another program listens", "Stop the other program"}
	for _, tt := range []struct {
		name, question string
		want, not      []string
	}{
		{"as it is", "start failed: no room left on disk", room, []string{"forbidden", "administrator", "A disk has room"}},
		{"the end of it", "no room left on disk", room, []string{"administrator", "A disk has room"}},
		{"in quotes", `What do I do about "no room left on disk" at the office?`, room, []string{"administrator", "A disk has room"}},
		{"with a question behind it", "Cannot start: no room left on disk, what can I do?", room, []string{"administrator"}},
		{"with causes and solutions", "Error: the port is taken already", port, []string{"Ports are numbers"}},
		{"that goes on otherwise", "Bind for 0.0.0.0:8080 failed: the port is taken already by 17", port, []string{"Ports are numbers"}},
		{"a title in quotes", `Who wrote "The Room Left on Disk"?`, []string{"Ann Lee wrote"}, []string{"It has many pages"}},
		{"that is not there", "failed: the disk forbids programs", nil, []string{"raise the limit"}},
		{"few words of which are there", "Error: everything is broken, and the port is taken", nil, []string{"Stop the other program"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, docs(), task(tt.question, 0.9, other, book, faults())).Text
			checkWords(t, got, tt.want, tt.not)
		})
	}
}

// TestMessageIsSearchedAsAPhrase plans a search for the passages that hold a message.
func TestMessageIsSearchedAsAPhrase(t *testing.T) {
	for question, want := range map[string]string{
		"no space left on device":                                                "no space left on device",
		"Error: port is already allocated. What can I do?":                       "port is already allocated",
		`I get "No space left on the device" when I start`:                       "no space left on the device",
		"Cannot connect to the daemon at unix:///var/run/docker.sock, is it up?": "cannot connect to the daemon at",
		"How do I start a container?":                                            "",
		"install Docker on Ubuntu":                                               "",
		`What is "bind" for?`:                                                    "",
	} {
		got := ""
		for _, q := range rewrite(t, question).Queries {
			if len(q.Phrases) > 0 {
				got = q.Phrases[0]
			}
		}
		if got != want {
			t.Errorf("%s: phrase %q, want %q", question, got, want)
		}
	}
}

// TestMessageBesideSynonyms keeps other words for what is asked about a message, which
// the search for the message itself leaves out, in no more than three lists.
func TestMessageBesideSynonyms(t *testing.T) {
	queries := rewrite(t, `I see "no room left on disk" when I delete a container, and how do I check how many there are?`).Queries
	if len(queries) != 3 || len(queries[1].Boosts) == 0 || len(queries[2].Phrases) == 0 {
		t.Errorf("queries %+v, want the turn, other words for the same, and the message", queries)
	}
}

// TestMessageWhileAbstaining shows what stands behind a message although the grade is
// too low for an answer, and not a line that shares words with the question.
func TestMessageWhileAbstaining(t *testing.T) {
	chief := page("chief", "Chiefs", "Our chief keeps a log of how many disks the office has left, and how to fix them.\n")
	got := answer(t, docs(), task(`Our chief's log says "no room left on disk", how do I fix that?`, 0.3, chief, faults()))
	if !got.Abstained {
		t.Error("a grade of 0.3 did not abstain")
	}
	checkWords(t, got.Text, []string{"I did not find the exact answer", "Closest information", "no room left on disk**", "raise the limit"}, []string{"keeps a log", "administrator"})
}
