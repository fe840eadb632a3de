package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/internal/newfile"
)

// FuzzSettings reads a .env and a configuration file of a project that nobody trusted: they
// set nothing but what is safe, and no error shows what a .env holds.
func FuzzSettings(f *testing.F) {
	f.Add("OPENAI_BASE_URL=https://evil.test/v1\nOPENAI_API_KEY='planted", "docs: [~/x]\nchunk_size: 9")
	f.Add("export SMART_LLM_MODEL=a\x00\n\ufeff=", "data_dir: &a [*a]\nopenai_base_url: {}")
	f.Add("RAGFLOW_DATA_DIR=/x # y\nRAGFLOW_DOCS=/", "relevance_threshold: !!binary 0.5\n? a\n: b")
	f.Fuzz(func(t *testing.T, dotenv, text string) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, projectDir), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string]string{".env": dotenv, filepath.Join(projectDir, configName): text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, _, err := Load(Input{Dir: dir, Env: map[string]string{"HOME": dir, "XDG_CONFIG_HOME": dir}})
		if err != nil {
			if strings.Contains(dotenv, "planted") && !strings.Contains(text, "planted") && strings.Contains(err.Error(), "planted") {
				t.Errorf("the error shows a secret: %v", err)
			}
			return
		}
		if c := s.Config; c.DataDir != filepath.Join(dir, projectDir) || s.Models.Smart != "" || s.Models.Embedding != "" || s.Models.Reranker != "" {
			t.Errorf("set without trust: %q, %+v", c.DataDir, s.Models)
		}
		for i, row := range s.Rows {
			if !s.table[i].has(isSafe) && row.Name != "RAGFLOW_DOCS" && strings.HasPrefix(row.Source, dir) {
				t.Errorf("%s comes from %s", row.Name, row.Source)
			}
		}
		for _, p := range s.Config.Docs {
			if s.row(docsName).Set() && !newfile.Inside(dir, p) {
				t.Errorf("documents outside: %s", p)
			}
		}
	})
}
