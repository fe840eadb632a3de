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

// func siftWidest(to, from *uint32, eights int, sums *float64, least float64) (kept int)
TEXT ·siftWidest(SB), NOSPLIT, $0-48
	MOVQ         to+0(FP), DI
	MOVQ         from+8(FP), SI
	MOVQ         eights+16(FP), CX
	MOVQ         sums+24(FP), BX
	VBROADCASTSD least+32(FP), Z2
	XORQ         R9, R9

sift:
	VMOVDQU       (SI), Y0
	KXNORW        K1, K1, K1
	VPXORQ        Z1, Z1, Z1
	VGATHERDPD    (BX)(Y0*8), K1, Z1
	VCMPPD        $5, Z2, Z1, K2       // not less than
	VPCOMPRESSD.Z Z0, K2, Z3
	VMOVDQU       Y3, (DI)(R9*4)
	KMOVW         K2, AX
	POPCNTL       AX, AX
	ADDQ          AX, R9
	ADDQ          $32, SI
	DECQ          CX
	JNZ           sift
	MOVQ          R9, kept+40(FP)
	VZEROUPPER
	RET

// func addWidest(list *uint32, eights int, lengths *uint16, sums *float64, shares *shareTable, gains *gains, begun *uint32) (done, news int)
TEXT ·addWidest(SB), NOSPLIT, $0-72
	MOVQ         list+0(FP), SI
	MOVQ         eights+8(FP), CX
	MOVQ         lengths+16(FP), R8
	MOVQ         sums+24(FP), BX
	MOVQ         shares+32(FP), DX
	MOVQ         gains+40(FP), R10
	MOVQ         begun+48(FP), DI
	VBROADCASTSD (R10), Z20
	VBROADCASTSD 8(R10), Z21
	VBROADCASTSD 16(R10), Z22
	VBROADCASTSD 24(R10), Z23
	MOVL         $0xffffff, AX
	VPBROADCASTD AX, Z24
	MOVL         $1, AX
	VPBROADCASTD AX, Z25
	MOVL         $4, AX                // plainCounts
	VPBROADCASTD AX, Z26
	MOVL         $4096, AX             // as many shares
	VPBROADCASTD AX, Z27
	MOVL         $0xffff, AX
	VPBROADCASTD AX, Z28
	MOVL         $0x8000, AX           // onlyChunk
	VPBROADCASTD AX, Z29
	MOVL         $0xff, AX
	KMOVW        AX, K5
	XORQ         R9, R9
	XORQ         R11, R11

add:
	VMOVDQU    (SI), Y0
	VPANDD     Z24, Z0, Z1             // chunks
	VPSRLD     $24, Z0, Z2
	VPSUBD     Z25, Z2, Z2             // occurrences, less one
	KMOVW      K5, K1
	VPXORD     Z3, Z3, Z3
	VPGATHERDD (R8)(Z1*2), K1, Z3      // lengths
	VPSUBD     Z29, Z3, Z3
	VPANDD     Z28, Z3, Z3
	VPSLLD     $2, Z3, Z3
	VPADDD     Z2, Z3, Z3              // places of shares
	VPCMPUD    $1, Z26, Z2, K2
	VPCMPUD    $1, Z27, Z3, K3
	KANDW      K2, K3, K2
	KMOVW      K2, AX
	CMPL       AX, $0xff
	JNE        done                    // one is not plain
	VPADDD     Z3, Z3, Z3
	KMOVW      K5, K1
	VPXORQ     Z4, Z4, Z4
	VGATHERDPD (DX)(Y3*8), K1, Z4
	KMOVW      K5, K1
	VPXORQ     Z5, Z5, Z5
	VGATHERDPD 8(DX)(Y3*8), K1, Z5
	VMULPD     Z20, Z4, Z4
	VMULPD     Z21, Z5, Z5
	VMULPD     Z22, Z5, Z5
	VADDPD     Z5, Z4, Z4
	VMULPD     Z23, Z4, Z4
	KMOVW      K5, K1
	VPXORQ     Z6, Z6, Z6
	VGATHERDPD (BX)(Y1*8), K1, Z6      // sums so far
	VADDPD     Z4, Z6, Z7
	KMOVW      K5, K1
	VSCATTERDPD Z7, K1, (BX)(Y1*8)
	VPTESTNMQ  Z6, Z6, K2
	VPTESTMQ   Z7, Z7, K3
	KANDW      K2, K3, K2              // was 0 and is not any more
	VPCOMPRESSD.Z Z1, K2, Z8
	VMOVDQU    Y8, (DI)(R9*4)
	KMOVW      K2, AX
	POPCNTL    AX, AX
	ADDQ       AX, R9
	ADDQ       $8, R11
	ADDQ       $32, SI
	DECQ       CX
	JNZ        add

done:
	MOVQ R11, done+56(FP)
	MOVQ R9, news+64(FP)
	VZEROUPPER
	RET
