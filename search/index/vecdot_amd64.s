#include "textflag.h"

// func dotWide(a, b []float32) float32
//
// Lane i of Y0 is the sum s_i of dot. Multiplication and addition are rounded each, in
// the same order.
TEXT ·dotWide(SB), NOSPLIT, $0-52
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

// func dotWideRow(a []float32, row []byte) float32
//
// A row holds its numbers as this processor has them in memory.
TEXT ·dotWideRow(SB), NOSPLIT, $0-52
	JMP ·dotWide(SB)

// func dotsWide(even, odd []int8, halves []uint64, out []int32)
//
// A byte of halves holds the half bytes of an even and of an odd dimension. Two products
// of a digit and a half byte have at most 3840, and those of both halves of a byte
// together 7680, which 16 bits hold; by a multiplication with ones they become sums
// of 32 bits.
TEXT ·dotsWide(SB), NOSPLIT, $0-96
	MOVQ      even_base+0(FP), SI
	MOVQ      even_len+8(FP), CX // bytes of a row
	MOVQ      odd_base+24(FP), DI
	MOVQ      halves_base+48(FP), DX
	MOVQ      out_base+72(FP), R8
	MOVQ      out_len+80(FP), BX
	VPCMPEQW  Y14, Y14, Y14
	VPSRLW    $12, Y14, Y15
	VPACKUSWB Y15, Y15, Y15 // 0x0f in each byte
	VPSRLW    $15, Y14, Y14 // 1 in each 16 bits
	MOVQ      CX, R9
	ANDQ      $~31, R9
	TESTQ     BX, BX
	JZ        done

row:
	VPXOR Y0, Y0, Y0
	XORQ  AX, AX
	CMPQ  AX, R9
	JGE   rest

block:
	VMOVDQU    (DX)(AX*1), Y1
	VPSRLW     $4, Y1, Y2
	VPAND      Y15, Y1, Y1
	VPAND      Y15, Y2, Y2
	VPMADDUBSW (SI)(AX*1), Y1, Y1
	VPMADDUBSW (DI)(AX*1), Y2, Y2
	VPADDW     Y2, Y1, Y1
	VPMADDWD   Y14, Y1, Y1
	VPADDD     Y1, Y0, Y0
	ADDQ       $32, AX
	CMPQ       AX, R9
	JLT        block

rest: // word by word
	CMPQ       AX, CX
	JGE        sum
	VMOVQ      (DX)(AX*1), X1
	VMOVQ      (SI)(AX*1), X3
	VMOVQ      (DI)(AX*1), X4
	VPSRLW     $4, X1, X2
	VPAND      X15, X1, X1
	VPAND      X15, X2, X2
	VPMADDUBSW X3, X1, X1
	VPMADDUBSW X4, X2, X2
	VPADDW     X2, X1, X1
	VPMADDWD   X14, X1, X1
	VPADDD     Y1, Y0, Y0 // the upper half of Y1 is zero
	ADDQ       $8, AX
	JMP        rest

sum:
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4e, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xb1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (R8)
	ADDQ         $4, R8
	ADDQ         CX, DX
	DECQ         BX
	JNZ          row

done:
	VZEROUPPER
	RET

// func dotsWidest(even, odd []int8, halves []uint64, out []int32)
//
// The same by instructions that multiply 64 bytes and add up four products in each 32
// bits. What is left of a row behind whole blocks is read by a mask.
TEXT ·dotsWidest(SB), NOSPLIT, $0-96
	MOVQ       even_base+0(FP), SI
	MOVQ       even_len+8(FP), CX // bytes of a row
	MOVQ       odd_base+24(FP), DI
	MOVQ       halves_base+48(FP), DX
	MOVQ       out_base+72(FP), R8
	MOVQ       out_len+80(FP), BX
	TESTQ      BX, BX
	JZ         done
	VPTERNLOGD $0xff, Z15, Z15, Z15
	VPSRLW     $12, Z15, Z15
	VPACKUSWB  Z15, Z15, Z15 // 0x0f in each byte
	MOVQ       CX, R9
	ANDQ       $~63, R9
	MOVQ       CX, R10
	ANDQ       $63, R10      // bytes behind whole blocks
	MOVQ       $-1, R11
	BZHIQ      R10, R11, R11
	KMOVQ      R11, K1
	VMOVDQU8.Z (SI)(R9*1), K1, Z10
	VMOVDQU8.Z (DI)(R9*1), K1, Z11

row:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z3, Z3, Z3
	XORQ   AX, AX
	CMPQ   AX, R9
	JGE    rest

block:
	VMOVDQU64 (DX)(AX*1), Z1
	VPSRLW    $4, Z1, Z2
	VPANDQ    Z15, Z1, Z1
	VPANDQ    Z15, Z2, Z2
	VPDPBUSD  (SI)(AX*1), Z1, Z0
	VPDPBUSD  (DI)(AX*1), Z2, Z3
	ADDQ      $64, AX
	CMPQ      AX, R9
	JLT       block

rest:
	TESTQ      R10, R10
	JZ         sum
	VMOVDQU8.Z (DX)(R9*1), K1, Z1
	VPSRLW     $4, Z1, Z2
	VPANDQ     Z15, Z1, Z1
	VPANDQ     Z15, Z2, Z2
	VPDPBUSD   Z10, Z1, Z0
	VPDPBUSD   Z11, Z2, Z3

sum:
	VPADDD        Z3, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0x4e, X0, X1
	VPADDD        X1, X0, X0
	VPSHUFD       $0xb1, X0, X1
	VPADDD        X1, X0, X0
	VMOVD         X0, (R8)
	ADDQ          $4, R8
	ADDQ          CX, DX
	DECQ          BX
	JNZ           row

done:
	VZEROUPPER
	RET
