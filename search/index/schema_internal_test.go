package index

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// TestSchemaHasItsID: an index whose schema changed needs another application id. Otherwise
// indexes of the version before look like files of another program.
func TestSchemaHasItsID(t *testing.T) {
	const released = "rfi5 8495129a"
	sum := sha256.Sum256([]byte(strings.Join(migrations(), "\x00")))
	id := []byte{applicationID >> 24, applicationID >> 16 & 0xff, applicationID >> 8 & 0xff, applicationID & 0xff}
	if got := fmt.Sprintf("%s %x", id, sum[:4]); got != released {
		t.Errorf("the schema is %s, released is %s: give a changed schema another application id", got, released)
	}
}
