package feed_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/ragflow/internal/feed"
)

// read returns what a reader gets, to its end.
func read(ctx context.Context, f *feed.Feed[int], without int) string {
	var out []string
	for v, err := range f.Read(ctx, without) {
		if err != nil {
			out = append(out, err.Error())
		} else {
			out = append(out, strconv.Itoa(v))
		}
	}
	return strings.Join(out, " ")
}

// TestReaders: each reader gets every value once and in order, at whatever time it comes, and then the error.
func TestReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f feed.Feed[int]
		var readers sync.WaitGroup
		for late := range 5 {
			readers.Go(func() {
				time.Sleep(time.Duration(late) * 25 * time.Millisecond)
				if got := read(t.Context(), &f, 0); got != "0 1 2 3 4 5 6 7 8 9 broken" {
					t.Errorf("a reader that came after %d steps: %s", late, got)
				}
			})
		}
		for i := range 10 {
			time.Sleep(10 * time.Millisecond)
			f.Add(i)
		}
		f.Close(errors.New("broken"))
		readers.Wait()
		if got := read(t.Context(), &f, 8); got != "8 9 broken" {
			t.Error(got)
		}
	})
}

// TestDrop: readers go on behind what was dropped, none of it twice.
func TestDrop(t *testing.T) {
	t.Parallel()
	var f feed.Feed[int]
	for i := range 6 {
		f.Add(i)
	}
	var got []int
	for v, err := range f.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, v); v == 5 {
			f.Drop(func(v int) bool { return v%2 == 0 })
			f.Add(6)
			f.Close(nil)
		}
	}
	if fmt.Sprint(got) != "[0 1 2 3 4 5 6]" || fmt.Sprint(f.All()) != "[1 3 5 6]" || f.Last() != 6 || read(t.Context(), &f, 2) != "3 5 6" {
		t.Error(got, f.All(), read(t.Context(), &f, 2))
	}
}

// TestLeaving: a reader that waits ends with its context.
func TestLeaving(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f feed.Feed[int]
		f.Add(1)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("left"))
		defer cancel()
		if got := read(ctx, &f, 0); got != "1 left" {
			t.Error(got)
		}
	})
}
