package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/ragflow/eval"
	"example.com/ragflow/internal/beir"
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
		{"disk with vectors, bytes a passage", "embed", "bytes", "%.0f"},
		{"search by words, 100 ids, p50 ms", "words", "p50", "%.2f"},
		{"the same, p99 ms", "words", "p99", "%.2f"},
		{"search by words, ten ids, p50 ms", "ids", "p50", "%.2f"},
		{"the same, p99 ms", "ids", "p99", "%.2f"},
		{"peak memory meanwhile, bytes a passage", "ids", "rss_each", "%.0f"},
		{"search by words, ten hits with their texts, p50 ms", "texts", "p50", "%.2f"},
		{"the same, p99 ms", "texts", "p99", "%.2f"},
		{"the same, each query asked for the first time, p50 ms", "texts", "first_p50", "%.2f"},
		{"vectors, each compared, p50 ms", "vectors", "p50", "%.2f"},
		{"the same, p99 ms", "vectors", "p99", "%.2f"},
		{"peak memory meanwhile, bytes a passage", "vectors", "rss_each", "%.0f"},
		{"the same ten as ours, of 100 queries", "vectors", "agree", "%.0f"},
		{"words and meaning fused, ten hits with their texts, p50 ms", "fused", "p50", "%.2f"},
		{"the same, p99 ms", "fused", "p99", "%.2f"},
		{"the same, each query asked for the first time, p50 ms", "fused", "first_p50", "%.2f"},
		{"the same, the first 40 put in order once more, p50 ms", "hybrid", "p50", "%.2f"},
		{"the same, p99 ms", "hybrid", "p99", "%.2f"},
		{"peak memory meanwhile, bytes a passage", "hybrid", "rss_each", "%.0f"},
	}
}

// rival is an engine as a command: COMMAND NAME PHASE CORPUS FOLDER.
type rival struct {
	name    string
	command []string
}

// set is a corpus with the phases to measure.
type set struct {
	name, title string
	corpus      corpus
	phases      []string
	rows        []row
	single      bool // one core
	documents   int
}

func sets(cache string, n int) []set {
	large := "passages-" + strconv.Itoa(n)
	return []set{
		{"scifact", "SciFact, 5,183 documents", corpus(filepath.Join(cache, "scifact")), []string{"index", "words", "texts"}, smallRows(), true, 5183},
		{
			large, strconv.Itoa(n) + " passages, vectors of 384", corpus(filepath.Join(cache, large)),
			[]string{"index", "words", "ids", "texts", "embed", "vectors", "fused", "hybrid"},
			largeRows(), false, n,
		},
	}
}

// comparison is what to compare, and where results are kept.
type comparison struct {
	rivals []rival
	phases []string // empty: all
	rounds int
	kept   string // folder for indexes and figures; empty: they are made again
}

// compare runs all engines in turn, round after round, and prints tables of
// medians with ratios to the first.
func compare(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	rounds := flags.Int("rounds", 3, "how often each search is measured")
	n := flags.Int("n", 100_000, "passages of the large corpus")
	cache := flags.String("cache", "", "folder of the corpora")
	engines := flags.String("engines", "", "only these engines, such as ours,bleve")
	phases := flags.String("phases", "", "only these phases, such as index,ids,hybrid")
	only := flags.String("sets", "", "only these sets: scifact, passages")
	resume := flags.Bool("resume", false, "keep indexes and figures in the cache folder, and measure only what is not there yet")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c := comparison{rounds: *rounds, phases: list(*phases)}
	for _, arg := range flags.Args() {
		name, command, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q is not NAME=COMMAND", arg)
		}
		if wanted := list(*engines); len(wanted) == 0 || slices.Contains(wanted, name) {
			c.rivals = append(c.rivals, rival{name, strings.Fields(command)})
		}
	}
	if len(c.rivals) == 0 || *cache == "" {
		return errors.New("usage: search compare -cache FOLDER [-rounds N] [-n PASSAGES] [-engines LIST] [-phases LIST] [-sets LIST] [-resume] NAME=COMMAND …")
	}
	for _, s := range sets(*cache, *n) {
		kind, _, _ := strings.Cut(s.name, "-")
		if wanted := list(*only); len(wanted) > 0 && !slices.Contains(wanted, kind) {
			continue
		}
		if *resume {
			c.kept = filepath.Join(*cache, "kept", s.name)
		}
		if err := c.run(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// list splits a list at commas.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// run measures a set and prints its table.
func (c comparison) run(ctx context.Context, s set) error {
	found := map[string][]float64{}
	dirs := map[string]string{}
	for _, r := range c.rivals {
		dir, err := c.folder(r.name)
		if err != nil {
			return err
		}
		if c.kept == "" {
			defer os.RemoveAll(dir)
		}
		dirs[r.name] = dir
	}
	for _, phase := range s.phases {
		if len(c.phases) > 0 && !slices.Contains(c.phases, phase) {
			continue
		}
		times := c.rounds
		if phase == "index" || phase == "embed" || phase == "vectors" { // long, or building within
			times = 1
		}
		for round := range times {
			for _, r := range c.rivals {
				m, err := r.measured(ctx, phase, round, s, dirs[r.name])
				if err != nil {
					return err
				}
				if m["rss"] > 0 {
					m["rss_each"] = m["rss"] * (1 << 20) / float64(s.documents)
				}
				for metric, v := range m {
					key := r.name + "/" + phase + "/" + metric
					found[key] = append(found[key], v)
				}
			}
		}
	}
	if err := agreements(c.rivals, dirs, found); err != nil {
		return err
	}
	print(s.title, c.rivals, s.rows, found)
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Printf("\nLoad of the last 1, 5 and 15 minutes, and processors: %s, %d\n", strings.Join(strings.Fields(string(load))[:3], " "), runtime.NumCPU())
	}
	return nil
}

// folder returns where an engine keeps its index of a set.
func (c comparison) folder(engine string) (string, error) {
	if c.kept == "" {
		return os.MkdirTemp("", "bench-search-")
	}
	dir := filepath.Join(c.kept, engine)
	return dir, os.MkdirAll(dir, 0o755)
}

// measured returns the figures of a round of a phase, from the folder or by measuring. An incomplete index is
// built again.
func (r rival) measured(ctx context.Context, phase string, round int, s set, dir string) (metrics, error) {
	kept := filepath.Join(dir, fmt.Sprintf("%s-%d.json", phase, round+1))
	if data, err := os.ReadFile(kept); err == nil {
		m := metrics{}
		if err := json.Unmarshal(data, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", kept, err)
		}
		return m, nil
	}
	index := filepath.Join(dir, "index")
	if phase == "index" {
		if err := os.RemoveAll(index); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(index, 0o755); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(os.Stderr, "%s %s, round %d: %s %s\n", time.Now().Format(time.TimeOnly), s.title, round+1, r.name, phase)
	m, err := r.measure(ctx, phase, s.corpus, index, s.single)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(kept, data, 0o600)
	}
	return m, err
}

// measure runs one phase of an engine in a separate process.
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
		if err := m.quality(c, filepath.Join(dir, r.name+"-words.trec")); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// quality measures the results, if there are judgements.
func (m metrics) quality(c corpus, run string) error {
	if _, err := os.Stat(c.path("qrels.tsv")); err != nil {
		return nil // none were made
	}
	queries, err := beir.Queries(c.path("queries.jsonl"), c.path("qrels.tsv"))
	if err != nil {
		return err
	}
	file, err := os.Open(run)
	if err != nil {
		return err
	}
	defer file.Close()
	found, err := readTREC(file)
	if err != nil {
		return err
	}
	for _, q := range queries {
		ranking := found[q.ID]
		for name, value := range eval.RankingMetrics(ranking[:min(depth, len(ranking))], q.Gains) {
			m[name] += value / float64(len(queries))
		}
	}
	return nil
}

// readTREC reads a run in TREC's format: the documents found for each query. As in trec_eval the order is by
// score alone, in 32 bits; among equal scores the greater name is first.
func readTREC(r io.Reader) (map[string][]string, error) {
	type found struct {
		document string
		score    float32
	}
	run := map[string][]found{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		c := strings.Fields(lines.Text())
		if len(c) < 5 {
			return nil, fmt.Errorf("%q is no line of a run: query, Q0, document, rank, score, name", lines.Text())
		}
		score, err := strconv.ParseFloat(c[4], 64)
		if err != nil {
			return nil, err
		}
		run[c[0]] = append(run[c[0]], found{c[2], float32(score)})
	}
	rankings := map[string][]string{}
	for query, list := range run {
		slices.SortStableFunc(list, func(a, b found) int {
			return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(b.document, a.document))
		})
		for _, f := range list {
			rankings[query] = append(rankings[query], f.document)
		}
	}
	return rankings, lines.Err()
}

// agreements reports for how many queries each engine found the same vectors as the first one.
func agreements(rivals []rival, dirs map[string]string, found map[string][]float64) error {
	truth := filepath.Join(dirs[rivals[0].name], "index", rivals[0].name+".rows")
	if _, err := os.Stat(truth); err != nil {
		return nil //nolint:nilerr // there are no vectors in this set
	}
	for _, r := range rivals {
		if len(found[r.name+"/vectors/p50"]) == 0 {
			continue
		}
		n, err := agreement(truth, filepath.Join(dirs[r.name], "index", r.name+".rows"))
		if err != nil {
			return err
		}
		found[r.name+"/vectors/agree"] = []float64{n}
	}
	return nil
}

// agreement counts the queries for which two engines found the same vectors, in any order.
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
