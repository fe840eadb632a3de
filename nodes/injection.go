package nodes

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/memo"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// suspicious is the injection score from which a chunk is kept out of the context,
// unless nothing better was found.
const suspicious = 0.8

// injectionPattern matches text that tries to steer a model instead of informing a
// reader.
type injectionPattern struct {
	name   string
	weight float64  // 0–1: the score of this pattern alone
	words  []string // every match contains one of them; checked first, because it is fast
	in     *regexp.Regexp
}

// injectionPatterns match cleaned text in lower case.
var injectionPatterns = []injectionPattern{
	{"tells a model to ignore its instructions", 0.9, []string{"ignor", "disregard", "forget", "override", "zapomnij", "bỏ qua", "phớt lờ", "vergiss", "missachte", "olvida", "oublie", "игнорируй", "забудь", "忽略", "无视", "忘记"}, regexp.MustCompile(
		`\b(?:ignore|disregard|forget|override)\b[^.;:\n]{0,30}\b(?:instructions?|rules|prompts?|sources?|guidelines)\b` +
			`|(?:zignoruj|zapomnij)[^.\n]{0,30}(?:instrukcj|polece|zasad)` +
			`|(?:bỏ qua|phớt lờ)[^.\n]{0,30}(?:hướng dẫn|chỉ dẫn|quy tắc)` +
			`|(?:ignorier|vergiss|missachte)[^.\n]{0,30}(?:anweisung|regeln|vorgaben)` +
			`|\b(?:ignora|olvida)\b[^.\n]{0,30}(?:instrucciones|reglas)` +
			`|\b(?:ignore[zr]|oublie[zr]?)\b[^.\n]{0,30}(?:instructions|consignes|règles)` +
			`|(?:игнорируй|забудь)[^.\n]{0,30}(?:инструкц|правил)` +
			`|(?:忽略|无视|忘记)[^。\n]{0,15}(?:指令|指示|规则|提示)`,
	)},
	{"dictates an answer", 0.85, []string{"asked about", " only with", " solely with", " just with", "odpowiedz tylko", "chỉ trả lời"}, regexp.MustCompile(
		`\bwhen (?:you are )?asked about\b[^.\n]{0,60}\b(?:say|answer|reply|respond|claim)\b` +
			`|\b(?:answer|respond|reply)\b (?:only|solely|just) with\b|odpowiedz tylko słowem|chỉ trả lời bằng từ`,
	)},
	{"assigns a role", 0.85, []string{"you are now", "prompt", "your instructions"}, regexp.MustCompile(
		`\byou are now (?:in |a |an )?[^.\n]{0,20}\b(?:mode|assistant|jailbroken|unrestricted)\b` +
			`|\b(?:reveal|print|output|repeat)\b[^.\n]{0,15}\b(?:system prompt|hidden prompt|your instructions)\b`,
	)},
	{"asks to ignore other sources", 0.6, []string{"trustworthy", "do not cite", "cite nothing"}, regexp.MustCompile(
		`\bonly trustworthy source\b|\bdo not cite (?:any|other)\b|\bcite nothing\b`,
	)},
	{"chat markup", 0.8, []string{"<|im_", "inst]", "###", "\"role\"", "system>", "assistant:"}, regexp.MustCompile(
		`<\|im_(?:start|end)\|>|\[/?inst\]|###\s*(?:instruction|response|system)\b|"role"\s*:\s*"system"|</?system>|\bhuman:[^\n]{0,80}\bassistant:`,
	)},
	{"an image address with a query", 0.3, []string{"!["}, regexp.MustCompile(`!\[[^\]]*\]\(\s*<?https?://[^)\s]*\?[^)\s]*=`)},
}

// minHidden is the number of hidden characters from which a text is suspicious.
const minHidden = 4

// injectionScore returns how much a text looks like prompt injection, from 0 to 1,
// and the names of the matching patterns. It is a guess: it misses many attacks, and
// a page about such attacks gets a high score.
func injectionScore(s string) (score float64, why []string) {
	clear := 1.0
	add := func(name string, weight float64) {
		clear *= 1 - weight
		why = append(why, name)
	}
	plain := strings.ToLower(text.Clean(s))
	for _, p := range injectionPatterns {
		if slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(plain, w) }) && p.in.MatchString(plain) {
			add(p.name, p.weight)
		}
	}
	if cite.Escape(s) != s {
		add("source marks", 0.3)
	}
	tags, hidden := 0, 0
	for _, r := range s {
		switch {
		case 0xE0000 <= r && r <= 0xE007F:
			tags++
		case r > 0x7f && text.Hidden(r):
			hidden++
		}
	}
	if tags >= minHidden {
		add("invisible text", 0.9)
	}
	if hidden >= minHidden {
		add("hidden characters", 0.3)
	}
	return 1 - clear, why
}

// cachedInjectionScores is the minimum number of cached scores.
const cachedInjectionScores = 256

// injectionCache caches injection scores: questions find the same passages again.
type injectionCache struct{ byText *memo.Cache[string, scored] }

// scored is a result of injectionScore.
type scored struct {
	score float64
	why   []string
}

func newInjectionCache() injectionCache {
	return injectionCache{memo.New[string, scored](cachedInjectionScores)}
}

func (c injectionCache) of(text string) (score float64, why []string) {
	v := c.byText.Get(text, func() (v scored) {
		v.score, v.why = injectionScore(text)
		return v
	})
	return v.score, v.why
}

// injectionFilter drops suspicious sources that rank below an unsuspicious one, so
// that instructions hidden in one document cannot change an answer from others.
// The best source always stays: it is what the question asks for.
type injectionFilter struct {
	scores   injectionCache
	clean    bool // an unsuspicious source was seen
	trusting bool // keep all sources
}

// drop reports whether to leave s out, and notes suspicious sources. Callers call
// it in rank order.
func (f *injectionFilter) drop(ctx context.Context, s state.Source) bool {
	score, why := f.scores.of(s.Text)
	if score < suspicious {
		f.clean = true
		return false
	}
	what := "kept: nothing better was found"
	switch {
	case f.trusting:
		what = "kept: documents are trusted"
	case f.clean:
		what = "left out"
	}
	graph.Note(ctx, "suspicious", fmt.Sprintf("%s (%.2f: %s), %s", place(s.Chunk), score, strings.Join(why, ", "), what))
	return f.clean && !f.trusting
}
