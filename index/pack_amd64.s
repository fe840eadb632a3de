#include "textflag.h"

// Sixteen entries at once: Z9 their offsets, which must be below the next ones (Z8), Z0
// their chunks, Z6 the codes above them.

// func packWidest(out *uint32, offsets, codes *byte, sixteens int, base uint32) (ascend bool)
TEXT ·packWidest(SB), NOSPLIT, $0-41
	MOVQ         out+0(FP), DI
	MOVQ         offsets+8(FP), SI
	MOVQ         codes+16(FP), DX
	MOVQ         sixteens+24(FP), CX
	MOVL         base+32(FP), AX
	VPBROADCASTD AX, Z1
	KXNORW       K4, K4, K4

pack:
	VPMOVZXWD (SI), Z9
	VPMOVZXWD 2(SI), Z8
	VPCMPUD   $1, Z8, Z9, K3
	KANDW     K3, K4, K4
	VPADDD    Z1, Z9, Z0
	VPMOVZXBD (DX), Z6
	VPSLLD    $24, Z6, Z6
	VPORD     Z0, Z6, Z6
	VMOVDQU32 Z6, (DI)
	ADDQ      $64, DI
	ADDQ      $32, SI
	ADDQ      $16, DX
	DECQ      CX
	JNZ       pack
	KMOVW     K4, AX
	CMPL      AX, $0xffff
	SETEQ     ascend+40(FP)
	VZEROUPPER
	RET

// func pickWidest(out *uint32, offsets, codes *byte, sixteens int, base uint32, last uint32, set *onesSet) (kept int, ascend bool)
TEXT ·pickWidest(SB), NOSPLIT, $0-57
	MOVQ         out+0(FP), DI
	MOVQ         offsets+8(FP), SI
	MOVQ         codes+16(FP), DX
	MOVQ         sixteens+24(FP), CX
	MOVL         base+32(FP), AX
	VPBROADCASTD AX, Z1
	MOVL         last+36(FP), AX
	VPBROADCASTD AX, Z2
	MOVQ         set+40(FP), BX
	MOVL         $1, AX
	VPBROADCASTD AX, Z3
	MOVL         $31, AX
	VPBROADCASTD AX, Z4
	KXNORW       K4, K4, K4
	XORQ         R9, R9

pick:
	VPMOVZXWD     (SI), Z9
	VPMOVZXWD     2(SI), Z8
	VPCMPUD       $1, Z8, Z9, K3
	KANDW         K3, K4, K4
	VPADDD        Z1, Z9, Z0
	VPMINUD       Z2, Z0, Z0
	VPSRLD        $5, Z0, Z5
	KXNORW        K1, K1, K1
	VPXORD        Z7, Z7, Z7
	VPGATHERDD    (BX)(Z5*4), K1, Z7
	VPANDD        Z4, Z0, Z5
	VPSLLVD       Z5, Z3, Z5
	VPTESTMD      Z5, Z7, K2
	VPMOVZXBD     (DX), Z6
	VPSLLD        $24, Z6, Z6
	VPORD         Z0, Z6, Z6
	VPCOMPRESSD.Z Z6, K2, Z6
	VMOVDQU32     Z6, (DI)(R9*4)
	KMOVW         K2, AX
	POPCNTL       AX, AX
	ADDQ          AX, R9
	ADDQ          $32, SI
	ADDQ          $16, DX
	DECQ          CX
	JNZ           pick
	MOVQ          R9, kept+48(FP)
	KMOVW         K4, AX
	CMPL          AX, $0xffff
	SETEQ         ascend+56(FP)
	VZEROUPPER
	RET
