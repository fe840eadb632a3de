package offline_test

import "testing"

// TestRecipes answers how-to questions from the section or the step that does what
// is asked.
func TestRecipes(t *testing.T) {
	terminal := page("terminal", "Journal driver", "## View logs of a box with a terminal attached\n\nA box with a terminal may show blobs when it retrieves logs.\n\n```console\n$ journal --all\n```\n")
	logs := page("logs", "View box logs", "The `box logs` command shows what a running box logs. By default it shows errors, too.\n\n## Drivers\n\nA driver sends logs elsewhere.\n")
	push := page("push", "Share images", "To share an image, tag it first.\n\n1. Tag your image.\n\n   ```console\n   $ box tag a b\n   ```\n\n"+
		"2. Push the image to the hub.\n\n   Use the `box push` command.\n\n   ```console\n   $ box push b\n   ```\n\n3. Look at it.\n")
	build := page("build", "Automation", "## Build and push the image\n\nThe following builds the image and pushes it.\n\n```yaml\n- name: Build and push image\n```\n")
	needs := page("needs", "Install the engine", "## System requirements\n\nChoose a machine.\n\n- 64 bits or more.\n- 4 GB of memory.\n- The following disks:\n\n## Requirements in detail\n\n- Nothing asked for.\n- Nothing else.\n")
	pancakes := page("pancakes", "Pancakes", "Serves 4. Takes 25 minutes.\n\n## Ingredients\n\n- 250 g flour\n- 2 eggs\n- butter for frying\n\n## Steps\n\n"+
		"1. Whisk flour, eggs and milk.\n2. Let the batter rest.\n3. Fry thin pancakes in butter.\n\nFreeze leftovers for two months.\n")
	overview := page("overview", "Modifying tables", "When you realize that you made a mistake, you can change a table. You can:\n\n- Rename columns\n- Change column types\n- Drop columns\n\n"+
		"## Changing a column's data type\n\nTo convert a column to a different one, use a command like:\n\n```\nALTER TABLE t ALTER COLUMN c TYPE text;\n```\n")
	for _, tt := range []struct {
		name, question string
		want, not      []string
	}{
		{"the section and no entry of a table of contents", "How do I change a column's type?", []string{"To convert a column", "ALTER TABLE t"}, []string{"- Change column types"}},
		{"the only steps of the page of that name", "How do I make pancakes?", []string{"1. Whisk flour", "3. Fry thin pancakes"}, []string{"Serves 4"}},
		{"an amount", "How many eggs do I need for pancakes?", []string{"- 2 eggs"}, []string{"Whisk"}},
		{"prose below the heading", "How do I see the logs of a box?", []string{"The `box logs` command", "By default"}, []string{"blobs", "journal", "driver sends"}},
		{"a step that does it", "How do I push an image to the hub?", []string{"2. Push the image to the hub.", "Use the `box push` command.", "$ box push b"}, []string{"Tag your image", "Look at it", "Build and push"}},
		{"a list of what is asked for", "What are the requirements of the engine?", []string{"- 64 bits or more.", "- 4 GB of memory."}, []string{"The following disks", "Nothing"}},
		{"a list whose first step does it", "How do I tag my image?", []string{"1. Tag your image.", "$ box tag a b"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, docs(), task(tt.question, 0.9, build, terminal, logs, push, needs, pancakes, overview)).Text
			checkWords(t, got, tt.want, tt.not)
		})
	}
}
