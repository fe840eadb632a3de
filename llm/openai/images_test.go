package openai_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/png"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// picture is an image of 64 points, and its bytes in base64.
func picture(t *testing.T) (llm.Image, string) {
	t.Helper()
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	out, err := llm.ReadImage(data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return out, base64.StdEncoding.EncodeToString(data.Bytes())
}

// protocols are those of chat models, each with its answer to any question.
func protocols() map[string]llmtest.Behaviour {
	return map[string]llmtest.Behaviour{
		openai.ChatCompletions: llmtest.Say("fine"), openai.Responses: llmtest.Events(piece, completed),
	}
}

func TestImages(t *testing.T) {
	shown, data := picture(t)
	uri := "data:image/png;base64," + data
	type fields = map[string]any
	want := map[string][]any{
		openai.ChatCompletions: {
			fields{"role": "system", "content": "Be brief."},
			fields{"role": "user", "content": []any{fields{"type": "text", "text": "What is this?"}, fields{"type": "image_url", "image_url": fields{"url": uri}}}},
			fields{"role": "assistant", "content": "A square."},
			fields{"role": "user", "content": []any{fields{"type": "image_url", "image_url": fields{"url": uri}}}},
		},
		openai.Responses: {
			fields{"role": "system", "content": "Be brief."},
			fields{"role": "user", "content": []any{fields{"type": "input_text", "text": "What is this?"}, fields{"type": "input_image", "image_url": uri}}},
			fields{"type": "message", "role": "assistant", "content": []any{fields{"type": "output_text", "text": "A square."}}},
			fields{"role": "user", "content": []any{fields{"type": "input_image", "image_url": uri}}},
		},
	}
	for protocol, answer := range protocols() {
		t.Run(protocol, func(t *testing.T) {
			s := llmtest.NewServer(answer)
			defer s.Close()
			all := []llm.Image{shown}
			q := llm.Request{Messages: []llm.Message{ // images of other roles are not sent
				{Role: llm.System, Content: "Be brief.", Images: all},
				{Role: llm.User, Content: "What is this?", Images: all},
				{Role: llm.Assistant, Content: "A square.", Images: all},
				{Role: llm.User, Images: all},
			}}
			if _, err := client(t, s, func(c *openai.Config) { c.Protocol = protocol }).Chat("small").Complete(t.Context(), q, nil); err != nil {
				t.Fatal(err)
			}
			body := s.Asked(t, 0)
			got := body["messages"]
			if protocol == openai.Responses {
				got = body["input"]
			}
			if diff := cmp.Diff(want[protocol], got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestImagesRefused reads what servers say of images that they do not take.
func TestImagesRefused(t *testing.T) {
	shown, _ := picture(t)
	const llamacpp = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
	for _, tt := range []struct {
		name    string
		status  int
		message string
		images  []llm.Image
		want    error
		text    string
	}{
		{"llama.cpp", 500, llamacpp, []llm.Image{shown}, llm.ErrRefused, "Provider played refused the request: does the model take images? status 500: " + llamacpp},
		{"OpenRouter", 404, "No endpoints found that support image input", []llm.Image{shown}, llm.ErrRefused, ""},
		{"another fault", 503, "no slot is free", []llm.Image{shown}, llm.ErrUnavailable, "Provider played is not available: status 503: no slot is free"},
		{"without images", 500, llamacpp, nil, llm.ErrUnavailable, ""},
	} {
		for protocol := range protocols() {
			t.Run(tt.name+"/"+protocol, func(t *testing.T) {
				s := llmtest.NewServer(llmtest.Status(tt.status, tt.message))
				defer s.Close()
				q := llmtest.Question()
				q.Messages[0].Images = tt.images
				got, err := client(t, s, func(c *openai.Config) { c.Protocol = protocol }).Chat("small").Complete(t.Context(), q, nil)
				llmtest.CheckError(t, got, err, tt.want, tt.text)
				if e, ok := errors.AsType[*llm.Error](err); !ok || e.Transient != errors.Is(tt.want, llm.ErrUnavailable) || len(s.Calls()) != 1 {
					t.Errorf("got %#v after %d calls", err, len(s.Calls()))
				}
			})
		}
	}
}

// TestIntegrationImages shows an image to a real server whose model takes none. It is refused
// once, in words that say so.
func TestIntegrationImages(t *testing.T) {
	address, model := os.Getenv("RAGFLOW_TEST_BASE_URL"), os.Getenv("RAGFLOW_TEST_CHAT_MODEL")
	if address == "" || model == "" {
		t.Skip("no models run here; scripts/models starts some")
	}
	shown, _ := picture(t)
	for protocol := range protocols() {
		c, err := openai.New(openai.Config{BaseURL: address, Protocol: protocol})
		if err != nil {
			t.Fatal(err)
		}
		q := llm.Request{MaxTokens: 8, Messages: []llm.Message{{Role: llm.User, Content: "What is this?", Images: []llm.Image{shown}}}}
		r, err := llm.Retry(c.Chat(model), llm.RetryOptions{}).Complete(t.Context(), q, nil)
		e, ok := errors.AsType[*llm.Error](err)
		if !errors.Is(err, llm.ErrRefused) || !ok || e.Status < http.StatusBadRequest || e.Retries != 0 || !strings.Contains(err.Error(), "does the model take images?") {
			t.Errorf("%s: got %+v, %v", protocol, r, err)
		}
		c.CloseIdle()
	}
}
