package text_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/text"
)

// terms joins the terms of s; terms of one position are joined by a slash.
func terms(lang, s string) string {
	var b strings.Builder
	pos := -1
	for _, t := range text.For(lang).Analyze(s) {
		switch {
		case pos < 0:
		case t.Pos == pos:
			b.WriteByte('/')
		default:
			b.WriteByte(' ')
		}
		pos = t.Pos
		b.WriteString(t.Term)
	}
	return b.String()
}

func TestAnalyze(t *testing.T) {
	for _, tt := range []struct{ name, lang, in, want string }{
		{"stems", "en", "Restarting the containers", "restart contain"},
		{"questions lose their frame", "en", "How do I back up a volume?", "back up volum"},
		{"possessive", "en", "the container's data, the users' files", "contain data user file"},
		{"typographic apostrophes", "en", "container’s isn’t", "contain"},
		{"quotes are not apostrophes", "en", "'quoted' rock 'n' roll", "quot rock n roll"},
		{"commands keep their direction", "en", "docker compose up and down", "docker compos up down"},
		{"file name", "en", "docker-compose.yml", "dockercomposeyml/docker compos yml"},
		{"path", "en", "/etc/docker/daemon.json", "etc docker daemonjson/daemon json"},
		{"environment variable", "en", "COMPOSE_FILE", "composefil/compos file"},
		{"snake", "en", "depends_on", "dependson/depend"},
		{"camel", "en", "autoPauseTimeoutSeconds", "autopausetimeoutsecond/auto paus timeout second"},
		{"camel and snake agree", "en", "dependsOn", "dependson/depend"},
		{"acronym before a word", "en", "HTTPServer", "httpserver/http server"},
		{"acronym in the plural", "en", "URLs and VMs", "url vms"},
		{"no humps", "en", "gRPC IPv6 WSL2 x86_64", "grpc ipv6 wsl2 x8664/x86 64"},
		{"hyphen or none", "en", "plug-in plugin", "plugin/plug plugin"},
		{"dot or none", "en", "Node.js nodejs", "nodej/node js nodej"},
		{"option", "en", "docker run --mount=type=bind -a", "docker run --mount/mount type bind -a"},
		{"option of two words", "en", "use --no-cache", "use --no-cache/nocach cach"},
		{"assignment", "en", "seccomp=unconfined", "seccomp unconfin"},
		{"ports", "en", "8001:5432", "8001 5432"},
		{"image and tag", "en", "node:18-alpine", "node 18alpine/18 alpin"},
		{"version", "en", "v28.5.1 28.5.1", "28.5.1/28 5 1 28.5.1/28 5 1"},
		{"units behind their number", "en", "a 5 kg bag, 5kg, 2.5KG, 60Hz, 12V, 4a, 3D", "5 kg bag 5 kg 25kg/2 5 kg 60hz 12 v 4a 3d"},
		{"thousands", "en", "1,500,000 bytes, 3.14", "1500000 byte 3.14/3 14"},
		{"languages with marks", "en", "C++, C# and Go", "c++/c c#/c go"},
		{"ligatures and full width", "en", "ﬁle ＤＯＣＫＥＲ", "file docker"},
		{"decomposed", "plain", "cafe\u0301 café", "café café"},
		{"soft hyphen", "en", "con\u00adtainer", "contain"},
		{"vietnamese keeps its marks", "vi", "Cơ sở dữ liệu", "cơ sở/~co so/cơ/~co sở dữ/~so du/sở/~so dữ liệu/~du lieu/dữ/~du liệu/~lieu"},
		{"polish", "pl", "Jak usunąć obrazy kontenerów?", "usun obraz kontenr"},
		{"polish names keep their digits", "pl", "plik a-daemon.json", "plik adaemonjson daemon json"},
		{"german", "de", "Wie lösche ich alle Bilder?", "losch bild"},
		{"french with elided articles", "fr", "Supprimer l'image d’un réseau", "supprim imag reseau"},
		{"spanish", "es", "¿Cómo borro las imágenes?", "borr imagen"},
		{"italian", "it", "eliminare l'immagine dell'utente", "elimin immagin utent"},
		{"portuguese", "pt", "configurações da rede", "configur red"},
		{"dutch", "nl", "de gestolen fietsen", "gestol fiets"},
		{"swedish", "sv", "cyklarna i husen", "cykl hus"},
		{"danish", "da", "cyklerne er stjålet", "cykl stjål"},
		{"norwegian", "no", "syklene ble stjålet", "sykl stjål"},
		{"finnish", "fi", "pyörät talossa", "pyörä talo"},
		{"hungarian", "hu", "a kerékpárok", "kerékpár"},
		{"romanian", "ro", "bicicletele și casele", "biciclet cas"},
		{"turkish", "tr", "bisikletler ve evler", "bisiklet ev"},
		{"czech has stop words", "cs", "jak smazat obrazy", "smazat obrazy"},
		{"russian in any language", "en", "Ёлки и velосипеды, контейнеры", "елк velосипеды контейнер"},
		{"russian", "ru", "Как удалить контейнеры?", "удал контейнер"},
		{"arabic loses vowel signs, lengthening and article", "en", "المُوَظَّفـــون", "موظف"},
		{"persian is left alone", "en", "کتاب\u200cها", "کتابها"},
		{"greek without accents", "en", "Ποδήλατος", "ποδηλατ"},
		{"hebrew without points", "en", "הָאוֹפַנַּיִים", "האופניים"},
		{"hindi without dots below", "en", "लड़का", "लडका"},
		{"chinese", "zh", "数据库 Docker", "数据/数 据库/据 库 docker"},
		{"one ideograph", "zh", "库", "库"},
		{"japanese", "ja", "データの保存", "デー ータ タの の保 保存/保 存"},
		{"half-width and full-width", "ja", "ﾃﾞｰﾀ", "デー ータ"},
		{"korean", "ko", "도커를", "도커/도 커를/커 를"},
		{"korean beside latin", "ko", "Docker를 v2로", "docker 를 v2 로"},
		{"thai keeps marks with their letters", "th", "ที่นี่", "ที่นี่"},
		{"thai", "th", "จักรยาน", "จัก กร รย ยา าน"},
		{"khmer, lao and burmese", "", "ទិន្នន័យ ລາວ မြန်မာ", "ទិន្ ន្ន នន័ ន័យ ລາ າວ မြန် န်မာ"},
		{"ideographs and punctuation", "zh", "停止。开始，v1.2版", "停止/停 止 开始/开 始 1.2/1 2 版"},
		{"no words", "en", "—… !!! 🐳 \u200b", ""},
		{"empty", "en", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := terms(tt.lang, tt.in); got != tt.want {
				t.Errorf("Analyze(%q):\n got %s\nwant %s", tt.in, got, tt.want)
			}
		})
	}
}

// A function word of English is no word of documents in English, and a rare one
// of those in other languages: it must not decide which of them are found.
func TestQueryAmongLanguages(t *testing.T) {
	for query, want := range map[string]string{
		"what is a virtual host": "host:1 virtual:1",
		"how do I redirect http": "http:1 redirect:1 redirig:0",
		"redirect http to https": "http:1 https:1 redirect:1 to:0.3",
		"prix or":                "or:0.3 prix:1",
		"how to":                 "how:0.3 to:0.3", // nothing else to search for
	} {
		weights := map[string]float64{}
		for _, q := range text.QueryTerms(text.Multilingual(), query, []string{"fr", "tr"}, "") {
			weights[q.Term] = max(weights[q.Term], q.Weight)
		}
		for w := range strings.FieldsSeq(want) {
			term, n, _ := strings.Cut(w, ":")
			if got := strconv.FormatFloat(weights[term], 'g', -1, 64); got != n {
				t.Errorf("%q: %s weighs %s, want %s: %v", query, term, got, n, weights)
			}
			delete(weights, term)
		}
		for _, stop := range []string{"what", "is", "a", "do", "i"} {
			if weights[stop] != 0 {
				t.Errorf("%q searches for %s", query, stop)
			}
		}
	}
}

// A question without evidence of its language has that of most documents.
func TestQueryOfUnclearLanguage(t *testing.T) {
	for main, want := range map[string]float64{"": 0.3, "de": 1} {
		for _, q := range text.QueryTerms(text.Multilingual(), "Spaltenbreiten", []string{"de"}, main) {
			if q.Term == "spaltenbreit" && q.Weight != want {
				t.Errorf("main language %q: a German word weighs %g, want %g", main, q.Weight, want)
			}
		}
	}
}

// TestGermanSpelling: people without a German keyboard write ue for ü and ss for ß.
func TestGermanSpelling(t *testing.T) {
	for _, tt := range []struct{ lang, a, b string }{
		{"de", "Gebührenübersicht", "Gebuehrenuebersicht"},
		{"de", "Straße größer", "Strasse groesser"},
		{"de", "Türen für Schlösser", "Tueren fuer Schloesser"},
		{"de", "schön grün", "schoen gruen"},
	} {
		if a, b := terms(tt.lang, tt.a), terms(tt.lang, tt.b); a != b {
			t.Errorf("%s has the terms %s, %s has %s", tt.a, a, tt.b, b)
		}
	}
	for _, tt := range []struct{ lang, in, want string }{
		{"de", "neue Steuer bauen Quelle Statuen", "neu steu bau quell statu"},
		{"en", "blue shoe", "blue shoe"},
		{"fr", "bleue", "bleu"},
		{"es", "pingüe abuelo", "pingu abuel"},
	} {
		if got := terms(tt.lang, tt.in); got != tt.want {
			t.Errorf("%s: terms of %q are %s, want %s", tt.lang, tt.in, got, tt.want)
		}
	}
}

func TestAnalyzeOffsets(t *testing.T) {
	const s = "Use `--mount` in ﬁles."
	var got []string
	for _, k := range text.For("en").Analyze(s) {
		got = append(got, k.Term+"="+s[k.Start:k.End])
	}
	want := []string{"use=Use", "--mount=--mount", "mount=mount", "file=ﬁles"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAnalyzeLongRun(t *testing.T) {
	long := strings.Repeat("AbCd3é", 200_000)
	for _, k := range text.For("en").Analyze(long + " end") {
		if len(k.Term) > 128 {
			t.Fatalf("term of %d bytes", len(k.Term))
		}
	}
}

func TestAnalyzeConcurrent(t *testing.T) {
	const s = "Restarting containers with depends_on and docker-compose.yml"
	want := text.For("en").Analyze(s)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if d := cmp.Diff(want, text.For("en").Analyze(s)); d != "" {
					t.Error(d)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestStopWord(t *testing.T) {
	for _, tt := range []struct {
		lang, word string
		want       bool
	}{
		{"en", "the", true},
		{"en", "don't", true},
		{"en", "down", false},
		{"en", "docker", false},
		{"pl", "jak", true},
		{"pl", "obraz", false},
		{"vi", "của", true},
		{"de", "der", true},
		{"ja", "の", false},
	} {
		if got := text.StopWord(tt.lang, tt.word); got != tt.want {
			t.Errorf("StopWord(%q, %q) = %v, want %v", tt.lang, tt.word, got, tt.want)
		}
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"docker-compose.yml --mount v1.2 C++", "don’t ﬁ 1,500 日本 ส\xff", "a-b:c--d_-e'f", "İIıſ K℡"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, lang := range []string{"en", "", "pl", "de", "fr", "tr", "ar", "fi"} {
			pos, got := 0, text.For(lang).Analyze(s)
			for _, k := range got {
				if k.Start < 0 || k.End > len(s) || k.Start >= k.End {
					t.Fatalf("%q: token %+v outside", s, k)
				}
				if k.Pos < pos {
					t.Fatalf("%q: token %+v before position %d", s, k, pos)
				}
				if k.Term == "" || len(k.Term) > 128 || !utf8.ValidString(k.Term) {
					t.Fatalf("%q: token %+v has no proper term", s, k)
				}
				pos = k.Pos
			}
			if again := text.For(lang).Analyze(s); !slices.Equal(again, got) {
				t.Fatalf("%q: second time differs: %s", s, cmp.Diff(got, again))
			}
		}
	})
}

// docs returns the pages of the Docker documentation.
func docs(tb testing.TB) []string {
	tb.Helper()
	var out []string
	err := filepath.WalkDir(golden.Public(tb, "docker-docs", "content"), func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		out = append(out, string(b))
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func BenchmarkAnalyze(b *testing.B) {
	pages := docs(b)
	n, buf := 0, []text.Token(nil)
	for _, p := range pages {
		n += len(p)
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range pages {
			buf = text.For("en").Append(buf[:0], p)
		}
	}
}

// A word that a line end parts is found whole, and so are its parts.
func TestHyphenAtLineEnd(t *testing.T) {
	for in, want := range map[string]string{
		"the config-\n   uration of":  "configur config urat",
		"a list -\nnext, a two-\nTwo": "list next two two",
		"end-\n\nnext":                "end next",
	} {
		var got []string
		for _, token := range text.For("en").Analyze(in) {
			got = append(got, token.Term)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
