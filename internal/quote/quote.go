// Package quote finds what a mail quotes from earlier ones.
package quote

import (
	"regexp"
	"strings"

	"example.com/ragflow/internal/markup"
)

// Signs that the rest of a mail, or what is marked with ">", is quoted. They are in the languages of the
// programs that write most mails.
var (
	quoteMarks  = regexp.MustCompile(`^ {0,2}(?:>[ \t]?)+`)
	headingMark = regexp.MustCompile(`^#{1,6} `)
	// original is the line above a mail that was answered or forwarded.
	original = regexp.MustCompile(`(?i)^\W*[-_—]{2,}\s*(?:begin )?(?:original|forwarded|reply|ursprüngliche|weitergeleitete|oryginalna|przekazana|wiadomość|message (?:d'origine|transféré)|mensaje|messaggio|oprindelig|oorspronkelijk|thư|tin nhắn)[^-_]{0,60}[-_—]{2,}\s*$`)
	// said is the line above a quote: when, who, and a verb before the colon; or a date, a time and an address.
	begun = regexp.MustCompile(`(?i)^\W{0,8}(?:(?:on|am|w dniu|dnia|le|el|il|em|den|op|på|vào|ngày)[\s\p{Zs}]|\d{1,4}[./-]|\d{1,2}[\s.]+\pL|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,)`)
	said  = regexp.MustCompile(`(?i)(?:wrote|writes|sent|pisze|pisał[aoy]?|napisał[aoy]?|a écrit|escribió|escreveu|ha scritto|geschreven|viết|пишет|написала?|skrev)[\s\p{Zs}]*(?::|-{2,})\W{0,4}$|\b(?:schrieb|schreef|skrev)\b[^:]{1,100}:\W{0,2}$`)
	dated = regexp.MustCompile(`\d[:.]\d\d.*@.*:\W{0,2}$`)
	exact = regexp.MustCompile(`\d:\d\d|\b(?:19|20)\d\d\b|\d[./-]\d`)
	digit = regexp.MustCompile(`\d`)
	// sender and fields are lines of the head of a mail in its text.
	sender = regexp.MustCompile(`(?i)^\W{0,4}(?:from|von|od|de|da|van|fra|från|từ|от|date|datum|data|subject)\W{0,2}[\s\p{Zs}]?:`)
	fields = regexp.MustCompile(`(?im)(?:^|[\s*])(from|von|od|de|da|van|fra|från|từ|от|sent|gesendet|wysłano|envoyé|enviado|enviada em|inviato|verzonden|sendt|skickat|đã gửi|отправлено|date|datum|data|ngày|to|an|do|à|para|a|aan|til|till|đến|кому|subject|betreff|temat|objet|asunto|assunto|oggetto|onderwerp|emne|ämne|chủ đề|тема)\*?[\s\p{Zs}]?:`)
)

// Limits of a line above a quote.
const (
	maxSaidLines  = 4
	maxSaid       = 400 // bytes
	maxQuoteHead  = 10
	minHeadFields = 3
	maxQuotes     = 8 // marks that a line gets
)

// quotedLine is a line of a mail and the number of mails, one in the other, that quote it.
type quotedLine struct {
	text  string
	depth int
	said  bool // the last line above a quote
}

// Mark returns the text of a mail with "> " before each line that it quotes, as often as it was quoted,
// and with blank lines where that changes. The line that says who wrote a quote belongs to it.
func Mark(s string) string {
	if strings.Count(s, "\n") > markup.MaxLines { // it is read as plain text
		return s
	}
	var lines []quotedLine
	for line := range strings.SplitSeq(s, "\n") {
		mark := quoteMarks.FindString(line)
		lines = append(lines, quotedLine{text: strings.TrimRight(line[len(mark):], " \t\r"), depth: strings.Count(mark, ">")})
	}
	rest := 0 // how often all that follows is quoted
	for i := 0; i < len(lines); i++ {
		if lines[i].depth > 0 || lines[i].text == "" {
			lines[i].depth += rest
			continue
		}
		head, all := quoteHead(lines[i:])
		if all {
			rest++
		}
		for k := range max(head, 1) {
			lines[i+k].depth = rest
			if head > 0 && !all {
				lines[i+k].depth++
			}
		}
		i += max(head, 1) - 1
		lines[i].said = head > 0 && !sender.MatchString(lines[i].text)
	}
	return joinQuotes(lines)
}

// quoteHead returns the number of lines at the beginning that introduce a quote, 0 for none, and whether all
// that follows is quoted without marks.
func quoteHead(lines []quotedLine) (n int, all bool) {
	first := lines[0].text
	if original.MatchString(first) {
		return 1, true
	}
	if isRule := len(first) >= 20 && strings.Trim(first, "_") == ""; isRule && len(lines) > 1 && isMailHead(lines[1:]) {
		return 1, true
	}
	if sender.MatchString(first) && isMailHead(lines) {
		return 1, true
	}
	if !begun.MatchString(first) {
		return 0, false
	}
	joined := ""
	for n < min(maxSaidLines, len(lines)) && lines[n].text != "" && len(joined) < maxSaid {
		if open := strings.LastIndexByte(joined, '<') > strings.LastIndexByte(joined, '>'); lines[n].depth > 0 && !open {
			break // the mark of an open address is its end
		}
		joined += " " + lines[n].text
		n++
		if !said.MatchString(joined) && !dated.MatchString(joined) {
			continue
		}
		marked := false
		for _, l := range lines[n:] {
			if l.text != "" || l.depth > 0 {
				marked = l.depth > 0
				break
			}
		}
		if marked && digit.MatchString(joined) || exact.MatchString(joined) {
			return n, !marked
		}
	}
	return 0, false
}

// isMailHead reports whether lines begin with the head of a mail: three fields or more, perhaps on one line.
func isMailHead(lines []quotedLine) bool {
	var head strings.Builder
	for _, l := range lines[:min(len(lines), maxQuoteHead)] {
		if l.text == "" || l.depth > 0 {
			break
		}
		head.WriteString(l.text + "\n")
	}
	found := map[string]bool{}
	for _, m := range fields.FindAllStringSubmatch(head.String(), -1) {
		found[strings.ToLower(m[1])] = true
	}
	return len(found) >= minHeadFields
}

// joinQuotes writes lines with their marks.
func joinQuotes(lines []quotedLine) string {
	for len(lines) > 0 && lines[len(lines)-1].text == "" {
		lines = lines[:len(lines)-1]
	}
	for i := len(lines) - 2; i > 0; i-- { // a blank line belongs to the quote that continues below it
		if lines[i].text == "" {
			lines[i].depth = lines[i+1].depth
		}
	}
	var b strings.Builder
	for i, l := range lines {
		if l.text == "" && i > 0 {
			l.depth = min(l.depth, lines[i-1].depth)
			lines[i].depth = l.depth
		}
		if l.depth > 0 {
			l.text = headingMark.ReplaceAllString(l.text, "")
		}
		if i > 0 && (lines[i-1].depth != l.depth || lines[i-1].said) && lines[i-1].text != "" && l.text != "" {
			b.WriteString(Line(min(l.depth, lines[i-1].depth), "") + "\n")
		}
		b.WriteString(Line(l.depth, l.text) + "\n")
	}
	return b.String()
}

// Line puts quote marks before a line.
func Line(depth int, line string) string {
	return strings.TrimRight(strings.Repeat("> ", min(depth, maxQuotes))+line, " ")
}
