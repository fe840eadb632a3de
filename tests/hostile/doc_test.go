// Package hostile_test attacks the program as SECURITY.md expects of strangers: with documents that instruct
// a model, prepared databases, folders that set addresses, and links in place of files. Other attacks are
// tests of the attacked package: TestBroken and the tests of huge files in internal/load, and the 200
// documents of package eval.
//
//	scripts/models start /tmp/env && . /tmp/env
//	RAGFLOW_HOSTILE=all go test -count=1 -timeout 0 -v -run Injection ./tests/hostile
package hostile_test
