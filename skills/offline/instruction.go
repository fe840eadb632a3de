package offline

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/search/text"
)

// instruction is a sentence, a list item or a table row that tells by which command
// something is done: it holds the command, or a block of code follows it.
type instruction struct {
	unit     int
	block    int // the unit that is the block; -1 where there is none
	purposes []purpose
	command  set  // words of the command
	again    bool // it goes on with steps before it
}

// purpose is what a command is for, as a clause of its sentence says it, or a comment or
// a line of output in its block.
type purpose struct {
	words map[string]bool // and whether each counts as one: no part of a name, nor a name in code
	names []string        // terms of it that are written like names
	does  []string        // terms of its first words, up to one of content: the verb; nil where any word may be it
}

// instructed are the instructions of a passage, found when the first how-to question
// looks for them.
type instructed struct {
	once sync.Once
	all  []instruction
}

// instructions are those of a passage. They are shared and not to be written to.
func (l lexicon) instructions(p *passage) []instruction {
	p.looked.instructed.once.Do(func() {
		var out []instruction
		for j, u := range p.units {
			if u.kind == code || p.away(j) {
				continue
			}
			raw, spans := p.text(j), codeSpans(p.text(j))
			in := instruction{unit: j, block: p.follows(j), command: set{}, again: goesOnWith.MatchString(p.tidied(j))}
			if in.block < 0 && (!slices.ContainsFunc(spans, func(s []int) bool { return commandLine.MatchString(raw[s[0]:s[1]]) }) || aboutPage.MatchString(p.tidied(j))) {
				continue
			}
			l.clausesOf(&in, raw, spans, p.tokens[j])
			if in.block < 0 {
				in.block = l.shownLater(p, &in)
			} else {
				l.blockOf(&in, p.block(in.block))
			}
			out = append(out, in)
		}
		p.looked.instructed.all = out
	})
	return p.looked.instructed.all
}

// follows is the block of commands that unit j leads into; -1 where there is none.
func (p *passage) follows(j int) int {
	next := j + 1
	if next >= len(p.units) || p.units[next].kind != code || p.units[next].lead != j || p.lines(next) > maxCode || p.printed(next) {
		return -1
	}
	return next
}

// printed reports whether a block of code is what something prints, by the sentence
// before it.
func (p *passage) printed(j int) bool {
	lead := p.units[j].lead
	return lead >= 0 && printedBefore.MatchString(p.tidied(lead)) && !prompted.MatchString(p.text(j))
}

// shownLater is the block below the same heading that shows the command of a sentence;
// -1 where there is none.
func (l lexicon) shownLater(p *passage, in *instruction) int {
	for j := in.unit + 1; j < p.section(in.unit).end && len(in.command) > 1; j++ {
		if p.units[j].kind == code && p.lines(j) <= maxCode && !p.printed(j) && in.command.within(l.set(p.block(j))) {
			return j
		}
	}
	return -1
}

// within reports whether another set holds all terms of a set.
func (s set) within(other set) bool {
	for t := range s {
		if !other.has(t) {
			return false
		}
	}
	return true
}

// clausesOf adds what the clauses of a sentence say, and the words of the commands in
// it.
func (l lexicon) clausesOf(in *instruction, raw string, spans [][]int, tokens []text.Token) {
	var clause []phraseWord
	targets := linkTarget.FindAllStringIndex(raw, -1)
	end, follows := 0, false // and whether the word before stands in code
	for _, t := range tokens {
		if target := spanAround(targets, t); target != nil {
			end = target[1] // a reader does not see it
			continue
		}
		gap, code := raw[min(end, t.Start):t.Start], spanAround(spans, t)
		if code != nil && commandLine.MatchString(raw[code[0]:code[1]]) {
			if !text.IsFolded(t.Term) {
				in.command[t.Term] = struct{}{}
			}
			end, follows = max(end, t.End), true
			continue
		}
		if clauseEnds.MatchString(gap) {
			in.purposes = append(in.purposes, purposesOf(clause)...)
			clause = nil
		}
		word := strings.ToLower(raw[t.Start:t.End])
		clause = append(clause, phraseWord{
			term: t.Term, gap: strings.ToLower(gap), command: follows, light: askingWord(word) || l.instructing.has(t.Term),
			named: code == nil && end > 0 && looksLikeName(raw[t.Start:t.End], true),
			loose: code != nil || t.Start < end || text.IsFolded(t.Term), form: strings.HasSuffix(word, "ing") || strings.HasSuffix(word, "ed"),
		})
		end, follows = max(end, t.End), code != nil
	}
	in.purposes = append(in.purposes, purposesOf(clause)...)
}

// spanAround is the one of some spans that a token stands in; nil where it stands in none.
func spanAround(spans [][]int, t text.Token) []int {
	for _, s := range spans {
		if s[0] <= t.Start && t.End <= s[1] {
			return s
		}
	}
	return nil
}

// phraseWord is a word of a clause.
type phraseWord struct {
	term    string
	gap     string // what stands before it
	command bool   // and so does code
	light   bool   // it says that something is done, and not what
	named   bool   // it is written like a name
	loose   bool   // it is a part of a name, or stands in code
	form    bool   // it ends like "logging" and "logged", which order nothing
}

// purposesOf are what a clause says is done, as a whole and each part of it that a "to",
// a "using" or the like begins. What tells when something happens orders nothing.
func purposesOf(clause []phraseWord) []purpose {
	var out []purpose
	add := func(words []phraseWord) {
		if len(words) == 0 || circumstance.MatchString(words[0].gap) {
			return
		}
		u := purpose{words: map[string]bool{}, does: []string{}}
		begun := false
		for _, w := range words {
			u.words[w.term] = u.words[w.term] || !w.loose
			if !begun && !w.form && (len(u.does) > 0 || !determined.MatchString(w.gap)) { // "the limit" is no verb, "see a list" is to list
				u.does = append(u.does, w.term)
			}
			if begun = begun || !w.light; w.named {
				u.names = append(u.names, w.term)
			}
		}
		if len(u.does) > 0 {
			out = append(out, u)
		}
	}
	from := 0
	for i, w := range clause {
		if i == 0 || !partBegins.MatchString(w.gap) || toNoun.MatchString(w.gap) {
			continue
		}
		add(clause[from:i])
		if from = i; strings.Contains(w.gap, "to ") && !w.command && !clause[i-1].light {
			return out // what something is for, and not what is done: "a registry to push to"
		}
	}
	add(clause[from:])
	if from > 0 {
		add(clause)
	}
	return out
}

// blockOf adds what a block of few commands says of itself, and the words of its
// commands.
func (l lexicon) blockOf(in *instruction, block string) {
	lines := strings.Split(block, "\n")
	prompts := prompted.MatchString(block)
	var said []string
	commands := 0
	for _, line := range lines[1 : len(lines)-1] {
		line = strings.TrimSpace(line)
		command, ordered := strings.CutPrefix(line, "$ ")
		comment := strings.TrimLeft(line, "#/ ")
		switch {
		case comment != line && comment != "" && !ordered:
			said = append(said, comment)
		case prompts && !ordered:
			said = append(said, line) // what it prints
		case line != "":
			commands++
			for t := range l.set(command) {
				in.command[t] = struct{}{}
			}
		}
	}
	if commands > fewCommands {
		return
	}
	for _, s := range said[:min(len(said), fewLines)] {
		if words := l.set(s); len(words) > fewWords {
			u := purpose{words: map[string]bool{}}
			for t := range words {
				u.words[t] = !text.IsFolded(t)
			}
			in.purposes = append(in.purposes, u)
		}
	}
}

// fewLines is how many lines of comments and output are looked at.
const fewLines = 6

// codeSpans are the places of inline code.
func codeSpans(raw string) [][]int {
	if !strings.Contains(raw, "`") {
		return nil
	}
	return codeSpan.FindAllStringIndex(raw, -1)
}

var (
	linkTarget    = regexp.MustCompile(`\]\([^()\s]*\)|\]\[[^\]]*\]`)
	codeSpan      = regexp.MustCompile("`[^`]+`")
	commandLine   = regexp.MustCompile("^`[a-z][\\w.-]*\\s+[^`=]+`$")
	prompted      = regexp.MustCompile(`(?m)^[> \t]*(?:\$|PS>|C:\\>) `)
	clauseEnds    = regexp.MustCompile(`[,;:.!?()—–]`)
	partBegins    = regexp.MustCompile(`\b(?:to|using|with|by|from|via)\b`)
	toNoun        = regexp.MustCompile(`\bto (?:an?|the|your|my|this|that|its|one|each|all|another)\b`)
	determined    = regexp.MustCompile(`\b(?:an?|the|this|that|these|those|your|its|each|every|no)\W*$`)
	circumstance  = regexp.MustCompile(`(?i)\b(?:when|whenever|if|after|before|once|while|unless|since|because|until|as|gdy|jeśli|jeżeli|po|kiedy)\b|\bkhi\b|nếu`)
	goesOnWith    = regexp.MustCompile(`(?i)^\W*(?:now|next|then|again|finally|afterwards|lastly|teraz|następnie|potem)\b|^(?:bây giờ|tiếp theo)`)
	printedBefore = regexp.MustCompile(`(?i)\b(?:outputs?|results?|responses?|looks? like|similar to|you(?:'ll)? (?:should |will |can )?see|returns?|prints?)\b`)
)

// instructingWords tell that a command is to be used, and not what for.
const instructingWords = "command commands subcommand following use using used run runs type execute flag flags option options parameter argument attribute instruction setting example instance line cli terminal allow allows let lets verify check confirm ensure polecenie polecenia użyj uruchom wpisz"
