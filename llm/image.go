package llm

import (
	"fmt"
	"net/http"
	"slices"
)

// MaxImageBytes is the maximum size of an image. A provider may have a lower limit of its own.
const MaxImageBytes = 5 << 20

// Image is an image in a [Message].
type Image struct {
	Media string // image/png, image/jpeg, image/gif or image/webp
	Data  []byte // read-only
}

// ReadImage returns the image that data is, and keeps data. Its type follows from its content.
// Another type, and more than [MaxImageBytes], are errors that say what to do.
func ReadImage(data []byte) (Image, error) {
	media := http.DetectContentType(data)
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, media) {
		return Image{}, fmt.Errorf("read an image: its content is %s; convert it to PNG, JPEG, GIF or WebP", media)
	}
	if len(data) > MaxImageBytes {
		return Image{}, fmt.Errorf("read an image: it has %d bytes and at most %d are allowed; make it smaller", len(data), MaxImageBytes)
	}
	return Image{Media: media, Data: data}, nil
}
