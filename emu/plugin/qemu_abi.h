/*
 * The part of QEMU's TCG plugin ABI that plugin.c uses, as facts of that ABI (version 4, QEMU 10.0): names,
 * argument types and enumeration values. Debian ships no plugin header.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_ABI_VERSION 4

typedef uint64_t qemu_plugin_id_t;

typedef struct {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    union {
        struct {
            int smp_vcpus, max_vcpus;
        } system;
    };
} qemu_info_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

/* One uint64_t per vCPU, at an offset in its scoreboard entry. */
typedef struct {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} qemu_plugin_u64;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0, QEMU_PLUGIN_CB_R_REGS = 1 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };
enum qemu_plugin_cond { QEMU_PLUGIN_COND_NE = 3, QEMU_PLUGIN_COND_GE = 7 }; /* unsigned */

typedef void (*qemu_plugin_vcpu_cb)(qemu_plugin_id_t id, unsigned vcpu);
typedef void (*qemu_plugin_vcpu_udata_cb)(unsigned vcpu, void *userdata);
typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*qemu_plugin_vcpu_mem_cb)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);
typedef void (*qemu_plugin_tb_trans_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_cb cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb cb, int flags,
                                          void *userdata);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb cb, int flags,
                                               int cond, qemu_plugin_u64 entry, uint64_t imm, void *userdata);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb, int op, qemu_plugin_u64 entry,
                                                       uint64_t imm);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb cb, int flags,
                                            void *userdata);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb cb, int flags,
                                                 int cond, qemu_plugin_u64 entry, uint64_t imm, void *userdata);

/* Calls back after each access of the instruction. */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb cb, int flags, int rw,
                                      void *userdata);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
/* Where the instruction lies in QEMU's own memory; NULL if that is not RAM. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t bytes);

/* GLib's arrays, as far as the plugin reads them. QEMU links GLib. */
struct g_array {
    void *data;
    unsigned length;
};
struct g_array *g_byte_array_new(void);
struct g_array *g_byte_array_set_size(struct g_array *array, unsigned length);

struct qemu_plugin_register;
struct qemu_plugin_register_descriptor {
    struct qemu_plugin_register *handle;
    const char *name, *feature;
};

/* Returns an array of descriptors; only in the callback that a vCPU begins with. */
struct g_array *qemu_plugin_get_registers(void);
/* Appends the register's bytes. Returns how many, or -1. */
int qemu_plugin_read_register(struct qemu_plugin_register *handle, struct g_array *bytes);

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t entry_bytes);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned vcpu);
