/*
 * Host programs as clients of a machine that is kept up (libnhost): a host program opens a subcube, loads programs on
 * its nodes, one load after the other, and exchanges messages with them. Its job ends when it closes the link.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/link/link.h"
#include "emu/state/machine_data.h"

struct host {      /* of a client; zeros at first */
    bool opened;   /* it has been told that its subcube is there */
    uint32_t life; /* the load whose result it waits for; 0: none */
    bool waits;    /* for the end of all programs */
    size_t passed; /* bytes of the oldest message for it that it has got */
    uint8_t *mail; /* the parts so far of a message for nodes, */
    size_t mail_bytes;
};

/* Reads LINK_OPEN into the options of a hosted job. False if it is malformed. */
bool hosts_take_open(struct host *h, struct job_options *o, const struct link_message *m);
void hosts_free(struct host *h);
/* Does what a host program with this job (or NULL) asks for. False if there is nothing like it. */
bool hosts_act(struct host *h, struct machine *machine, struct job *j, int fd, const struct link_message *m);
/* Tells the host program what has happened, and passes messages of nodes on, as many as the link takes now. */
void hosts_serve(struct host *h, struct machine *machine, struct job *j, int fd);
/* Whether messages of nodes wait for the host program. */
bool hosts_have_mail(const struct job *j);
