#include "emu/record/digest.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "emu/base/host.h"

#define PIECE_BYTES 65536u

void digest_end(struct sha256_ctx *hash, char text[DIGEST_TEXT_BYTES])
{
    uint8_t digest[SHA256_DIGEST_SIZE];

    sha256_digest(hash, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

bool digest_file(int fd, char text[DIGEST_TEXT_BYTES])
{
    uint8_t piece[PIECE_BYTES];
    struct sha256_ctx hash;
    off_t at = 0;
    ssize_t got;

    text[0] = '\0';
    sha256_init(&hash);
    while ((got = host_read(fd, piece, sizeof piece, at)) > 0) {
        sha256_update(&hash, (size_t)got, piece);
        at += got;
    }
    if (got == 0)
        digest_end(&hash, text);
    return got == 0;
}

bool digest_path(const char *path, char text[DIGEST_TEXT_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool read = fd >= 0 && digest_file(fd, text);

    if (fd >= 0)
        close(fd);
    else
        text[0] = '\0';
    return read;
}
