// Package cite ties an answer to the passages it leans on: [Source N] in the
// text, N → span of a document beside it.
//
// # Smallest use
//
//	checked := cite.Validate(answer, len(sources))       // markers of unknown sources go
//	citations, err := cite.Build(sources, picks...)      // spans for those that stay
//	ok := citations[0].QuotedIn(document)            // does the file still say so?
//	report := cite.Check(answer, sources, cite.Options{}) // does each source say what it is cited for?
//	repaired := cite.Repair(answer, report, cite.Fixing{Unsupported: "(unsupported)"})
//
// # Rules
//
//   - Source N is sources[N-1] of the context the answer was made from.
//   - A marker is "[Source 1]". Also read: any case, no space, several numbers
//     ("[Sources 1, 2 and 4]", "[Source 1, Source 2]"), ranges ("[Sources 1-3]").
//     A marker stands on one line. A backslash before the bracket, and a fenced
//     code block, make it plain text; Escape does so with text that is quoted.
//   - A quote is document[Start:End], byte for byte; lines count from 1 and end
//     with "\n".
//
// # The check
//
// [Check] takes each sentence apart into words with their stems, and finds the sentences of a
// source that hold most of its words. The source supports it if
//
//   - three neighbouring sentences hold enough of its words (near),
//   - all of its figures, codes and flags (literal) and names (name) stand in the source,
//   - and no rule of rules.go objects: an opposite word, a negation, another unit, other words in the
//     same place, parts that have changed places, a figure that belongs to another word, a restriction.
//
// testdata/rules.golden shows what each of them gains. The words that rules turn on are in words.txt, by
// language. A sentence that its own source speaks against stays unsupported, whatever words another
// source shares with it.
//
// Everything here is pure.
package cite
