/*
 * Linked with every test: libcriterion starts libgit2, which reads all certificates of the host, with mbed TLS: 6 ms in
 * the process of each test. Nothing here connects to anything, so this function is found before that library's.
 */

int mbedtls_x509_crt_parse_file(void *chain, const char *path);

int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
    (void)chain;
    (void)path;
    return 0;
}
