// Package kills_test kills processes that run graphs, with SIGKILL at random moments, and lets others
// continue. A run has side-by-side nodes, a join, a right and a wrong speculation, a fan-out with parts that
// ask and fail, a subgraph in a subgraph, an agent whose tool needs approval, retries, and deeds that must
// not be done twice. The long form is scripts/kill.
package kills_test
