package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
	"example.com/ragflow/server/internal/door"
)

// defaultModel is the model of the default collection; "ragflow/NAME" is that of another one.
const defaultModel = "ragflow"

// modelNames are the models that the caller may ask.
func (s *service) modelNames(ctx context.Context) ([]string, error) {
	collections, err := s.a.Collections().List()
	names, p := []string{defaultModel}, door.Of(ctx)
	for _, c := range collections {
		if p.Uses(c) {
			names = append(names, defaultModel+"/"+c)
		}
	}
	return names, err
}

// collections returns what a model answers from.
func (s *service) collections(ctx context.Context, model string) ([]string, error) {
	names, err := s.modelNames(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, model) {
		return nil, &refusal{http.StatusNotFound, "model", "model_not_found", "there is no such model; choose one of: " + strings.Join(names, ", ")}
	}
	if name, named := strings.CutPrefix(model, defaultModel+"/"); named {
		return []string{name}, nil
	}
	return door.Of(ctx).Collections, nil // none is the default collection
}

func (s *service) models(_ http.ResponseWriter, r *http.Request) (any, error) {
	names, err := s.modelNames(r.Context())
	list := []object{}
	for _, n := range names {
		list = append(list, s.modelObject(n))
	}
	return object{"object": "list", "data": list}, err
}

func (s *service) model(_ http.ResponseWriter, r *http.Request) (any, error) {
	_, err := s.collections(r.Context(), r.PathValue("id"))
	return s.modelObject(r.PathValue("id")), err
}

func (s *service) modelObject(id string) object {
	return object{"id": id, "object": "model", "created": s.begun.Unix(), "owned_by": "ragflow"}
}

type embeddingsRequest struct {
	Input          texts  `json:"input"`
	Model          string `json:"model"`
	EncodingFormat string `json:"encoding_format"`
	Dimensions     int    `json:"dimensions"`
	InputType      string `json:"input_type"` // query, or passage, which is the default; not of OpenAI
}

// texts is a text or several.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(data []byte) error {
	*t = texts{""}
	if json.Unmarshal(data, &(*t)[0]) == nil || json.Unmarshal(data, (*[]string)(t)) == nil {
		return nil
	}
	return refuse("input", "give texts, since tokens are those of another model; LangChain sends texts with check_embedding_ctx_length=False")
}

// maxTexts is the most texts of one request for vectors.
const maxTexts = 2048

// embed makes vectors by the configured embedder, or that of the program.
func (s *service) embed(w http.ResponseWriter, r *http.Request) (any, error) {
	var in embeddingsRequest
	if err := door.ReadJSON(r, &in); err != nil {
		return nil, err
	}
	e := s.config.Models.Embedder
	if e == nil {
		builtIn, err := meaning.Open()
		if err != nil {
			return nil, err
		}
		e = builtIn
	}
	if err := in.check(e.Model()); err != nil {
		return nil, err
	}
	made, err := e.Embed(r.Context(), in.Input, map[string]llm.Purpose{"query": llm.Query}[in.InputType]) // else llm.Passage
	if err == nil && in.Dimensions != 0 && in.Dimensions != len(made.Vectors[0]) {
		err = refuse("dimensions", fmt.Sprintf("a vector has %d", len(made.Vectors[0])))
	}
	if err != nil {
		return nil, err
	}
	data := make([]object, len(made.Vectors))
	for i, v := range made.Vectors {
		data[i] = object{"object": "embedding", "index": i, "embedding": v}
		if in.EncodingFormat == "base64" {
			bytes, _ := binary.Append(nil, binary.LittleEndian, v) // never fails
			data[i]["embedding"] = base64.StdEncoding.EncodeToString(bytes)
		}
	}
	return object{"object": "list", "data": data, "model": e.Model(), "usage": object{"prompt_tokens": made.Usage.Input, "total_tokens": made.Usage.Input}}, nil
}

// check refuses what cannot be met. Any name but that of the embedder would promise other vectors.
func (in *embeddingsRequest) check(model string) error {
	switch {
	case in.Model != model && in.Model != defaultModel:
		return &refusal{http.StatusNotFound, "model", "model_not_found", "there is no such model for vectors; there is " + model}
	case len(in.Input) == 0 || len(in.Input) > maxTexts || slices.Contains(in.Input, ""):
		return refuse("input", fmt.Sprintf("give 1 to %d texts, none of them empty", maxTexts))
	case in.EncodingFormat != "" && in.EncodingFormat != "float" && in.EncodingFormat != "base64":
		return refuse("encoding_format", "choose float or base64")
	}
	return nil
}
