package main

import (
	"context"
	"errors"
	"io"
	"os"

	"example.com/ragflow"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/llm"
)

// withImage adds to a question the description of an image by a model. The search uses the
// description as part of the question, and the thread keeps it.
func (a *app) withImage(ctx context.Context, c ragflow.Config, question, file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", failed("", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, llm.MaxImageBytes+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", failed("", err)
	}
	image, err := llm.ReadImage(data)
	if err != nil {
		return "", usagef("%s: %w", file, err)
	}
	custom, err := c.ReadPrompts()
	if err != nil {
		return "", failed("read the prompts", err)
	}
	models := model.Models{Chat: c.Models.Chat, Tasks: c.Models.Tasks}
	a.tell("reading %s …", file)
	shown, r, err := model.DescribeImage(ctx, models.Task(model.TaskImage), custom, image, question)
	if err != nil {
		return "", imageFailed(file, err)
	}
	a.tell("%s shows, by %s (%d tokens): %s", file, r.Model, r.Usage.Input+r.Usage.Output, shown)
	return question + "\n\nThe picture shows: " + shown, nil
}

// imageFailed adds a hint to the error of a model that cannot read an image.
func imageFailed(file string, err error) error {
	err = failed("read "+file, err)
	if f, ok := errors.AsType[*failure](err); ok && f.hint == "" {
		f.hint = `name a model that reads pictures: --model, or for this task alone LLM_TASKS="image=PROVIDER:MODEL"`
	}
	return err
}
