// Package sqlite opens SQLite files the way this module wants them: one writer,
// many readers, numbered migrations, and never "database is locked".
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
//   - All changes go through [DB.Write]. A callback that returns nil is saved
//     when Write returns nil; after any error nothing of it is saved.
//   - [DB.Read] sees one consistent snapshot and never waits for a writer.
//   - A callback may run a second time after it lost a race, so it must set,
//     not add to, what it hands out. It must not call Write.
//   - Several processes may open one file. Whoever finds it locked waits until
//     its context ends.
//   - A file or folder that cannot be written can still be read; see [Access].
//   - A file that is damaged, of a newer version or of another program is
//     refused with a typed error and left as it is.
//
// # How it works
//
// The driver is mattn/go-sqlite3 where cgo is on and modernc.org/sqlite where
// it is off; both hide behind the same few functions. A database has one
// connection that writes. Whoever comes first serves all who wait: it takes their
// writes, up to a limit, into one transaction and commits them together, so that
// one alone changes no goroutine and many pay for a commit once. Where one fails
// after it changed something, each is run again in a transaction of its own.
// Readers have connections of their own. Files are in WAL mode. At
// [ProcessCrash], synchronous=NORMAL, what was committed survives the death of
// the process; the last commits may be lost when the machine loses power,
// without damage. At [PowerLoss], synchronous=FULL, they are not: the writer
// forces each transaction to the disk and, while many write, waits up to 2 ms
// so that about as many share it as shared the last one.
package sqlite
