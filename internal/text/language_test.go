package text_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/text"
)

func TestLanguage(t *testing.T) {
	for lang, questions := range map[string][]string{
		"en": {
			"", "?", "docker", "docker compose up -d", "--mount", "daemon.json", "v28.5.1", "PostgreSQL",
			"and on Windows?", "how do I back it up", "and how do I back it up?", "And all of them?", "Why?", "hello", "thanks!", "ok",
			"What is a tmpfs mount?", "Can I share one between two containers?", "How big can it get if I don't say anything?",
			"what about macOS", "list all images", "restart policy", "in a swarm?", "on a Mac?", "which one", "Is it safe?", "no, the other one",
			"tell me more", "delete everything", "Docker Desktop for Windows", "How do I do a to-do app?", "What does pl mean in docker?",
			"kubernetes ingress timeout", "explain docker compose profiles", "multi-stage builds", "naïve café résumé question", "go to one on my Mac",
			"Does it work with Zürich as the host name?", "build arguments", "MTU", "x",
			"was it removed?", "dove", "co-op", "wo", "quale", "come back", "ile",
			"no space left on device", "container no", "no, I meant on Mac", "do as I say", "what do I do, as me?", "no such host", "me too", "a no-op",
			"come on", "die", "the man page", "on/off", "to do", "is there no other way", "Docker na",
		},
		"pl": {
			"Jak usunąć obrazy?", "jak usunac obrazy", "a jak zrobić kopię?", "Co to jest wolumen?", "Gdzie są logi?", "Dlaczego kontener nie startuje?",
			"Ile to zajmuje miejsca?", "Czy można to wyłączyć?", "dzień dobry", "Dziękuję!", "Który plik skopiować?", "sieć bridge",
			"Pokaż wszystkie kontenery", "Czym różni się bind mount od volume?", "jak to zmienić w docker compose", "hasło do rejestru",
			"Jakie masz dokumenty?", "podaj numer klienta", "ile wynosi kaucja", "kto zalozyl Microsoft", "gdzie urodzila sie Marie Curie",
			"Docker Desktop na Macu w ogóle się nie uruchamia",
		},
		"vi": {
			"Làm sao để xóa image?", "xin chào", "Còn trên Windows thì sao?", "Docker là gì?", "Cách sao lưu volume", "tại sao container không chạy?",
			"Mức phạt là bao nhiêu?", "Luật đất đai quy định gì về quyền sở hữu?", "cảm ơn bạn", "nó hoạt động như thế nào", "tôi muốn biết thêm",
			"Giá là 24.000 đồng", "giá vé", "phí ship", "số điện thoại", "nghỉ phép", "bao lau thi xong", "docker la gi", "lam sao de xoa image",
		},
		"de": {"was steht in § 7?", "ab 20 stück", "nummer von ann", "gibts boote ab 5 euro", "Wie lösche ich alle Images?", "Was ist ein Volume und wo liegt es?", "und unter Windows?", "Warum startet der Container nicht?", "Wann wurde Microsoft gegründet?", "Wer hat Microsoft gegründet?", "was ist microsoft", "Wo wurde Marie Curie geboren?"},
		"fr": {"Comment supprimer toutes les images ?", "Qu'est-ce que c'est et où sont les données ?", "et sur Windows, comment je fais ?", "Qui a fondé Microsoft ?", "Combien coûte Docker ?"},
		"es": {"¿Cómo elimino todas las imágenes?", "¿Y en Windows?", "Quién fundó Microsoft?", "cuando empieza"},
		"it": {"Come posso cancellare tutte le immagini?", "Chi ha fondato Microsoft?"},
		"pt": {"Como posso apagar todas as imagens? Não funciona.", "Quem fundou a Microsoft?"},
		"cs": {"Jak smažu všechny obrazy?"},
		"ru": {"Как удалить все образы docker?"}, "uk": {"Як видалити всі образи?"},
		"ja": {"すべてのイメージを削除する方法は?"}, "zh": {"如何删除所有镜像？"}, "ko": {"모든 이미지를 삭제하는 방법"}, "th": {"จะลบภาพทั้งหมดได้อย่างไร"},
		"ar": {"كيف أحذف كل الصور؟"}, "el": {"Πώς διαγράφω όλες τις εικόνες;"},
	} {
		for _, q := range questions {
			if got := text.Language(q); got != lang {
				t.Errorf("Language(%q) = %q, want %q", q, got, lang)
			}
		}
	}
}

// TestNeighbours: Danish and Norwegian share most function words, so neither hides the other.
func TestNeighbours(t *testing.T) {
	for want, s := range map[string]string{
		"da": "Hver medarbejder har ret til ferie om året. Ansøgningen skal sendes til chefen en uge før, og den kan ikke flyttes bagefter.",
		"no": "Hver ansatt har rett til ferie i året. Søknaden skal sendes til sjefen en uke før, og den kan ikke flyttes av noen etterpå.",
		"sv": "Varje anställd har rätt till semester om året. Ansökan ska lämnas till chefen en vecka i förväg, och den kan inte flyttas sedan.",
	} {
		if got, _ := text.Multilingual().Languages([]string{s}); got != want {
			t.Errorf("a text in %s is %s", want, got)
		}
	}
}

func TestLanguageOfCorpus(t *testing.T) {
	wrong, pages := 0, docs(t)
	for _, p := range pages {
		if text.Language(p) != "en" {
			wrong++
			t.Logf("%s: %.300q", text.Language(p), p)
		}
	}
	if wrong > len(pages)/100 {
		t.Errorf("%d of %d English pages are not recognised", wrong, len(pages))
	}
}

func TestLanguageOfQuestions(t *testing.T) {
	f, err := os.Open(golden.Public(t, "docker-eval", "dev.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for in := bufio.NewScanner(f); in.Scan(); {
		var q struct{ Lang, Question string }
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		if got := text.Language(q.Question); got != q.Lang {
			t.Errorf("Language(%q) = %q, want %q", q.Question, got, q.Lang)
		}
	}
}
