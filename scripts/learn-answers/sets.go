package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// question is a question of a set.
type question struct {
	text  string
	gold  func(c state.Chunk) bool              // whether a chunk contains the answer
	says  func(c state.Chunk, said string) bool // whether a part of a gold chunk contains it
	about string                                // the passage with the answer, if there is one
	half  int                                   // 0 for learning, 1 for reporting
	// answers are strings, for the shape of the answer; nil if unknown.
	answers []string
}

// set is a corpus with questions.
type set struct {
	name      string
	searcher  search.Snapshot
	questions []question
	sentences bool // says works for sentences
	strict    bool // and is never wrong
	// foreign are questions about something else, which the set cannot answer; nil: its own questions are asked
	// without the passages that answer them.
	foreign []question
}

func halfOf(s string) int {
	h := fnv.New32a()
	h.Write([]byte(s))
	return int(h.Sum32() >> 7 & 1)
}

type document struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

type query struct {
	ID       string `json:"_id"`
	Text     string `json:"text"`
	Metadata struct {
		Answers []string `json:"answers"`
		Answer  string   `json:"answer"`
	} `json:"metadata"`
}

// reader reads the files of the data folder; the first error stops it.
type reader struct {
	folder string
	ctx    context.Context //nolint:containedctx // of one run of a script
}

func lines[T any](r reader, name string) ([]T, error) {
	f, err := os.Open(filepath.Join(r.folder, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	var out []T
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, 1<<23)
	for scan.Scan() {
		var v T
		if s, ok := any(&v).(*string); ok {
			*s = scan.Text()
		} else if err := json.Unmarshal(scan.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, v)
	}
	return out, scan.Err()
}

// qrels reads judgements: the relevant documents of each query.
func (r reader) qrels(name string) (map[string][]string, error) {
	rows, err := lines[string](r, name)
	out := map[string][]string{}
	for _, row := range rows {
		if f := strings.Split(strings.TrimSpace(row), "\t"); len(f) == 3 && f[2] != "0" && f[2] != "score" {
			out[f[0]] = append(out[f[0]], chunkID(f[1]))
		}
	}
	return out, err
}

// chunkID returns the id of a document as that of a chunk, in which @ comes before the mark of a folder.
func chunkID(id string) string { return strings.ReplaceAll(id, "@", "_") }

// indexed puts documents into an index in memory, each as one chunk. names receives the document of each
// chunk.
func (r reader) indexed(docs []document, of func(id string) string) (search.Snapshot, error) {
	files := map[string]*search.Entry{}
	var names []string
	for _, d := range docs {
		if strings.TrimSpace(d.Text) == "" {
			continue
		}
		name := of(d.ID)
		e := files[name]
		if e == nil {
			e = &search.Entry{File: search.File{Source: name, Title: d.Title}}
			files[name] = e
			names = append(names, name)
		}
		e.Chunks = append(e.Chunks, state.Chunk{ID: chunkID(d.ID), Source: name, Title: d.Title, Text: d.Text, End: len(d.Text), Ordinal: len(e.Chunks)})
	}
	db, err := index.Open(r.ctx, "", index.Options{})
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for batch := range slices.Chunk(names, 500) {
		entries := make([]search.Entry, len(batch))
		for i, n := range batch {
			entries[i] = *files[n]
		}
		if err := db.Put(r.ctx, "set", entries); err != nil {
			return nil, err
		}
	}
	return db.Searcher(r.ctx, "set")
}

func same(id string) string { return id }

// holds returns a test whether a text contains one of the answers.
func holds(answers []string) func(state.Chunk, string) bool {
	return func(_ state.Chunk, said string) bool {
		said = strings.ToLower(said)
		return slices.ContainsFunc(answers, func(a string) bool { return strings.Contains(said, strings.ToLower(strings.TrimSpace(a))) })
	}
}

// paragraphs reads a set in BEIR's layout whose documents are paragraphs, with every nth question.
func (r reader) paragraphs(name, corpus, queries, qrels string, every int, article func(document) string) (set, error) {
	docs, err := lines[document](r, corpus)
	if err != nil {
		return set{}, err
	}
	asked, err := lines[query](r, queries)
	if err != nil {
		return set{}, err
	}
	relevant, err := r.qrels(qrels)
	if err != nil {
		return set{}, err
	}
	articles := map[string]string{}
	for _, d := range docs {
		articles[chunkID(d.ID)] = article(d)
	}
	out := set{name: name, sentences: true, strict: true}
	for i, q := range asked {
		gold := relevant[q.ID]
		if len(gold) == 0 || i%every != 0 {
			continue
		}
		item := question{
			text: q.Text, about: gold[0], half: halfOf(articles[gold[0]]), answers: q.Metadata.Answers, says: holds(q.Metadata.Answers),
			gold: func(c state.Chunk) bool { return slices.Contains(gold, c.ID) },
		}
		if len(q.Metadata.Answers) == 0 {
			item.says = func(state.Chunk, string) bool { return true }
			out.sentences, out.strict = false, false
		}
		out.questions = append(out.questions, item)
	}
	out.searcher, err = r.indexed(docs, same)
	return out, err
}

// inPairs joins neighbouring questions about the same passage into long questions.
func (s set) inPairs() set {
	out := set{name: s.name + ", pairs", searcher: s.searcher, strict: s.strict}
	for i := 0; i+1 < len(s.questions); i++ {
		a, b := s.questions[i], s.questions[i+1]
		if a.about == b.about && a.about != "" {
			a.text += " " + b.text
			a.answers = slices.Concat(a.answers, b.answers)
			first := a.says
			a.says = func(c state.Chunk, said string) bool { return first(c, said) || b.says(c, said) }
			out.questions = append(out.questions, a)
			i++
		}
	}
	return out
}

// inTwos joins each two neighbouring questions.
func (s set) inTwos() []question {
	var out []question
	for two := range slices.Chunk(s.questions, 2) {
		q := two[0]
		q.text += " " + two[len(two)-1].text
		out = append(out, q)
	}
	return out
}

// articleOf returns the article of a paragraph of XQuAD.
func articleOf(id string) string {
	if i := strings.LastIndexByte(id, 'p'); i > 0 {
		return id[:i]
	}
	return id
}

// mtrag reads the human rewrites of a domain of MTRAG. A sentence of a relevant passage contains the answer
// if most of its words are in the reference answer.
func (r reader) mtrag(domain string) (set, error) {
	docs, err := lines[document](r, "mtrag/corpus-pooled/"+domain+".jsonl.gz")
	if err != nil {
		return set{}, err
	}
	asked, err := lines[query](r, "mtrag/human/"+domain+"/queries-rewrite.jsonl")
	if err != nil {
		return set{}, err
	}
	relevant, err := r.qrels("mtrag/human/" + domain + "/qrels.tsv")
	if err != nil {
		return set{}, err
	}
	tasks, err := lines[struct {
		ID    string `json:"task_id"`
		Agent string `json:"agent"`
	}](r, "mtrag/conversations/tasks.jsonl.gz")
	if err != nil {
		return set{}, err
	}
	agent := map[string]string{}
	for _, t := range tasks {
		agent[t.ID] = t.Agent
	}
	out := set{name: "MTRAG " + domain, sentences: true}
	for _, q := range asked {
		gold := relevant[q.ID]
		conversation, _, _ := strings.Cut(q.ID, "<::>")
		out.questions = append(out.questions, question{
			text: strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(q.Text), "|user|:")), half: halfOf(conversation),
			gold: func(c state.Chunk) bool { return slices.Contains(gold, c.ID) },
			says: resembles(agent[q.ID], nil),
		})
	}
	out.searcher, err = r.indexed(docs, func(id string) string {
		id, _, _ = strings.Cut(id, "-")
		if domain == "clapnq" {
			id, _, _ = strings.Cut(id, "_")
		}
		return id
	})
	return out, err
}

// resembles returns a test whether most words of a text of at least four words are in a reference answer, or
// a good part and a keyword.
func resembles(reference string, keywords []string) func(state.Chunk, string) bool {
	known := map[string]bool{}
	for _, w := range longWords(reference) {
		known[w] = true
	}
	return func(_ state.Chunk, said string) bool {
		words := longWords(said)
		n := 0
		for _, w := range words {
			if known[w] {
				n++
			}
		}
		share := float64(n) / float64(max(1, len(words)))
		key := slices.ContainsFunc(keywords, func(k string) bool { return strings.Contains(strings.ToLower(said), strings.ToLower(k)) })
		return n >= 3 && share >= 0.55 || key && n >= 2 && share >= 0.25
	}
}

// longWords returns the words of at least four letters, each cut to six as a crude stem.
func longWords(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r) }) {
		if w = strings.Trim(w, ".-_"); len(w) > 3 {
			out = append(out, w[:min(len(w), 6)])
		}
	}
	return out
}

// docker reads the questions and the standalone turns about the Docker manual.
func (r reader) docker() (set, error) {
	type expected struct {
		Question   string   `json:"question"`
		Standalone string   `json:"standalone"`
		Keywords   []string `json:"expected_keywords"`
		Answer     string   `json:"expected_answer"`
		Relevant   []string `json:"relevant"`
	}
	type item struct {
		expected
		ID    string     `json:"id"`
		Lang  string     `json:"lang"`
		Turns []expected `json:"turns"`
	}
	out := set{name: "Docker manual", sentences: true}
	for _, name := range []string{"docker-eval/dev.jsonl", "docker-eval/dialogues-dev.jsonl"} {
		items, err := lines[item](r, name)
		if err != nil {
			return set{}, err
		}
		for _, it := range items {
			for _, e := range append(it.Turns, it.expected) {
				if it.Lang != "en" || len(e.Relevant) == 0 {
					continue
				}
				if e.Standalone == "" {
					e.Standalone = e.Question
				}
				out.questions = append(out.questions, question{
					text: e.Standalone, half: halfOf(it.ID), about: e.Relevant[0],
					gold: func(c state.Chunk) bool { return slices.Contains(e.Relevant, c.Source) },
					says: resembles(e.Answer+" "+e.Question, e.Keywords),
				})
			}
		}
	}
	data, err := os.MkdirTemp("", "learn")
	if err != nil {
		return set{}, err
	}
	docs := filepath.Join(r.folder, "docker-docs")
	a, err := ragflow.Open(r.ctx, ragflow.Config{Docs: []string{docs}, DataDir: data})
	if err != nil {
		return set{}, err
	}
	report, err := a.Library().Sync(r.ctx)
	if err != nil {
		return set{}, err
	}
	if err := a.Close(); err != nil {
		return set{}, err
	}
	db, err := index.Open(r.ctx, filepath.Join(data, "index.db"), index.Options{})
	if err != nil {
		return set{}, err
	}
	out.searcher, err = db.Searcher(r.ctx, report.Roots...)
	return out, err
}

// hotpot reads questions whose answer is in one of several paragraphs.
func (r reader) hotpot() (set, error) {
	docs, err := lines[document](r, "beir/hotpotqa-50/corpus.jsonl")
	if err != nil {
		return set{}, err
	}
	asked, err := lines[query](r, "beir/hotpotqa-50/queries.jsonl")
	if err != nil {
		return set{}, err
	}
	out := set{name: "HotpotQA", sentences: true, strict: true}
	for _, q := range asked {
		if a := q.Metadata.Answer; len(a) > 3 {
			says := holds([]string{a})
			out.questions = append(out.questions, question{
				text: q.Text, half: halfOf(q.ID), says: says, gold: func(c state.Chunk) bool { return says(c, c.Text) },
			})
		}
	}
	out.searcher, err = r.indexed(docs, same)
	return out, err
}

// sets reads all sets.
func (r reader) sets() ([]set, error) {
	byTitle := map[string]string{}
	english, err := lines[document](r, "vi/xquad/corpus.en.jsonl.gz")
	if err != nil {
		return nil, err
	}
	for _, d := range english {
		byTitle[d.Title] = articleOf(d.ID)
	}
	parallel := func(d document) string { return articleOf(d.ID) }
	var out []set
	for _, read := range []func() (set, error){
		func() (set, error) {
			return r.paragraphs("SQuAD", "beir/squad-v1.1-dev/corpus.jsonl.gz", "beir/squad-v1.1-dev/queries.jsonl.gz", "beir/squad-v1.1-dev/qrels.tsv.gz", 8,
				func(d document) string { return byTitle[d.Title] })
		},
		func() (set, error) {
			return r.paragraphs("XQuAD en", "vi/xquad/corpus.en.jsonl.gz", "vi/xquad/queries.en.jsonl.gz", "vi/xquad/qrels.tsv", 1, parallel)
		},
		func() (set, error) {
			return r.paragraphs("XQuAD vi", "vi/xquad/corpus.vi.jsonl.gz", "vi/xquad/queries.vi.jsonl.gz", "vi/xquad/qrels.tsv", 1, parallel)
		},
		func() (set, error) {
			return r.paragraphs("ALQAC", "vi/alqac2023/corpus.jsonl.gz", "vi/alqac2023/queries.jsonl", "vi/alqac2023/qrels-train.tsv", 1,
				func(d document) string { return d.ID })
		},
		func() (set, error) { return r.mtrag("cloud") },
		func() (set, error) { return r.mtrag("clapnq") },
		r.docker, r.hotpot,
	} {
		s, err := read()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "%s: %d questions\n", s.name, len(s.questions))
		out = append(out, s)
	}
	for _, s := range out[:3] {
		out = append(out, s.inPairs())
	}
	byName := map[string]*set{}
	for i := range out {
		byName[out[i].name] = &out[i]
	}
	out = append(out, byName["Docker manual"].inPairs())
	cloud, wiki, docker := byName["MTRAG cloud"], byName["MTRAG clapnq"], byName["Docker manual"]
	cloud.foreign, wiki.foreign = docker.questions, slices.Concat(docker.questions, cloud.questions)
	docker.foreign = slices.Concat(cloud.questions, wiki.questions)
	out[len(out)-1].sentences, out[len(out)-1].foreign = true, append(cloud.inTwos(), wiki.inTwos()...)
	return out, nil
}
