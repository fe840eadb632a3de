package main

import "math"

// rowFunctions are the functions of one row, whose length is a multiple of 8. A sum has 8 lanes: lane i adds the
// components i, i+8 and so on. FOLD ends it: lanes four apart, then two apart, then neighbours.
const rowFunctions = `
#define FOLD(OP, Y, X) \
	VEXTRACTF128 $1, Y, X3; \
	OP           X3, X, X; \
	VPERMILPS    $0x4E, X, X3; \
	OP           X3, X, X; \
	VPERMILPS    $0xB1, X, X3; \
	OP           X3, X, X

// EXP makes exp(Y0) of Y0: a power of two, and a polynomial of the rest. It uses Y1 and Y2.
#define EXP \
	VMAXPS  expLeast<>(SB), Y0, Y0; \
	VMINPS  expMost<>(SB), Y0, Y0; \
	VMULPS  log2e<>(SB), Y0, Y1; \
	VADDPS  roundBit<>(SB), Y1, Y1; \
	VSUBPS  roundBit<>(SB), Y1, Y2; \
	VMULPS  ln2High<>(SB), Y2, Y3; \
	VSUBPS  Y3, Y0, Y0; \
	VMULPS  ln2Low<>(SB), Y2, Y3; \
	VSUBPS  Y3, Y0, Y0; \
	VMULPS  one120<>(SB), Y0, Y2; \
	VADDPS  one24<>(SB), Y2, Y2; \
	VMULPS  Y0, Y2, Y2; \
	VADDPS  one6<>(SB), Y2, Y2; \
	VMULPS  Y0, Y2, Y2; \
	VADDPS  half<>(SB), Y2, Y2; \
	VMULPS  Y0, Y2, Y2; \
	VADDPS  one<>(SB), Y2, Y2; \
	VMULPS  Y0, Y2, Y2; \
	VADDPS  one<>(SB), Y2, Y2; \
	VPSLLD  $23, Y1, Y1; \
	VPADDD  Y1, Y2, Y0

// func softmaxAVX2(row []float32)
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-24
	MOVQ    row_base+0(FP), DI
	MOVQ    row_len+8(FP), CX
	SHRQ    $3, CX
	MOVQ    DI, SI
	MOVQ    CX, DX
	VMOVUPS (SI), Y4

highest:
	VMAXPS (SI), Y4, Y4
	ADDQ   $32, SI
	DECQ   DX
	JNZ    highest
	FOLD(VMAXPS, Y4, X4)
	VBROADCASTSS X4, Y4
	VXORPS Y5, Y5, Y5
	MOVQ   DI, SI
	MOVQ   CX, DX

powers:
	VMOVUPS (SI), Y0
	VSUBPS  Y4, Y0, Y0
	EXP
	VMOVUPS Y0, (SI)
	VADDPS  Y0, Y5, Y5
	ADDQ    $32, SI
	DECQ    DX
	JNZ     powers
	FOLD(VADDPS, Y5, X5)
	VMOVSS  one<>(SB), X0
	VDIVSS  X5, X0, X0
	VBROADCASTSS X0, Y0

share:
	VMULPS  (DI), Y0, Y1
	VMOVUPS Y1, (DI)
	ADDQ    $32, DI
	DECQ    CX
	JNZ     share
	VZEROUPPER
	RET

// func geluAVX2(row []float32)
TEXT ·geluAVX2(SB), NOSPLIT, $0-24
	MOVQ row_base+0(FP), DI
	MOVQ row_len+8(FP), CX
	SHRQ $3, CX

eight:
	VMOVUPS (DI), Y4
	VMULPS  Y4, Y4, Y0
	VMULPS  geluCubic<>(SB), Y0, Y0
	VADDPS  geluLinear<>(SB), Y0, Y0
	VMULPS  Y4, Y0, Y0
	EXP
	VADDPS  one<>(SB), Y0, Y0
	VDIVPS  Y0, Y4, Y4
	VMOVUPS Y4, (DI)
	ADDQ    $32, DI
	DECQ    CX
	JNZ     eight
	VZEROUPPER
	RET

// func addNormAVX2(x, residual, gain, bias []float32)
TEXT ·addNormAVX2(SB), NOSPLIT, $0-96
	MOVQ   x_base+0(FP), DI
	MOVQ   x_len+8(FP), CX
	MOVQ   residual_base+24(FP), SI
	MOVQ   gain_base+48(FP), R8
	MOVQ   bias_base+72(FP), R9
	VXORPS X6, X6, X6
	VCVTSI2SSQ CX, X6, X6
	SHRQ   $3, CX
	VXORPS Y4, Y4, Y4
	MOVQ   DI, BX
	MOVQ   CX, DX

sum:
	VMOVUPS (BX), Y0
	VADDPS  (SI), Y0, Y0
	VMOVUPS Y0, (BX)
	VADDPS  Y0, Y4, Y4
	ADDQ    $32, BX
	ADDQ    $32, SI
	DECQ    DX
	JNZ     sum
	FOLD(VADDPS, Y4, X4)
	VDIVSS  X6, X4, X4
	VBROADCASTSS X4, Y4
	VXORPS  Y5, Y5, Y5
	MOVQ    DI, BX
	MOVQ    CX, DX

squares:
	VMOVUPS (BX), Y0
	VSUBPS  Y4, Y0, Y0
	VMOVUPS Y0, (BX)
	VMULPS  Y0, Y0, Y0
	VADDPS  Y0, Y5, Y5
	ADDQ    $32, BX
	DECQ    DX
	JNZ     squares
	FOLD(VADDPS, Y5, X5)
	VDIVSS  X6, X5, X5
	VADDSS  normEpsilon<>(SB), X5, X5
	VSQRTSS X5, X5, X5
	VMOVSS  one<>(SB), X0
	VDIVSS  X5, X0, X5
	VBROADCASTSS X5, Y5

normal:
	VMULPS  (DI), Y5, Y0
	VMULPS  (R8), Y0, Y0
	VADDPS  (R9), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	ADDQ    $32, R8
	ADDQ    $32, R9
	DECQ    CX
	JNZ     normal
	VZEROUPPER
	RET

// func quantiseAVX2(row []float32, codes []uint8) (step, low float32)
TEXT ·quantiseAVX2(SB), NOSPLIT, $0-56
	MOVQ    row_base+0(FP), DI
	MOVQ    row_len+8(FP), CX
	MOVQ    codes_base+24(FP), SI
	SHRQ    $4, CX
	MOVQ    DI, BX
	MOVQ    CX, DX
	VMOVUPS (BX), Y6
	VMOVUPS (BX), Y7

extremes:
	VMINPS (BX), Y6, Y6
	VMAXPS (BX), Y7, Y7
	VMINPS 32(BX), Y6, Y6
	VMAXPS 32(BX), Y7, Y7
	ADDQ   $64, BX
	DECQ    DX
	JNZ     extremes
	FOLD(VMINPS, Y6, X6)
	FOLD(VMAXPS, Y7, X7)
	VSUBSS  X6, X7, X7
	VMAXSS  leastRange<>(SB), X7, X7
	VMOVSS  levels<>(SB), X5
	VDIVSS  X5, X7, X0
	VMOVSS  X0, step+48(FP)
	VMOVSS  X6, low+52(FP)
	VDIVSS  X7, X5, X7
	VBROADCASTSS X6, Y6
	VBROADCASTSS X7, Y7

sixteen:
	VMOVUPS    (DI), Y0
	VMOVUPS    32(DI), Y1
	VSUBPS     Y6, Y0, Y0
	VSUBPS     Y6, Y1, Y1
	VMULPS     Y7, Y0, Y0
	VMULPS     Y7, Y1, Y1
	VCVTPS2DQ  Y0, Y0
	VCVTPS2DQ  Y1, Y1
	VPACKUSDW  Y1, Y0, Y0
	VPERMQ     $0xD8, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKUSWB  X1, X0, X0
	VMOVDQU    X0, (SI)
	ADDQ       $64, DI
	ADDQ       $16, SI
	DECQ       CX
	JNZ        sixteen
	VZEROUPPER
	RET
`

type rowConstant struct {
	name  string
	value float32
}

// rowConstants are those of the row functions. meaning/portable.go has the same.
var rowConstants = []rowConstant{
	{"expLeast", -80},
	{"expMost", 88},
	{"log2e", math.Log2E},
	{"roundBit", 3 << 22},
	{"ln2High", 0.693145751953125},
	{"ln2Low", 1.42860677e-6},
	{"one120", 1.0 / 120},
	{"one24", 1.0 / 24},
	{"one6", 1.0 / 6},
	{"half", 0.5},
	{"one", 1},
	{"geluLinear", -1.5957691216},
	{"geluCubic", -0.0713548162726},
	{"normEpsilon", 1e-12},
	{"leastRange", 1e-20},
	{"levels", 255},
}

func (a *assembly) constants() {
	for _, c := range rowConstants {
		bits := math.Float32bits(c.value)
		a.line("")
		for at := 0; at < 32; at += 8 {
			a.line("DATA %s<>+%d(SB)/8, $0x%08x%08x", c.name, at, bits, bits)
		}
		a.line("GLOBL %s<>(SB), RODATA|NOPTR, $32", c.name)
	}
}
