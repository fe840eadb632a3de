// Package text turns text into what search, grading and citing work with:
// terms, sentences, languages and token counts. It is pure: no files, no
// network, the same input always gives the same output.
//
//	for _, t := range text.For("en").Analyze("Restarting the containers") {
//		// t.Term is "restart", then "contain"; t.Start and t.End are bytes of the input
//	}
//
// # Rules
//
//   - Offsets are bytes of the string that was passed in, whatever was
//     normalised on the way: s[t.Start:t.End] is always what stands there.
//   - Documents and queries go through the same [Analyzer]. Its Name changes
//     whenever its output may change, so an index can tell that it is stale.
//   - Everything accepts any bytes, valid UTF-8 or not, and never panics.
//   - Everything is safe for concurrent use.
//
// # How it works
//
// Words are runs of letters and digits. They are normalised: NFKC, lower case, then
// per language stop words are dropped and the rest is stemmed. A technical name such
// as docker-compose.yml, depends_on, BuildKit or --mount gives its parts, so that one
// of them finds it, and the whole name at the position of its first part, so that the
// full name finds it first. The whole is written without its joints: plug-in and
// plugin, Node.js and nodejs, dependsOn and depends_on are one term each.
//
// Vietnamese writes a space between syllables, and most words have two: there,
// pairs of syllables are terms besides the syllables, which saves a dictionary.
// Both have a twin without diacritics, see [IsFolded], for people who
// type without them.
//
// Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese run their words
// together or glue particles to them: there, in texts of any language, pairs of
// neighbouring letters are terms, and ideographs and Korean syllables by themselves.
//
// [Multilingual] is for documents of several languages in one index. It tells the
// language of a document by its function words, and makes terms in that
// language's way; a query, too short to tell, gives the terms of every language
// that the index holds: see [Polyglot]. Cyrillic and Arabic words are stemmed
// wherever they stand, and scripts lose what their readers leave out: Russian ё,
// Greek accents, Hebrew points, Arabic vowel signs.
//
// [Sentences] knows enough Markdown not to tear a code block, a table row or
// a list item apart. [Language] looks at the script, then at function words and at
// letters that few languages use: questions are short, and statistics need length. [Count]
// counts tokens of the o200k vocabulary. [Clean] normalises a line of input.
package text
