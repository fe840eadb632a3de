package openai

import (
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"

	sdk "github.com/openai/openai-go/v3"

	"example.com/ragflow/llm"
)

// dataURI is an image as an address that holds it.
func dataURI(i llm.Image) string {
	return "data:" + i.Media + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// userMessage is what a person says in the protocol for chats.
func userMessage(m llm.Message) sdk.ChatCompletionMessageParamUnion {
	if len(m.Images) == 0 {
		return sdk.UserMessage(m.Content)
	}
	var parts []sdk.ChatCompletionContentPartUnionParam
	if m.Content != "" {
		parts = append(parts, sdk.TextContentPart(m.Content))
	}
	for _, i := range m.Images {
		parts = append(parts, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: dataURI(i)}))
	}
	return sdk.UserMessage(parts)
}

// inputParts are the parts of a message with images in the protocol Responses.
func inputParts(m llm.Message) (parts []any) {
	if m.Content != "" {
		parts = append(parts, map[string]any{"type": "input_text", "text": m.Content})
	}
	for _, i := range m.Images {
		parts = append(parts, map[string]any{"type": "input_image", "image_url": dataURI(i)})
	}
	return parts
}

// imageSource is an image in the protocol Messages.
type imageSource struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  []byte `json:"data"`
}

// aboutImages matches what servers say of images that they do not take.
var aboutImages = regexp.MustCompile(`(?i)image|vision|multimodal`)

// refusedImages corrects the error of a request with images that the server does not take. For a
// model that takes none, llama.cpp answers with the status 500 and OpenRouter with 404.
func refusedImages(e *llm.Error, r llm.Request) {
	images := 0
	for _, m := range r.Messages {
		images += len(m.Images)
	}
	if images == 0 || e.Status < http.StatusBadRequest || !aboutImages.MatchString(e.Detail) {
		return
	}
	for _, kind := range []error{llm.ErrRefused, llm.ErrUnavailable, llm.ErrModelNotFound} {
		if errors.Is(e, kind) {
			e.Kind, e.Transient, e.Detail = llm.ErrRefused, false, "does the model take images? "+e.Detail
			return
		}
	}
}
