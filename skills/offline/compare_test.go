package offline_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow/state"
)

// TestCompares asks what tells two things apart: each is told by a statement
// about it, and cited.
func TestCompares(t *testing.T) {
	cmd := page("cmd", "Commands", "## CMD\n\nThe `CMD` instruction gives the default flags of a container. Use it once.\n")
	entry := page("entry", "Entry points", "## ENTRYPOINT\n\nAn entrypoint of Compose wins over all others.\n\nThe best use for `ENTRYPOINT` is to set the main command, with `CMD` as its flags.\n")
	both := page("both", "Both", "You may override the `CMD` or the `ENTRYPOINT` of an image.\n")
	for _, question := range []string{
		"What is the difference between CMD and ENTRYPOINT?", "How does CMD differ from ENTRYPOINT?", "CMD vs ENTRYPOINT", "compare CMD with ENTRYPOINT",
		"How do CMD and ENTRYPOINT differ?", "Jaka jest różnica między CMD a ENTRYPOINT?", "Czym różni się CMD od ENTRYPOINT?", "CMD khác gì với ENTRYPOINT?", "Sự khác nhau giữa CMD và ENTRYPOINT là gì?",
		"What is the difference between CMD and ENTRYPOINT in a Dockerfile?",
	} {
		got := answer(t, docs(), task(question, 0.9, both, cmd, entry))
		for _, want := range []string{"The `CMD` instruction gives the default flags of a container. [Source 2]", "The best use for `ENTRYPOINT` is to set the main command, with `CMD` as its flags. [Source 3]"} {
			if !strings.Contains(got.Text, want) {
				t.Errorf("%s: the answer lacks %q:\n%s", question, want, got.Text)
			}
		}
		if strings.Contains(got.Text, "entrypoint of Compose") {
			t.Errorf("%s: what is written small is another thing:\n%s", question, got.Text)
		}
		if queries := rewrite(t, question).Queries; len(queries) != 3 || queries[1].Text != "CMD" || queries[2].Text != "ENTRYPOINT" {
			t.Errorf("%s: queries %+v, want one for each side", question, queries)
		}
	}
}

// TestComparesTableAnnounced shows the table that a sentence announces without a
// colon, and falls back where the sources speak of one side only.
func TestComparesTableAnnounced(t *testing.T) {
	table := page("table", "Mounts", "The following table outlines the main differences between volumes and binds.\n\n| | Volumes | Binds |\n| --- | --- | --- |\n| Host location | Docker chooses | You decide |\n\nVolumes are kept by Docker alone. Binds are folders of the host machine.\n")
	got := answer(t, docs(), task("What is the difference between volumes and binds?", 0.9, table)).Text
	checkWords(t, got, []string{"main differences between volumes and binds. [Source 1]", "| Host location | Docker chooses | You decide |", "Volumes are kept", "Binds are folders"}, nil)
	one := answer(t, docs(), task("What is the difference between volumes and tapes?", 0.9, table))
	if len(one.Citations) == 0 || !strings.Contains(one.Text, "Volumes are kept") {
		t.Errorf("one side only:\n%s", one.Text)
	}
}

// TestStepsGoOn takes the steps of a list from the passages that it goes on in, and
// from no other.
func TestStepsGoOn(t *testing.T) {
	parts := []string{
		"# Install the engine on Ubuntu\n\n1. Set up the repository.\n\n   ```console\n   $ apt update\n   ```\n",
		"2. Install the packages.\n\n   ```console\n   $ apt install engine\n   ```\n\n3. Look at it.\n\n## Remove the engine\n\nDrop it.\n",
		"4. Throw it away.\n",
	}
	var chunks []state.Chunk
	for i, s := range parts {
		c := page(fmt.Sprint("engine", i), "Install the engine on Ubuntu", s)
		c.Source, c.Ordinal = "engine.md", i
		if i > 0 {
			c.Start = chunks[i-1].End + 2 // a blank line
			c.End = c.Start + len(s)
		}
		chunks = append(chunks, c)
	}
	other := page("other", "Other", "2. Wait for the other thing.\n")
	other.Ordinal = 1
	got := answer(t, docs(), task("How do I install the engine on Ubuntu?", 0.9, chunks[0], other, chunks[2], chunks[1])).Text
	checkWords(t, got, []string{"1. Set up the repository. [Source 1]", "$ apt update", "2. Install the packages. [Source 4]", "$ apt install engine", "3. Look at it. [Source 4]"}, []string{"Drop it", "Throw", "other thing"})
}

// TestWhatBelongsTogether looks at the parts of an answer that say nothing without
// others, and at what is none of it.
func TestWhatBelongsTogether(t *testing.T) {
	for _, tt := range []struct {
		name, question, text string
		want, not            []string
	}{
		{
			"the command that a list explains", "How do I get a shell inside a container?",
			"Reach it so:\n\n```console\n$ docker exec -it db bash\n```\n\nIn this command:\n\n- `db` names the container.\n- `bash` is the shell that runs inside the container.\n",
			[]string{"docker exec -it db bash", "In this command:", "is the shell"},
			nil,
		},
		{
			"code of a note is no step", "How do I install the engine on Ubuntu?",
			"# Install the engine on Ubuntu\n\n1. Install the package:\n   ```console\n   $ apt install engine\n   ```\n   > [!NOTE]\n   >\n   > Apt shows an error that you can ignore.\n   >\n   > ```text\n   > N: unsandboxed\n   > ```\n\n2. Start the engine.\n",
			[]string{"apt install engine", "2. Start the engine."},
			[]string{"unsandboxed"},
		},
		{
			"paragraphs and tabs of a step", "How do I install the engine on Ubuntu?",
			"# Install the engine on Ubuntu\n\n1. Install the packages.\n\n   {{< tabs >}}\n   {{< tab name=\"Latest\" >}}\n\n   To install the latest one, run:\n\n   ```console\n   $ apt install engine\n   ```\n\n   {{< /tab >}}\n   {{< tab name=\"Old\" >}}\n\n   To install an old one, run:\n\n   ```console\n   $ apt install engine=1\n   ```\n\n   {{< /tab >}}\n   {{< /tabs >}}\n\n   > [!NOTE]\n   >\n   > To look at it, use:\n   >\n   > ```console\n   > $ status engine\n   > ```\n\n2. Start the engine.\n\nPrune it later.\n",
			[]string{"1. Install the packages.", "To install the latest one, run:", "$ apt install engine\n", "2. Start the engine."},
			[]string{"old one", "engine=1", "status", "Prune"},
		},
		{
			"what is seen is no further step", "How do I create a network?",
			"# Create a network\n\nTo create a network, run:\n\n```console\n$ docker network create n\n```\n\nThe network looks dull while nothing is in it:\n\n```console\n$ docker network inspect n\n```\n\nThen connect a container:\n\n```console\n$ docker network connect n c\n```\n",
			[]string{"docker network create n", "docker network connect n c"},
			[]string{"dull", "inspect"},
		},
		{
			"the tab that the question names", "How do I uninstall the engine on Windows?",
			"# Uninstall the engine\n\n{{< tabs >}}\n{{< tab name=\"Mac\" >}}\n\n#### From the menu\n\n1. Open the dock.\n2. Drop it.\n\n{{< /tab >}}\n{{< tab name=\"Windows\" >}}\n\n#### From the menu\n\n1. Open the start menu.\n2. Choose to remove it.\n\n{{< /tab >}}\n{{< /tabs >}}\n",
			[]string{"1. Open the start menu.", "2. Choose to remove it."},
			[]string{"dock"},
		},
		{
			"what a site fills in is a placeholder", "How do I write a Dockerfile with a stage?",
			"# Write a Dockerfile with a stage\n\nWrite a stage of version `{{% param \"go_version\" %}}/x` so:\n\n```dockerfile\nFROM golang:{{% param \"go_version\" %}}\nRUN {{ .State }}\n```\n",
			[]string{"FROM golang:<go_version>", "`<go_version>/x`", "RUN {{ .State }}"},
			[]string{"param"},
		},
		{
			"what a page holds says nothing", "What are the requirements of the engine?",
			"This page describes the requirements of the engine.\n\nThe requirements of the engine are 4 GB of memory.\n",
			[]string{"4 GB"},
			[]string{"This page"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, docs(), task(tt.question, 0.9, page("p", "Engine", tt.text))).Text
			checkWords(t, got, tt.want, tt.not)
		})
	}
}
