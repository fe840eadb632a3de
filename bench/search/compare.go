package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"example.com/ragflow/eval"
)

// row is a line of a table: a metric of a phase.
type row struct {
	label, phase, metric, format string
}

func smallRows() []row {
	return []row{
		{"indexing, documents a second", "index", "per_second", "%.0f"},
		{"the same a second of processor time", "index", "per_cpu_second", "%.0f"},
		{"disk, bytes a document", "index", "bytes", "%.0f"},
		{"queries a second of processor time, text in, ids and scores out", "words", "per_cpu_second", "%.0f"},
		{"the same, each query asked for the first time", "words", "first_per_cpu_second", "%.0f"},
		{"the same, queries tokenized before", "words", "tokenized_per_cpu_second", "%.0f"},
		{"the same, ten hits with their texts", "texts", "per_cpu_second", "%.0f"},
		{"one query alone, p50 ms", "words", "p50", "%.3f"},
		{"nDCG@10", "words", eval.MetricNDCG, "%.4f"},
		{"recall@100", "words", eval.MetricRecall100, "%.4f"},
		{"peak memory while searching, MB", "words", "rss", "%.0f"},
	}
}

func largeRows() []row {
	return []row{
		{"indexing, passages a second", "index", "per_second", "%.0f"},
		{"disk, bytes a passage", "index", "bytes", "%.0f"},
		{"search by words, p50 ms", "words", "p50", "%.2f"},
		{"the same, p99 ms", "words", "p99", "%.2f"},
		{"peak memory meanwhile, bytes a passage", "words", "rss_each", "%.0f"},
		{"vectors, each compared, p50 ms", "exact", "p50", "%.2f"},
		{"the same, p99 ms", "exact", "p99", "%.2f"},
		{"peak memory meanwhile, bytes a passage", "exact", "rss_each", "%.0f"},
		{"the same ten as ours, of 100 queries", "exact", "agree", "%.0f"},
		{"vectors in clusters, p50 ms", "vectors", "p50", "%.2f"},
		{"the same, p99 ms", "vectors", "p99", "%.2f"},
		{"peak memory meanwhile, bytes a passage", "vectors", "rss_each", "%.0f"},
		{"the same ten as by comparing each, of 100 queries", "vectors", "agree", "%.0f"},
		{"hybrid search with the texts, p50 ms", "hybrid", "p50", "%.2f"},
		{"the same, p99 ms", "hybrid", "p99", "%.2f"},
	}
}

// rival is an engine as a command: COMMAND NAME PHASE CORPUS FOLDER.
type rival struct {
	name    string
	command []string
}

// compare runs all engines in turn, round after round, and prints tables of
// medians with ratios to the first.
func compare(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	rounds := flags.Int("rounds", 3, "how often each search is measured")
	n := flags.Int("n", 100_000, "passages of the large corpus")
	cache := flags.String("cache", "", "folder of the corpora")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var rivals []rival
	for _, arg := range flags.Args() {
		name, command, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q is not NAME=COMMAND", arg)
		}
		rivals = append(rivals, rival{name, strings.Fields(command)})
	}
	if len(rivals) == 0 || *cache == "" {
		return errors.New("usage: search compare -cache FOLDER [-rounds N] [-n PASSAGES] NAME=COMMAND …")
	}
	large := corpus(filepath.Join(*cache, "passages-"+strconv.Itoa(*n)))
	for _, set := range []struct {
		title  string
		corpus corpus
		phases []string
		rows   []row
		single bool // one core
	}{
		{"SciFact, 5,183 documents", corpus(filepath.Join(*cache, "scifact")), []string{"index", "words", "texts"}, smallRows(), true},
		{strconv.Itoa(*n) + " passages, vectors of 384", large, []string{"index", "words", "vectors", "hybrid", "exact"}, largeRows(), false},
	} {
		found := map[string][]float64{}
		dirs := map[string]string{}
		for _, r := range rivals {
			dir, err := os.MkdirTemp("", "bench-search-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			dirs[r.name] = dir
		}
		for _, phase := range set.phases {
			times := *rounds
			if phase == "index" || phase == "vectors" || phase == "exact" { // long, or building within
				times = 1
			}
			for round := range times {
				for _, r := range rivals {
					fmt.Fprintf(os.Stderr, "%s, round %d: %s %s\n", set.title, round+1, r.name, phase)
					m, err := r.measure(ctx, phase, set.corpus, dirs[r.name], set.single)
					if err != nil {
						return err
					}
					if m["rss"] > 0 {
						m["rss_each"] = m["rss"] * (1 << 20) / float64(*n)
					}
					for metric, v := range m {
						key := r.name + "/" + phase + "/" + metric
						found[key] = append(found[key], v)
					}
				}
			}
		}
		if err := agreements(rivals, dirs, found); err != nil {
			return err
		}
		print(set.title, rivals, set.rows, found)
	}
	return nil
}

// measure runs one phase of an engine in a process of its own.
func (r rival) measure(ctx context.Context, phase string, c corpus, dir string, single bool) (metrics, error) {
	cmd := exec.CommandContext(ctx, r.command[0], append(slices.Clone(r.command[1:]), r.name, phase, string(c), dir)...)
	cmd.Env = os.Environ()
	if single && phase != "index" {
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1", "NUMBA_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	}
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", r.name, phase, err, faults.String())
	}
	m := metrics{}
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", r.name, phase, err, out.String())
	}
	if len(m) == 0 {
		return m, nil
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m["rss"] = float64(u.Maxrss) / 1024
	}
	if phase == "words" {
		if err := m.quality(c, filepath.Join(dir, r.name+".trec")); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// quality measures what was found, where there are judgements.
func (m metrics) quality(c corpus, run string) error {
	qrels, err := os.Open(c.path("qrels.tsv"))
	if err != nil {
		return nil // none were made
	}
	defer qrels.Close()
	judgements, err := eval.ReadQrels(qrels)
	if err != nil {
		return err
	}
	queries, err := c.queries()
	if err != nil {
		return err
	}
	judged, err := eval.NewJudged("scifact", queries, judgements, nil)
	if err != nil {
		return err
	}
	file, err := os.Open(run)
	if err != nil {
		return err
	}
	defer file.Close()
	found, err := eval.ReadTREC(file)
	if err != nil {
		return err
	}
	for _, s := range found.Measure(judged, eval.RetrievalOptions{}).Summary.Metrics {
		m[s.Name] = s.Mean
	}
	return nil
}

// agreements tells for how many queries each engine found the vectors that the
// first one finds by comparing each.
func agreements(rivals []rival, dirs map[string]string, found map[string][]float64) error {
	truth := filepath.Join(dirs[rivals[0].name], rivals[0].name+"-exact.rows")
	if _, err := os.Stat(truth); err != nil {
		return nil //nolint:nilerr // there are no vectors in this set
	}
	for _, r := range rivals {
		for phase, rows := range map[string]string{"exact": r.name + "-exact.rows", "vectors": r.name + ".rows"} {
			if len(found[r.name+"/"+phase+"/p50"]) == 0 {
				continue
			}
			n, err := agreement(truth, filepath.Join(dirs[r.name], rows))
			if err != nil {
				return err
			}
			found[r.name+"/"+phase+"/agree"] = []float64{n}
		}
	}
	return nil
}

// agreement counts the queries that two engines found the same vectors for, in
// any order.
func agreement(a, b string) (float64, error) {
	var lists [2][][]string
	for i, path := range []string{a, b} {
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &lists[i])
		}
		if err != nil {
			return 0, err
		}
	}
	same := 0.0
	for i, x := range lists[0] {
		y := lists[1][i]
		slices.Sort(x)
		slices.Sort(y)
		if slices.Equal(x, y) {
			same++
		}
	}
	return same, nil
}

// print writes a table of medians, each with its ratio to the first engine.
func print(title string, rivals []rival, rows []row, found map[string][]float64) {
	fmt.Printf("\n%s\n\n| |", title)
	for _, r := range rivals {
		fmt.Printf(" %s |", r.name)
	}
	fmt.Print("\n| --- |", strings.Repeat(" ---: |", len(rivals)), "\n")
	for _, row := range rows {
		fmt.Printf("| %s |", row.label)
		base := 0.0
		for _, r := range rivals {
			values := found[r.name+"/"+row.phase+"/"+row.metric]
			if len(values) == 0 {
				fmt.Print(" – |")
				continue
			}
			slices.Sort(values)
			v := values[len(values)/2]
			cell := fmt.Sprintf(row.format, v)
			switch {
			case base == 0:
				base = v
			case !strings.Contains(row.label, "@") && row.metric != "agree":
				cell += fmt.Sprintf(" (%.3g×)", v/base)
			}
			fmt.Printf(" %s |", cell)
		}
		fmt.Println()
	}
}
