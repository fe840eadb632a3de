package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
)

// rows goes through the rows of a statement and ends it.
func (tx *Tx) rows(rows driver.Rows, yield func(Row) bool) {
	ended := false
	defer func() {
		if !ended { // yield panicked
			_ = rows.Close()
		}
	}()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		err := context.Cause(tx.ctx)
		if err == nil {
			err = rows.Next(values)
		}
		if err == nil && yield(Row{values: values}) {
			continue
		}
		ended = true
		closed := rows.Close()
		switch {
		case err == nil: // the caller has seen enough
		case !errors.Is(err, io.EOF):
			yield(Row{err: err})
		case closed != nil:
			yield(Row{err: closed})
		}
		return
	}
}

// Row is the result of [Tx.QueryRow], or one of those of [Tx.Query].
type Row struct {
	values []driver.Value
	err    error
}

// first takes the first row and ends the statement.
func (s *stmt) first(rows driver.Rows) Row {
	n := len(rows.Columns())
	if cap(s.row) < n {
		s.row = make([]driver.Value, n)
	}
	s.row = s.row[:n]
	err := rows.Next(s.row)
	if errors.Is(err, io.EOF) {
		err = sql.ErrNoRows
	}
	if ended := rows.Close(); err == nil {
		err = ended
	}
	return Row{s.row, err}
}

// Scan copies the row into variables, as many as there are columns, the way
// database/sql does; bytes are the caller's to keep. It returns the error of the
// query where there was one, and [sql.ErrNoRows] where one row was asked for and
// there is none.
func (r Row) Scan(to ...any) error {
	if r.err != nil {
		return r.err
	}
	return scan(r.values, to)
}

func scan(row []driver.Value, to []any) error {
	if len(row) != len(to) {
		return fmt.Errorf("scan: %d columns into %d variables", len(row), len(to))
	}
	for i, v := range row {
		if err := assign(to[i], v); err != nil {
			return fmt.Errorf("scan column %d: %w", i, err)
		}
	}
	return nil
}

// assign puts a value that a driver made into a variable. Drivers make bytes
// and strings anew for every row, so that nothing is copied here.
func assign(to any, v driver.Value) error {
	switch to := to.(type) {
	case *any:
		*to = v
		return nil
	case sql.Scanner:
		return to.Scan(v)
	case *sql.RawBytes:
		return assignBytes((*[]byte)(to), v)
	case *[]byte:
		return assignBytes(to, v)
	}
	switch v := v.(type) {
	case int64:
		switch to := to.(type) {
		case *int64:
			*to = v
			return nil
		case *int:
			if *to = int(v); int64(*to) == v {
				return nil
			}
		case *bool:
			if *to = v == 1; v == 0 || v == 1 {
				return nil
			}
		}
	case string:
		if to, ok := to.(*string); ok {
			*to = v
			return nil
		}
	}
	return assignAny(to, v)
}

func assignBytes(to *[]byte, v driver.Value) error {
	switch v := v.(type) {
	case nil:
		*to = nil
	case []byte:
		*to = v
	default:
		text, err := textOf(v)
		*to = []byte(text)
		return err
	}
	return nil
}

// assignAny is the rest: named types, floats, pointers, numbers out of texts.
func assignAny(to any, v driver.Value) error {
	p := reflect.ValueOf(to)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("%T is no variable to put a value into", to)
	}
	into := p.Elem()
	if into.Kind() == reflect.Pointer { // nil for NULL
		if v == nil {
			into.SetZero()
			return nil
		}
		into.Set(reflect.New(into.Type().Elem()))
		return assign(into.Interface(), v)
	}
	if v == nil {
		return fmt.Errorf("NULL does not fit into %s", into.Type())
	}
	switch v := v.(type) {
	case int64:
		if into.CanInt() && !into.OverflowInt(v) {
			into.SetInt(v)
			return nil
		}
	case float64:
		if into.CanFloat() {
			into.SetFloat(v)
			return nil
		}
	case []byte:
		if into.Kind() == reflect.Slice && into.Type().Elem().Kind() == reflect.Uint8 {
			into.SetBytes(v)
			return nil
		}
	}
	text, err := textOf(v)
	if err == nil {
		err = parse(into, text)
	}
	if err != nil {
		return fmt.Errorf("%T does not fit into %s: %w", v, into.Type(), err)
	}
	return nil
}

// textOf writes a value so that it can be read as another type.
func textOf(v driver.Value) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "", fmt.Errorf("unexpected %T", v)
}

func parse(into reflect.Value, text string) error {
	bits := 0
	if k := into.Kind(); k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr {
		bits = into.Type().Bits()
	}
	switch into.Kind() {
	case reflect.String:
		into.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		into.SetBool(b)
		return err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, bits)
		into.SetInt(n)
		return err
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, bits)
		into.SetUint(n)
		return err
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, bits)
		into.SetFloat(f)
		return err
	default:
		return errors.New("unsupported kind of variable")
	}
	return nil
}
