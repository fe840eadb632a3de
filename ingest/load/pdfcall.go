package load

import (
	"context"
	"encoding/binary"
	"errors"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"
)

// pdfRoom is how many bytes a call may write for us: the longest title or name
// of a font that is read.
const pdfRoom = 16 << 10

// errNoRoom is the error where the engine has no memory left.
var errNoRoom = errors.New("no memory is left in it")

// pdfCalls calls the C functions of PDFium (fpdfview.h, fpdf_text.h, fpdf_doc.h
// and fpdf_edit.h) in its module. The library's own methods look each function
// up anew and give each call a stack of its own, which is most of the time that a
// page takes: there are calls for every line and every space.
//
// Handles and addresses are numbers, 0 is none of them. It is for one goroutine.
type pdfCalls struct {
	ctx       context.Context //nolint:containedctx // of the calls; they are ended by closing the module
	module    api.Module
	functions map[string]api.Function
	stack     [6]uint64
	room      uint64 // the address of pdfRoom bytes
	err       error  // what the first failing call failed by: the module is closed, or PDFium came to a trap
}

func newPDFCalls(ctx context.Context, module api.Module) *pdfCalls {
	c := &pdfCalls{ctx: context.WithoutCancel(ctx), module: module, functions: map[string]api.Function{}}
	c.room = c.alloc(pdfRoom)
	return c
}

// call returns what a function returns. After an error it returns 0, until err
// is taken away.
func (c *pdfCalls) call(name string, args ...uint64) uint64 {
	if c.err != nil {
		return 0
	}
	f := c.functions[name]
	if f == nil {
		if f = c.module.ExportedFunction(name); f == nil {
			c.err = errors.New("it has no " + name)
			return 0
		}
		c.functions[name] = f
	}
	copy(c.stack[:], args)
	if c.err = f.CallWithStack(c.ctx, c.stack[:]); c.err != nil {
		return 0
	}
	return c.stack[0]
}

// integer is what a function returns that returns an int, which is below 0
// where it failed.
func (c *pdfCalls) integer(name string, args ...uint64) int {
	return int(int32(uint32(c.call(name, args...)))) //nolint:gosec // the lower 32 bits are a C int
}

// alloc reserves memory of the module, until it is freed or the module goes away.
func (c *pdfCalls) alloc(size int) uint64 {
	at := c.call("malloc", uint64(size)) //nolint:gosec // sizes are not negative
	if at == 0 && c.err == nil {
		c.err = errNoRoom
	}
	return at
}

// write puts data where the module has reserved memory.
func (c *pdfCalls) write(at uint64, data []byte) {
	if c.err == nil && !c.module.Memory().Write(api.DecodeU32(at), data) {
		c.err = errNoRoom
	}
}

// double is the i-th number of eight bytes that a call has written in the room.
func (c *pdfCalls) double(i uint32) float64 {
	x, _ := c.module.Memory().ReadFloat64Le(api.DecodeU32(c.room) + 8*i)
	return x
}

// single is the i-th number of four bytes in the room.
func (c *pdfCalls) single(i uint32) float32 {
	x, _ := c.module.Memory().ReadFloat32Le(api.DecodeU32(c.room) + 4*i)
	return x
}

// bytes are the first bytes in the room, none where there were more than have
// room. They are valid until the next call.
func (c *pdfCalls) bytes(size int) []byte {
	if c.err != nil || size <= 0 || size > pdfRoom {
		return nil
	}
	b, _ := c.module.Memory().Read(api.DecodeU32(c.room), uint32(size))
	return b
}

// text is what a function tells in UTF-16 that takes a place and its size behind
// its other arguments, and returns how many bytes there are with the final NUL.
func (c *pdfCalls) text(size uint64, name string, args ...uint64) string {
	n := c.integer(name, append(args, c.room, size)...)
	if n > int(size) { //nolint:gosec // at most pdfRoom
		return ""
	}
	b := c.bytes(n)
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		if u := binary.LittleEndian.Uint16(b); u != 0 {
			units = append(units, u)
		}
	}
	return string(utf16.Decode(units))
}
