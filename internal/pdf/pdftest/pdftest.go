// Package pdftest makes PDFs for tests.
package pdftest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// With returns a PDF of pages, each given as the content of its stream, with Helvetica as /F, Helvetica
// Bold as /B and Courier as /C. extra adds entries of the trailer, and objects from number 100 on.
func With(trailer string, extra []string, pages ...string) []byte {
	var b bytes.Buffer
	offsets := map[int]int{}
	object := func(n int, body string) {
		offsets[n] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, body)
	}
	b.WriteString("%PDF-1.7\n")
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 10+2*i))
	}
	object(1, "<</Type/Catalog/Pages 2 0 R/Outlines 101 0 R>>")
	object(2, fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Join(kids, " "), len(kids)))
	object(3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	object(4, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>")
	object(5, "<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>\nstream\nx\nendstream")
	object(6, "<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>")
	for i, p := range pages {
		object(10+2*i, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F 3 0 R/B 4 0 R/C 6 0 R>>/XObject<</I 5 0 R>>>>>>", 11+2*i))
		object(11+2*i, fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(p), p))
	}
	for i, e := range extra {
		object(100+i, e)
	}
	start := b.Len()
	b.WriteString("xref\n0 1\n0000000000 65535 f \n")
	for n := 1; n < 100+len(extra); n++ {
		if at, ok := offsets[n]; ok {
			fmt.Fprintf(&b, "%d 1\n%010d 00000 n \n", n, at)
		}
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", 100+len(extra), trailer, start)
	return b.Bytes()
}

// Blank returns a PDF of so many empty pages.
func Blank(pages int) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var offsets []int
	for i, body := range []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Repeat("3 0 R ", pages), pages),
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>",
	} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	start := b.Len()
	b.WriteString("xref\n0 4\n0000000000 65535 f \n")
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", start)
	return b.Bytes()
}

// Line is a content stream that shows text at a position.
func Line(font string, size, x, y int, text string) string {
	return fmt.Sprintf("BT /%s %d Tf %d %d Td (%s) Tj ET\n", font, size, x, y, text)
}

// Column shows lines of body type below each other.
func Column(x, y int, lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(Line("F", 10, x, y-12*i, l))
	}
	return b.String()
}

// Packed returns a PDF of one page with compressed content.
func Packed(content []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(content) // to memory
	_ = w.Close()
	return []byte(strings.Replace(string(With("", nil, b.String())), "<</Length", "<</Filter/FlateDecode/Length", 1))
}
