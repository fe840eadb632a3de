package index

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/internal/sqlite"
)

// restoring copies collections from one index into another of the same schema.
type restoring struct {
	from, tx  *sqlite.Tx
	embedders map[int64]int64 // rows here, by rows there
}

// collection copies one, in place of what is there. All its files are new: their
// version and the generation are 1.
func (r *restoring) collection(old, root string) error {
	var there int64
	var embedder sql.NullInt64
	if err := r.from.QueryRow(`SELECT id, embedder FROM collections WHERE root = ?`, old).Scan(&there, &embedder); err != nil {
		return err
	}
	if embedder.Valid {
		id, err := r.embedder(embedder.Int64)
		if err != nil {
			return err
		}
		embedder.Int64 = id
	}
	if _, err := r.tx.Exec(`DELETE FROM collections WHERE root = ?`, root); err != nil {
		return err
	}
	here := map[int64]int64{}
	if err := r.copy("collections", "id", `WHERE id = ?`, there, map[string]func(any) any{
		"root":       func(any) any { return root },
		"generation": func(any) any { return int64(1) },
		"changed":    func(any) any { return time.Now().UnixNano() },
		"embedder":   func(any) any { return embedder },
	}, here); err != nil {
		return err
	}
	files := map[int64]int64{} // rows here, by rows there
	set := map[string]func(any) any{
		"collection": func(any) any { return here[there] },
		"version":    func(any) any { return int64(1) },
		"file":       func(id any) any { return files[id.(int64)] }, //nolint:forcetypeassert // an INTEGER of a STRICT table
	}
	if err := r.copy("files", "id", `WHERE collection = ? ORDER BY source`, there, set, files); err != nil {
		return err
	}
	return r.copy("chunks", "rev", `WHERE collection = ? ORDER BY rev`, there, set, nil)
}

// embedder copies an embedder with all the vectors it made, once.
func (r *restoring) embedder(there int64) (here int64, err error) {
	if known, ok := r.embedders[there]; ok {
		return known, nil
	}
	var e Embedder
	if err := r.from.QueryRow(`SELECT model, dimension, prefix, tokens FROM embedders WHERE id = ?`, there).
		Scan(&e.Model, &e.Dimension, &e.Prefix, &e.Tokens); err != nil {
		return 0, err
	}
	if here, err = registerEmbedder(r.tx, e); err != nil {
		return 0, err
	}
	r.embedders[there] = here
	set := map[string]func(any) any{"embedder": func(any) any { return here }}
	return here, r.copy("vectors", "id", `WHERE embedder = ?`, there, set, nil)
}

// copy copies rows of a table with all their columns but key, which is given
// anew. set says which columns have another value here; ids, which may be nil,
// takes the keys here by those there. Rows that are here already stay.
func (r *restoring) copy(table, key, where string, arg int64, set map[string]func(any) any, ids map[int64]int64) error {
	var columns []string
	if err := each(r.tx, func(rows row) error {
		var name string
		err := rows.Scan(&name)
		columns = append(columns, name)
		return err
	}, `SELECT name FROM pragma_table_info(?) ORDER BY name <> ?, cid`, table, key); err != nil {
		return err
	}
	kept := columns // to be written
	if key != "" {
		kept = columns[1:]
	}
	names := `"` + strings.Join(kept, `", "`) + `"`
	insert := fmt.Sprintf(`INSERT INTO %s(%s) VALUES(?%s) ON CONFLICT DO NOTHING`, table, names, strings.Repeat(", ?", len(kept)-1))
	values, pointers := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		pointers[i] = &values[i]
	}
	return each(r.from, func(rows row) error {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		out := slices.Clone(values[len(columns)-len(kept):])
		for i, name := range kept {
			if f := set[name]; f != nil {
				out[i] = f(out[i])
			}
		}
		result, err := r.tx.Exec(insert, out...)
		if err != nil || ids == nil {
			return err
		}
		here, err := result.LastInsertId()
		ids[values[0].(int64)] = here //nolint:forcetypeassert // an INTEGER of a STRICT table
		return err
	}, fmt.Sprintf(`SELECT "%s" FROM %s %s`, strings.Join(columns, `", "`), table, where), arg)
}
