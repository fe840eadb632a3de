package door

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// bodyTime is how long a client has to send a body. A handler that takes a long one sets another limit.
	bodyTime = 30 * time.Second
	// writeTime is how long a reader may take for a piece of what is written to it.
	writeTime = 15 * time.Second
	pieceSize = 16 << 10
)

// response remembers the status, and gives up a reader that takes nothing any more.
type response struct {
	http.ResponseWriter

	status int
	zips   bool // its reader takes gzip
}

func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *response) Write(b []byte) (written int, err error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	for err == nil {
		_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTime)) // a recorder of a test has none
		var n int
		n, err = r.ResponseWriter.Write(b[:min(len(b), pieceSize)])
		if b, written = b[n:], written+n; len(b) == 0 {
			break
		}
	}
	return written, err //nolint:wrapcheck // this is the response itself
}

// Unwrap is there for http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// zipFrom is the size in bytes from which a body is worth its compression.
const zipFrom = 4 << 10

// zipped compresses a body whose reader takes that, and says so in the header.
func zipped(w http.ResponseWriter, body []byte) []byte {
	r, ok := w.(*response)
	if !ok || len(body) < zipFrom {
		return body
	}
	w.Header().Add("Vary", "Accept-Encoding")
	if !r.zips {
		return body
	}
	w.Header().Set("Content-Encoding", "gzip")
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level exists
	_, _ = z.Write(body)                              // a buffer takes all
	_ = z.Close()
	return out.Bytes()
}

// acceptsGzip reports whether the sender of a request takes a body in gzip.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}
