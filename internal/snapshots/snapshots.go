// Package snapshots decides when the state of a thread is worth a snapshot: at the end of a run if the updates since the
// last snapshot are twice as large as that, and within a run if they are eight times as large, but only if the
// state is less than a third of what a reader would read instead. The cost of reading a thread then depends on
// the size of its state, not on the length of its history, and a state that keeps all that was added is not written
// twice.
package snapshots

// Sizes are the bytes that the next reader of a thread reads, and how many they were when the state was last found to
// be too large for a snapshot.
type Sizes struct{ Snapshot, Tail, Tried int }

// minTail is the size of updates that are folded faster than a snapshot is worth.
const minTail = 8 << 10

// DueAtEnd reports whether a snapshot may pay at the end of a run.
func (z Sizes) DueAtEnd() bool { return z.due(max(minTail, 2*z.Snapshot)) }

// DueWithin reports whether a snapshot may pay in the middle of a run, whose state contains much
// that the run drops before its end.
func (z Sizes) DueWithin() bool { return z.due(8 * max(minTail, z.Snapshot)) }

func (z Sizes) due(tail int) bool { return z.Tail > tail && z.Read() > z.Tried*3/2 }

// Read is what a reader reads.
func (z Sizes) Read() int { return z.Snapshot + z.Tail }

// Pays reports whether a state of a size is worth a snapshot. A state that keeps what was added
// is nearly as large as the updates themselves.
func (z Sizes) Pays(state int) bool { return z.Read() > 3*state }
