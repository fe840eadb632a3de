package model

import (
	"context"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
)

// Limits of what is written about an image.
const (
	imageTokens = 400
	imageRunes  = 2000
)

// DescribeImage lets a model write down what an image shows, on one line, for a question about it.
// The question and this text can then be asked as one question. The error of a model that reads
// no images matches [llm.ErrRefused].
func DescribeImage(ctx context.Context, chat llm.Chat, custom prompts.Set, image llm.Image, question string) (string, llm.Response, error) {
	p := prompts.Image{Question: cite.Escape(oneLine(question)), Boundary: prompts.NewBoundary(), Custom: custom}
	rendered := p.Render()
	r, err := chat.Complete(ctx, llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Content: rendered.System},
			{Role: llm.User, Content: rendered.User, Images: []llm.Image{image}},
		},
		MaxTokens: imageTokens, Stop: []string{p.Boundary},
	}, nil)
	if err != nil {
		return "", r, err
	}
	said := text.First(cite.Escape(oneLine(before(r.Text, p.Boundary))), imageRunes)
	if strings.TrimSpace(said) == "" {
		return "", r, &prompts.ParseError{Prompt: "image", Want: "text"}
	}
	return said, r, nil
}
