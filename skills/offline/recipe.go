package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// What makes a section the answer to a how-to question.
const (
	recipeName  = 0.5  // how well its heading must name what is asked…
	recipeTitle = 0.4  // …and where the title of the page says all of it
	recipeRank  = 0.2  // of the rank of its source, beside the name
	recipeOther = 0.5  // less where neither title nor heading has the names asked about, by their share: it tells of another thing
	besideLoss  = 0.4  // less for what holds only where the usual way is closed
	recipeProse = 0.75 // how well a heading must name it whose section has no steps, or a step that does it
	stepLoss    = 0.1  // less for a step within a list about more
	proseLoss   = 0.15 // less for prose and for a list without order, beside a command
	enoughProse = 45   // words of a section without steps, after which no sentence is added
	entryWords  = 8    // of an item that only names what can be done
	maxBlocks   = 3    // blocks of code, where a section has no ordered list
	recipeWords = 200  // of its steps; more are cut at a step
)

// recipe answers a how-to question from the section whose heading names what is
// asked: with its first ordered list or, without one, its first block of code, and
// the sentence before; where it has neither, with its prose. A step that does what
// is asked answers for its list. It reports whether there is such a section.
func (s *selection) recipe() bool {
	at, best := s.sectionAsked(func(p *passage, sec int, fit float64) int {
		switch steps := p.steps(sec); {
		case steps < 0 && fit >= recipeProse && p.begins(sec):
			return p.sections[sec].first
		case steps >= 0 && p.units[steps].kind == code && s.program(p.text(steps)):
			return -1
		default:
			return steps
		}
	})
	for i := range s.passages {
		p := &s.passages[i]
		for j := range p.units {
			fit := s.doneBy(p, j)
			if value := fit + recipeRank/float64(p.source(j)) - stepLoss; fit >= recipeProse && value > best {
				at, best = place{i, j}, value
			}
		}
	}
	told, value := s.command()
	if value == 0 && (best == 0 || s.passages[at.passage].units[at.unit].kind == sentence) {
		if steps, ok := s.pageAsked(); ok {
			at, best = steps, recipeTitle
		}
	}
	if best > 0 {
		s.follow(at)
		if u := s.passages[at.passage].units[at.unit]; !u.ordered && u.kind != code {
			best -= proseLoss
		}
	}
	if (value > best || value > 0 && s.beside(told, at)) && !s.has(told) {
		s.chosen, s.with, s.spent = nil, nil, 0
		s.tell(told)
	}
	return len(s.chosen) > 0
}

// pageAsked is where the only steps begin of a page whose title says what is asked, as
// "Pancakes" does how to make them.
func (s *selection) pageAsked() (at place, ok bool) {
	for i := range s.passages {
		p := &s.passages[i]
		if title := p.names[0]; p.src.Ordinal > 0 || coverage(s.terms, title.in) < recipeProse || s.verb != "" && !s.speaks(title, s.verb) {
			continue
		}
		lists := 0
		for j, u := range p.units {
			if u.kind == item && u.ordered && u.number == 1 {
				at = place{i, j}
				lists++
			}
		}
		if lists == 1 {
			return at, true
		}
	}
	return place{}, false
}

// beside reports whether two units stand below the same heading.
func (s *selection) beside(a, b place) bool {
	units := s.passages[a.passage].units
	return a.passage == b.passage && units[a.unit].section == units[b.unit].section
}

// listed answers a question for several things with the list below the heading
// that names them, as "System requirements" does what is required. It reports
// whether there is one.
func (s *selection) listed() bool {
	at, best := s.sectionAsked(func(p *passage, sec int, _ float64) int {
		if !slices.ContainsFunc(s.own, func(w weighed) bool { return w.term == p.sections[sec].head }) {
			return -1
		}
		for j := p.sections[sec].first; j < p.sections[sec].end; j++ {
			if p.units[j].kind == item {
				return j
			}
		}
		return -1
	})
	if best == 0 || len(s.list(at)) < 2 {
		return false
	}
	p := &s.passages[at.passage]
	items := s.within(at.passage, s.list(at))
	for n := len(items); n > 1 && strings.HasSuffix(p.tidied(items[n-1]), ":"); n-- {
		items = items[:n-1] // it announces what there is no room for
	}
	for _, j := range items {
		s.take(place{at.passage, j}, noLimit)
	}
	return true
}

// sectionAsked is where the section begins to answer whose heading names best what
// is asked, and how well it does; 0 where none does. The unit where a section
// begins to answer is what unit returns, which is -1 for one that does not.
func (s *selection) sectionAsked(unit func(p *passage, sec int, fit float64) int) (at place, best float64) {
	for i := range s.passages {
		p := &s.passages[i]
		for sec := range p.sections {
			fit := named(s.terms, p, sec)
			in := p.sectionPart(sec)
			if fit < s.recipeFloor(in.about) || !p.sections[sec].begins || s.verb != "" && !s.speaks(p.sections[sec].name, s.verb) {
				continue
			}
			begin := unit(p, sec, fit)
			if begin < 0 {
				continue
			}
			value := fit + recipeRank/float64(in.n) - recipeOther*s.unnamed(in.about, p.sections[sec].name)
			if p.glances()[p.sections[sec].first].beside {
				value -= besideLoss
			}
			if value > best {
				at, best = place{i, begin}, value
			}
		}
	}
	return at, best
}

// begins reports whether a section begins with a sentence that says something.
func (p *passage) begins(sec int) bool {
	first := p.sections[sec].first
	return first < p.sections[sec].end && p.units[first].kind == sentence && !p.away(first) && !aboutPage.MatchString(p.tidied(first))
}

// doneBy is how well a step, other than the first of its list, says that it does
// what is asked: "Push the image to the registry.", asked how to push one.
func (s *selection) doneBy(p *passage, j int) float64 {
	u := p.units[j]
	if s.verb == "" || u.kind != item || len(p.tokens[j]) == 0 || u.ordered && u.number == 1 || !u.ordered && p.entry(j) {
		return 0
	}
	if verb := p.tokens[j][0].Term; !s.speaks(set{verb: {}}, s.verb) {
		return 0
	}
	asked := 0
	covered := coverage(s.terms, func(t string) float64 {
		if p.terms[j].has(t) {
			asked++
			return p.terms[j][t]
		}
		return 0
	})
	return covered * min(1, (1+float64(asked))/float64(p.terms[j].size()))
}

// entry reports whether unit j, an item, is a few words and no sentence, as those of a
// table of contents are.
func (p *passage) entry(j int) bool {
	said := p.tidied(j)
	return len(strings.Fields(said)) <= entryWords && !strings.ContainsAny(said, ".!?:`")
}

// follow takes the steps, the blocks of code or the prose that begin at a unit.
func (s *selection) follow(at place) {
	p := &s.passages[at.passage]
	first := p.section(at.unit).first
	switch u := p.units[at.unit]; {
	case u.kind == item && u.number != 1, u.kind == sentence:
		s.takeOn(at)
		return
	case first != u.lead && first != at.unit && p.units[first].kind == sentence && !p.away(first):
		s.chosen = append(s.chosen, place{at.passage, first})
	}
	s.take(at, noLimit)
	if p.units[at.unit].kind == code {
		s.takeRest(at)
	}
}

// takeOn takes a unit and what follows it: of a step what belongs to it, of prose
// what stands below the same heading.
func (s *selection) takeOn(at place) {
	p := &s.passages[at.passage]
	s.chosen, s.spent = append(s.chosen, at), s.spent+s.proseWords(at)
	for j := at.unit + 1; j < p.section(at.unit).end; j++ {
		u, next := p.units[j], place{at.passage, j}
		if p.units[at.unit].kind == item && (u.block != p.units[at.unit].block || u.kind == item) {
			return
		}
		if s.has(next) || p.away(j) || s.partShown(next) {
			continue
		}
		if p.lines(j) > maxCode || s.spent >= enoughProse && u.kind == sentence || !s.take(next, maxWords) {
			return
		}
	}
}

// recipeFloor is how well a heading must name what is asked, below a title and
// headings that say so much about it.
func (s *selection) recipeFloor(about set) float64 {
	if coverage(s.terms, about.in) >= 1 {
		return recipeTitle
	}
	return recipeName
}

// unnamed is the share of the names asked about that neither the title of a page nor
// the headings down to a section hold.
func (s *selection) unnamed(about, name set) float64 {
	if len(s.names) == 0 {
		return 0
	}
	return 1 - shareOf(s.names, func(asked string) bool { return about.has(asked) || name.has(asked) })
}

// takeRest adds the blocks of code that follow in a section whose steps are
// such blocks, each with the sentence before it.
func (s *selection) takeRest(at place) {
	p := &s.passages[at.passage]
	blocks := 1
	for j := at.unit + 1; j < p.section(at.unit).end && blocks < maxBlocks; j++ {
		u := p.units[j]
		if u.kind != code || u.lead < 0 || u.part > 1 || p.lines(j) > maxCode || !anotherStep.MatchString(p.tidied(u.lead)) {
			continue
		}
		if n := s.proseWords(place{at.passage, u.lead}); s.spent+n > recipeWords {
			return
		}
		s.take(place{at.passage, j}, noLimit)
		blocks++
	}
}

// anotherStep is a sentence before a block of code that tells what to do, and not
// what is seen then.
var anotherStep = regexp.MustCompile(`(?i)^\W*(?:(?:for example|for instance|then|next|finally|first|second|now|alternatively|or|after that|lastly),? )?` +
	`(?:to |use |run |set |add |create |specify |select |open |go |enter |edit |make |start |stop |install |pass |configure |enable |change |choose |put |you can |in order to |by |with |build |pull |push |copy |remove |delete |connect |mount |log |sign |` +
	`aby |żeby |użyj |uruchom |dodaj |wpisz |để |hãy |chạy |dùng )`)

// action is the term of the verb that a how-to question asks about: "back" of
// "how do I back it up"; "" where the verb says nothing, as in "use".
func (l lexicon) action(question string) string {
	m := actionPattern.FindStringSubmatch(strings.ToLower(question))
	if m == nil || askingWord(m[1]) {
		return ""
	}
	terms := slices.Sorted(maps.Keys(l.set(m[1])))
	if len(terms) == 0 {
		return ""
	}
	return terms[0]
}

var actionPattern = regexp.MustCompile(`\bhow (?:do|can|to|could|should|would|must|may|does) (?:(?:i|we|you|one|someone) )?(?:\w+ly )?(\w+)`)

// seen lets other words stand for "see", asked how to see something: headings say
// to view, to show or to list it. Searches go without, for pages say "see" of other
// pages.
func (l lexicon) seen(question string, terms []weighed) {
	if m := actionPattern.FindStringSubmatch(strings.ToLower(question)); m == nil || m[1] != "see" {
		return
	}
	see := l.set("see")
	for i, t := range terms {
		if view := l.action("how to view"); see.has(t.term) {
			terms[i].others = append([]synonym{{word: "view", term: view}}, l.others[view]...)
		}
	}
}

// speaks reports whether a name holds a term or another word for it.
func (s *selection) speaks(name set, term string) bool {
	if name.has(term) {
		return true
	}
	return slices.ContainsFunc(s.lex.others[term], func(o synonym) bool { return name.has(o.term) })
}

// steps is where the steps of a section begin; -1 where it has none.
func (p *passage) steps(sec int) int {
	found := -1
	for j := p.sections[sec].first; j < p.sections[sec].end; j++ {
		u := p.units[j]
		if u.kind == item && u.ordered && u.number == 1 {
			return j
		}
		if u.kind == code && u.lead >= 0 && found < 0 && p.lines(j) <= maxCode && !p.printed(j) {
			found = j
		}
	}
	return found
}

// lines is how many lines a block of code has.
func (p *passage) lines(j int) int { return strings.Count(p.text(j), "\n") - 1 }

// leadsAway reports whether a unit only says where to read on: "see …", or a
// list item that is nothing but a link.
func leadsAway(raw string) bool {
	return navigation.MatchString(raw) || onlyLink(raw)
}

func onlyLink(raw string) bool {
	raw = strings.TrimSpace(raw)
	m := link.FindStringIndex(raw)
	return m != nil && m[0] == 0 && len(raw)-m[1] <= 1
}

// within cuts a list of steps where its words are too many, beside what is chosen
// already, but not before the second step.
func (s *selection) within(p int, steps []int) []int {
	words, items, most := 0, 0, recipeWords
	if len(s.chosen) > 0 {
		most = maxWords - s.spent
	}
	for n, j := range steps {
		if s.passages[p].units[j].kind == item {
			items++
		}
		if words += s.proseWords(place{p, j}); words > most && items > 2 {
			return slices.Clone(steps[:n])
		}
	}
	return steps
}
