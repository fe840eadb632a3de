package offline

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// glossWeight is how much it counts that a passage says what the thing asked for is,
// beside the score of the search.
const glossWeight = 0.4

// topicOf is what a question for a definition asks about, in lower case and without
// an article; "" for every other question, and where that is more than a name.
func topicOf(question string) string {
	topic := withoutArticle(strings.ToLower(Topic(question)))
	if len(strings.Fields(topic)) > glossedWords {
		return ""
	}
	return topic
}

// glossLeast is how many words an entry says of its thing at least: "Port: 80" is a value.
const glossLeast = 4

// glossedWords is how many words the name of a thing has at most.
const glossedWords = 4

// glosses reports whether a passage says what a topic is: by an entry of a glossary, or
// by a sentence that begins with it and a verb.
func (p *passage) glosses(topic string) bool {
	if topic == "" {
		return false
	}
	for j := range p.units {
		if p.gloss(j, topic) {
			return true
		}
	}
	return false
}

// glossed answers what a thing is with its entry in a glossary, the one of all, best
// first, that scores best, and reports whether there is one.
func (s *selection) glossed(all []statement) bool {
	if s.topic == "" {
		return false
	}
	for _, c := range all {
		if p := &s.passages[c.passage]; p.units[c.unit].kind == item && p.gloss(c.unit, s.topic) {
			s.take(c.place, noLimit)
			return true
		}
	}
	return false
}

// gloss reports the same of unit j.
func (p *passage) gloss(j int, topic string) bool {
	switch p.units[j].kind {
	case item:
		said := strings.TrimLeft(strings.ToLower(p.text(j)), "-*+• \t")
		rest, ok := cutTopic(said, topic)
		line := strings.TrimSpace(rest)
		return ok && len(strings.Fields(line)) >= glossLeast && (strings.HasPrefix(strings.TrimLeft(rest, " \t"), "\n") || strings.HasPrefix(line, ":") || strings.HasPrefix(line, "—"))
	case sentence:
		said := strings.ToLower(p.tidied(j))
		rest, ok := cutTopic(said, topic)
		verb, more, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
		return ok && verbOf.has(verb) && !tellsMore.has(firstWord(more)) && (!strings.HasPrefix(said, "the ") || articleWords.has(firstWord(more)))
	default:
		return false
	}
}

// cutTopic returns what a text says behind a topic that it begins with, in the
// singular or plural, behind an article or none and in quotes or none.
func cutTopic(said, topic string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimLeft(withoutArticle(said), "\"'“‘*_`"), strings.TrimSuffix(topic, "s"))
	if !ok {
		return "", false
	}
	rest = strings.TrimPrefix(rest, "s")
	if r, _ := utf8.DecodeRuneInString(rest); unicode.IsLetter(r) || unicode.IsDigit(r) {
		return "", false
	}
	return strings.TrimLeft(rest, "\"'”’*_`"), true
}

// withoutArticle is a text in lower case without the article that it begins with.
func withoutArticle(s string) string {
	for _, article := range []string{"a ", "an ", "the "} {
		if after, found := strings.CutPrefix(s, article); found {
			return after
		}
	}
	return s
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.TrimLeft(s, " "), " ")
	return word
}

// Verbs of definitions, what begins the thing that a definition names ("the port is
// taken" is none), and what tells something else of it: "volumes are also shared".
//
//nolint:gochecknoglobals // never changed
var (
	verbOf       = set{"is": {}, "are": {}, "was": {}, "were": {}, "means": {}, "refers": {}, "denotes": {}, "describes": {}, "represents": {}, "allow": {}, "allows": {}, "provides": {}, "jest": {}, "są": {}, "to": {}, "là": {}}
	tellsMore    = set{"also": {}, "not": {}, "available": {}, "always": {}, "never": {}, "still": {}, "only": {}, "now": {}, "required": {}, "supported": {}}
	articleWords = set{"a": {}, "an": {}, "the": {}, "one": {}}
)

// defines is 1 for a tidied sentence that says what the thing asked for is, less for
// one that says so of something else.
func (s *selection) defines(said string) float64 {
	if len(s.own) == 1 {
		if a := s.abbreviations[s.own[0].term]; a != "" && spellsOut(said, a) {
			return 1
		}
	}
	verb := definingVerb.FindStringIndex(said)
	if verb == nil {
		return 0
	}
	subject := s.lex.set(said[:verb[0]])
	asked := 0
	covered := coverage(s.own, func(t string) float64 {
		if subject.has(t) {
			asked++
			return 1
		}
		return 0
	})
	if asked == 0 {
		return 0
	}
	return covered * float64(asked) / float64(len(subject))
}

// defined takes what a definition goes on with, where p is one: the rest of its
// paragraph, as far as there is room.
func (s *selection) defined(p place) bool {
	of := &s.passages[p.passage]
	units := of.units
	if units[p.unit].kind != sentence || s.defines(of.tidied(p.unit)) < definition {
		return false
	}
	for j := p.unit + 1; j < len(units) && units[j].block == units[p.unit].block && units[j].kind == sentence; j++ {
		at := place{p.passage, j}
		if s.spent+s.proseWords(at) > maxWords || of.away(j) || strings.HasSuffix(of.tidied(j), ":") {
			break
		}
		s.take(at, noLimit)
	}
	return true
}

// definition is how much of a definition of the thing asked for a sentence must
// be to stand for itself.
const definition = 0.6

// definingVerb is the verb of a definition; what stands before it is the subject.
var definingVerb = regexp.MustCompile(`(?i) (?:is|are|was|stands for|refers? to|means?|lets? you|allows?|provides?|enables?|represents?|describes?|determines?|helps?|jest|są|to|là) `)
