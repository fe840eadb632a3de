// Command compare runs the scenarios of bench/README.md on each engine in turn, several rounds of all of
// them, and prints one table of medians and ratios to the first engine.
//
//	compare [-rounds 3] [-turns 200] [-server] 'NAME=COMMAND' …
//
// With -server it compares stores on the PostgreSQL server at BENCH_POSTGRES; the processor time of the
// server is that of process BENCH_POSTMASTER and its children.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// engine is a program that runs the scenarios: COMMAND SCENARIO N FOLDER.
type engine struct {
	name    string
	command []string
}

// row is a line of the table: one metric of one scenario.
type row struct {
	label, scenario, metric string
	scale                   float64 // divisor of the metric
	format                  string
	inverse                 bool // more is better
	exact                   bool // a count: no ratio
}

func serverRows(turns int) []row {
	return []row{
		{label: "step saved, µs of the program's processor time", scenario: "durable", metric: "cpu_us", scale: 1, format: "%.0f"},
		{label: "the same, of the server's", scenario: "durable", metric: "server_us", scale: 100, format: "%.0f"},
		{label: "the same, bytes of tables and indexes", scenario: "durable", metric: "bytes_per_step", scale: 1, format: "%.0f"},
		{label: fmt.Sprintf("turn of seven nodes, mean of %d on one thread, ms of the program's processor time", turns), scenario: "grow", metric: "cpu_us", scale: 1000, format: "%.1f"},
		{label: "the same, of the server's", scenario: "grow", metric: "server_us", scale: 1000, format: "%.1f"},
		{label: fmt.Sprintf("turn of seven nodes, the last ten of %d, ms of the program's processor time", turns), scenario: "grow", metric: "last_cpu_us", scale: 1000, format: "%.1f"},
		{label: fmt.Sprintf("tables and indexes of a thread of %d turns, MB", turns), scenario: "grow", metric: "bytes", scale: 1e6, format: "%.2f"},
		{label: "100 threads × 10 turns at once, turns a second", scenario: "threads", metric: "wall_us", scale: 1, format: "%.0f", inverse: true},
		{label: "messages kept, of those acknowledged, where two runs meet on a thread", scenario: "meet", metric: "share", scale: 0.01, format: "%.0f %%", exact: true},
		{label: "runs of a finished node after kill -9 and resuming", scenario: "resume", metric: "runs_of_finished", scale: 1, format: "%.0f", exact: true},
	}
}

func rows(turns int) []row {
	kept := "messages kept, of those acknowledged, where two runs meet on a thread"
	return []row{
		{label: "step without a store, µs of processor time", scenario: "chain", metric: "cpu_us", scale: 1, format: "%.2f"},
		{label: "task of a 100-way fan-out, µs of processor time", scenario: "fanout", metric: "cpu_us", scale: 1, format: "%.2f"},
		{label: "step saved in SQLite, µs of processor time", scenario: "durable", metric: "cpu_us", scale: 1, format: "%.0f"},
		{label: "the same, bytes on disk", scenario: "durable", metric: "bytes_per_step", scale: 1, format: "%.0f"},
		{label: "16 finished parts of a fan-out saved in one transaction, µs of processor time", scenario: "parts", metric: "cpu_us", scale: 1, format: "%.0f"},
		{label: "the same, times what saving such a step costs", scenario: "parts", metric: "times_a_step", scale: 1, format: "%.2f"},
		{label: "eight nodes side by side that wait 200 ms, ms", scenario: "waits", metric: "wall_us", scale: 1000, format: "%.0f"},
		{label: "compiling a chain of 10,000 nodes, ms", scenario: "compile", metric: "wall_us", scale: 1000, format: "%.0f"},
		{label: "turn of seven nodes, the first ten, ms of processor time", scenario: "grow", metric: "first_cpu_us", scale: 1000, format: "%.1f"},
		{label: fmt.Sprintf("the same, the last ten of %d", turns), scenario: "grow", metric: "last_cpu_us", scale: 1000, format: "%.1f"},
		{label: fmt.Sprintf("file of a thread of %d turns, MB", turns), scenario: "grow", metric: "bytes", scale: 1e6, format: "%.2f"},
		{label: "peak memory meanwhile, MB", scenario: "grow", metric: "rss", scale: 1e6, format: "%.0f"},
		{label: "100 threads × 10 turns at once, turns a second", scenario: "threads", metric: "wall_us", scale: 1, format: "%.0f", inverse: true},
		{label: "peak memory meanwhile, MB", scenario: "threads", metric: "rss", scale: 1e6, format: "%.0f"},
		{label: kept, scenario: "meet", metric: "share", scale: 0.01, format: "%.0f %%", exact: true},
		{label: "runs of a finished node whose sibling failed, after resuming", scenario: "sibling", metric: "runs_of_finished", scale: 1, format: "%.0f", exact: true},
		{label: "runs of a finished node after kill -9 and resuming", scenario: "resume", metric: "runs_of_finished", scale: 1, format: "%.0f", exact: true},
	}
}

// sizes is the number of repetitions of each scenario. Slower peers have fewer, because the result is the
// cost of one.
func sizes(turns int, first bool) map[string]int {
	if first {
		return map[string]int{"chain": 500, "fanout": 200, "durable": 20, "parts": 10, "waits": 5, "compile": 10_000, "grow": turns, "threads": 100, "meet": 20, "sibling": 1, "resume": 1}
	}
	return map[string]int{"chain": 20, "fanout": 20, "durable": 5, "parts": 5, "waits": 5, "compile": 10_000, "grow": turns, "threads": 100, "meet": 20, "sibling": 1, "resume": 1}
}

func main() {
	rounds := flag.Int("rounds", 3, "how often everything is run")
	turns := flag.Int("turns", 200, "turns of the growing thread, a multiple of ten")
	server := flag.Bool("server", false, "compare stores on a server")
	flag.Parse()
	var engines []engine
	for _, arg := range flag.Args() {
		name, command, ok := strings.Cut(arg, "=")
		if !ok {
			fatal(fmt.Errorf("%q is not NAME=COMMAND", arg))
		}
		engines = append(engines, engine{name, strings.Fields(command)})
	}
	if len(engines) == 0 || *turns%10 != 0 || *turns <= 0 {
		fatal(fmt.Errorf("usage: compare [-rounds N] [-turns N, a multiple of ten] 'NAME=COMMAND' …"))
	}
	scenarios, table := []string{"chain", "fanout", "durable", "parts", "waits", "compile", "grow", "threads", "meet", "sibling", "resume"}, rows(*turns)
	if *server {
		scenarios, table = []string{"durable", "grow", "threads", "meet", "resume"}, serverRows(*turns)
	}
	found := map[string][]float64{} // by engine, scenario and metric
	for round := range *rounds {
		for _, scenario := range scenarios {
			for i, e := range engines {
				fmt.Fprintf(os.Stderr, "round %d  %-8s %s\n", round+1, scenario, e.name)
				for metric, v := range e.measure(scenario, sizes(*turns, i == 0)[scenario]) {
					key := e.name + "/" + scenario + "/" + metric
					found[key] = append(found[key], v)
				}
			}
		}
	}
	print(os.Stdout, engines, table, found)
}

// measure runs one scenario in a new folder. Scenarios that the engine lacks have no metrics.
func (e engine) measure(scenario string, n int) map[string]float64 {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if scenario == "resume" {
		e.run("kill", 1, dir) // it dies, as expected
		if _, err := os.Stat(dir + "/ran"); err != nil {
			return nil
		}
	}
	before := serverTicks()
	out, state, err := e.run(scenario, n, dir)
	if err != nil {
		fatal(fmt.Errorf("%s %s: %w\n%s", e.name, scenario, err, out))
	}
	metrics := map[string]float64{}
	if err := json.Unmarshal(out, &metrics); err != nil {
		fatal(fmt.Errorf("%s %s: %w\n%s", e.name, scenario, err, out))
	}
	if len(metrics) == 0 {
		return nil
	}
	metrics["server_us"] = float64(serverTicks()-before) * 1e4 / float64(n) // a tick is 10 ms
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		metrics["rss"] = float64(usage.Maxrss) * 1024
	}
	if metrics["acknowledged"] > 0 {
		metrics["share"] = metrics["kept"] / metrics["acknowledged"]
	}
	return metrics
}

// serverTicks returns the processor time of the server so far, in hundredths of a second; 0 without one. Each
// connection is a process; the first process adds up those that have ended.
func serverTicks() (sum int64) {
	postmaster := os.Getenv("BENCH_POSTMASTER")
	if postmaster == "" {
		return 0
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(text), ") ") // the name may hold anything
		fields := strings.Fields(rest)
		own := filepath.Base(filepath.Dir(path)) == postmaster
		if len(fields) < 15 || fields[1] != postmaster && !own {
			continue
		}
		for i := 11; i < 15 && (own || i < 13); i++ { // user, system; and of children that ended
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			sum += n
		}
	}
	return sum
}

func (e engine) run(scenario string, n int, dir string) ([]byte, *os.ProcessState, error) {
	c := exec.CommandContext(context.Background(), e.command[0], append(e.command[1:len(e.command):len(e.command)], scenario, strconv.Itoa(n), dir)...)
	var out, faults bytes.Buffer
	c.Stdout, c.Stderr = &out, &faults
	err := c.Run()
	if err != nil {
		return faults.Bytes(), c.ProcessState, err
	}
	return out.Bytes(), c.ProcessState, nil
}

func print(w io.Writer, engines []engine, rows []row, found map[string][]float64) {
	fmt.Fprint(w, "| |")
	for _, e := range engines {
		fmt.Fprintf(w, " %s |", e.name)
	}
	fmt.Fprint(w, "\n| --- |", strings.Repeat(" ---: |", len(engines)), "\n")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s |", r.label)
		base := 0.0
		for i, e := range engines {
			values := found[e.name+"/"+r.scenario+"/"+r.metric]
			if len(values) == 0 {
				fmt.Fprint(w, " – |")
				continue
			}
			slices.Sort(values)
			v := values[len(values)/2] / r.scale
			if r.inverse {
				v = 1e6 / v
			}
			cell := fmt.Sprintf(r.format, v)
			if i == 0 {
				base = v
			} else if !r.exact && base > 0 {
				cell += " (" + ratio(v/base) + "×)"
			}
			fmt.Fprintf(w, " %s |", cell)
		}
		fmt.Fprintln(w)
	}
}

// ratio writes three digits, and no exponent.
func ratio(r float64) string {
	digits := 0
	for limit := 100.0; r < limit && digits < 4; limit /= 10 {
		digits++
	}
	return strconv.FormatFloat(r, 'f', max(0, digits), 64)
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
