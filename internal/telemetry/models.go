package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"example.com/ragflow/llm"
)

// chat wraps each model of a chat; nil stays nil.
func (t *Telemetry) chat(c llm.Chat) llm.Chat {
	if c == nil {
		return nil
	}
	return llm.Each(c, func(c llm.Chat) llm.Chat { return &chat{c, t} })
}

// call is one call of a model.
type call struct {
	t         *Telemetry
	span      trace.Span
	operation string
	model     string
	begun     time.Time
}

// call begins the span of a call.
func (t *Telemetry) call(ctx context.Context, operation, kind, model string) (context.Context, *call) {
	ctx, span := t.begin(ctx, operation+" "+model, kind, attribute.String(attrOperation, operation), attribute.String(attrRequestModel, model))
	if t.o.OpenInference {
		span.SetAttributes(attribute.String(strings.ToLower(kind)+".model_name", model))
	}
	return ctx, &call{t, span, operation, model, time.Now()}
}

// ended ends a call, whose metrics have these tags and those of its error.
func (c *call) ended(ctx context.Context, provider, answered string, u llm.Usage, retries int, err error) {
	failed, _ := errors.AsType[*llm.Error](err)
	if failed != nil {
		provider, retries = failed.Provider, failed.Retries
	}
	for key, v := range map[string]string{attrProvider: provider, attrResponseModel: answered} {
		if v != "" {
			c.span.SetAttributes(attribute.String(key, v))
		}
	}
	if retries > 0 {
		c.span.SetAttributes(attribute.Int(attrRetries, retries))
	}
	if u != (llm.Usage{}) {
		c.span.SetAttributes(attribute.Int64(attrInputTokens, u.Input), attribute.Int64(attrOutputTokens, u.Output))
		if c.t.o.OpenInference {
			c.span.SetAttributes(attribute.Int64(inferPrompt, u.Input), attribute.Int64(inferReply, u.Output), attribute.Int64(inferTotal, u.Input+u.Output))
		}
	}
	if failed == nil || !failed.Skipped { // else no request was sent
		c.measure(ctx, provider, u, retries, err)
	}
	c.t.end(c.span, err)
}

func (c *call) measure(ctx context.Context, provider string, u llm.Usage, retries int, err error) {
	m, took := c.t.meters, time.Since(c.begun)
	named := []attribute.KeyValue{attribute.String(attrOperation, c.operation), attribute.String(attrRequestModel, c.model), attribute.String(attrProvider, provider)}
	if err != nil {
		named = append(named, attribute.String(attrErrorType, errorType(err)))
	}
	m.clientDuration.Record(ctx, took.Seconds(), tags(named...))
	for kind, n := range map[string]int64{"input": u.Input, "output": u.Output} {
		if n > 0 {
			m.clientTokens.Record(ctx, float64(n), tags(named...), tags(attribute.String(attrTokenType, kind)))
		}
	}
	if c.operation != opChat {
		return
	}
	of := c.tags(ctx, provider)
	m.chatDuration.Record(ctx, ms(took), of)
	m.chatCalls.Add(ctx, 1, of)
	m.chatErrors.Add(ctx, one(err != nil), of, failure(err))
	m.chatRetries.Add(ctx, int64(retries), of)
	m.inputTokens.Add(ctx, u.Input, of)
	m.outputTokens.Add(ctx, u.Output, of)
}

// tags are those of the metrics of a language model.
func (c *call) tags(ctx context.Context, provider string) metric.MeasurementOption {
	return tags(attribute.String(tagProvider, provider), attribute.String(tagModel, c.model), attribute.String(tagStage, stage(ctx)))
}

// chat is an llm.Chat that tells what it does.
type chat struct {
	llm.Chat

	t *Telemetry
}

// Complete implements llm.Chat.
func (c *chat) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	ctx, call := c.t.call(ctx, opChat, kindModel, c.Model())
	call.span.SetAttributes(attribute.Bool(attrRequestStream, token != nil), attribute.Float64(attrTemperature, r.Temperature))
	out, err := c.Chat.Complete(ctx, r, token)
	if out.Finish != "" {
		call.span.SetAttributes(attribute.StringSlice(attrFinishReasons, []string{string(out.Finish)}))
	}
	if c.t.o.Content && call.span.IsRecording() {
		c.t.asked(call.span, r.Messages)
	}
	if err == nil {
		c.answered(ctx, call, out)
	}
	call.ended(ctx, out.Provider, out.Model, out.Usage, out.Retries, err)
	return out, err
}

// answered records an answer: its text, its pieces and its cost.
func (c *chat) answered(ctx context.Context, call *call, out llm.Response) {
	if c.t.o.Content {
		said := message{Role: string(llm.Assistant), Parts: parts(out.Text, out.Calls), Finish: string(out.Finish)}
		c.t.content(call.span, attrOutputMessages, asJSON([]message{said}), inferOutput, out.Text)
	}
	m := c.t.meters
	of := call.tags(ctx, out.Provider)
	if out.Chunks > 0 {
		m.chunks.Add(ctx, int64(out.Chunks), of)
		m.firstToken.Record(ctx, ms(out.FirstToken), of)
		m.clientFirstChunk.Record(ctx, out.FirstToken.Seconds(), tags(attribute.String(attrRequestModel, c.Model()), attribute.String(attrProvider, out.Provider)))
		call.span.SetAttributes(attribute.Float64(attrFirstChunk, out.FirstToken.Seconds()))
	}
	if out.Priced {
		m.cost.Add(ctx, out.CostUSD, of)
	}
}

// message is a message in the form of the conventions.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Response  string `json:"response,omitempty"`
}

// asked adds what a model was asked. Images are left out.
func (t *Telemetry) asked(span trace.Span, list []llm.Message) {
	var system []part
	var input []message
	for _, m := range list {
		switch m.Role {
		case llm.System:
			system = append(system, part{Type: "text", Content: m.Content})
		case llm.ToolResult:
			input = append(input, message{Role: string(m.Role), Parts: []part{{Type: "tool_call_response", ID: m.CallID, Response: m.Content}}})
		default:
			input = append(input, message{Role: string(m.Role), Parts: parts(m.Content, m.Calls)})
		}
	}
	t.content(span, attrInputMessages, asJSON(input), inferInput, asJSON(input))
	if len(system) > 0 {
		span.SetAttributes(attribute.String(attrInstructions, asJSON(system)))
	}
}

// content adds a text by the names of the conventions and of OpenInference.
func (t *Telemetry) content(span trace.Span, key, text, inferKey, inferText string) {
	span.SetAttributes(attribute.String(key, text))
	if t.o.OpenInference {
		span.SetAttributes(attribute.String(inferKey, inferText))
	}
}

func parts(text string, calls []llm.ToolCall) []part {
	out := []part{{Type: "text", Content: text}}
	for _, c := range calls {
		out = append(out, part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return out
}

func asJSON(v any) string {
	data, _ := json.Marshal(v) // texts and numbers have a JSON form
	return string(data)
}

// embedder is an llm.Embedder that tells what it does.
type embedder struct {
	llm.Embedder

	t *Telemetry
}

// Embed implements llm.Embedder. The passages of an index have no spans of their own: there are too many.
func (e *embedder) Embed(ctx context.Context, texts []string, p llm.Purpose) (llm.Embeddings, error) {
	call := &call{e.t, trace.SpanFromContext(ctx), opEmbeddings, e.Model(), time.Now()}
	if p == llm.Query || call.span.SpanContext().IsValid() {
		ctx, call = e.t.call(ctx, opEmbeddings, kindEmbedding, e.Model())
	}
	out, err := e.Embedder.Embed(ctx, texts, p)
	call.ended(ctx, out.Provider, out.Model, out.Usage, out.Retries, err)
	return out, err
}

// reranker is an llm.Reranker that tells what it does.
type reranker struct {
	llm.Reranker

	t *Telemetry
}

// Rerank implements llm.Reranker.
func (r *reranker) Rerank(ctx context.Context, query string, texts []string) (llm.Scores, error) {
	ctx, call := r.t.call(ctx, opRerank, kindReranker, r.Model())
	out, err := r.Reranker.Rerank(ctx, query, texts)
	call.ended(ctx, out.Provider, out.Model, out.Usage, out.Retries, err)
	return out, err
}
