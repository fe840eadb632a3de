// Package sqlite opens the SQLite files of this module in one way: one writer,
// many readers, WAL mode, numbered migrations, typed errors.
//
//	db, err := sqlite.Open(ctx, "threads.db", sqlite.Options{Migrations: []string{
//		`CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT`,
//	}})
//	…
//	err = db.Write(ctx, func(tx *sqlite.Tx) error {
//		_, err := tx.Exec(`INSERT INTO notes(body) VALUES(?)`, "hello")
//		return err
//	})
//
// # Rules
//
//   - All changes go through [DB.Write]. If the callback returns nil, its changes
//     are committed before Write returns nil. After an error none of them is kept.
//   - [DB.Read] sees one consistent snapshot and never waits for a writer.
//   - A callback may run again after a lock conflict. It must assign its results,
//     not append to them, and it must not call Write.
//   - Several processes may open one file. A locked file is waited for until the
//     context ends, or until [Options].Patience is over.
//   - A file or folder that cannot be written can still be read; see [Access].
//   - A file that is damaged, has a newer schema or belongs to another program is
//     refused with an [*Error] and left unchanged.
//
// # How it works
//
// The driver is mattn/go-sqlite3 with cgo and modernc.org/sqlite without. Each
// connection is a [database/sql.Conn] with a cache of prepared statements. One
// connection writes. Writers queue; the first one takes up to 64 queued callbacks
// into one transaction, each in a savepoint, and commits them together (group
// commit). Readers have connections of their own.
//
// With [ProcessCrash] (synchronous=NORMAL) a commit survives the death of the
// process. A power failure may lose the last commits but does not damage the file.
// With [PowerLoss] (synchronous=FULL) each transaction is also forced to the disk,
// so a commit survives a power failure.
package sqlite
