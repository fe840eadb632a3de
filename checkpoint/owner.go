package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
)

// ProcessOwner names this process as the owner of leases: "host/pid/nonce/space".
// The random nonce distinguishes it from an earlier process with the same id. The
// space identifies the boot of the system and the namespace of process ids. When
// the process dies, another process in the same space can see that and takes its
// leases over at once. All others wait for the end of the lease.
func ProcessOwner() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	return fmt.Sprintf("%s/%d/%s/%s", strings.ReplaceAll(host, "/", "_"), os.Getpid(), self().nonce, self().space)
}

// identity is what a process id needs to name one process.
type identity struct{ nonce, space string }

var self = sync.OnceValue(func() identity {
	me := identity{nonce: fmt.Sprintf("%08x", rand.Uint32())}
	if names := bootAndNamespace(); names != "" {
		sum := sha256.Sum256([]byte(names))
		me.space = hex.EncodeToString(sum[:6])
	}
	return me
})

// OwnerDied reports whether owner, a name that [ProcessOwner] gave, is a process of this
// process's space that does not exist any more. If in doubt it returns false, and the
// lease ends by itself.
func OwnerDied(owner string) bool {
	parts := strings.Split(owner, "/")
	if len(parts) != 4 || parts[3] == "" || parts[3] != self().space {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil || pid <= 0 {
		return false
	}
	if pid == os.Getpid() {
		return parts[2] != self().nonce
	}
	return !processExists(pid)
}
