/*
 * Control and status registers: access and the bits that Vertex uses (RISC-V privileged architecture).
 */
#pragma once

#include <stdint.h>

#define csr_read(name)                                      \
    ({                                                      \
        uint64_t csr_value_;                                \
        asm volatile("csrr %0, " #name : "=r"(csr_value_)); \
        csr_value_;                                         \
    })
#define csr_write(name, value) asm volatile("csrw " #name ", %0" : : "r"((uint64_t)(value)) : "memory")
#define csr_set(name, value)   asm volatile("csrs " #name ", %0" : : "r"((uint64_t)(value)) : "memory")
#define csr_clear(name, value) asm volatile("csrc " #name ", %0" : : "r"((uint64_t)(value)) : "memory")

#define MSTATUS_MPP_MASK (3ull << 11)
#define MSTATUS_MPP_S    (1ull << 11)
#define STATUS_FS_DIRTY  (3ull << 13) /* FP registers usable; in mstatus and sstatus */
#define SSTATUS_SPIE     (1ull << 5)  /* whether S-mode takes interrupts after sret */
#define SSTATUS_SPP      (1ull << 8)  /* where sret goes: 0 = U-mode */
#define INTERRUPT_SSI    (1ull << 1)  /* supervisor software interrupt, in sie, sip, mideleg */

#define PMP_R     1u
#define PMP_W     2u
#define PMP_X     4u
#define PMP_NAPOT 0x18u

#define SATP_SV39 (8ull << 60)

enum trap_cause { /* scause */
                  SCAUSE_FETCH_MISALIGNED = 0,
                  SCAUSE_FETCH_ACCESS = 1,
                  SCAUSE_ILLEGAL = 2,
                  SCAUSE_BREAKPOINT = 3,
                  SCAUSE_LOAD_MISALIGNED = 4,
                  SCAUSE_LOAD_ACCESS = 5,
                  SCAUSE_STORE_MISALIGNED = 6,
                  SCAUSE_STORE_ACCESS = 7,
                  SCAUSE_ECALL_U = 8,
                  SCAUSE_FETCH_PAGE = 12,
                  SCAUSE_LOAD_PAGE = 13,
                  SCAUSE_STORE_PAGE = 15,
};
#define SCAUSE_SSI (1ull << 63 | 1)
/* All that a program can raise; a system call from S-mode (9) is not among them. */
#define MEDELEG_USER 0xb1ffull
