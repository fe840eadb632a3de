package prompts

import (
	"fmt"
	"regexp"
	"strings"
)

// Situation is what a fixed sentence is for.
type Situation int

// The situations.
const (
	NoDocuments      Situation = iota // the search found nothing at all
	FromDocuments                     // before quotes that answer
	NotFound                          // the documents do not hold the answer
	Closest                           // before the closest passage
	OtherLanguage                     // the question is in another language than the documents
	SourcesHeader                     // above the list of sources
	Greeting                          // answer to a greeting
	Thanks                            // answer to thanks
	Farewell                          // answer to a goodbye
	Capabilities                      // what the program can do
	Holdings                          // before the number of documents and their titles
	EarlierQuestions                  // before the list of what was asked
	Conversation                      // before the turns of the conversation so far
	NothingEarlier                    // nothing was asked yet
	Refusal                           // what a model writes where the sources do not hold the answer
	Unsupported                       // behind a sentence that no source says
	DocumentType                      // before the kind of a document: law, manual, …
	DocumentID                        // before the number or code of a document
	Changed                           // beside a quote whose document has changed since
	NothingClose                      // the documents hold nothing near the question
	MoreItems                         // behind a list that is cut: how many more there are; see [More]
	MoreLine                          // behind a block of code that is cut: it has one more line; see [MoreCode]
	MoreLines                         // the same: how many more lines it has
	LinesFollow                       // the same: nobody knows how many
)

// English is the language that every situation has.
const English = "en"

// Say returns the sentence for a situation in a language (ISO 639-1).
func Say(s Situation, language string) string {
	return say(s).in(language)
}

type row struct{ en, pl, vi string }

// in is the row's text in a language.
func (r row) in(language string) string {
	switch language {
	case "pl":
		return r.pl
	case "vi":
		return r.vi
	default:
		return r.en
	}
}

// say is the table.
func say(s Situation) row {
	switch s {
	case NoDocuments:
		return row{
			en: "No relevant documents found for your query.",
			pl: "Nie znaleziono dokumentów pasujących do pytania.",
			vi: "Không tìm thấy tài liệu nào phù hợp với câu hỏi của bạn.",
		}
	case FromDocuments:
		return row{
			en: "From your documents:",
			pl: "Z Twoich dokumentów:",
			vi: "Theo tài liệu của bạn:",
		}
	case NotFound:
		return row{
			en: "I did not find the exact answer to this in your documents.",
			pl: "Nie udało się znaleźć w Twoich dokumentach dokładnej odpowiedzi na to pytanie.",
			vi: "Tôi không tìm thấy đủ thông tin trong tài liệu để trả lời câu hỏi này.",
		}
	case Closest:
		return row{
			en: "Closest information:",
			pl: "Najbliższa informacja:",
			vi: "Thông tin gần nhất:",
		}
	case OtherLanguage:
		return row{
			en: "Your question is in another language than the documents, so only names, numbers and commands in it could be matched.",
			pl: "Pytanie jest w innym języku niż dokumenty, więc dopasować można było tylko nazwy, liczby i polecenia.",
			vi: "Câu hỏi dùng ngôn ngữ khác với tài liệu, nên chỉ có thể đối chiếu tên riêng, con số và câu lệnh.",
		}
	case SourcesHeader:
		return row{en: "Sources", pl: "Źródła", vi: "Nguồn tham khảo"}
	case Greeting:
		return row{
			en: "Hello. Ask me something about your documents.",
			pl: "Dzień dobry. Zadaj mi pytanie o swoje dokumenty.",
			vi: "Xin chào. Hãy hỏi tôi về tài liệu của bạn.",
		}
	case Thanks:
		return row{en: "You're welcome.", pl: "Proszę bardzo.", vi: "Không có gì."}
	case Farewell:
		return row{en: "Goodbye.", pl: "Do widzenia.", vi: "Tạm biệt."}
	case Capabilities:
		return row{
			en: "I answer questions from your documents and cite the passage behind each statement. I remember this conversation, so you can ask follow-up questions.",
			pl: "Odpowiadam na pytania na podstawie Twoich dokumentów i przy każdym zdaniu podaję źródło. Pamiętam tę rozmowę, więc możesz dopytywać.",
			vi: "Tôi trả lời câu hỏi dựa trên tài liệu của bạn và trích dẫn nguồn cho từng ý. Tôi nhớ cuộc trò chuyện này nên bạn có thể hỏi tiếp.",
		}
	case Holdings:
		return row{en: "Your documents:", pl: "Twoje dokumenty:", vi: "Tài liệu của bạn:"}
	case EarlierQuestions:
		return row{en: "You asked before:", pl: "Wcześniejsze pytania:", vi: "Bạn đã hỏi trước đó:"}
	case Conversation:
		return row{en: "Our conversation so far:", pl: "Dotychczasowa rozmowa:", vi: "Cuộc trò chuyện cho đến nay:"}
	case NothingEarlier:
		return row{
			en: "You have not asked anything before in this conversation.",
			pl: "W tej rozmowie nie było jeszcze żadnego pytania.",
			vi: "Bạn chưa hỏi gì trước đó trong cuộc trò chuyện này.",
		}
	case Refusal:
		return row{
			en: "I don't have enough information to answer that question.",
			pl: "Nie mam wystarczających informacji, aby odpowiedzieć na to pytanie.",
			vi: "Tôi không tìm thấy đủ thông tin trong tài liệu để trả lời câu hỏi này.",
		}
	case Unsupported:
		return row{en: "(unsupported)", pl: "(bez potwierdzenia)", vi: "(chưa có căn cứ)"}
	case DocumentType:
		return row{en: "Document type:", pl: "Rodzaj dokumentu:", vi: "Loại văn bản:"}
	case DocumentID:
		return row{en: "Document ID:", pl: "Numer dokumentu:", vi: "Mã văn bản:"}
	case Changed:
		return row{
			en: "The document has changed since.",
			pl: "Dokument od tego czasu się zmienił.",
			vi: "Tài liệu đã thay đổi kể từ đó.",
		}
	case NothingClose:
		return row{
			en: "Nothing in the documents comes close to it.",
			pl: "W dokumentach nie ma nic bliskiego temu pytaniu.",
			vi: "Trong tài liệu không có nội dung nào gần với câu hỏi này.",
		}
	case MoreItems:
		return row{en: "… and %d more", pl: "… i jeszcze %d", vi: "… và %d mục nữa"}
	case MoreLine:
		return row{en: "… and one more line of code", pl: "… i jeszcze jeden wiersz kodu", vi: "… và một dòng mã nữa"}
	case LinesFollow:
		return row{en: "… and more lines of code", pl: "… i dalsze wiersze kodu", vi: "… và các dòng mã tiếp theo"}
	case MoreLines:
		return row{en: "… and %d more lines of code", pl: "… i dalsze wiersze kodu: %d", vi: "… và %d dòng mã nữa"}
	default:
		return row{}
	}
}

// MoreCode says that a block of code goes on with n more lines; below 0 nobody knows how
// many.
func MoreCode(n int, language string) string {
	switch {
	case n < 0:
		return Say(LinesFollow, language)
	case n == 1:
		return Say(MoreLine, language)
	}
	return fmt.Sprintf(Say(MoreLines, language), n)
}

// More says that a list goes on with n more.
func More(n int, language string) string { return fmt.Sprintf(Say(MoreItems, language), n) }

// Pages names pages of a document from one to another: "page 12", "pages 12–13".
// It is "" where from is 0, of documents without pages.
func Pages(from, to int, language string) string {
	if from < 1 {
		return ""
	}
	r := row{en: "page", pl: "str.", vi: "trang"}
	if to > from {
		r.en = "pages"
	}
	word := r.in(language)
	if to > from {
		return fmt.Sprintf("%s %d–%d", word, from, to)
	}
	return fmt.Sprintf("%s %d", word, from)
}

// longestValue is how many runes of what a document says of itself are shown.
const longestValue = 200

// Metadata is what a document says of its kind and its number, a line each;
// without those it does not know.
func Metadata(kind, number, language string) []string {
	var lines []string
	for _, of := range []struct {
		label Situation
		value string
	}{{DocumentType, kind}, {DocumentID, number}} {
		value := []rune(strings.Join(strings.Fields(of.value), " "))
		if len(value) > 0 {
			lines = append(lines, Say(of.label, language)+" "+string(value[:min(len(value), longestValue)]))
		}
	}
	return lines
}

// Fixed reports whether sentence is one of this table, or a sentence of one, in
// any language: then it states nothing about the documents.
func Fixed(sentence string) bool {
	if len(sentence) < minFixed {
		return false
	}
	if strings.HasPrefix(sentence, "… ") {
		sentence = figures.ReplaceAllString(sentence, "%d")
	}
	for s := NoDocuments; say(s) != (row{}); s++ {
		for _, language := range Languages() {
			if said := Say(s, language); strings.HasPrefix(said, sentence) || strings.HasSuffix(said, " "+sentence) {
				return true
			}
		}
	}
	return false
}

var figures = regexp.MustCompile(`\d+`)

// minFixed is the length of the shortest sentence that Fixed knows, in bytes:
// less may be the beginning of anything.
const minFixed = 5
