package offline_test

import (
	"strings"
	"testing"

	"example.com/ragflow/skills/offline"
)

// TestRankFirst asks questions whose words alone do not tell which sentence
// answers.
func TestRankFirst(t *testing.T) {
	for _, c := range []struct{ name, question, text, want string }{
		{
			"he is who the sentence before named", "When did Tesla move to Budapest?",
			"Tesla moved to Budapest after his studies. Budapest was where Tesla met Puskas. In 1881, he moved to work at a telegraph company.",
			"In 1881",
		},
		{
			"a name stands beside what was done", "Who founded the old abbey of Fleury?",
			"The old abbey of Fleury was founded for monks. In the north, Leodebold Orleans founded the abbey of Fleury for them.",
			"In the north",
		},
		{
			"an amount of the kind asked for", "What percentage of the forest has been cleared?",
			"The forest was cleared from 1970 to 2000. Of the forest, 17 % has been lost.",
			"Of the forest",
		},
		{
			"a price is money", "How much did the tower cost?",
			"The tower took 90 months. In the end the tower was $90,000.",
			"In the end",
		},
		{
			"little words that few sentences hold", "What was the first map of the valley drawn on?",
			"A map of the valley was drawn by Ward. The first one of them was on silk. Maps of the valley were later drawn by Finch.",
			"The first",
		},
		{
			"what something is called", "What is the property of a number being prime called?",
			"A number is prime or has other divisors, a property of each number. The property is called primality.",
			"The property is called",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := library{page("a", "", c.text), page("b", "", "Nothing of that stands here.")}
			in := task(c.question, 0.9, l...)
			ranked := offline.NewAnswerer(l, 0).Rank(in)
			got := c.text[ranked[0].Start:ranked[0].End]
			if ranked[0].N != 1 || !strings.HasPrefix(got, c.want) {
				t.Errorf("ranked first: %q, want %q…", got, c.want)
			}
		})
	}
}

// TestSaysNothingTwice checks that an answer quotes a sentence once that stands
// on two pages.
func TestSaysNothingTwice(t *testing.T) {
	const twice = "Home editions only run Linux containers."
	l := library{page("a", "", twice+" Nothing else is said."), page("b", "", "Read this first. "+twice)}
	got := answer(t, l, task("Which containers do Home editions run?", 0.9, l...))
	if n := strings.Count(got.Text, twice); n != 1 {
		t.Errorf("%d times in:\n%s", n, got.Text)
	}
}
