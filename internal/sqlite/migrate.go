package sqlite

import (
	"context"
	"fmt"
)

// migrate brings the file to the newest version that o knows, or leaves it as it is.
func (db *DB) migrate(ctx context.Context, cn *conn, o Options) error {
	// Look before changing anything: a foreign file stays as it is.
	version, err := db.version(ctx, cn, o)
	if err != nil {
		return err
	}
	if err := cn.once(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if version == len(o.Migrations) {
		return nil
	}
	if err := cn.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	// Another process may have migrated while this one waited.
	if version, err = db.version(ctx, cn, o); err != nil {
		return err
	}
	for ; version < len(o.Migrations); version++ {
		if err := db.step(ctx, cn, o, version); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", version+1, err)
		}
	}
	return cn.exec(ctx, "COMMIT")
}

func (*DB) step(ctx context.Context, cn *conn, o Options, version int) error {
	for _, s := range []string{
		o.Migrations[version],
		fmt.Sprintf("PRAGMA user_version = %d", version+1),
		fmt.Sprintf("PRAGMA application_id = %d", o.ApplicationID),
	} {
		if err := cn.exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// version returns the schema version of the file; 0 for an empty one.
func (db *DB) version(ctx context.Context, cn *conn, o Options) (int, error) {
	var version, tables int
	var id int32
	err := newTx(ctx, cn).QueryRow(`SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`).Scan(&version, &id, &tables)
	switch {
	case err != nil:
		return 0, err
	case o.ApplicationID != 0 && id != o.ApplicationID && (tables > 0 || version > 0):
		return 0, &ForeignError{Path: db.path, Got: id, Want: o.ApplicationID}
	case version < 0 || version > len(o.Migrations):
		return 0, &NewerError{Path: db.path, Version: version, Known: len(o.Migrations)}
	}
	return version, nil
}
