package index

// SetFlush sets how many bytes of terms are worth a tier, so that few files make
// several.
func (db *DB) SetFlush(n int64) { db.flush = n }
