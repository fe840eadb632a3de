// Package cite ties an answer to its sources: [Source N] in the text, and for each N a span of a document.
//
// # Smallest use
//
//	checked := cite.Validate(answer, len(sources))        // removes markers of unknown sources
//	citations, err := cite.Build(sources, picks...)       // spans of the others
//	ok := citations[0].QuotedIn(document)                 // the file still contains the quote
//	report := cite.Check(answer, sources, cite.Options{}) // whether sources support what cites them
//	repaired := cite.Repair(answer, report, cite.Fixing{Unsupported: "(unsupported)"})
//
// # Rules
//
//   - Source N is sources[N-1] of the context of the answer.
//   - A marker is "[Source 1]". Also read: any case, no space, several numbers ("[Sources 1, 2 and 4]",
//     "[Source 1, Source 2]"), ranges ("[Sources 1-3]"). A marker is on one line. A backslash before it or a
//     fenced code block makes it plain text; Escape adds the backslash to quoted text.
//   - A quote is document[Start:End], byte for byte; lines count from 1 and end with "
//
// ".
//
// # The check
//
// [Check] splits each sentence into words with their stems and finds the sentences of a source that share
// most of them. The source supports it if
//
//   - three neighbouring sentences contain enough of its words (near),
//   - all its figures, codes and flags (literal) and names (name) are in the source,
//   - and no rule of rules.go objects: an opposite word, a negation, another unit, other words in the same
//     place, swapped parts, a figure with another word, a restriction.
//
// testdata/rules.golden shows what each rule gains; words.txt lists the words that rules need, by language. A
// sentence that its own source contradicts stays unsupported, even if another source shares its words.
//
// All functions are pure.
package cite
