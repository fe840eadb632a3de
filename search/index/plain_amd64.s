#include "textflag.h"

DATA ascending<>+0(SB)/8, $0x0706050403020100
DATA ascending<>+8(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL ascending<>(SB), RODATA|NOPTR, $16

// func plainWidest(b *plainBlock) (n int)
//
// splitPlain for sixteen postings at once. Masks: K1 those of the block, K6 those that are
// plain, K7 those that are not.
TEXT ·plainWidest(SB), NOSPLIT, $0-16
	MOVQ         b+0(FP), R12
	MOVQ         0(R12), SI            // offsets
	MOVQ         8(R12), DI            // codes
	MOVQ         16(R12), DX           // lengths
	MOVQ         24(R12), R8           // plain
	MOVQ         32(R12), CX           // size
	LEAQ         64(R12), R13          // chunks
	LEAQ         640(R12), R10         // others
	VPBROADCASTD 44(R12), Z15          // first
	VPBROADCASTD 52(R12), Z11          // end
	VPBROADCASTD 56(R12), Z13          // held
	VPTERNLOGD   $0xff, Z10, Z10, Z10  // -1
	VPBROADCASTD 48(R12), Z7           // from
	VPADDD       Z10, Z7, Z7           // the chunk before
	VPSRLD       $31, Z10, Z9          // 1
	VPSLLD       $2, Z9, Z12           // plainCounts
	VPSLLD       $4, Z9, Z8            // 16
	VPSLLD       $31, Z9, Z16          // onlyChunk << 16
	VPMOVZXBD    ascending<>(SB), Z14  // numbers of the postings
	XORQ         AX, AX
	XORQ         R9, R9                // plain ones
	XORQ         R11, R11              // others

sixteen:
	MOVQ  CX, BX
	SUBQ  AX, BX
	JLE   done
	MOVQ  $-1, R14
	CMPQ  BX, $16
	JGE   whole
	BZHIQ BX, R14, R14

whole:
	KMOVW R14, K1
	CMPL  40(R12), $2
	JEQ   two
	JGT   four
	VPMOVZXBD.Z (SI)(AX*1), K1, Z0
	JMP   chunks

two:
	VPMOVZXWD.Z (SI)(AX*2), K1, Z0
	JMP   chunks

four:
	VMOVDQU32.Z (SI)(AX*4), K1, Z0

chunks:
	VPADDD    Z15, Z0, Z0
	VALIGND   $15, Z7, Z0, Z1 // the one before each
	VPADDD    Z9, Z1, Z1
	VMOVDQA64 Z0, Z7
	VPCMPUD   $5, Z1, Z0, K1, K2
	VPCMPUD   $1, Z11, Z0, K2, K3
	KMOVW     K1, BX
	KMOVW     K3, R14
	CMPL      BX, R14
	JNE       damaged
	VMOVDQU32 Z0, (R13)(AX*4)

	VPMOVZXBD.Z (DI)(AX*1), K1, Z2
	VPADDD      Z10, Z2, Z2 // occurrences - 1
	KMOVW       K1, K4
	VPXORD      Z3, Z3, Z3
	VPGATHERDD  (DX)(Z0*2), K4, Z3
	VPSLLD      $16, Z3, Z3
	VPXORD      Z16, Z3, Z3 // of 16 bits, as if onlyChunk were subtracted
	VPSRLD      $14, Z3, Z3 // times plainCounts
	VPADDD      Z2, Z3, Z3
	VPCMPUD     $1, Z12, Z2, K1, K5
	VPCMPUD     $1, Z13, Z3, K5, K6
	VPSLLD      $16, Z3, Z3
	VPORD       Z0, Z3, Z3
	VPCOMPRESSD Z3, K6, Z4
	VMOVDQU32   Z4, (R8)(R9*4)
	KANDNW      K1, K6, K7
	VPCOMPRESSD Z14, K7, Z5
	VMOVDQU32   Z5, (R10)(R11*4)
	KMOVW       K6, BX
	POPCNTL     BX, BX
	ADDQ        BX, R9
	KMOVW       K7, BX
	POPCNTL     BX, BX
	ADDQ        BX, R11
	VPADDD      Z8, Z14, Z14
	ADDQ        $16, AX
	JMP         sixteen

done:
	MOVQ R9, n+8(FP)
	VZEROUPPER
	RET

damaged:
	MOVQ $-1, n+8(FP)
	VZEROUPPER
	RET
