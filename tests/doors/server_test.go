package doors_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/server"
)

// clients returns the folder of the clients of a door, as scripts/clients installed them.
func clients(t *testing.T, door string) string {
	t.Helper()
	dir := os.Getenv("RAGFLOW_CLIENTS")
	if dir == "" {
		t.Skip("RAGFLOW_CLIENTS is not set: scripts/clients FILE installs the clients and writes it")
	}
	return filepath.Join(dir, door)
}

// script returns a command that runs a script of a door beside the packages that it needs.
func script(ctx context.Context, t *testing.T, door, name string, args ...string) *exec.Cmd {
	t.Helper()
	dir := filepath.Join(clients(t, door), "node")
	program := "node"
	if strings.HasSuffix(name, ".py") {
		dir, program = filepath.Join(clients(t, door), "python"), filepath.Join(clients(t, door), "python", "bin", "python")
	}
	text, err := os.ReadFile(filepath.Join(door, name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, program, append([]string{path}, args...)...)
	c.Stderr = os.Stderr
	return c
}

// program builds ragflow once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ragflow-doors-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "ragflow")
	out, err := exec.Command("go", "build", "-o", path, "example.com/ragflow/cmd/ragflow").CombinedOutput()
	_, _ = os.Stderr.Write(out)
	return path, err
})

// house is a folder of documents with a data folder.
type house struct{ docs, data string }

const leave = "# Leave\n\nEvery employee has 26 days of paid leave a year.\n"

func newHouse(t *testing.T) house {
	t.Helper()
	h := house{docs: filepath.Join(t.TempDir(), "docs"), data: t.TempDir()}
	if err := os.Mkdir(h.docs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.docs, "leave.md"), []byte(leave), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// ragflow returns a command of the program over the house.
func (h house) ragflow(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(context.WithoutCancel(t.Context()), path, args...)
	c.Env = append(os.Environ(), "RAGFLOW_DATA_DIR="+h.data, "HOME="+h.data, "XDG_CONFIG_HOME="+h.data)
	c.Stderr = os.Stderr
	return c
}

// serve starts a server and returns its address and a function that kills it at once.
func (h house) serve(t *testing.T, addr string, args ...string) (url string, kill func()) {
	t.Helper()
	url, _, kill = h.process(t, addr, args...)
	return url, kill
}

// process is serve that returns the number of the process, too.
func (h house) process(t *testing.T, addr string, args ...string) (url string, pid int, kill func()) {
	t.Helper()
	c := h.ragflow(t, append([]string{"serve", "--docs", h.docs, "--addr", addr}, args...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the server gives no address: %v", err)
	}
	return strings.TrimSpace(line), c.Process.Pid, kill
}

// serveHere serves an assistant in this process, as the program does, and returns the address.
func serveHere(t *testing.T, a *ragflow.Assistant, o server.Options) (url string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveAt(t, l, a, o)
	return "http://" + l.Addr().String()
}

// serveAt serves an assistant at a listener.
func serveAt(t *testing.T, l net.Listener, a *ragflow.Assistant, o server.Options) {
	t.Helper()
	s, err := server.New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// talk starts a command and returns its input and its lines.
func talk(t *testing.T, c *exec.Cmd) (io.WriteCloser, *bufio.Scanner) {
	t.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	return in, lines
}

// patience is how long a client may take.
const patience = 3 * time.Minute
