package nodes

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// injectionPattern matches text that tries to steer a model instead of informing a
// reader.
type injectionPattern struct {
	name  string
	words []string // every match contains one of them; checked first, because it is fast
	in    *regexp.Regexp
}

// injectionPatterns match cleaned text in lower case.
var injectionPatterns = []injectionPattern{
	{"tells a model to ignore its instructions", []string{"ignor", "disregard", "forget", "override", "zapomnij", "bỏ qua", "phớt lờ", "vergiss", "missachte", "olvida", "oublie", "игнорируй", "забудь", "忽略", "无视", "忘记"}, regexp.MustCompile(
		`\b(?:ignore|disregard|forget|override)\b[^.;:\n]{0,30}\b(?:instructions?|rules|prompts?|sources?|guidelines)\b` +
			`|(?:zignoruj|zapomnij)[^.\n]{0,30}(?:instrukcj|polece|zasad)` +
			`|(?:bỏ qua|phớt lờ)[^.\n]{0,30}(?:hướng dẫn|chỉ dẫn|quy tắc)` +
			`|(?:ignorier|vergiss|missachte)[^.\n]{0,30}(?:anweisung|regeln|vorgaben)` +
			`|\b(?:ignora|olvida)\b[^.\n]{0,30}(?:instrucciones|reglas)` +
			`|\b(?:ignore[zr]|oublie[zr]?)\b[^.\n]{0,30}(?:instructions|consignes|règles)` +
			`|(?:игнорируй|забудь)[^.\n]{0,30}(?:инструкц|правил)` +
			`|(?:忽略|无视|忘记)[^。\n]{0,15}(?:指令|指示|规则|提示)`,
	)},
	{"dictates an answer", []string{"asked about", " only with", " solely with", " just with", "odpowiedz tylko", "chỉ trả lời"}, regexp.MustCompile(
		`\bwhen (?:you are )?asked about\b[^.\n]{0,60}\b(?:say|answer|reply|respond|claim)\b` +
			`|\b(?:answer|respond|reply)\b (?:only|solely|just) with\b|odpowiedz tylko słowem|chỉ trả lời bằng từ`,
	)},
	{"assigns a role", []string{"you are now", "prompt", "your instructions"}, regexp.MustCompile(
		`\byou are now (?:in |a |an )?[^.\n]{0,20}\b(?:mode|assistant|jailbroken|unrestricted)\b` +
			`|\b(?:reveal|print|output|repeat)\b[^.\n]{0,15}\b(?:system prompt|hidden prompt|your instructions)\b`,
	)},
	{"chat markup", []string{"<|im_", "inst]", "###", "\"role\"", "system>", "assistant:"}, regexp.MustCompile(
		`<\|im_(?:start|end)\|>|\[/?inst\]|###\s*(?:instruction|response|system)\b|"role"\s*:\s*"system"|</?system>|\bhuman:[^\n]{0,80}\bassistant:`,
	)},
}

// minInvisible is the number of invisible tag characters from which a text is suspicious.
const minInvisible = 4

// injection returns why a text looks like prompt injection, "" if it does not. It is a guess: it misses many
// attacks, and finds some in a page about such attacks.
func injection(s string) string {
	plain := strings.ToLower(text.Clean(s))
	for _, p := range injectionPatterns {
		if slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(plain, w) }) && p.in.MatchString(plain) {
			return p.name
		}
	}
	invisible := 0
	for _, r := range s {
		if 0xE0000 <= r && r <= 0xE007F {
			invisible++
		}
	}
	if invisible >= minInvisible {
		return "invisible text"
	}
	return ""
}

// injectionFilter drops suspicious sources that rank below an unsuspicious one, so
// that instructions hidden in one document cannot change an answer from others.
// The best source always stays: it is what the question asks for.
type injectionFilter struct {
	texts    *Texts
	clean    bool // an unsuspicious source was seen
	trusting bool // keep all sources
}

// drop reports whether to leave s out, and notes suspicious sources. Callers call
// it in rank order.
func (f *injectionFilter) drop(ctx context.Context, s state.Source) bool {
	why := f.texts.injections.Make(s.Text, cachedTexts, func() string { return injection(s.Text) })
	if why == "" {
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
	graph.Note(ctx, "suspicious", fmt.Sprintf("%s (%s), %s", place(s.Chunk), why, what))
	return f.clean && !f.trusting
}

// WithoutInjections drops sources that read like instructions to a model and rank below one
// that does not, as [PostRetrieval] does. trusting keeps all.
func WithoutInjections(ctx context.Context, ranked []state.Source, trusting bool) []state.Source {
	f := injectionFilter{texts: &Texts{}, trusting: trusting}
	return slices.DeleteFunc(slices.Clone(ranked), func(s state.Source) bool { return f.drop(ctx, s) })
}
