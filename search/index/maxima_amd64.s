#include "textflag.h"

// func greatestWide(scores, out []float64) (most float64)
//
// Four strips at a time, one a lane: see stripLength.
TEXT ·greatestWide(SB), NOSPLIT, $0-56
	MOVQ   scores_base+0(FP), SI
	MOVQ   out_base+24(FP), DI
	MOVQ   out_len+32(FP), CX
	VXORPD Y2, Y2, Y2
	SHRQ   $2, CX
	JZ     done

four:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1
	VMAXPD  64(SI), Y0, Y0
	VMAXPD  96(SI), Y1, Y1
	VMAXPD  128(SI), Y0, Y0
	VMAXPD  160(SI), Y1, Y1
	VMAXPD  192(SI), Y0, Y0
	VMAXPD  224(SI), Y1, Y1
	VMAXPD  Y1, Y0, Y0
	VMOVUPD Y0, (DI)
	VMAXPD  Y0, Y2, Y2
	ADDQ    $256, SI
	ADDQ    $32, DI
	DECQ    CX
	JNZ     four

done:
	VEXTRACTF128 $1, Y2, X0
	VMAXPD       X0, X2, X2
	VUNPCKHPD    X2, X2, X0
	VMAXSD       X0, X2, X2
	VMOVSD       X2, most+48(FP)
	VZEROUPPER
	RET
