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

// suspicious is the suspicion from which on a chunk is kept out of the context,
// unless nothing better was found.
const suspicious = 0.8

// sign is something that texts hold which want to steer a model, not to inform a
// reader.
type sign struct {
	name   string
	weight float64  // 0–1: how much it says by itself
	words  []string // one of which stands in every text that has the sign
	in     *regexp.Regexp
}

// signs are looked for in a cleaned text in lower case.
//
//nolint:gochecknoglobals // patterns that are compiled once
var signs = []sign{
	{"orders to forget what was said", 0.9, []string{"ignor", "disregard", "forget", "override", "zapomnij", "bỏ qua", "phớt lờ", "vergiss", "missachte", "olvida", "oublie", "игнорируй", "забудь", "忽略", "无视", "忘记"}, regexp.MustCompile(
		`\b(?:ignore|disregard|forget|override)\b[^.;:\n]{0,30}\b(?:instructions?|rules|prompts?|sources?|guidelines)\b` +
			`|(?:zignoruj|zapomnij)[^.\n]{0,30}(?:instrukcj|polece|zasad)` +
			`|(?:bỏ qua|phớt lờ)[^.\n]{0,30}(?:hướng dẫn|chỉ dẫn|quy tắc)` +
			`|(?:ignorier|vergiss|missachte)[^.\n]{0,30}(?:anweisung|regeln|vorgaben)` +
			`|\b(?:ignora|olvida)\b[^.\n]{0,30}(?:instrucciones|reglas)` +
			`|\b(?:ignore[zr]|oublie[zr]?)\b[^.\n]{0,30}(?:instructions|consignes|règles)` +
			`|(?:игнорируй|забудь)[^.\n]{0,30}(?:инструкц|правил)` +
			`|(?:忽略|无视|忘记)[^。\n]{0,15}(?:指令|指示|规则|提示)`,
	)},
	{"tells what to answer", 0.85, []string{"asked about", " only with", " solely with", " just with", "odpowiedz tylko", "chỉ trả lời"}, regexp.MustCompile(
		`\bwhen (?:you are )?asked about\b[^.\n]{0,60}\b(?:say|answer|reply|respond|claim)\b` +
			`|\b(?:answer|respond|reply)\b (?:only|solely|just) with\b|odpowiedz tylko słowem|chỉ trả lời bằng từ`,
	)},
	{"gives a role", 0.85, []string{"you are now", "prompt", "your instructions"}, regexp.MustCompile(
		`\byou are now (?:in |a |an )?[^.\n]{0,20}\b(?:mode|assistant|jailbroken|unrestricted)\b` +
			`|\b(?:reveal|print|output|repeat)\b[^.\n]{0,15}\b(?:system prompt|hidden prompt|your instructions)\b`,
	)},
	{"asks to leave other sources out", 0.6, []string{"trustworthy", "do not cite", "cite nothing"}, regexp.MustCompile(
		`\bonly trustworthy source\b|\bdo not cite (?:any|other)\b|\bcite nothing\b`,
	)},
	{"marks of a conversation with a model", 0.8, []string{"<|im_", "inst]", "###", "\"role\"", "system>", "assistant:"}, regexp.MustCompile(
		`<\|im_(?:start|end)\|>|\[/?inst\]|###\s*(?:instruction|response|system)\b|"role"\s*:\s*"system"|</?system>|\bhuman:[^\n]{0,80}\bassistant:`,
	)},
	{"an image with a query", 0.3, []string{"!["}, regexp.MustCompile(`!\[[^\]]*\]\(\s*<?https?://[^)\s]*\?[^)\s]*=`)},
}

// minHidden is how many hidden characters a text must hold to be a sign.
const minHidden = 4

// suspicion tells how much a text looks as if it wanted to steer a model, from 0
// to 1, and by which signs. It is a guess by patterns: it misses much, and a
// page about such attacks is suspicious, too.
func suspicion(s string) (score float64, why []string) {
	clear := 1.0
	add := func(name string, weight float64) {
		clear *= 1 - weight
		why = append(why, name)
	}
	plain := strings.ToLower(text.Clean(s))
	for _, sign := range signs {
		if slices.ContainsFunc(sign.words, func(w string) bool { return strings.Contains(plain, w) }) && sign.in.MatchString(plain) {
			add(sign.name, sign.weight)
		}
	}
	if cite.Escape(s) != s {
		add("marks of sources", 0.3)
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
		add("text in invisible characters", 0.9)
	}
	if hidden >= minHidden {
		add("hidden characters", 0.3)
	}
	return 1 - clear, why
}

// mostSuspected is how many texts suspicions are remembered of.
const mostSuspected = 256

// suspicions are those of the texts asked about last: questions find the same
// passages again.
type suspicions struct{ known *memo.Cache[string, verdict] }

// verdict is what suspicion said of a text.
type verdict struct {
	score float64
	why   []string
}

func newSuspicions() suspicions { return suspicions{memo.New[string, verdict](mostSuspected)} }

func (s suspicions) of(text string) (score float64, why []string) {
	v := s.known.Get(text, func() (v verdict) {
		v.score, v.why = suspicion(text)
		return v
	})
	return v.score, v.why
}

// wary tells which sources to leave out: suspicious ones that rank below one
// that is not. An order hidden in one document must not reach the answer beside
// what others say. What is best of all stays, whatever it holds, for it is what
// the question asks for.
type wary struct {
	signs    suspicions
	honest   bool // one that is not suspicious was met
	trusting bool // nothing is left out
}

// leavesOut reports whether to leave s out, and notes what is suspicious. It is
// asked in rank order.
func (w *wary) leavesOut(ctx context.Context, s state.Source) bool {
	score, why := w.signs.of(s.Text)
	if score < suspicious {
		w.honest = true
		return false
	}
	what := "kept, for nothing better was found"
	switch {
	case w.trusting:
		what = "kept, for documents are trusted"
	case w.honest:
		what = "left out"
	}
	graph.Note(ctx, "suspicious", fmt.Sprintf("%s (%.2f: %s), %s", place(s.Chunk), score, strings.Join(why, ", "), what))
	return w.honest && !w.trusting
}
