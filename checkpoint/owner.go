package checkpoint

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
)

// nonce tells this process from an earlier one with the same id, as restarted
// containers have.
var nonce = sync.OnceValue(func() string { //nolint:gochecknoglobals // identity of the process, never changed
	return fmt.Sprintf("%08x", rand.Uint32()) // tells apart, keeps no secret
})

// ProcessOwner names this process as the owner of leases: "host/pid/random",
// the same for as long as the process lives. When it dies, other processes of
// the host take its leases over at once instead of waiting for their end.
func ProcessOwner() string {
	return fmt.Sprintf("%s/%d/%s", hostname(), os.Getpid(), nonce())
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return strings.ReplaceAll(name, "/", "_")
}

// ownerDied tells whether owner is a process of this host that lives no more.
// In doubt it says no, and the lease's end decides.
func ownerDied(owner string) bool {
	parts := strings.Split(owner, "/")
	if len(parts) != 3 || parts[0] != hostname() {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil || pid <= 0 {
		return false
	}
	if pid == os.Getpid() {
		return parts[2] != nonce()
	}
	return !processAlive(pid)
}
