// Package rank makes one list out of several: it fuses rankings, tells near-duplicates and
// diversifies.
//
// # Smallest use
//
// Each leg of a hit names a list that holds it, with rank and score there. [Merge] unites the
// hits of all lists, and a [Fuser] scores them:
//
//	hits := rank.RRF(rank.Merge(first, second), weight)
//
// # Rules
//
//   - Everything is pure: the same input gives the same bytes, and no argument is modified.
//   - A list is identified by its leg's name and query. A fused hit keeps all its legs, and a
//     fuser reads only legs. So hits can be fused again: with the hits of a second attempt, with
//     other weights, by another fuser.
//   - The order of the lists does not matter.
//   - Equal scores are ordered by the best rank of a leg, then by chunk id.
//
// # Which fuser
//
// A [Fusion] chooses by name. Reciprocal rank fusion, the default, uses only ranks, so it suits
// any number of lists and scores of unknown scale. The weighted mean uses scores and is better
// for two legs, one of them stronger. The others are for comparison.
package rank
