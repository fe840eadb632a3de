package offline

import (
	"slices"
	"strings"
)

// The tables below hold what people say to lean on a conversation, one language
// a line: English, Polish, Vietnamese. Entries end with a comma. They are
// compared with whole words in lower case, without punctuation.

// moreCues ask for more of what the last answer began.
const moreCues = `
more, more please, tell me more, tell me more about it, tell me more about that, tell me more about this, say more, more details, more detail, more info, more information, details, details please, go on, please go on, go on please, continue, please continue, keep going, carry on, what else, and what else, anything else, is there anything else, is there more, is that all, is that everything, elaborate, please elaborate, can you elaborate, could you elaborate, expand on that, more on that, and then, then what, next, what next, and, so,
więcej, powiedz więcej, powiedz mi więcej, opowiedz więcej, coś więcej, więcej szczegółów, szczegóły, dalej, mów dalej, i co dalej, co dalej, kontynuuj, co jeszcze, a co jeszcze, coś jeszcze, czy to wszystko, to wszystko, rozwiń, rozwiń to, rozwiń temat,
thêm, thêm nữa, nữa, nói thêm, nói thêm đi, cho tôi biết thêm, kể thêm, chi tiết hơn, thêm chi tiết, nói rõ hơn, giải thích thêm, tiếp, tiếp đi, tiếp tục, xin tiếp tục, hãy tiếp tục, còn gì nữa, còn gì nữa không, còn gì khác, còn gì khác không, rồi sao nữa,
`

// agreeing answers an offer; where nothing was offered it asks for more.
const agreeing = `
yes, yes please, yeah, yep, yup, sure, sure thing, of course, please, please do, ok, okay, ok go on, go ahead, do it, do that, why not, sounds good, i would, i do, absolutely, definitely, alright, all right,
tak, tak poproszę, poproszę, jasne, pewnie, oczywiście, dobrze, dobra, no tak, zgoda, chętnie,
có, vâng, dạ, dạ vâng, vâng ạ, ừ, được, được rồi, đồng ý, tất nhiên, có chứ, làm đi,
`

// corrections begin a turn that puts the one before right.
const corrections = `
no i meant, no i mean, i meant, i mean, sorry i meant, sorry i mean, actually i meant, actually i mean, what i meant was, what i mean is, no i was asking about, no i was asking for, i was asking about, i was asking for, no i asked about, i asked about, i asked for, no not that but, not that but, no that's not what i meant, that's not what i meant, that's not what i asked, no actually, oops, correction, no sorry,
nie chodziło mi o, nie nie chodziło mi o, chodziło mi o, nie chodzi mi o, chodzi mi o, nie miałem na myśli, nie miałam na myśli, miałem na myśli, miałam na myśli, pytałem o, pytałam o, nie pytałem o, nie pytałam o, nie nie to, nie to,
không ý tôi là, ý tôi là, không ý mình là, ý mình là, không tôi muốn nói, tôi muốn nói, không tôi hỏi về, tôi hỏi về, tôi muốn hỏi về, không phải cái đó,
`

// refusals correct where a comma stands behind them: "No, on Windows."
const refusals = `
no, nope, nah, not quite,
nie,
không, không phải,
`

// insteadOf stands between what is meant and what is not.
const insteadOf = `
instead of, rather than,
zamiast, a nie,
thay vì, chứ không phải,
`

// inPlaceOf end a turn that asks what there is in the place of the means asked about.
const inPlaceOf = `
instead, in its place, in their place, rather,
zamiast tego, zamiast niego, zamiast niej, w zamian,
thay vào đó, để thay thế,
`

// slots are the words behind which something is put in the place of something
// else: "and on Windows?" after "on Linux".
const slots = `
on, for, with, from, in, using, without, via, by, under,
na, dla, z, ze, w, we, bez, przez, pod, do, od,
trên, cho, với, từ, trong, bằng, bởi,
`

// alternatives are things of a kind, one kind a line: where a turn names one,
// the others that were spoken of before are not meant.
const alternatives = `
linux, linuks, windows, mac, macos, osx, freebsd, android, ios,
ubuntu, debian, fedora, centos, rhel, alpine, arch, opensuse, raspbian,
bash, zsh, fish, powershell, cmd,
amd64, arm64, armv7, s390x, ppc64le, riscv64,
chrome, firefox, safari, edge,
yaml, json, toml, xml, csv,
aws, azure, gcp,
ipv4, ipv6,
tcp, udp,
postgres, postgresql, mysql, mariadb, sqlite, mongodb,
python, java, javascript, typescript, go, golang, rust, ruby, php, node, nodejs,
github, gitlab, bitbucket,
admin, administrator, guest,
monday, tuesday, wednesday, thursday, friday, saturday, sunday,
`

// cues are the tables, ready to be asked. They are read only.
type cues struct {
	more, agree, refuse, slot, inPlace []string
	correct                            [][]string // words of each, longest first
	instead                            []string
	groups                             [][]string
}

func newCues() cues {
	c := cues{
		more: entries(moreCues), agree: entries(agreeing), refuse: entries(refusals), slot: entries(slots),
		instead: entries(insteadOf), inPlace: entries(inPlaceOf),
	}
	for _, e := range entries(corrections) {
		c.correct = append(c.correct, strings.Fields(e))
	}
	slices.SortStableFunc(c.correct, func(a, b []string) int { return len(b) - len(a) })
	for line := range strings.Lines(alternatives) {
		if group := entries(line); len(group) > 0 {
			c.groups = append(c.groups, group)
		}
	}
	return c
}

// entries are those of a table.
func entries(table string) []string {
	var out []string
	for e := range strings.SplitSeq(table, ",") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}

// group is which kind of things a word is one of, -1 for others. Polish puts
// endings to names: "Windowsie", "Linuksa".
func (c cues) group(word string) int {
	return slices.IndexFunc(c.groups, func(g []string) bool {
		return slices.ContainsFunc(g, func(name string) bool {
			return word == name || len(name) > 4 && strings.HasPrefix(word, name) && len(word) <= len(name)+3
		})
	})
}
