package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// workflow is the name of the graph.
const workflow = "ragflow"

var _ graph.Hook = (*Telemetry)(nil)

// Begin implements graph.Hook: runs and tasks become spans.
func (t *Telemetry) Begin(ctx context.Context, s graph.Span) (context.Context, func(error)) {
	switch s.Kind {
	case graph.SpanRun:
		return t.run(ctx, s)
	case graph.SpanTask:
		return t.task(ctx, s)
	default:
		return ctx, nil
	}
}

// run begins the span of a run. A run that stops to ask a person has not failed.
func (t *Telemetry) run(ctx context.Context, s graph.Span) (context.Context, func(error)) {
	begun := time.Now()
	ctx, span := t.begin(ctx, opWorkflow+" "+workflow, kindChain,
		attribute.String(attrOperation, opWorkflow), attribute.String(attrWorkflow, workflow),
		attribute.String(attrConversation, s.Thread), attribute.String(attrRun, s.Run))
	if t.o.OpenInference {
		span.SetAttributes(attribute.String(inferSession, s.Thread))
	}
	return ctx, func(err error) {
		if t.o.Content {
			t.exchange(span, s, err == nil)
		}
		err = failed(err)
		t.meters.answered(ctx, begun, err)
		t.end(span, err)
	}
}

// exchange adds the question of a run and, if there is one, its answer.
func (t *Telemetry) exchange(span trace.Span, s graph.Span, answered bool) {
	now, _ := s.State().(state.State)
	question, _ := state.LastHuman(now.Messages)
	asked := []message{{Role: string(llm.User), Parts: parts(question.Content, nil)}}
	t.content(span, attrInputMessages, asJSON(asked), inferInput, question.Content)
	if answer := now.Turn.Answer; answered {
		said := []message{{Role: string(llm.Assistant), Parts: parts(answer, nil), Finish: string(llm.FinishStop)}}
		t.content(span, attrOutputMessages, asJSON(said), inferOutput, answer)
	}
}

// failed returns the error of what failed: what stops to ask a person has not.
func failed(err error) error {
	if _, asks := errors.AsType[*graph.InterruptError](err); asks {
		return nil
	}
	return err
}

// task begins the span of a node.
func (t *Telemetry) task(ctx context.Context, s graph.Span) (context.Context, func(error)) {
	begun := time.Now()
	ctx, span := t.begin(ctx, s.Node, kindChain, attribute.String(attrNode, s.Node), attribute.Int(attrStep, s.Step))
	return ctx, func(err error) {
		err = failed(err)
		notes := s.Notes()
		if notes.Skipped != "" {
			span.SetAttributes(attribute.Bool(attrSkipped, true))
		}
		if n := len(notes.Failed); n > 0 {
			span.SetAttributes(attribute.Int(attrRetries, n))
		}
		if n := len(notes.Warnings); n > 0 {
			span.SetAttributes(attribute.Int(attrWarnings, n))
		}
		if s.Path == "" {
			t.meters.stage.Record(ctx, ms(time.Since(begun)), tags(attribute.String(tagStage, s.Node)))
			if s.Node == nodes.PostRetrievalID && err == nil && notes.Skipped == "" {
				t.meters.built(ctx, begun, notes)
			}
		}
		t.end(span, err)
	}
}

// search is a search.Observer.
func (t *Telemetry) search(ctx context.Context, q state.Query, leg, source string) (context.Context, func([]state.Hit, error)) {
	begun := time.Now()
	ctx, span := t.begin(ctx, opRetrieval+" "+leg, kindRetriever, attribute.String(attrOperation, opRetrieval), attribute.String(tagRetriever, leg))
	if source != "" {
		span.SetAttributes(attribute.String(attrDataSource, source))
	}
	if t.o.Content {
		t.content(span, attrQueryText, q.Text, inferInput, q.Text)
	}
	return ctx, func(hits []state.Hit, err error) {
		t.meters.searched(ctx, begun, leg, len(hits), err)
		if span.IsRecording() {
			t.documents(span, hits)
		}
		t.end(span, err)
	}
}

// document is what a span lists of a passage that was found.
type document struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
}

// maxDocuments is the number of passages that a span lists.
const maxDocuments = 20

func (t *Telemetry) documents(span trace.Span, hits []state.Hit) {
	list := make([]document, min(len(hits), maxDocuments))
	for i := range list {
		list[i] = document{hits[i].Chunk, hits[i].Score}
		if t.o.OpenInference {
			span.SetAttributes(attribute.String(fmt.Sprintf(inferDocument, i, "id"), hits[i].Chunk), attribute.Float64(fmt.Sprintf(inferDocument, i, "score"), hits[i].Score))
		}
	}
	span.SetAttributes(attribute.String(attrDocuments, asJSON(list)))
}

// built records the context of an answer, whose numbers post_retrieval has noted.
func (m *meters) built(ctx context.Context, begun time.Time, n graph.Notes) {
	noted := map[string]float64{}
	for _, d := range n.Details {
		if v, err := strconv.ParseFloat(d.Value, 64); err == nil {
			noted[d.Key] = v
		}
	}
	m.contextDuration.Record(ctx, ms(time.Since(begun)))
	m.contextTokens.Record(ctx, noted["tokens"])
	m.contextChunks.Record(ctx, noted["sources"])
	m.contextTruncated.Record(ctx, noted["cut to fit"])
}

// answered records a run.
func (m *meters) answered(ctx context.Context, begun time.Time, err error) {
	m.queryDuration.Record(ctx, ms(time.Since(begun)))
	m.queryCalls.Add(ctx, 1)
	at := tags()
	if node, ok := errors.AsType[*graph.NodeError](err); ok {
		at = tags(attribute.String(tagStage, node.Node))
	}
	m.queryErrors.Add(ctx, one(err != nil), failure(err), at)
}

// searched records a search. A failed one has returned nothing, and its number of results does not count.
func (m *meters) searched(ctx context.Context, begun time.Time, leg string, hits int, err error) {
	of := tags(attribute.String(tagRetriever, leg), attribute.String(tagStage, stage(ctx)))
	m.searchDuration.Record(ctx, ms(time.Since(begun)), of)
	m.searchCalls.Add(ctx, 1, of)
	m.searchErrors.Add(ctx, one(err != nil), of, failure(err))
	if err != nil {
		return
	}
	m.results.Record(ctx, float64(hits), of)
	m.empty.Add(ctx, one(hits == 0), of)
}
