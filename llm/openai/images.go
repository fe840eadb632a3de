package openai

import (
	"encoding/base64"

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
