package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Failures of a server; match them with errors.Is. Nothing was saved, unless the message
// says that this is unknown.
var (
	ErrDown    = errors.New("the PostgreSQL server cannot be reached")
	ErrDenied  = errors.New("the PostgreSQL server refuses the user, the password or the database")
	ErrFull    = errors.New("the disk of the PostgreSQL server is full")
	ErrNewer   = errors.New("the tables were made by a newer version of this program")
	ErrForeign = errors.New("the schema holds tables of another program")
)

// unknownError is a transaction whose commit was sent but not answered.
type unknownError struct{ err error }

func (e *unknownError) Error() string {
	return "the connection was lost while the server saved, so the change may be there or not; look before trying again: " + e.err.Error()
}

func (*unknownError) Unwrap() error { return ErrDown }

// repeat runs f until it succeeds, its error is not one that passes, or patience ends.
func repeat(ctx context.Context, patience time.Duration, passes func(error) bool, f func() error) error {
	end := time.Now().Add(patience)
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := f()
		if err == nil || !passes(err) || time.Now().After(end) {
			return err
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
	}
}

// starting reports whether a server says that it will soon accept connections.
func starting(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "57P03"
}

// passing reports whether the same statement may succeed later: the server restarts or
// fails over, or it rolled the transaction back in favour of another.
func passing(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code[:2] == "08" || slices.Contains([]string{
			"40001", "40P01", // serialisation failure, deadlock
			"57P01", "57P02", "57P03", // shutting down, crashed, starting up
			"25006", // read-only: a standby, or the old primary
			"53300", // too many connections
		}, e.Code)
	}
	return lost(err)
}

// lost reports whether the connection failed.
func lost(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if _, unknown := errors.AsType[*unknownError](err); unknown {
		return false
	}
	_, network := errors.AsType[net.Error](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return network || connecting || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// explained adds the error of this package that fits.
func explained(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil, errors.Is(err, ErrDown):
		return err
	case ok && (e.Code[:2] == "28" || e.Code == "3D000" || e.Code == "42501"):
		return fmt.Errorf("%w: %s", ErrDenied, e.Message)
	case ok && e.Code == "53100":
		return fmt.Errorf("%w: %s", ErrFull, e.Message)
	case passing(err):
		if network, ok := errors.AsType[net.Error](err); ok {
			err = network // pgconn repeats it for each way to connect
		}
		return fmt.Errorf("%w: %w", ErrDown, err)
	}
	return err
}
