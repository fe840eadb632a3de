package doors_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/server"
)

// newHeld is a model that answers when it is released.
func newHeld() llmtest.Held {
	return llmtest.Hold("Every employee has 26 days of paid leave a year [Source 1].")
}

// let lets the call of a step that has begun be answered, if it makes one.
func let(m llmtest.Held) {
	select {
	case <-m.Asked:
		m.Release <- struct{}{}
	case <-time.After(time.Second / 2):
	}
}

// inside serves a house in this process, with a model.
func inside(t *testing.T, m llm.Chat) string {
	t.Helper()
	h := newHouse(t)
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: h.data, Docs: []string{h.docs}, Models: ragflow.Models{Chat: m}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return strings.TrimPrefix(serveHere(t, a, server.Options{}), "http://")
}

// nginx starts nginx in front of an address and returns its own. The lines are those of a location.
func nginx(t *testing.T, to, lines string) string {
	t.Helper()
	program := os.Getenv("RAGFLOW_TEST_NGINX")
	if program == "" {
		t.Skip("RAGFLOW_TEST_NGINX is not set: scripts/servers/nginx FILE installs nginx and writes it")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	dir := t.TempDir()
	config := fmt.Sprintf(`daemon off; pid %[1]s/pid; error_log %[1]s/log;
events {}
http {
	access_log off; gzip on; gzip_types *; gzip_min_length 0;
	client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
	server { listen %[2]s; location / { proxy_pass http://%[3]s; %[4]s } }
}`, dir, addr, to, lines)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(context.WithoutCancel(t.Context()), program, "-p", dir, "-e", filepath.Join(dir, "log"), "-c", path)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	for range 500 {
		if n, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr); err == nil {
			_ = n.Close()
			return addr
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("nginx does not start")
	return ""
}

// proxies are ways from a client to a server.
func proxies() map[string]func(t *testing.T, to string) string {
	return map[string]func(t *testing.T, to string) string{
		"none": func(_ *testing.T, to string) string { return to },
		"one": func(t *testing.T, to string) string {
			t.Helper()
			return nginx(t, to, "")
		},
		"two": func(t *testing.T, to string) string {
			t.Helper()
			return nginx(t, nginx(t, to, "proxy_pass_header X-Accel-Buffering;"), "")
		},
	}
}

func askThrough(ctx context.Context, t *testing.T, addr string) *bufio.Scanner {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/api/ask", strings.NewReader(`{"question": "How many days of leave?"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<24)
	return lines
}

// TestIntegrationProxy: each event reaches the reader before the next one is made, and a reader that
// leaves ends the call of the model, with proxies between them that buffer what they may.
func TestIntegrationProxy(t *testing.T) {
	for name, through := range proxies() {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			m := newHeld()
			addr := through(t, inside(t, m))
			lines := askThrough(ctx, t, addr)
			for begun := false; lines.Scan() && lines.Text() != "event: done"; {
				if lines.Text() == "event: step_began" {
					begun = true
				} else if begun && strings.HasPrefix(lines.Text(), "data: ") {
					begun = false
					let(m)
				}
			}
			if lines.Text() != "event: done" {
				t.Errorf("the stream ends with %q: its events come in lumps", lines.Text())
			}

			m = newHeld()
			addr = through(t, inside(t, m))
			reading, leave := context.WithCancel(ctx)
			lines = askThrough(reading, t, addr)
			for lines.Scan() && lines.Text() != "event: step_began" {
			}
			<-m.Asked
			began := time.Now()
			leave()
			select {
			case <-m.Cancelled:
				if took := time.Since(began); took > 5*time.Second { // some milliseconds on an idle machine
					t.Errorf("cancelled after %s", took)
				}
			case <-ctx.Done():
				t.Error("the model goes on for nobody")
			}
		})
	}
}

// TestIntegrationDoctor: the doctor tells a proxy that collects events from one that does not, and names the line that
// mends it.
func TestIntegrationDoctor(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ways := proxies()
	ways["two that collect"] = func(t *testing.T, to string) string {
		t.Helper()
		return nginx(t, nginx(t, to, ""), "")
	}
	for name, through := range ways {
		t.Run(name, func(t *testing.T) {
			addr := through(t, inside(t, newHeld()))
			c := exec.CommandContext(t.Context(), path, "doctor", "--url", "http://"+addr)
			c.Env = append(os.Environ(), "RAGFLOW_DATA_DIR="+t.TempDir())
			out, err := c.CombinedOutput()
			collects := name == "two that collect"
			if collects == (err == nil) || collects != strings.Contains(string(out), "proxy_pass_header X-Accel-Buffering;") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
