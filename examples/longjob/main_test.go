package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	var did []int
	work := func(_ context.Context, n int) error {
		if n == 3 && len(did) == 2 {
			did = append(did, 0) // the power fails once
			return errors.New("power")
		}
		did = append(did, n)
		return nil
	}
	if _, err := run(t.Context(), file, 5, work); err == nil {
		t.Fatal("it did not stop")
	}
	job, err := run(t.Context(), file, 5, work)
	if err != nil || job.Done != 5 || !slices.Equal(did, []int{1, 2, 0, 3, 4, 5}) {
		t.Errorf("%+v %v, did %v", job, err, did)
	}
}
