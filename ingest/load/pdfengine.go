package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const (
	// pdfMemory bounds the memory of one PDF that is read, in pages of 64 KiB: 768
	// MiB hold the largest file allowed and its largest stream unpacked. A file
	// that needs more is damaged or made to do harm.
	pdfMemory = 768 << 20 / (64 << 10)
	// pdfReaders is how many PDFs are read at a time, for the memory's sake.
	pdfReaders = 4
)

// pdfEngine is PDFium, the PDF reader of the Chrome browser, compiled to
// WebAssembly: it runs in a sandbox without files, network or clock, so that no
// document can do harm through it.
//
// To make it ready takes some seconds of compiling, once a machine: the result
// is kept in the user's cache folder, where there is one. So it is made once a
// process, when the first PDF is read, and then lives as long as the process.
//
//nolint:gochecknoglobals // see above
var pdfEngine = sync.OnceValues(newPDFEngine)

func newPDFEngine() (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(pdfMemory).
		WithCloseOnContextDone(true) // lets a document be abandoned in the midst of it
	if cache, err := compilationCache(); err == nil {
		config = config.WithCompilationCache(cache)
	}
	n := max(1, min(runtime.GOMAXPROCS(0), pdfReaders))
	return webassembly.Init(webassembly.Config{
		MaxIdle: n, MaxTotal: n,
		FSConfig:      wazero.NewFSConfig(), // an empty one: no files
		RuntimeConfig: config,
		Stdout:        io.Discard, Stderr: io.Discard,
		RandomSource: zeros{},
	})
}

// compilationCache is where the compiled engine is kept between processes.
func compilationCache() (wazero.CompilationCache, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return wazero.NewCompilationCacheWithDir(filepath.Join(folder, "ragflow", "pdf"))
}

// zeros is a source of randomness without any: the same file gives the same
// text.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// errSlow is the cause of an end before the end.
var errSlow = errors.New("it took too long")

// withPDFium calls read with a PDFium of its own and ends it after some time, or
// with ctx.
// What the library panics with is an error: documents come from anywhere.
func withPDFium(ctx context.Context, limit time.Duration, read func(*pdfCalls) error) (err error) {
	pool, err := pdfEngine()
	if err != nil {
		return fmt.Errorf("start the PDF reader: %w", err)
	}
	instance, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return fmt.Errorf("start the PDF reader: %w", err)
	}
	module := moduleOf(instance)
	if module == nil {
		_ = instance.Close()
		return errNoModule
	}
	timed, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: %w (%v)", ErrBroken, errSlow, limit))
	defer cancel()
	var ended error
	stopped := make(chan struct{})
	stop := context.AfterFunc(timed, func() {
		defer close(stopped)
		ended = context.Cause(timed)
		_ = module.CloseWithExitCode(context.WithoutCancel(ctx), 1) // whatever runs in it ends with an error
	})
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the PDF reader failed: %v", ErrBroken, p)
		}
		if !stop() {
			<-stopped
			err = ended
		}
		_ = instance.Close() // an error tells of handles in a module that goes away now
	}()
	return read(newPDFCalls(ctx, module))
}

// errNoModule tells of a version of the library that moduleOf does not know.
var errNoModule = errors.New("start the PDF reader: it has no module")

// moduleOf returns the WebAssembly module behind an instance: to call it without
// the library's cost of each call, and to stop one that is at work, for which the
// library has no other way: its Kill takes the pool away from under itself.
func moduleOf(instance pdfium.Pdfium) api.Module {
	behind, ok := instance.(interface{ GetImplementation() any })
	if !ok {
		return nil
	}
	v := reflect.Indirect(reflect.ValueOf(behind.GetImplementation()))
	if v.Kind() != reflect.Struct || !v.FieldByName("Module").IsValid() {
		return nil
	}
	m, _ := reflect.TypeAssert[api.Module](v.FieldByName("Module"))
	return m
}
