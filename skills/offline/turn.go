package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// How a turn takes up the conversation before it.
type manner int

const (
	alone    manner = iota // it is understood by itself
	leans                  // it needs words from before
	goesOn                 // "more": on with the question before
	accepts                // "yes" to what the last answer offered
	pointsTo               // "the second one" of the last answer's list
	corrects               // "no, I meant …"
)

// turn is how a question reads after the conversation before it.
type turn struct {
	text   string // what is asked: without the correction before it, with the item that it points to
	said   string // as it was asked
	manner manner
	why    string // for the trace
}

// read tells how a turn takes up what went before.
func (r *Rewriter) read(question string, recent []state.Exchange) turn {
	t := turn{text: question, said: question, why: "stands by itself"}
	if len(recent) > 0 {
		t.text, t.manner, t.why = r.takeUp(question, recent)
	}
	return t
}

func (r *Rewriter) takeUp(question string, recent []state.Exchange) (text string, m manner, why string) {
	newest := recent[len(recent)-1]
	line := strings.Join(plainWords(question), " ")
	agreed := slices.Contains(r.cues.agree, line)
	switch {
	case agreed && newest.Offer != "":
		return newest.Offer, accepts, "accepts what the last answer offered"
	case agreed || slices.Contains(r.cues.more, line):
		return question, goesOn, "asks for more"
	}
	if rest, ok := r.cues.corrected(question); ok {
		return rest, corrects, "corrects the question before"
	}
	if place, start, end, ok := pointing(question); ok {
		if it := listed(listsOf(recent), place); it != "" {
			it = strings.TrimRight(it, ".:;,!? ")
			return question[:start] + it + question[end:], pointsTo, fmt.Sprintf("%q is an item of the last list", question[start:end])
		}
	}
	if ok, why := r.alone(question); !ok {
		return r.cues.meant(question), leans, why
	}
	return question, alone, "stands by itself"
}

func listsOf(recent []state.Exchange) [][]string {
	var out [][]string
	for _, e := range recent {
		out = append(out, e.Items)
	}
	return out
}

// corrected is what a turn says after the words of a correction.
func (c cues) corrected(question string) (rest string, ok bool) {
	ws := wordsAt(question)
	for _, mark := range c.correct {
		if len(ws) > len(mark) && slices.EqualFunc(mark, ws[:len(mark)], func(m string, w word) bool { return m == strings.ReplaceAll(w.text, "’", "'") }) {
			return question[ws[len(mark)].start:], true
		}
	}
	if len(ws) > 1 && slices.Contains(c.refuse, ws[0].text) && strings.HasPrefix(question[ws[0].end:], ",") {
		rest, _ := c.denial(question[ws[1].start:])
		if again, ok := c.corrected(rest); ok {
			rest = again
		}
		return rest, true
	}
	if rest, denied := c.denial(question); denied != "" {
		if again, ok := c.corrected(rest); ok {
			rest = again
		}
		return rest, true
	}
	return "", false
}

// denials begin a turn that says first what is not meant and then, behind a
// mark, what is: "not documents, I was asking for attachments".
func denials() [][2]string {
	return [][2]string{
		{"not ", ", "},
		{"not ", " but "},
		{"nie ", ", tylko "},
		{"nie ", " tylko "},
		{"nie ", ", ale "},
		{"không phải ", " mà là "},
		{"không phải ", " mà "},
		{"không phải ", ", "},
	}
}

// denial cuts what is not meant off the beginning of a turn.
func (cues) denial(question string) (rest, denied string) {
	lower := strings.ToLower(question)
	if len(lower) != len(question) {
		return question, ""
	}
	for _, d := range denials() {
		if !strings.HasPrefix(lower, d[0]) {
			continue
		}
		if i := strings.Index(lower, d[1]); i > len(d[0]) && i+len(d[1]) < len(question) {
			return strings.TrimSpace(question[i+len(d[1]):]), question[len(d[0]):i]
		}
	}
	return question, ""
}

// insteadOf finds what a turn says is not meant: "on Fedora instead of Ubuntu".
func (c cues) insteadOf(question string) (start, end int) {
	lower := strings.ToLower(question)
	if len(lower) != len(question) {
		return 0, 0
	}
	for _, mark := range c.instead {
		if i := strings.Index(lower, " "+mark+" "); i >= 0 {
			from := i + len(mark) + 2
			if n := strings.IndexAny(question[from:], ",.;?!"); n >= 0 {
				return i, from + n
			}
			return i, len(question)
		}
	}
	return 0, 0
}

// meant is a turn without what it says is not meant.
func (c cues) meant(question string) string {
	start, end := c.insteadOf(question)
	return question[:start] + question[end:]
}

// unmeant are the terms that a turn puts others in place of: those it denies,
// other things of the kind it names, and what stands in the same slot of the
// question before.
func (r *Rewriter) unmeant(question, before string) set {
	out := set{}
	_, denied := r.cues.denial(question)
	start, end := r.cues.insteadOf(question)
	denied += " " + question[start:end]
	now, then := wordsAt(question), wordsAt(before)
	own := r.lex.set(question)
	for _, w := range then {
		g := r.cues.group(w.text)
		if g >= 0 && slices.ContainsFunc(now, func(n word) bool { return n.text != w.text && r.cues.group(n.text) == g }) {
			out.add(r.lex, w.text)
		}
	}
	if len(now) <= slotWords && opener(plainWords(question)) {
		for i, w := range then[:max(0, len(then)-1)] {
			if slices.Contains(r.cues.slot, w.text) && slices.ContainsFunc(now[:max(0, len(now)-1)], func(n word) bool { return n.text == w.text }) {
				out.add(r.lex, then[i+1].text)
			}
		}
	}
	out.add(r.lex, doneInstead(question, before))
	for term := range own {
		delete(out, term)
	}
	if r.cues.asksInstead(question) {
		for _, term := range r.lex.means(before) {
			out[term] = struct{}{}
		}
	}
	out.add(r.lex, denied)
	return out
}

// doneInstead is what the question before wanted done, where a turn wants something else
// done with the same thing: "back up" of "how do I back up a volume", before "can I
// encrypt it".
func doneInstead(question, before string) string {
	if !doesToThat.MatchString(question) {
		return ""
	}
	m := doneBefore.FindStringSubmatch(before)
	if m == nil || askingWord(strings.ToLower(m[1])) {
		return ""
	}
	return m[1] + m[2]
}

var (
	doesToThat = regexp.MustCompile(`(?i)\b(?:how (?:do|can|could|should|would|to)|can|could|should|do|must|may)(?: (?:i|we|you|one))? (?:also |then |even |just )?[\p{L}-]+(?: (?:up|down|off|out|in|on|back|to|from|with))? (?:it|them|one|ones|this|that|these|those)\b`)
	doneBefore = regexp.MustCompile(`(?i)\b(?:how to|(?:do|can|could|should|would|must|may) (?:i|we|you|one)) ([\p{L}-]+)( up| down| off| out| in| on| back)? `)
)

// asksInstead reports whether a turn asks what there is in the place of what was asked
// about: "What do I write instead?"
func (c cues) asksInstead(question string) bool {
	line := strings.Join(plainWords(question), " ")
	return slices.ContainsFunc(c.inPlace, func(mark string) bool { return strings.HasSuffix(" "+line, " "+mark) })
}

// means are the things by which a question wants something done, each as one
// term: "--build-arg" of "hand over a token with --build-arg".
func (l lexicon) means(question string) []string {
	var out []string
	for _, m := range meansPattern.FindAllStringSubmatch(question, -1) {
		if tokens := l.words(m[1]); len(tokens) > 0 {
			out = append(out, tokens[0].Term)
		}
	}
	return out
}

var meansPattern = regexp.MustCompile(`(?i)\b(?:with|via|using|by|through|przez|za pomocą|bằng|qua) (\S+)`)

// slotWords is how long a turn can be that only puts one thing in the place of
// another.
const slotWords = 5

func (s set) add(l lexicon, text string) {
	for term := range l.set(text) {
		s[term] = struct{}{}
	}
}
