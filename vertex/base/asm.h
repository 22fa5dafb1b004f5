/*
 * Numbers that the assembly files need. machine_mode.c and trap.c assert that they agree with vertex/contract/machine.h
 * and trap.h. Macros only: included by .S files.
 */
#pragma once

#define ASM_BOOT_INFO           0x83fff000
#define ASM_BOOT_INFO_RAM_BYTES 8
#define ASM_WINDOWS             0x84000000
#define ASM_WINDOW_VA           0xc0000000
#define ASM_BOOT_STACK_BYTES    8192
#define ASM_MAILBOX_PAGE        0xc0001
#define ASM_MAILBOX_ANSWER      64
#define ASM_NCU_ENTER           8
#define ASM_NCU_LEAVE           12
#define ASM_CAUSE_ECALL         8 /* scause */

/* Offsets in struct trap_frame. */
#define ASM_FRAME_PC    0
#define ASM_FRAME_RA    8
#define ASM_FRAME_SP    16
#define ASM_FRAME_T     24 /* t0-t6 */
#define ASM_FRAME_A     80 /* a0-a7 */
#define ASM_FRAME_BYTES 144

#define ASM_FAULT_BYTES 256 /* x1-x31, a multiple of 16 */

#define ASM_STATUS_SPP 0x100   /* sstatus: where the trap came from */
#define ASM_STATUS_SUM 0x40000 /* sstatus: S-mode may touch pages of U-mode */

/* What sched_leave puts on a kernel stack: ra, gp, tp, s0-s11; a multiple of 16. */
#define ASM_SAVED_BYTES 128
