// Package measure is shared by the Go programs of the comparison: it parses the command line, measures time
// and processor time, and prints one JSON object.
package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Result is the metrics of one scenario, by name.
type Result map[string]float64

// Scenario does n of something, keeping its files in dir.
type Scenario func(n int, dir string) (Result, error)

// Main runs the scenario of the command line: SCENARIO N FOLDER.
func Main(scenarios map[string]Scenario) {
	if len(os.Args) != 4 {
		fail(errors.New("usage: SCENARIO N FOLDER"))
	}
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fail(err)
	}
	run, ok := scenarios[os.Args[1]]
	if !ok {
		fmt.Println("null") // this engine cannot do it
		return
	}
	r, err := run(n, os.Args[3])
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Watch measures from its start.
type Watch struct {
	wall time.Time
	cpu  time.Duration
}

// Start begins measuring.
func Start() Watch { return Watch{wall: time.Now(), cpu: cpu()} }

// Per returns the time of each of n things, in microseconds.
func (w Watch) Per(n int) Result {
	return Result{
		"wall_us": float64(time.Since(w.wall).Nanoseconds()) / 1000 / float64(n),
		"cpu_us":  float64((cpu() - w.cpu).Nanoseconds()) / 1000 / float64(n),
	}
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fail(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Grow does n turns and returns the cost of the first ten and the last ten.
func Grow(n int, turn func() error) (Result, error) {
	out := Result{}
	all := Start()
	for i := 0; i < n; i += 10 {
		ten := Start()
		for range 10 {
			if err := turn(); err != nil {
				return nil, err
			}
		}
		switch i {
		case 0:
			out["first_cpu_us"] = ten.Per(10)["cpu_us"]
		case n - 10:
			out["last_cpu_us"] = ten.Per(10)["cpu_us"]
		}
	}
	for k, v := range all.Per(n) {
		out[k] = v
	}
	return out, nil
}

// Side does n things side by side.
func Side(n int, do func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Bytes returns the size of all files in a folder.
func Bytes(dir string) int64 {
	sum := int64(0)
	entries, err := os.ReadDir(dir)
	if err != nil {
		fail(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// Message is 400 bytes of words.
func Message() string { return words(400) }

// Documents are four passages of 256 bytes.
func Documents() []string { return []string{words(256), words(256), words(256), words(256)} }

func words(n int) string {
	var b strings.Builder
	for b.Len() < n {
		for range 1 + rand.IntN(9) {
			b.WriteByte(byte('a' + rand.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()[:n]
}

// Die ends the process as kill -9 does.
func Die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// Mark records outside the engine that node i has run.
func Mark(dir string, i int) error {
	f, err := os.OpenFile(filepath.Join(dir, "ran"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, i)
	return errors.Join(err, f.Close())
}

// Marked returns how often the five nodes that had finished before the kill ran, and how many of ten ran at
// all.
func Marked(dir string) (Result, error) {
	b, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil {
		return nil, err
	}
	ran := map[string]int{}
	for line := range strings.Lines(string(b)) {
		ran[strings.TrimSpace(line)]++
	}
	finished := 0
	for i := range 5 {
		finished += ran[strconv.Itoa(i)]
	}
	return Result{"runs_of_finished": float64(finished) / 5, "nodes": float64(len(ran))}, nil
}
