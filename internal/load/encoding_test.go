package load_test

import (
	"errors"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"example.com/ragflow/internal/load"
)

func TestEncodings(t *testing.T) {
	const (
		polish     = "W piątek pracownicy otrzymają wynagrodzenie za nadgodziny, jeżeli kierownik je zatwierdził. Źródło: „regulamin”."
		czech      = "Zaměstnanci dostanou mzdu v pátek. Příliš žluťoučký kůň úpěl ďábelské ódy."
		hungarian  = "A dolgozók pénteken kapják meg a fizetésüket, ha a főnök jóváhagyta. Tűzön-vízen át."
		german     = "Die Straße führt über die Brücke; größere Änderungen können später erfolgen."
		french     = "L’été dernier, nous avons mangé des crêpes à la plage – c’était très agréable."
		swedish    = "På fredag får de anställda sin lön, även för övertid."
		russian    = "Сотрудники получают зарплату в пятницу. Съешь же ещё этих мягких французских булок."
		vietnamese = "Người lao động được nghỉ phép mười hai ngày mỗi năm, và được thưởng Tết."
		japanese1  = "これは日本語のテキストです。社員は年に二十日の休暇を取得できます。カタカナも。"
		chinese    = "这是一个中文文本。员工每年有二十天的假期，超过十年的有三十天。"
		taiwanese  = "這是一個中文文本。員工每年有二十天的假期，超過十年的有三十天。"
		korean1    = "이것은 한국어 텍스트입니다. 직원은 매년 20일의 휴가를 받습니다."
		english    = "Plain words, and nothing else in them."
	)
	for _, tt := range []struct {
		want     string
		encoding encoding.Encoding
		text     string
	}{
		{"windows-1250", charmap.Windows1250, polish},
		{"windows-1250", charmap.Windows1250, czech},
		{"iso-8859-2", charmap.ISO8859_2, hungarian},
		{"iso-8859-2", charmap.ISO8859_2, "W piątek pracownicy otrzymają wynagrodzenie, jeżeli kierownik je zatwierdził. Źle świadczy."},
		{"iso-8859-2", charmap.ISO8859_2, czech},
		{"windows-1252", charmap.Windows1252, german},
		{"windows-1252", charmap.Windows1252, french},
		{"windows-1252", charmap.Windows1252, swedish},
		{"windows-1252", charmap.Windows1252, "Ra\u00fal Mar\u00edn, Nicklas Av\u00e9n, Bj\u00f6rn Harrtell, Jorge Ar\u00e9valo, Andreas For\u00f8, R\u00e9mi, Lo\u00efc, Tom\u00e1s, Universit\u00e9 Laval, \u00c5ke, J\u00f6rg"},
		{"windows-1251", charmap.Windows1251, russian},
		{"koi8-r", charmap.KOI8R, russian},
		{"koi8-r", charmap.KOI8R, "Договор аренды склада. Арендатор платит двадцать тысяч рублей каждый месяц. Склад закрывается в шесть часов вечера. Ключи хранятся у сторожа."}, // looks like Hebrew, which has no letters for some of the bytes
		{"iso-8859-5", charmap.ISO8859_5, russian},
		{"shift_jis", japanese.ShiftJIS, japanese1},
		{"euc-jp", japanese.EUCJP, japanese1},
		{"gb18030", simplifiedchinese.GB18030, chinese},
		{"big5", traditionalchinese.Big5, taiwanese},
		{"euc-kr", korean.EUCKR, korean1},
		{"utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), vietnamese},
		{"utf-16be", unicode.UTF16(unicode.BigEndian, unicode.UseBOM), japanese1},
		{"utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), english},
		{"utf-16be", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), polish},
	} {
		data, err := tt.encoding.NewEncoder().Bytes([]byte(tt.text))
		if err != nil {
			t.Fatalf("%s: %v", tt.want, err)
		}
		doc, err := load.Parse(t.Context(), "a.txt", data)
		matters := 1
		if tt.want == "windows-1252" {
			matters = 0
		}
		if err != nil || doc.Encoding != tt.want || doc.Text != tt.text || !doc.Converted || len(doc.Notes) != matters {
			t.Errorf("%s: got %s %q %v, %v", tt.want, doc.Encoding, doc.Text, doc.Notes, err)
		}
	}
	doc, err := load.Parse(t.Context(), "a.csv", []byte("Auftrag;Art\n1;Anh\xe4nger f\xfcr die Stra\xdfe\n"))
	if want := "Auftrag: 1; Art: Anhänger für die Straße\n"; err != nil || doc.Text != want || len(doc.Notes) > 0 {
		t.Errorf("got %q %v, %v; want no note, whatever encoding was found", doc.Text, doc.Notes, err)
	}
	for name, data := range map[string]string{
		"a picture": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", "an ELF": "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00", "one NUL": "text\x00text",
	} {
		if _, err := load.Parse(t.Context(), "a.txt", []byte(data)); !errors.Is(err, load.ErrBinary) {
			t.Errorf("%s: %v, want ErrBinary", name, err)
		}
	}
}
