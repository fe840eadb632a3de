package prompts

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Situation is the purpose of a fixed sentence.
type Situation int

// The situations.
const (
	NoDocuments      Situation = iota // the search found nothing at all
	Answers                           // before passages that answer the question
	Probably                          // before passages that probably answer it
	NotFound                          // the documents do not contain the answer
	Closest                           // before the closest passages
	OtherLanguage                     // the question is in another language than the documents
	SourcesHeader                     // above the list of sources
	Greeting                          // answer to a greeting
	Thanks                            // answer to thanks
	Farewell                          // answer to a goodbye
	Capabilities                      // what the program can do
	EarlierQuestions                  // before the list of earlier questions
	NothingEarlier                    // there is no earlier question
	Differ                            // before versions of a passage
	Later                             // before a passage of a later document of a series
	Catalogue                         // before the list of documents
	CatalogueAbout                    // before the list of documents on a subject
	Refusal                           // written by a model if the sources do not contain the answer
	Unsupported                       // after a sentence that no source supports
	UnknownAddress                    // instead of an address that is neither in the sources nor in the question
	DocumentType                      // before the type of a document: law, manual, …
	DocumentID                        // before the ID of a document
	Changed                           // below a quote whose document has changed since
	Found                             // below a quote that the check added
	NeedsModel                        // the question needs a model
	NeedsTable                        // the question needs a calculation over a table
	CountOf                           // before the number of rows that were counted
	SumOf                             // before the sum of a column
	AverageOf                         // before its average
	HighestOf                         // before its highest value
	LowestOf                          // before its lowest value
	RowsCounted                       // how many rows of a table were counted
	RowsWhere                         // the same, with conditions
	RowsWith                          // a condition: a column and its value
	OwnTotal                          // above the row of a table that holds its total
	NoMention                         // the words of the question that no document has
	AlsoFound                         // above the sources that were found and not cited
	NotRead                           // above the files that were not read, if nothing was found
	MoreItems                         // after a shortened list: the number of other items; see [More]
	MoreLine                          // after a shortened code block with one more line; see [MoreCode]
	MoreLines                         // after a shortened code block: the number of other lines
)

// English is the fallback language.
const English = "en"

// Say returns the sentence for a situation in a language (ISO 639-1).
func Say(s Situation, language string) string {
	return sentences[s].in(language)
}

type row struct{ en, pl, vi, de string }

// in returns the text in a language, else in English.
func (r row) in(language string) string {
	switch language {
	case "pl":
		return r.pl
	case "vi":
		return r.vi
	case "de":
		return r.de
	default:
		return r.en
	}
}

// sentences holds the text of every situation.
var sentences = map[Situation]row{
	NoDocuments: {
		en: "No relevant documents found for your query.",
		pl: "Nie znaleziono dokumentów pasujących do pytania.",
		vi: "Không tìm thấy tài liệu nào phù hợp với câu hỏi của bạn.",
		de: "Zu Ihrer Frage wurden keine passenden Dokumente gefunden.",
	},
	Answers: {
		en: "This answers it, from your documents:",
		pl: "Oto odpowiedź z Twoich dokumentów:",
		vi: "Tài liệu của bạn trả lời như sau:",
		de: "Das beantwortet es, aus Ihren Dokumenten:",
	},
	Probably: {
		en: "This probably answers it, from your documents:",
		pl: "To prawdopodobnie odpowiedź, z Twoich dokumentów:",
		vi: "Tài liệu của bạn có lẽ trả lời như sau:",
		de: "Das beantwortet es wahrscheinlich, aus Ihren Dokumenten:",
	},
	NotFound: {
		en: "I did not find the exact answer to this in your documents.",
		pl: "Nie udało się znaleźć w Twoich dokumentach dokładnej odpowiedzi na to pytanie.",
		vi: "Tôi không tìm thấy đủ thông tin trong tài liệu để trả lời câu hỏi này.",
		de: "Eine genaue Antwort darauf habe ich in Ihren Dokumenten nicht gefunden.",
	},
	Closest: {
		en: "Closest passages:",
		pl: "Najbliższe fragmenty:",
		vi: "Những đoạn gần nhất:",
		de: "Die nächsten Stellen:",
	},
	OtherLanguage: {
		en: "Your question is in another language than the documents, so only names, numbers and commands in it could be matched.",
		pl: "Pytanie jest w innym języku niż dokumenty, więc dopasować można było tylko nazwy, liczby i polecenia.",
		vi: "Câu hỏi dùng ngôn ngữ khác với tài liệu, nên chỉ có thể đối chiếu tên riêng, con số và câu lệnh.",
		de: "Ihre Frage ist in einer anderen Sprache als die Dokumente, deshalb konnten nur Namen, Zahlen und Befehle darin verglichen werden.",
	},
	SourcesHeader: {en: "Sources", pl: "Źródła", vi: "Nguồn tham khảo", de: "Quellen"},
	Greeting: {
		en: "Hello. Ask me something about your documents.",
		pl: "Dzień dobry. Zadaj mi pytanie o swoje dokumenty.",
		vi: "Xin chào. Hãy hỏi tôi về tài liệu của bạn.",
		de: "Guten Tag. Stellen Sie mir eine Frage zu Ihren Dokumenten.",
	},
	Thanks:   {en: "You're welcome.", pl: "Proszę bardzo.", vi: "Không có gì.", de: "Gern geschehen."},
	Farewell: {en: "Goodbye.", pl: "Do widzenia.", vi: "Tạm biệt.", de: "Auf Wiedersehen."},
	Capabilities: {
		en: "I answer questions from your documents and cite the passage behind each statement. I remember this conversation, so you can ask follow-up questions.",
		pl: "Odpowiadam na pytania na podstawie Twoich dokumentów i przy każdym zdaniu podaję źródło. Pamiętam tę rozmowę, więc możesz dopytywać.",
		vi: "Tôi trả lời câu hỏi dựa trên tài liệu của bạn và trích dẫn nguồn cho từng ý. Tôi nhớ cuộc trò chuyện này nên bạn có thể hỏi tiếp.",
		de: "Ich beantworte Fragen aus Ihren Dokumenten und nenne zu jeder Aussage die Stelle. Ich merke mir dieses Gespräch, Sie können also nachfragen.",
	},
	EarlierQuestions: {en: "You asked before:", pl: "Wcześniejsze pytania:", vi: "Bạn đã hỏi trước đó:", de: "Sie haben bereits gefragt:"},
	NothingEarlier: {
		en: "You have not asked anything before in this conversation.",
		pl: "W tej rozmowie nie było jeszcze żadnego pytania.",
		vi: "Bạn chưa hỏi gì trước đó trong cuộc trò chuyện này.",
		de: "In diesem Gespräch haben Sie noch nichts gefragt.",
	},
	Differ: {en: "Your documents differ.", pl: "Dokumenty się różnią.", vi: "Các tài liệu không giống nhau.", de: "Ihre Dokumente unterscheiden sich."},
	Later: {
		en: "A later document speaks of it, too:", pl: "Późniejszy dokument też o tym mówi:",
		vi: "Một tài liệu sau đó cũng nói về việc này:", de: "Auch ein späteres Dokument spricht davon:",
	},
	Catalogue:      {en: "These are your documents:", pl: "Oto Twoje dokumenty:", vi: "Đây là các tài liệu của bạn:", de: "Das sind Ihre Dokumente:"},
	CatalogueAbout: {en: "These documents mention it:", pl: "Wspominają o tym dokumenty:", vi: "Các tài liệu có nhắc đến:", de: "Diese Dokumente nennen es:"},
	Refusal: {
		en: "I don't have enough information to answer that question.",
		pl: "Nie mam wystarczających informacji, aby odpowiedzieć na to pytanie.",
		vi: "Tôi không tìm thấy đủ thông tin trong tài liệu để trả lời câu hỏi này.",
		de: "Ich habe nicht genug Informationen, um diese Frage zu beantworten.",
	},
	Unsupported: {en: "(unsupported)", pl: "(bez potwierdzenia)", vi: "(chưa có căn cứ)", de: "(ohne Beleg)"},
	UnknownAddress: {
		en: "(address left out: no source has it)",
		pl: "(pominięto adres: nie ma go w żadnym źródle)", //nolint:misspell // Polish
		vi: "(đã bỏ địa chỉ: không nguồn nào có)",
		de: "(Adresse weggelassen: keine Quelle hat sie)",
	},
	DocumentType: {en: "Document type:", pl: "Rodzaj dokumentu:", vi: "Loại văn bản:", de: "Dokumentart:"},
	DocumentID:   {en: "Document ID:", pl: "Numer dokumentu:", vi: "Mã văn bản:", de: "Dokumentnummer:"},
	Found: {
		en: "Found by the check, not cited by the model.",
		pl: "Znalezione przy sprawdzaniu, model tego nie zacytował.",
		vi: "Do bước kiểm tra tìm thấy, mô hình không trích dẫn.",
		de: "Bei der Prüfung gefunden, vom Modell nicht angegeben.",
	},
	Changed: {
		en: "The document has changed since.",
		pl: "Dokument od tego czasu się zmienił.",
		vi: "Tài liệu đã thay đổi kể từ đó.",
		de: "Das Dokument hat sich seitdem geändert.",
	},
	NeedsModel: {
		en: "A question like this needs a model to answer it in its own words; \"ragflow models --help\" says how to set one up.",
		pl: "Na takie pytanie własnymi słowami odpowie dopiero model; „ragflow models --help” mówi, jak go ustawić.",
		vi: "Câu hỏi như thế này cần một mô hình để trả lời bằng lời của nó; \"ragflow models --help\" cho biết cách thiết lập.",
		de: "Eine solche Frage beantwortet erst ein Modell mit eigenen Worten; „ragflow models --help“ sagt, wie man eines einrichtet.",
	},
	NeedsTable: {
		en: "The answer has to be calculated from rows of a table: a spreadsheet program can do that, or a model; \"ragflow models --help\" says how to set one up.",
		pl: "Odpowiedź trzeba obliczyć z wierszy tabeli: zrobi to arkusz kalkulacyjny albo model; „ragflow models --help” mówi, jak go ustawić.",
		vi: "Câu trả lời phải được tính từ các dòng của bảng: chương trình bảng tính làm được, hoặc một mô hình; \"ragflow models --help\" cho biết cách thiết lập.",
		de: "Die Antwort muss aus Zeilen einer Tabelle berechnet werden: Das kann ein Tabellenprogramm oder ein Modell; „ragflow models --help“ sagt, wie man eines einrichtet.",
	},
	CountOf:     {en: "Number of rows", pl: "Liczba wierszy", vi: "Số dòng", de: "Anzahl der Zeilen"},
	SumOf:       {en: "Sum of %s", pl: "Suma kolumny %s", vi: "Tổng của %s", de: "Summe von %s"},
	AverageOf:   {en: "Average of %s", pl: "Średnia kolumny %s", vi: "Trung bình của %s", de: "Durchschnitt von %s"},
	HighestOf:   {en: "Highest value of %s", pl: "Największa wartość kolumny %s", vi: "Giá trị lớn nhất của %s", de: "Höchster Wert von %s"},
	LowestOf:    {en: "Lowest value of %s", pl: "Najmniejsza wartość kolumny %s", vi: "Giá trị nhỏ nhất của %s", de: "Niedrigster Wert von %s"},
	RowsCounted: {en: "%d of %d rows", pl: "%d z %d wierszy", vi: "%d trong %d dòng", de: "%d von %d Zeilen"},
	RowsWhere:   {en: "%d of %d rows where %s", pl: "%d z %d wierszy, w których %s", vi: "%d trong %d dòng có %s", de: "%d von %d Zeilen, in denen %s"},
	RowsWith:    {en: "%s is %s", pl: "%s to %s", vi: "%s là %s", de: "%s %s ist"},
	OwnTotal:    {en: "The table's own total, which was not added:", pl: "Suma podana w samej tabeli, niedoliczona:", vi: "Dòng tổng có sẵn trong bảng, không cộng vào:", de: "Die Summe der Tabelle selbst, nicht mitgerechnet:"},
	NoMention: {
		en: "No document that was read mentions: %s.",
		pl: "Żaden odczytany dokument nie zawiera słów: %s.",
		vi: "Không tài liệu nào đã đọc nhắc đến: %s.",
		de: "Kein gelesenes Dokument nennt: %s.",
	},
	NotRead: {
		en: "Not read, so not searched",
		pl: "Nieodczytane, więc nieprzeszukane",
		vi: "Chưa đọc được nên chưa tìm trong đó",
		de: "Nicht gelesen, also nicht durchsucht",
	},
	AlsoFound: {en: "Also found", pl: "Znaleziono też", vi: "Cũng tìm thấy", de: "Auch gefunden"},
	MoreItems: {en: "… and %d more", pl: "… i jeszcze %d", vi: "… và %d mục nữa", de: "… und %d weitere"},
	MoreLine:  {en: "… and one more line of code", pl: "… i jeszcze jeden wiersz kodu", vi: "… và một dòng mã nữa", de: "… und eine weitere Codezeile"},
	MoreLines: {en: "… and %d more lines of code", pl: "… i dalsze wiersze kodu: %d", vi: "… và %d dòng mã nữa", de: "… und %d weitere Codezeilen"},
}

// MoreCode returns the sentence that a code block has n more lines.
func MoreCode(n int, language string) string {
	if n == 1 {
		return Say(MoreLine, language)
	}
	return fmt.Sprintf(Say(MoreLines, language), n)
}

// More returns the sentence that a list has n more items.
func More(n int, language string) string { return fmt.Sprintf(Say(MoreItems, language), n) }

// Pages formats a range of pages: "page 12", "pages 12–13", with the numbers that they bear "page iv (sheet 6)".
// It returns "" if from is 0, for documents without pages.
func Pages(from, to int, label, language string) string {
	if from < 1 {
		return ""
	}
	page := row{en: "page", pl: "str.", vi: "trang", de: "Seite"}
	sheet := row{en: "sheet", pl: "arkusz", vi: "tờ", de: "Blatt"}
	numbers := strconv.Itoa(from)
	if to > from {
		page.en, sheet.en, sheet.pl, page.de, sheet.de = "pages", "sheets", "arkusze", "Seiten", "Blätter"
		numbers = fmt.Sprintf("%d–%d", from, to)
	}
	if label == "" || label == numbers {
		return page.in(language) + " " + numbers
	}
	return fmt.Sprintf("%s %s (%s %s)", page.in(language), label, sheet.in(language), numbers)
}

// maxValue is the maximum length of a metadata value, in runes.
const maxValue = 200

// Metadata returns a line for the type of a document and a line for its ID. Empty
// values have no line.
func Metadata(kind, number, language string) []string {
	var lines []string
	for _, of := range []struct {
		label Situation
		value string
	}{{DocumentType, kind}, {DocumentID, number}} {
		value := []rune(strings.Join(strings.Fields(of.value), " "))
		if len(value) > 0 {
			lines = append(lines, Say(of.label, language)+" "+string(value[:min(len(value), maxValue)]))
		}
	}
	return lines
}

// Fixed reports whether sentence is a fixed sentence or a part of one, in any language.
// Such a sentence states nothing about the documents.
func Fixed(sentence string) bool {
	if len(sentence) < minFixed {
		return false
	}
	sentence = figures.ReplaceAllString(sentence, "%d")
	for _, row := range sentences {
		for _, fixed := range []string{row.en, row.pl, row.vi, row.de} {
			if strings.HasPrefix(fixed, sentence) || strings.HasSuffix(fixed, " "+sentence) {
				return true
			}
		}
	}
	return false
}

var figures = regexp.MustCompile(`\d+`)

// minFixed is the minimum length of a sentence for Fixed, in bytes. Shorter text could
// be the start of any sentence.
const minFixed = 5
