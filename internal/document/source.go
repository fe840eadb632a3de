package document

import (
	"path"
	"path/filepath"
	"strings"
)

// sources are the extensions of programs and their settings, which are read as plain text.
// Other data (.xml, .svg), logs and lock files are left out: they are large and repetitive, and
// answer no questions.
const sources = `.go .py .pyi .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .groovy .rs .c .h .cc .cpp .cxx .hh .hpp .hxx .cs
	.fs .swift .m .mm .rb .php .pl .pm .lua .r .jl .dart .ex .exs .erl .hs .ml .mli .clj .cljs .elm .zig .nim .v .vue
	.svelte .sh .bash .zsh .fish .ps1 .bat .cmd .sql .graphql .proto .thrift .tf .hcl .nix .cmake .mk .gradle
	.yaml .yml .toml .ini .cfg .conf .properties .css .scss .less .tex .org .rmd`

// recipes are source files that have no extension.
const recipes = `makefile gnumakefile dockerfile containerfile vagrantfile jenkinsfile procfile rakefile gemfile justfile`

// IsSource reports whether a file is source code or a setting, by its name.
func IsSource(name string) bool {
	base := strings.ToLower(path.Base(filepath.ToSlash(name)))
	if LockFile(base) {
		return false
	}
	return HasWord(sources, path.Ext(base)) || HasWord(recipes, base)
}

// LockFile reports whether a file was generated from another one, by its name.
func LockFile(base string) bool {
	switch base {
	case "package-lock.json", "npm-shrinkwrap.json", "composer.lock", "pipfile.lock", "pnpm-lock.yaml", "go.sum", "poetry.lock", "cargo.lock":
		return true
	}
	return strings.HasSuffix(base, ".min.js") || strings.HasSuffix(base, ".min.css")
}

// HasWord reports whether a list of words, separated by white space, has a word, ignoring
// case.
func HasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// Extensions of JSON, and of plain text with headings.
const (
	JSONEnds   = ".json .jsonl .ndjson"
	TextEnds   = ".txt .text none"
	MarkupEnds = ".rst .adoc .asciidoc"
)

// extensions are those of the kinds of documents; others are source code or are not read.
var extensions = map[string]string{
	Markdown: ".md .markdown .mdown .mkd .mdx", Plain: TextEnds + " " + MarkupEnds + " " + JSONEnds, HTML: ".html .htm .xhtml",
	PDF: ".pdf", DOCX: ".docx .docm", ODT: ".odt", ODS: ".ods", ODP: ".odp", EPUB: ".epub", XLSX: ".xlsx .xlsm",
	PPTX: ".pptx .pptm", EML: ".eml", MBOX: ".mbox", MSG: ".msg", ICS: ".ics", VCF: ".vcf .vcard",
	RTF: ".rtf", Table: ".csv .tsv", Notebook: ".ipynb",
}

// KindOf returns the kind of a file by its extension, "" for unknown ones.
func KindOf(name string) string {
	ext := strings.ToLower(filepath.Ext(name))
	for kind, known := range extensions {
		if ext != "" && HasWord(known, ext) && !LockFile(strings.ToLower(filepath.Base(name))) {
			return kind
		}
	}
	if IsSource(name) {
		return Plain
	}
	return ""
}
