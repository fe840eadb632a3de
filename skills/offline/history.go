package offline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// withHistory is the turn with what the conversation lends it.
func (r *Rewriter) withHistory(ctx context.Context, t turn, recent []state.Exchange, m state.Memory) (state.Query, error) {
	if t.manner == goesOn {
		return r.onwards(ctx, t, recent, m)
	}
	b := borrower{r: r, turn: t, q: state.Query{Text: t.text, Weight: 1, Attempt: 1}, decay: turnDecay}
	switch t.manner {
	case alone:
		b.decay = aloneDecay
		b.q.Weight, b.q.Why = sideWeight, "the same with a little of the conversation, should it lean on it after all"
	case accepts:
		b.q.Why = "what the last answer offered, with words of the conversation"
	case pointsTo: // the rest of the list is not meant
		b.decay = itemDecay
		b.q.Why = t.why + "; with words of earlier questions"
	case corrects:
		b.decay = aloneDecay
		b.q.Why = "the correction with words of the question it corrects"
	case leans, goesOn:
		b.q.Why = "turn with words of earlier questions, answers and cited pages"
	}
	b.lend(r.lex.nominatives(t.text), 1)
	if err := b.borrow(ctx, recent); err != nil {
		return state.Query{}, err
	}
	b.person(m)
	return b.q, nil
}

// onwards is the last question that asked something, without the passages that
// were told since.
func (r *Rewriter) onwards(ctx context.Context, t turn, recent []state.Exchange, m state.Memory) (state.Query, error) {
	from := len(recent) - 1
	for from > 0 && r.read(recent[from].Question, recent[:from]).manner == goesOn {
		from--
	}
	question := recent[from].Question
	q, err := r.withHistory(ctx, r.before(question, recent[:from]), recent[:from], m)
	if err != nil {
		return q, err
	}
	for _, e := range recent[from:] {
		q.Told = append(q.Told, e.Told...)
	}
	q.Weight, q.Cited = 1, nil
	q.Why = fmt.Sprintf("%s: on with %q, without what was told", t.why, question)
	return q, nil
}

// before reads an earlier turn as it was read then.
func (r *Rewriter) before(question string, recent []state.Exchange) turn {
	t := r.read(question, recent)
	if t.manner == goesOn { // the conversation before it is forgotten
		t.manner = leans
	}
	return t
}

// borrower collects what a turn borrows.
type borrower struct {
	r     *Rewriter
	turn  turn
	q     state.Query
	decay float64
}

// borrow takes words of the exchanges, oldest first, and what the last one
// cited. Only questions lend to a turn that is complete.
func (b *borrower) borrow(ctx context.Context, recent []state.Exchange) error {
	complete := b.turn.manner == alone || b.turn.manner == pointsTo
	anchored := complete || b.turn.manner == corrects
	for i, e := range slices.Backward(recent) {
		k := float64(len(recent) - i)
		not := b.r.putAway(b.turn.said, recent[i:])
		w := math.Pow(b.decay, k)
		if !anchored && (i == 0 || b.r.leaning(e.Question) == "") {
			anchored = true // the turns since are about this one
			w = max(w, topicWeight*math.Pow(topicDecay, k-1))
			if len(not) > 0 && doneInstead(b.turn.said, e.Question) != "" {
				w = objectWeight // what is left is what the pronoun stands for
			}
		}
		words := b.r.lex.lent(e.Question, not)
		b.lend(words, w)
		b.lend(b.r.lex.synonyms(words), w*otherWords)
		newest := i == len(recent)-1
		instead := newest && len(not) > 0 && doneInstead(b.turn.said, e.Question) != ""
		if complete || newest && (b.turn.manner == corrects || len(not) > 0) && !instead {
			continue // that answered what is not meant
		}
		if instead {
			e.Terms = nil // but its pages are about the same thing
		}
		if err := b.answer(ctx, e, b.r.lex.lent(b.r.topic(recent[:i+1]), not), k, not); err != nil {
			return err
		}
		if b.turn.manner == leans && newest && !instead {
			b.q.Cited = e.Chunks
		}
	}
	return nil
}

// putAway are the terms of the first of some exchanges that a turn since, or the
// one under way, put others in place of, and that nobody named again.
func (r *Rewriter) putAway(said string, since []state.Exchange) set {
	out := set{}
	for i := range since {
		later := said
		if i+1 < len(since) {
			later = since[i+1].Question
		}
		for term := range r.lex.set(later) {
			delete(out, term)
		}
		for term := range r.unmeant(later, since[0].Question) {
			out[term] = struct{}{}
		}
	}
	return out
}

// answer lends words of an answer k turns ago and of the titles it cited, by how
// far what it cited speaks of the topic of its turn: an answer that strayed, or
// the closest passage of one that abstained, does not lead the next turn on.
func (b *borrower) answer(ctx context.Context, e state.Exchange, topic string, k float64, not set) error {
	chunks, err := b.r.cited(ctx, e.Chunks)
	if err != nil {
		return err
	}
	asked := b.r.lex.question(state.Query{Text: topic})
	most := 0.0
	for _, c := range chunks {
		about := 1.0
		if len(asked) > 0 {
			p := b.r.lex.passage(1, state.Source{Chunk: c})
			about = coverage(asked, p.says)
		}
		most = max(most, about)
		b.lend(b.r.lex.lent(titles(c), not), about*titleWeight*math.Pow(titleDecay, k-1))
	}
	if len(chunks) == 0 {
		most = 1 // nobody knows what it cited
	}
	terms := strings.Join(e.Terms[:min(len(e.Terms), answerTerms)], " ")
	b.lend(b.r.lex.lent(terms, not), most*answerWeight*math.Pow(answerDecay, k-1))
	return nil
}

func (b *borrower) lend(words string, weight float64) {
	if weight = math.Round(weight*1000) / 1000; words != "" && weight > 0 {
		b.q.Boosts = append(b.q.Boosts, state.Boost{Text: words, Weight: weight})
	}
}

// person lends the names in what the person said of themselves long ago: who
// uses Ubuntu asks about Ubuntu.
func (b *borrower) person(m state.Memory) {
	facts, _ := readSummary(m.Summary)
	for _, msg := range m.Messages {
		if msg.Role == state.Human {
			facts = merged(facts, factsOf(msg.Content))
		}
	}
	var names []string
	for _, f := range facts {
		f = strings.TrimPrefix(f, factMark)
		not := b.r.unmeant(b.turn.said, f)
		for _, w := range b.r.lex.known(f, not) {
			if !slices.Contains(names, w) {
				names = append(names, w)
			}
		}
	}
	b.lend(strings.Join(names, " "), personWeight)
}
