package llm_test

import (
	"strings"
	"testing"

	"example.com/ragflow/llm"
)

func TestReadImage(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n"
	for _, tt := range []struct{ name, data, media, want string }{
		{"PNG", png, "image/png", ""},
		{"JPEG", "\xff\xd8\xff\xe0", "image/jpeg", ""},
		{"GIF", "GIF89a", "image/gif", ""},
		{"WebP", "RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp", ""},
		{"at the limit", png + strings.Repeat("x", llm.MaxImageBytes-len(png)), "image/png", ""},
		{"over the limit", png + strings.Repeat("x", llm.MaxImageBytes), "", "read an image: it has 5242888 bytes and at most 5242880 are allowed; make it smaller"},
		{"BMP", "BM", "", "read an image: its content is image/bmp; convert it to PNG, JPEG, GIF or WebP"},
		{"SVG", "<svg/>", "", "read an image: its content is text/plain; charset=utf-8; convert it to PNG, JPEG, GIF or WebP"},
		{"PDF", "%PDF-1.7", "", "read an image: its content is application/pdf; convert it to PNG, JPEG, GIF or WebP"},
		{"nothing", "", "", "read an image: its content is text/plain; charset=utf-8; convert it to PNG, JPEG, GIF or WebP"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := llm.ReadImage([]byte(tt.data))
			said := ""
			if err != nil {
				said = err.Error()
			}
			if said != tt.want || got.Media != tt.media || err == nil && string(got.Data) != tt.data {
				t.Errorf("got %q with %d bytes, %q; want %q, %q", got.Media, len(got.Data), said, tt.media, tt.want)
			}
		})
	}
}
