package eval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// accept checks an item that could be read and keeps it where all is well.
func (p *parser) accept(item Item, offset int, bad bool) {
	before := len(p.faults)
	line, _ := p.place(offset)
	p.checkID(item, line, offset)
	switch {
	case (item.Question == "") == (len(item.Turns) == 0):
		p.fault(offset, "item %q: either question or turns must be there, and not both", item.ID)
	case len(item.Turns) == 0:
		p.checkQuestion("the question", item.Question, offset)
	case len(item.Turns) > MaxTurns:
		p.fault(offset, "item %q has %d turns, but at most %d are taken", item.ID, len(item.Turns), MaxTurns)
	}
	p.checkExpected(item.Expected, offset)
	for i := range item.Turns {
		t := &item.Turns[i]
		if t.Turn == 0 {
			t.Turn = i + 1
		}
		if t.Turn != i+1 {
			p.fault(offset, "item %q: turn %d stands in place %d; turns are numbered 1, 2, 3 … in the order they are asked", item.ID, t.Turn, i+1)
		}
		p.checkQuestion("the question of a turn", t.Question, offset)
		p.checkExpected(t.Expected, offset)
	}
	if len(p.items) == MaxItems {
		p.fault(offset, "more than %d items; split the dataset", MaxItems)
	}
	if !bad && len(p.faults) == before {
		p.items = append(p.items, item)
	}
}

func (p *parser) checkID(item Item, line, offset int) {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case strings.TrimSpace(item.ID) == "":
		p.fault(offset, `no id; give each item one of its own, such as "id": "q1"`)
	case utf8.RuneCountInString(item.ID) > maxID || strings.ContainsFunc(item.ID, unprintable):
		p.fault(offset, "the id %.40q has more than %d characters, or some that cannot be printed", item.ID, maxID)
	case p.seen[item.ID] > 0:
		p.fault(offset, "id %q is that of line %d; each item needs one of its own", item.ID, p.seen[item.ID])
	default:
		p.seen[item.ID] = line
	}
}

func (p *parser) checkQuestion(what, question string, offset int) {
	if strings.TrimSpace(question) == "" {
		p.fault(offset, "%s is empty", what)
	}
	if n := utf8.RuneCountInString(question); n > MaxQuestion {
		p.fault(offset, "%s has %d characters, but at most %d are used of one", what, n, MaxQuestion)
	}
}

func (p *parser) checkExpected(e Expected, offset int) {
	for _, list := range []struct {
		name   string
		values []string
	}{{"expected_keywords", e.ExpectedKeywords}, {"relevant", e.Relevant}} {
		for _, v := range list.values {
			if strings.TrimSpace(v) == "" {
				p.fault(offset, "%q holds an empty text", list.name)
				break
			}
		}
	}
}
