package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestServer(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close() // run takes it
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, addr) }()
	ask := func() (string, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/runs/wait", strings.NewReader(`{"assistant_id": "greeter", "input": {"name": "Ann"}}`))
		if err != nil {
			return "", err
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	var body string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if body, err = ask(); err == nil {
			break
		}
	}
	if err != nil || !strings.Contains(body, "Shall I be formal with Ann?") {
		t.Errorf("%q, %v", body, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
