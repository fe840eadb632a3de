package load

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	enc "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/unicode/norm"
)

// decode sets Text, Encoding and Converted.
func (d *Document) decode(data []byte) error {
	if name, e := wideEncoding(data); e != nil {
		return d.convert(data, name, e)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return ErrBinary
	}
	if utf8.Valid(data) {
		d.Encoding, d.Text = "utf-8", string(data)
		return nil
	}
	sample := data[:min(len(data), encodingSample)]
	runes, invalid := countUTF8(data)
	if name, e := asianEncoding(sample); runes < invalid && e != nil && !amongLatin(sample) {
		return d.convert(data, name, e)
	}
	if runes > 0 && 4*runes >= invalid {
		s, n := replaceInvalid(data)
		d.Text, d.Encoding, d.Converted = s, "utf-8", true
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d invalid UTF-8 bytes read as ?", n))
		return nil
	}
	a := alphabetOf(sample)
	return d.convert(data, a.name, a.encoding)
}

// convert decodes data; what does not become text was none.
func (d *Document) convert(data []byte, name string, e encoding.Encoding) error {
	out, err := e.NewDecoder().Bytes(data)
	if err != nil || bytes.IndexByte(out, 0) >= 0 || !utf8.Valid(out) {
		return ErrBinary
	}
	if name == "windows-1258" {
		out = norm.NFC.Bytes(out) // its tones are marks of their own
	}
	d.Text, d.Encoding, d.Converted = string(out), name, true
	d.Warnings = append(d.Warnings, "converted from "+name)
	return nil
}

// wideEncoding knows UTF-16 and UTF-32 by their byte order mark, or by the zeros
// that letters of the Latin script have in them; nil where it is neither.
func wideEncoding(data []byte) (string, encoding.Encoding) {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE, 0, 0}) && len(data)%4 == 0:
		return "utf-32le", utf32.UTF32(utf32.LittleEndian, utf32.ExpectBOM)
	case bytes.HasPrefix(data, []byte{0, 0, 0xFE, 0xFF}) && len(data)%4 == 0:
		return "utf-32be", utf32.UTF32(utf32.BigEndian, utf32.ExpectBOM)
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return "utf-16le", enc.UTF16(enc.LittleEndian, enc.ExpectBOM)
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return "utf-16be", enc.UTF16(enc.BigEndian, enc.ExpectBOM)
	}
	sample := data[:min(len(data), 4096)]
	if len(data)%2 != 0 || bytes.IndexByte(sample, 0) < 0 || len(sample) < 4 {
		return "", nil
	}
	var zeros [4]int
	for i, b := range sample {
		if b == 0 {
			zeros[i%4]++
		}
	}
	quarter := len(sample) / 4
	mostly := func(i int) bool { return 5*zeros[i] >= 3*quarter }
	hardly := func(i int) bool { return 20*zeros[i] <= quarter }
	switch wide := len(data)%4 == 0; {
	case wide && mostly(1) && mostly(2) && mostly(3) && hardly(0):
		return "utf-32le", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case wide && mostly(0) && mostly(1) && mostly(2) && hardly(3):
		return "utf-32be", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case mostly(1) && mostly(3) && hardly(0) && hardly(2):
		return "utf-16le", enc.UTF16(enc.LittleEndian, enc.IgnoreBOM)
	case mostly(0) && mostly(2) && hardly(1) && hardly(3):
		return "utf-16be", enc.UTF16(enc.BigEndian, enc.IgnoreBOM)
	}
	return "", nil
}

// countUTF8 counts the runes of several bytes that are UTF-8, and the bytes that
// are not. A text that was damaged after it was UTF-8 holds one such rune for
// every four such bytes at least; in other encodings they come about by chance.
func countUTF8(data []byte) (runes, invalid int) {
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && n == 1:
			invalid++
		case n > 1:
			runes++
		}
		data = data[n:]
	}
	return runes, invalid
}

// encodingSample is how much of a file, in bytes, is looked at.
const encodingSample = 64 << 10

// alphabetOf finds the encoding that fits a text best.
func alphabetOf(sample []byte) alphabet {
	best, bestScore := alphabet{}, math.Inf(-1)
	for _, a := range alphabets() {
		if score := a.score(sample); score > bestScore {
			best, bestScore = a, score
		}
	}
	return best
}

// amongLatin reports whether most bytes above ASCII stand beside letters that
// are ASCII, as they do in the Latin script.
func amongLatin(data []byte) bool {
	high, beside := 0, 0
	letter := func(i int) bool {
		return i >= 0 && i < len(data) && (data[i]|0x20 >= 'a' && data[i]|0x20 <= 'z')
	}
	for i, b := range data {
		if b < utf8.RuneSelf {
			continue
		}
		high++
		if letter(i-1) || letter(i+1) {
			beside++
		}
	}
	return 2*beside > high
}

// asianEncoding finds the encodings of Japanese, Korean and Chinese, by what is
// frequent in them; nil where it is none of these.
func asianEncoding(data []byte) (string, encoding.Encoding) {
	found := chardet.Detect(data)
	if found.Confidence < 0.9 {
		return "", nil
	}
	switch strings.ToUpper(found.Encoding) {
	case "SHIFT_JIS", "CP932":
		return "shift_jis", japanese.ShiftJIS
	case "EUC-JP":
		return "euc-jp", japanese.EUCJP
	case "ISO-2022-JP":
		return "iso-2022-jp", japanese.ISO2022JP
	case "GB2312", "GBK", "GB18030":
		return "gb18030", simplifiedchinese.GB18030
	case "BIG5":
		return "big5", traditionalchinese.Big5
	case "EUC-KR", "CP949", "UHC":
		return "euc-kr", korean.EUCKR
	}
	return "", nil
}

// alphabet is an encoding of one byte a character, with the letters beyond ASCII
// of one language that is written in it.
type alphabet struct {
	name     string
	encoding *charmap.Charmap
	letters  string // small ones; marks that combine, too
	mixed    bool   // of several languages: of a list of names, say
}

// mixedShare is what it counts that letters of several languages fit, so that one
// language that fits nearly as well comes first.
const mixedShare = 0.9

// alphabets are those told apart, in the order of trust where they fit equally.
func alphabets() []alphabet {
	const cyrillic = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
	const western = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœ"
	return []alphabet{
		{name: "windows-1252", encoding: charmap.Windows1252, letters: "äöüß"},             // German
		{name: "windows-1252", encoding: charmap.Windows1252, letters: "éèêëàâçîïôùûüÿœæ"}, // French
		{name: "windows-1252", encoding: charmap.Windows1252, letters: "áéíóúüñªº"},        // Spanish
		{name: "windows-1252", encoding: charmap.Windows1252, letters: "áâãàçéêíóôõúü"},    // Portuguese
		{name: "windows-1252", encoding: charmap.Windows1252, letters: "àèéìíîòóùú"},       // Italian
		{name: "windows-1252", encoding: charmap.Windows1252, letters: "åäöæøé"},           // Scandinavian languages
		{name: "windows-1250", encoding: charmap.Windows1250, letters: "ąćęłńóśźż"},        // Polish
		{name: "iso-8859-2", encoding: charmap.ISO8859_2, letters: "ąćęłńóśźż"},
		{name: "windows-1250", encoding: charmap.Windows1250, letters: "áčďéěíňóřšťúůýžľĺôŕä"}, // Czech, Slovak
		{name: "iso-8859-2", encoding: charmap.ISO8859_2, letters: "áčďéěíňóřšťúůýžľĺôŕä"},
		{name: "windows-1250", encoding: charmap.Windows1250, letters: "áéíóöőúüű"}, // Hungarian
		{name: "iso-8859-2", encoding: charmap.ISO8859_2, letters: "áéíóöőúüű"},
		{name: "windows-1250", encoding: charmap.Windows1250, letters: "ăâîşţ"}, // Romanian
		{name: "iso-8859-2", encoding: charmap.ISO8859_2, letters: "ăâîşţ"},
		{name: "windows-1250", encoding: charmap.Windows1250, letters: "čćđšž"}, // Croatian, Slovene
		{name: "iso-8859-2", encoding: charmap.ISO8859_2, letters: "čćđšž"},
		{name: "windows-1258", encoding: charmap.Windows1258, letters: "ăâđêôơưàáèéìíòóùúý\u0300\u0301\u0303\u0309\u0323"}, // Vietnamese
		{name: "windows-1251", encoding: charmap.Windows1251, letters: cyrillic},
		{name: "windows-1251", encoding: charmap.Windows1251, letters: "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"}, // Ukrainian
		{name: "koi8-r", encoding: charmap.KOI8R, letters: cyrillic},
		{name: "koi8-u", encoding: charmap.KOI8U, letters: "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"},
		{name: "iso-8859-5", encoding: charmap.ISO8859_5, letters: cyrillic},
		{name: "windows-1254", encoding: charmap.Windows1254, letters: "çğıöşüâîû"},                            // Turkish
		{name: "windows-1253", encoding: charmap.Windows1253, letters: "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ"}, // Greek
		{name: "windows-1257", encoding: charmap.Windows1257, letters: "ąčęėįšųūžāēģīķļņäöõü"},                 // Baltic languages
		{name: "windows-1252", encoding: charmap.Windows1252, letters: western, mixed: true},
	}
}

// score is the share of the characters above ASCII that the language has, at
// places where it may have them: a capital begins a word, or follows another
// one. What no letter is counts little, and as a fault within a word, as a letter of
// another script does: Mar\xEDn is no word with a letter of Cyrillic.
func (a alphabet) score(data []byte) float64 {
	good, all := 0.0, 0
	prev := ' '
	for _, b := range data {
		r := a.encoding.DecodeByte(b)
		if b < utf8.RuneSelf {
			if asciiLetter(r) && otherScript(prev) {
				good--
			}
		} else {
			switch {
			case r == utf8.RuneError || unicode.Is(unicode.Cc, r):
				all++
				good--
			case !unicode.IsLetter(r) && !unicode.IsMark(r):
				if unicode.IsLetter(prev) && !unicode.IsPunct(r) {
					all++
				}
			case otherScript(r) && asciiLetter(prev):
				all++
				good--
			case strings.ContainsRune(a.letters, r):
				all++
				good++
			case strings.ContainsRune(a.letters, unicode.ToLower(r)) && !unicode.IsLower(prev):
				all++
				good++
			default:
				all++
			}
		}
		prev = r
	}
	switch {
	case all == 0:
		return 0
	case a.mixed:
		good *= mixedShare
	}
	return good / float64(all)
}

func asciiLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// otherScript reports whether r is a letter of Greek or Cyrillic.
func otherScript(r rune) bool { return r >= 0x370 && r < 0x530 && unicode.IsLetter(r) }
