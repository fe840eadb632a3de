package eval

import (
	"bytes"
	"embed"
	"fmt"
)

//go:embed datasets/*.jsonl
var datasets embed.FS

// BuiltIn lists the datasets that come with the program: docker-8 asks eight
// questions over the Docker documentation, guide asks the guide of this project
// (folder docs of a clone).
func BuiltIn() []string { return []string{"docker-8", "guide"} }

func builtIn(name string) (Dataset, error) {
	data, err := datasets.ReadFile("datasets/" + name + ".jsonl")
	if err != nil {
		return Dataset{}, fmt.Errorf("built-in dataset %q: %w", name, err)
	}
	items, err := Read(bytes.NewReader(data))
	return Dataset{Name: name, Items: items}, err
}
