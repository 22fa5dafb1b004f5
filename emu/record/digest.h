/* SHA-256, as text. */
#pragma once

#include <nettle/sha2.h>
#include <stdbool.h>

#define DIGEST_TEXT_BYTES (2 * SHA256_DIGEST_SIZE + 1)

/* Writes the digest of what has been hashed to `text`, and starts anew. */
void digest_end(struct sha256_ctx *hash, char text[DIGEST_TEXT_BYTES]);

/* The digest of a whole file. False, with errno and an empty text, if it cannot be read. */
bool digest_file(int fd, char text[DIGEST_TEXT_BYTES]);
bool digest_path(const char *path, char text[DIGEST_TEXT_BYTES]);
