package ragflow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/ragflow/skills/offline"
)

// Expansion is what a dictionary knows for a word or phrase of a question.
type Expansion = offline.Expansion

// dictionary reads the person's file of words that stand for others.
func (c Config) dictionary() (offline.Dictionary, error) {
	if c.Dictionary == "" {
		return offline.Dictionary{}, nil
	}
	f, err := os.Open(c.Dictionary)
	if err != nil {
		return offline.Dictionary{}, fmt.Errorf("open the dictionary: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	read := offline.ReadDictionary
	if ext := strings.ToLower(filepath.Ext(c.Dictionary)); ext == ".yaml" || ext == ".yml" {
		read = offline.ReadDictionaryYAML
	}
	d, err := read(f)
	if err != nil {
		return d, fmt.Errorf("read the dictionary %s: %w", c.Dictionary, err)
	}
	return d, nil
}
