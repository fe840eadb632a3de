#include "textflag.h"

// func dotAVX(a, b []float32) float32
//
// Lane i of Y0 is the sum s_i of dotGo. Each multiplication and each addition is
// rounded, in the same order, so both functions return the same bits.
TEXT ·dotAVX(SB), NOSPLIT, $0-52
	MOVQ   a_base+0(FP), SI
	MOVQ   a_len+8(FP), CX
	MOVQ   b_base+24(FP), DI
	VXORPS Y0, Y0, Y0
	MOVQ   CX, BX
	SHRQ   $3, BX
	JZ     folded

eight:
	VMOVUPS (SI), Y1
	VMULPS  (DI), Y1, Y1
	VADDPS  Y1, Y0, Y0
	ADDQ    $32, SI
	ADDQ    $32, DI
	DECQ    BX
	JNZ     eight

folded:
	VEXTRACTF128 $1, Y0, X2 // s4 to s7; X0 holds s0 to s3
	ANDQ         $7, CX
	JZ           sum

one:
	VMOVSS (SI), X1
	VMULSS (DI), X1, X1
	VADDSS X1, X0, X0 // s0, and s1 to s3 as they are
	ADDQ   $4, SI
	ADDQ   $4, DI
	DECQ   CX
	JNZ    one

sum:
	VHADDPS X2, X0, X0 // s0+s1, s2+s3, s4+s5, s6+s7
	VHADDPS X0, X0, X0
	VHADDPS X0, X0, X0
	VMOVSS  X0, ret+48(FP)
	VZEROUPPER
	RET
