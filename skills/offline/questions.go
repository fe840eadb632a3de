package offline

import (
	"regexp"
	"slices"
	"strings"
)

// QuestionType is what kind of answer a question wants.
type QuestionType string

// The types of question.
const (
	HowTo      QuestionType = "how-to"     // steps, a command
	Definition QuestionType = "definition" // what something is
	Number     QuestionType = "number"     // how many, how large, how long
	Person     QuestionType = "person"     // who
	Place      QuestionType = "place"      // where: a path, an address, a country
	Time       QuestionType = "time"
	Reason     QuestionType = "reason"
	Compare    QuestionType = "compare" // what tells two things apart
	List       QuestionType = "list"    // which ones there are
	Message    QuestionType = "message" // an error message, pasted
	YesNo      QuestionType = "yes/no"
	Fact       QuestionType = "fact" // anything else
)

// sign is by which phrases a type of question is known, in each language.
// Phrases are divided by commas and match whole words; ^ is the beginning of a
// sentence or clause, * any one word.
type sign struct {
	kind       QuestionType
	en, pl, vi string
}

// signs are in order: the more specific first, so that "how many" asks for a
// number although it begins with "how".
func signs() []sign {
	return []sign{
		{
			Message,
			"^error,^cannot,^can't,^could not,^failed,^failed to,^fatal,^unable to,^permission denied,^no space left,^no such,^denied,^warning,^err,^exception,^panic,^traceback",
			"^błąd,^nie można,^brak dostępu", "^lỗi,^không thể",
		},
		{
			Compare,
			"difference between,differences between,^differ from,differ from,^compare,compared to,compared with,versus,vs,distinguishes",
			"różnica między,różnice między,różni się,różnią się,porównaj", "khác nhau,khác biệt giữa,so sánh,khác gì",
		},
		{
			Number,
			"how many,how much,how big,how large,how long,how often,how old,how far,how high,how fast,how tall,how deep,how heavy,what percentage,what percent,what number,what amount,what is the number,what was the number,^what proportion,what size",
			"^ile,^ilu,na ile,przez ile,jak długo,jak często,jak duży,jak duża", "bao nhiêu,bao lâu,bao xa,bao lớn,mấy,tỷ lệ nào,số lượng",
		},
		{
			HowTo,
			"^how do i,^how do we,^how do you,how do i,how can,how to,how could i,how should,how would i,how must,how may,how i,how we,how you,^how do,which command,what command,which setting,what setting,which option,what option,which flag,what flag," +
				"what do i,what should i,what can i,what must i,what do we,what should we,how * set it,^steps,the steps",
			"^jak,jak to zrobić,którym poleceniem,jakim poleceniem,jakie polecenie,które polecenie,co zrobić,co trzeba,co uruchomić,co wpisać",
			"làm thế nào để,làm sao để,bằng cách nào,cách nào để,lệnh nào",
		},
		{
			Reason,
			"why,the reason,for what reason,what reason,what is wrong,what caused,what causes,what led,^what cause",
			"dlaczego,czemu,z jakiego powodu", "tại sao,vì sao,lý do gì,nguyên nhân gì",
		},
		{
			Time,
			"^when,^when's,^when’s,when did,when was,when were,when is,when does,when will,what year,which year,what date,which date,what day,what month,what century,which century,what decade,what time,since when",
			"kiedy,w którym roku,którego dnia,od kiedy", "khi nào,bao giờ,năm nào,ngày nào,tháng nào,thế kỷ nào,thời gian nào,lúc nào,thập niên nào",
		},
		{
			Person,
			"^who,^who's,^who’s,whose,whom,by who,which person,what person,what is the name of the person",
			"^kto,kim jest,kogo,komu,czyj,przez kogo", "^ai,ai là,ai đã,là ai,của ai,bởi ai,người nào",
		},
		{
			Place,
			"where,^where's,^where’s,which path,what path,which file,what file,which folder,what folder,which directory,what directory,which address,what address,which url,what url,what city,which city,what country,which country,what state,which state,what region,what town,what continent",
			"gdzie,dokąd,skąd,który plik,którym pliku,który folder,w jakim kraju,w jakim mieście", "ở đâu,nơi nào,thành phố nào,quốc gia nào,nước nào,tiểu bang nào,đâu là nơi,tệp nào,thư mục nào",
		},
		{
			List,
			"which ones,what kinds,what types,what are the options,^list,^name the,^name all,what are all,what are the,which are the,what are some",
			"^wymień,jakie są,jakie rodzaje", "liệt kê,những gì,những loại nào,các loại",
		},
		{
			Definition,
			"^what is,^what's,^what’s,^whats,^what are,^who is,^who was,^what was,^what does,stand for,stands for,meaning of,^define,definition of",
			"^co to,^czym jest,^co oznacza", "là gì,nghĩa là gì",
		},
		{
			Number,
			"size,limit,maximum,minimum,port,ports,version,number,default value",
			"numer,limit,rozmiar", "",
		},
		{
			YesNo,
			"^is,^are,^was,^were,^do,^does,^did,^can,^could,^will,^would,^should,^must,^has,^have,^had,^may,^might,^am",
			"^czy", "có phải,phải không,hay không,được không",
		},
	}
}

// definedWords is how many words a question for a definition has at most: a
// longer one asks for something about the thing.
const definedWords = 7

// TypeOf says what kind of answer a question wants.
func TypeOf(question string) QuestionType {
	line := clauses(question)
	words := len(strings.Fields(strings.ReplaceAll(line, "^", "")))
	for _, s := range signs() {
		if s.kind == Definition && words > definedWords {
			continue
		}
		if anyPhrase(line, s.en) || anyPhrase(line, s.pl) || anyPhrase(line, s.vi) {
			return s.kind
		}
	}
	return Fact
}

// clauses are the words of a text in lower case, each between blanks, with ^
// where a sentence or clause begins.
func clauses(s string) string {
	var b strings.Builder
	b.WriteString(" ")
	for clause := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(".?!:;,()\n", r) }) {
		words := plainWords(clause)
		if len(words) > 1 && slices.Contains(leadIns(), words[0]) && !speaker(words) {
			words = words[1:]
		}
		if len(words) > 0 {
			b.WriteString("^ " + strings.Join(words, " ") + " ")
		}
	}
	return b.String()
}

// leadIns are words that a clause may begin with before what it asks.
func leadIns() []string {
	return []string{"and", "but", "so", "or", "then", "in", "at", "on", "to", "for", "from", "since", "by", "a", "i", "ale", "oraz", "w", "na", "và", "vào", "thì", "nhưng"}
}

// speaker reports whether a clause begins with the English "I" that does something, and
// not with the Polish "i" that means "and": "I can't …" is said by a person, "i co …"
// asks on.
func speaker(words []string) bool {
	if words[0] != "i" {
		return false
	}
	switch strings.ReplaceAll(words[1], "’", "'") {
	case "can", "can't", "cannot", "could", "couldn't", "am", "was", "have", "haven't", "had", "do", "don't", "did", "didn't", "get", "got", "see", "saw",
		"keep", "kept", "want", "wanted", "need", "needed", "try", "tried", "fail", "failed", "would", "will", "won't", "should", "must", "use", "run", "ran",
		"just", "still", "always", "never", "only", "already", "also", "really", "think", "know", "forgot", "lost", "made", "put", "set", "installed":
		return true
	}
	return false
}

// anyPhrase reports whether one of the phrases, divided by commas, stands in a
// line that clauses made.
func anyPhrase(line, phrases string) bool {
	if phrases == "" {
		return false
	}
	for p := range strings.SplitSeq(phrases, ",") {
		if first, ok := strings.CutPrefix(p, "^"); ok {
			p = "^ " + first
		}
		if before, after, ok := strings.Cut(p, " * "); ok {
			if i := strings.Index(line, " "+before+" "); i >= 0 && strings.Contains(line[i+len(before)+1:], " "+after+" ") {
				return true
			}
			continue
		}
		if strings.Contains(line, " "+p+" ") {
			return true
		}
	}
	return false
}

// clausesAsked takes a turn of several questions apart. What stands before the
// first question, and after one, goes to the question beside it.
func clausesAsked(turn string) []string {
	var out []string
	from := 0
	lower := strings.ToLower(turn)
	if len(lower) != len(turn) {
		return nil // case folding moved the bytes
	}
	for _, at := range questionBegins.FindAllStringSubmatchIndex(lower, -1) {
		begin := at[2]
		if before := strings.TrimSpace(turn[from:begin]); len(plainWords(before)) >= clauseWords && hasQuestion(before) {
			out = append(out, before)
			from = begin
		}
	}
	return append(out, strings.TrimSpace(turn[from:]))
}

// clauseWords is how many words a question of its own has at least.
const clauseWords = 4

// questionBegins is where another question of a turn begins.
var questionBegins = regexp.MustCompile(`(?:,? (?:and|or|but) |[.?!;] |, )((?:if not, )?(?:how|what|which|where|when|why|who|can|is|do|does|should|compare|jak|co|czy|kt\p{L}+|gdzie|kiedy|dlaczego|ile)\b)`)

func hasQuestion(s string) bool { return questionWord.MatchString(s) }

var questionWord = regexp.MustCompile(`(?i)\b(?:how|what|which|where|when|why|who|can|should|does|do|is|jak|co|czy|kt\p{L}+|gdzie|kiedy|dlaczego|ile)\b`)
