package offline

import (
	"slices"
	"strings"

	"example.com/ragflow/search/text"
)

// The tables tell by its first words whether a sentence says something of the
// person that later turns should heed. A verb follows one of the subjects.
const (
	subjects = `
i, we, i'm, we're, i've, we've, i'll, we'll,
tôi, chúng tôi, mình, bọn mình, chúng mình, em, bên tôi, nhóm tôi,
`
	statingVerbs = `
use, am, are, have, has, run, work, need, want, prefer, must, can't, cannot, can, don't, do, only, already, installed, decided, got, chose, picked, switched, moved, deploy, host, live, plan, will, won't, should, never, always, own, like, using, going, had, on, stick,
dùng, sử dụng, có, không, cần, muốn, phải, chỉ, đang, đã, thích, chọn, là, làm, sẽ, ở, ưu tiên,
`
	// beginnings are enough by themselves.
	beginnings = `
my, our, there is no, there's no, it must, it has to, it should not, let's use, let's go with, let us use, we'll go with, remember, note that, keep in mind, call me, please answer, always, never,
używam, używamy, mam, mamy, nie mam, nie mamy, nie mogę, nie możemy, muszę, musimy, pracuję, pracujemy, korzystam, korzystamy, moja, mój, moje, nasz, nasza, nasze, potrzebuję, potrzebujemy, wolę, wolimy, chcę, chcemy, jestem, jesteśmy, u nas, nazywam się, zdecydowałem, zdecydowałam, zdecydowaliśmy, wybrałem, wybrałam, wybraliśmy, pamiętaj, brak,
tên tôi, máy của tôi, máy tôi, công ty tôi, hệ thống của tôi, hệ thống của chúng tôi, của tôi, hãy nhớ, nhớ rằng, luôn, chúng ta dùng,
`
	// asides stand before a statement and belong to none.
	asides = `
but, and, so, also, by the way, btw, well, ok, okay, actually, sorry, hi, hello, for your information, fyi,
ale, a, więc, poza tym, przy okazji, cześć,
nhưng, và, à, xin chào, nhân tiện,
`
	// wishes are how one begins to ask; they say nothing lasting.
	wishes = `
i want to know, i want to ask, i want to understand, i'd like to know, i need to know, i need help, we need help, i have a question, i have another question, i have a problem, i am asking, i'm asking, i am looking for, i'm looking for, i don't know, i don't understand, i do not understand, i can't find, i cannot find, i am not sure, i'm not sure, my question, my next question,
mam pytanie, mam problem, chcę wiedzieć, chcę zapytać, moje pytanie, potrzebuję pomocy,
tôi muốn hỏi, tôi muốn biết, tôi có câu hỏi, tôi có một câu hỏi, tôi không biết, tôi không hiểu, tôi cần giúp,
`
)

// factsOf are the statements in which a person says something of themselves: "I
// use Fedora", and of "We have no internet, how do I install it?" the first half.
func factsOf(message string) []string {
	var out []string
	for _, s := range factSpans(message) {
		if f := firstWords(tidy(message[s.Start:s.End]), lineWords); !slices.Contains(out, factMark+f) {
			out = append(out, factMark+f)
		}
	}
	return out
}

// withoutFacts is what a message asks, where it says something of the person
// besides.
func withoutFacts(message string) string {
	var b strings.Builder
	at := 0
	for _, s := range factSpans(message) {
		b.WriteString(message[at:s.Start])
		at = s.End
	}
	rest := strings.TrimLeft(tidy(b.String()+message[at:]), ",;:.–— ")
	if len(plainWords(rest)) == 0 {
		return message
	}
	return rest
}

func factSpans(message string) []text.Span {
	var out []text.Span
	for _, span := range text.Sentences(message) {
		s := message[span.Start:span.End]
		if strings.HasSuffix(strings.TrimSpace(s), "?") {
			cut := strings.IndexAny(s, ",;–—")
			if cut < 0 {
				continue
			}
			span.End = span.Start + cut
			s = s[:cut]
		}
		if states(s) {
			out = append(out, span)
		}
	}
	return out
}

// states reports whether a sentence says something of the person.
func states(sentence string) bool {
	words := plainWords(strings.ReplaceAll(sentence, "’", "'"))
	for {
		n := begins(words, asides)
		if n == 0 {
			break
		}
		words = words[n:]
	}
	if len(words) < minFact || begins(words, wishes) > 0 {
		return false
	}
	if begins(words, beginnings) > 0 {
		return true
	}
	n := begins(words, subjects)
	return n > 0 && (strings.Contains(words[n-1], "'") || begins(words[n:], statingVerbs) > 0)
}

// minFact is how many words say something.
const minFact = 3

// begins is how many words the longest entry of a table has that words begin
// with; 0 for none.
func begins(words []string, table string) int {
	longest := 0
	for _, e := range entries(table) {
		entry := strings.Fields(e)
		if len(entry) > longest && len(entry) <= len(words) && slices.Equal(entry, words[:len(entry)]) {
			longest = len(entry)
		}
	}
	return longest
}

// merged adds facts. What is known is not said twice; of two that begin alike
// and name different things of a kind ("I use Ubuntu", "I use Fedora") the newer
// stays.
func merged(facts, more []string) []string {
	c := newCues()
	for _, m := range more {
		facts = slices.DeleteFunc(slices.Clone(facts), func(f string) bool { return strings.EqualFold(f, m) || c.replaces(m, f) })
		facts = append(facts, m)
	}
	return facts
}

func (c cues) replaces(newer, older string) bool {
	n, o := plainWords(newer), plainWords(older)
	if len(n) < 2 || len(o) < 2 || !slices.Equal(n[:2], o[:2]) {
		return false
	}
	groups := map[int]string{}
	for _, w := range o {
		groups[c.group(w)] = w
	}
	delete(groups, -1)
	return slices.ContainsFunc(n, func(w string) bool {
		old, ok := groups[c.group(w)]
		return ok && old != w
	})
}

// firstWords are the first n words of s.
func firstWords(s string, n int) string {
	fields := strings.Fields(s)
	if len(fields) <= n {
		return strings.Join(fields, " ")
	}
	return strings.Join(fields[:n], " ")
}
