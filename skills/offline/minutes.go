package offline

import (
	"regexp"
	"slices"
	"strings"
)

// minuted is what a question asks of notes, minutes of meetings and chats.
type minuted int

const (
	notMinuted minuted = iota
	tasks              // who has to do what
	decisions          // what was decided
	sayings            // what somebody said
)

// How well an entry must speak of what is asked, by the share of the words that say it.
const (
	entryTopic = 0.45
	whoTopic   = 0.8 // where the words say what is done, and who does it is asked
	leadWords  = 4   // of an entry, among which the one stands who has to do it
)

// By which words each is asked for: English, German, Polish, Vietnamese.
var (
	tasksAsked = regexp.MustCompile(`(?i)\b(?:action (?:items?|points?)|to-?dos?|to do list|next steps|(?:open|whose|which|what) tasks|tasks? (?:for|of|from|are|is|does|do|has|have)|['’]s tasks?|left to do|still to do)\b` +
		`|\bwhat (?:is|are|was|were) (?:\p{L}+ ){1,3}(?:supposed|expected|asked|going) to do\b|\bwhat (?:does|do|did|has|have) (?:\p{L}+ ){1,3}(?:still )?(?:have to|need to|has to|to) do\b` +
		`|\bwhat (?:must|should|shall|will) \p{Lu}\p{L}+ (?:\p{Lu}\p{L}+ )?do\b` +
		`|\bwas (?:muss|soll|sollte|hat) (?:\p{L}+ ){1,3}(?:tun|machen|erledigen|zu tun)\b|\baufgaben?\b` +
		`|\bzada(?:nia|nie|ń)|\bdo zrobienia\b|\bco (?:ma|musi|powinna|powinien) zrobić|nhiệm vụ|việc cần làm|(?:phải|cần) làm gì`)
	doerAsked = regexp.MustCompile(`(?i)\bwho (?:has to|must|should|needs to|will|is (?:supposed to|responsible for|going to|to)|takes care of)\b|\bwer (?:muss|soll|wird)\b|\bkto (?:ma|musi|powinien)\b|\bai (?:phải|sẽ|cần)\b`)

	decisionsAsked = regexp.MustCompile(`(?i)\b(?:did|have|has|was|were|been) (?:\p{L}+ ){0,3}(?:decided?|agreed?|resolved?)\b|\b(?:decisions\b|beschl(?:üsse|uss|ossen)|entschieden|entscheidung(?:en)?\b|decyzj|uchwał|postanowi|ustal(?:ono|enia)|zdecydowa)|quyết định`)

	sayingsAsked = regexp.MustCompile(`(?i)\b(?:say|says|said|tell|told|mention|mentioned|write|wrote|written|suggest|suggested|think|thinks|reply|replied|answer|answered|propose|proposed|gesagt|sagt|sagte|meint|geschrieben|schreibt|powiedzia\p{L}+|mówi\p{L}*|napisa\p{L}+|pisze)\b|nói|viết`)

	stillOpen = regexp.MustCompile(`(?i)\b(?:left|still|open|remaining|undone|offen\p{L}*|noch|zosta\p{L}+|jeszcze)\b|còn`)
)

// askingMinutes are words of such questions that say nothing of what is asked about.
const askingMinutes = `action item items point points todo todos task tasks assignment assigned list next step steps open left still remaining supposed expected responsible care meeting meetings minutes
decide decided decision decisions agree agreed resolve resolved say says said tell told mention mentioned write wrote suggest suggested think thinks reply answer propose
aufgabe aufgaben tun machen erledigen noch offen beschluss beschlüsse beschlossen gefasst entschieden entscheidung entscheidungen sitzung gesagt sagt meint geschrieben
zadanie zadania zadań zrobić zrobienia decyzja decyzje decyzję podjęto uchwała uchwały postanowiono ustalono powiedział powiedziała napisał napisała mówi
nhiệm vụ việc cần làm phải quyết định nói viết
mr mrs ms herr herrn frau pan pani pana panu ông bà anh chị`

// What an entry begins with.
var (
	checkbox = regexp.MustCompile(`^\[([ xX-]?)\]\s`)
	taskMark = regexp.MustCompile(`(?i)^(?:action(?: items?| points?)?|todos?|to[- ]do|tasks?|next steps?|follow[- ]?ups?|aufgaben?|zadani[ea]|do zrobienia|nhiệm vụ|việc cần làm)(?: \d+)?\s*(?:[(\[][^)\]\n]{1,30}[)\]])?\s*[:–—]|^\W{0,3}TODO\b|^@\p{L}+\b`)
	decided  = regexp.MustCompile(`(?i)^(?:decisions?|decided|resolved|resolution|agreed|beschl(?:uss|üsse)|entscheidung(?:en)?|decyzj[ae]|uchwała|ustalenie|quyết định)(?: \d+)?\s*[:–—]|\b(?:we|they|board|team|committee) (?:have |has )?(?:decided|agreed|resolved)\b|\bit was (?:decided|agreed|resolved)\b|\bwurde (?:\p{L}+ ){0,6}beschlossen\b|\bpostanowi(?:ono|liśmy)\b|\bzdecydowaliśmy\b|\bđã quyết định\b`)
	// stamped is a line of a chat: who says it, behind a time or a date.
	stamped = regexp.MustCompile(`^(?:\[[^\]\n]{3,30}\]|<[^>\n]{3,30}>|\d{1,4}[-./:]\d{1,2}(?:[-./:]\d{1,4})?,?(?: \d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm])?)?)\s*[-–]?\s*(\p{Lu}[\p{L}\p{N} .'’_-]{0,30}):\s`)
	calling = regexp.MustCompile(`^(\p{Lu}[\p{L}\p{N}.'’_-]{0,20}(?: \p{Lu}[\p{L}\p{N}.'’_-]{0,20}){0,2}):\s`)
)

// Headings of lists of tasks and of decisions.
var (
	taskHeading     = regexp.MustCompile(`(?i)^(?:open )?(?:action (?:items?|points?)|actions|to-?dos?|to do|tasks|aufgaben|offene punkte|zadania|do zrobienia|việc cần làm|nhiệm vụ)\W*$`)
	decisionHeading = regexp.MustCompile(`(?i)^(?:decisions?|resolutions|beschlüsse|entscheidungen|decyzje|uchwały|ustalenia|(?:các )?quyết định)\W*$`)
)

// goingTo is what somebody is going to do, behind the name: "Peter will write".
var goingTo = regexp.MustCompile(`(?i)^\P{L}*(?:(?:also|still|then|noch) )?(?:will|shall|must|should|has to|needs to|is (?:going |supposed )?to|to|wird|soll|muss|ma|musi|powinien|powinna|sẽ|phải|cần) `)

// minutesAsked is what a question asks of minutes, and whether it asks who.
func minutesAsked(question string) (kind minuted, who bool) {
	switch {
	case tasksAsked.MatchString(question):
		return tasks, false
	case decisionsAsked.MatchString(question):
		return decisions, false
	case doerAsked.MatchString(question):
		return tasks, true
	case sayingsAsked.MatchString(question):
		return sayings, false
	}
	return notMinuted, false
}

// minute is an entry: a unit that notes a task, a decision or what somebody said.
type minute struct {
	place
	fit   float64 // how well it speaks of what is asked about
	first bool    // with its first words
}

// noted answers a question for tasks, decisions or what somebody said with the entries
// of minutes, notes and chats that note them. It reports whether there are any about
// what is asked.
func (s *selection) noted() bool {
	kind, who := minutesAsked(s.question)
	if kind == notMinuted {
		return false
	}
	asking := s.lex.set(askingMinutes)
	about := slices.DeleteFunc(slices.Clone(s.own), func(w weighed) bool { return !tellingWord(w) || asking.has(w.term) })
	if kind == sayings && len(about) == 0 || who && len(about) == 0 {
		return false
	}
	open := kind == tasks && stillOpen.MatchString(s.question)
	var entries []minute
	best, first := 0.0, false
	for i := range s.passages {
		p := &s.passages[i]
		for j := range p.units {
			e, ok := s.minute(p, j, kind, open, about)
			if e.place = (place{i, j}); ok {
				entries, best, first = append(entries, e), max(best, e.fit), first || e.first
			}
		}
	}
	least := max(entryTopic, best/2)
	if who {
		least = max(whoTopic, best)
	}
	words := 0
	for _, e := range entries {
		if e.fit < least || first && !e.first || len(s.chosen) >= maxItems || s.quoted(e.place) {
			continue
		}
		if words += s.proseWords(e.place); words > recipeWords && len(s.chosen) > 0 {
			break
		}
		s.chosen = append(s.chosen, e.place)
	}
	s.entries = len(s.chosen) > 0
	return s.entries
}

// minute looks at unit j as an entry of a kind, about some words.
func (s *selection) minute(p *passage, j int, kind minuted, open bool, about []weighed) (e minute, ok bool) {
	u := p.units[j]
	if u.kind != sentence && u.kind != item {
		return e, false
	}
	raw := strings.TrimLeft(p.text(j), "*_ ")
	box := checkbox.FindStringSubmatch(raw)
	if open && box != nil && strings.ContainsAny(box[1], "xX") {
		return e, false
	}
	heading := p.headings[u.section]
	switch kind {
	case tasks:
		ok = box != nil || taskMark.MatchString(raw) || u.kind == item && taskHeading.MatchString(heading) || p.promises(j, about)
	case decisions:
		ok = decided.MatchString(raw) || u.kind == item && decisionHeading.MatchString(heading)
	case sayings:
		about, ok = s.saidBy(raw, about)
	case notMinuted:
	}
	if !ok {
		return e, false
	}
	e.fit = 1
	if len(about) == 0 {
		return e, true
	}
	in := p.terms[j]
	e.fit = coverage(about, func(t string) float64 {
		if in.has(t) || p.about.has(t) || p.section(j).name.has(t) {
			return 1
		}
		return 0
	})
	tokens := p.tokens[j]
	for _, t := range tokens[:min(len(tokens), leadWords)] {
		e.first = e.first || slices.ContainsFunc(about, func(w weighed) bool { return w.term == t.Term })
	}
	return e, e.fit > 0
}

// promises reports whether unit j says what one asked about is going to do.
func (p *passage) promises(j int, about []weighed) bool {
	raw, tokens := p.text(j), p.tokens[j]
	for _, t := range tokens[:min(len(tokens), leadWords)] {
		if looksLikeName(raw[t.Start:t.End], false) && slices.ContainsFunc(about, func(w weighed) bool { return w.term == t.Term }) && goingTo.MatchString(raw[t.End:]) {
			return true
		}
	}
	return false
}

// saidBy reports whether an entry is what one of those asked about said, and what else
// is asked about.
func (s *selection) saidBy(raw string, about []weighed) (rest []weighed, ok bool) {
	m := stamped.FindStringSubmatch(raw)
	if m == nil {
		m = calling.FindStringSubmatch(raw)
	}
	if m == nil {
		return nil, false
	}
	name := s.lex.set(m[1])
	rest = slices.DeleteFunc(slices.Clone(about), func(w weighed) bool { return name.has(w.term) })
	return rest, len(rest) < len(about)
}

// minutesWords are words that entries begin with, for who asks for such in others.
func minutesWords(question string) string {
	switch kind, who := minutesAsked(question); {
	case kind == tasks && !who:
		return "action todo task aufgabe zadanie"
	case kind == decisions:
		return "decision decided agreed beschluss decyzja uchwała"
	}
	return ""
}
