#include "textflag.h"

// func greatestWide(scores, out []float64)
//
// Four strips at a time, one a lane: see stripLength.
TEXT ·greatestWide(SB), NOSPLIT, $0-48
	MOVQ  scores_base+0(FP), SI
	MOVQ  out_base+24(FP), DI
	MOVQ  out_len+32(FP), CX
	SHRQ  $2, CX
	JZ    done

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
	ADDQ    $256, SI
	ADDQ    $32, DI
	DECQ    CX
	JNZ     four

done:
	VZEROUPPER
	RET
