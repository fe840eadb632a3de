// Package rank makes one list out of several: it fuses rankings, drops
// near-duplicates and spreads a choice over different things to say.
//
// # Smallest use
//
// Searches give hits, and each hit says in its legs which list held it, at
// which rank and with which score. Merge puts the hits of all lists together
// and a [Fuser] scores them:
//
//	hits := rank.RRF(rank.Merge(first, second), rank.Even)
//
// # Rules
//
//   - Everything is pure: the same input gives the same bytes, and nothing that
//     was passed in is written to.
//   - A list is known by its leg's name and query. A fused hit keeps all its
//     legs, and a fuser reads nothing but legs. So hits can be fused again: with
//     the hits of a second attempt, with other weights, by another fuser.
//   - The order of the lists does not matter.
//   - Equal scores are put in order by the best rank that a leg gave, then by
//     chunk id.
//
// # Which fuser
//
// A [Fusion] chooses by name. Reciprocal rank fusion looks at ranks alone, so it
// is at home with any number of lists and with scores of unknown scale; it is
// the default. The weighted mean looks at scores and is better for exactly two
// legs of which one is stronger. The others are there for comparison.
package rank
