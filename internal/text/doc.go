// Package text turns text into the vocabulary of search, grading and citing: terms, sentences,
// languages and token counts. It is pure: no files, no network, and the same input always gives
// the same output.
//
//	for _, t := range text.For("en").Analyze("Restarting the containers") {
//		// t.Term is "restart", then "contain"; t.Start and t.End are bytes of the input
//	}
//
// # Rules
//
//   - Offsets are bytes of the input, whatever was normalised: s[t.Start:t.End] is the text as
//     written.
//   - Documents and queries use the same [Analyzer]. Its Name changes whenever its output may
//     change, so an index can detect that it is stale.
//   - Everything accepts any bytes, valid UTF-8 or not, and never panics.
//   - Everything is safe for concurrent use.
//
// # How it works
//
// Words are runs of letters and digits. They are normalised: NFKC and lower case; then stop
// words of the language are dropped and the rest is stemmed. A technical name such as
// docker-compose.yml, depends_on, BuildKit or --mount gives its parts, so that one of them
// finds it, and the whole name at the position of its first part, so that the full name finds
// it first. The whole is written without its joints: plug-in and plugin, Node.js and nodejs,
// dependsOn and depends_on are one term each.
//
// Vietnamese writes a space between syllables, and most words have two. So pairs of syllables
// are terms in addition to the syllables, which saves a dictionary. Both have a form without
// diacritics, see [IsFolded], for people who type without them.
//
// Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese write words without spaces or attach
// particles to them. So pairs of neighbouring letters are terms, and single ideographs and
// Korean syllables, in texts of any language.
//
// German, Dutch, Finnish, Hungarian and the Nordic languages write the parts of a compound as one
// word. So n-grams of four letters of long words are terms in such text, see [NGrams].
//
// [Multilingual] is for documents of several languages in one index: see [Polyglot]. Greek,
// Cyrillic and Arabic words are stemmed in all texts, and letters that readers omit are unified: Russian
// ё, Greek accents, Hebrew points, Arabic vowel signs.
//
// [Sentences] knows enough Markdown not to split a code block, a table row or the beginning of
// a list item. [Language] looks at the script, then at function words and at letters that few
// languages use: questions are short, and statistics need length. [Count] counts tokens of the
// o200k vocabulary. [Clean] normalises a line of input.
package text
