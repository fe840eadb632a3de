package offline_test

import "testing"

// TestCommands leads with the sentence that tells by which command something is done,
// and shows its block whole.
func TestCommands(t *testing.T) {
	list := page("list", "Run boxes", "## List boxes\n\nHow do you know which boxes are running on your machine? To see a list of the boxes running on your machine, run `box ps`. It looks like ps.\n\n"+
		"You should see output like the following.\n\n```console\nID   NAME\n17   jolly_ada\n```\n\nNow, stop the box.\n\n```console\n$ box stop jolly_ada\n```\n")
	code := page("code", "Client", "Use the option `all` to list all running boxes.\n\n```typescript\nawait boxes.list({all: true});\n```\n")
	prune := page("prune", "Tidy up", "## Prune boxes\n\nA stopped box takes room. To clean this up, use the `box prune` command.\n\n```console\n$ box prune\n\nWARNING! This will remove all stopped boxes.\n```\n")
	remove := page("remove", "Update a program", "When you stop a box, it is not removed. You can stop and remove a box by adding the `force` flag.\n\n"+
		"To remove all stopped jars from a shelf, run:\n\n```console\n$ jar prune\n```\n")
	admin := page("admin", "After the installation", "To create the group of the engine and add your user:\n\n1. Create the group.\n\n   ```console\n   $ groupadd box\n   ```\n\n"+
		"2. Log out.\n\n   You can also activate the change:\n\n   ```console\n   $ newgrp box\n   ```\n\n3. Verify that you can run `box` commands without `sudo`.\n\n   ```console\n   $ box run hello\n   ```\n\nIf that fails, use `sudo`.\n")
	limits := page("limits", "Limits", "Boxes have limits. A limit of a box is a number that the kernel keeps. When you limit the memory of a box, programs in it may end.\n\nPass `box run --memory` to limit the memory of a box.\n\n"+
		"For testing you may need a shelf to limit a jar on:\n\n```console\n$ shelf make\n```\n")
	for _, tt := range []struct {
		name, question string
		want, not      []string
	}{
		{"in a sentence", "How do I list running boxes?", []string{"documents:\n\nTo see a list of the boxes running on your machine, run `box ps`."}, []string{"How do you know", "jolly_ada", "await"}},
		{"told by its output", "How do I remove all stopped boxes?", []string{"use the `box prune` command.", "$ box prune\n\nWARNING! This will remove all stopped boxes.\n```"}, []string{"force", "jar"}},
		{"steps that are verified", "How do I use box without sudo?", []string{"1. Create the group.", "$ groupadd box", "$ newgrp box", "3. Verify that you can run", "$ box run hello"}, []string{"If that fails"}},
		{"and not what tells when", "How do I limit the memory of a box?", []string{"documents:\n\nPass `box run --memory` to limit the memory of a box."}, []string{"shelf"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, docs(), task(tt.question, 0.9, remove, code, list, limits, prune, admin)).Text
			checkWords(t, got, tt.want, tt.not)
		})
	}
}

// TestCommandsForOtherThings prefers no command that is for a thing of another name, and
// begins with a step that checks what is asked for.
func TestCommandsForOtherThings(t *testing.T) {
	bill := page("bill", "Boxes and their files", "The following command saves the SBOM to a file:\n\n```console\n$ box bill --output .\n```\n\nSave a box to a file with `box save`.\n")
	size := page("size", "Build boxes", "1. Build the box:\n\n   ```console\n   $ box build .\n   ```\n\n2. Check the size of the box by using the `box list` command:\n\n   ```console\n   $ box list\n   ```\n")
	for _, tt := range []struct {
		question  string
		want, not []string
	}{
		{"How do I save a box to a file?", []string{"documents:\n\nSave a box to a file with `box save`."}, []string{"SBOM"}},
		{"How do I check the size of a box?", []string{"2. Check the size of the box", "$ box list"}, []string{"1. Build"}},
	} {
		t.Run(tt.question, func(t *testing.T) {
			checkWords(t, answer(t, docs(), task(tt.question, 0.9, bill, size)).Text, tt.want, tt.not)
		})
	}
}
