/* There are no networks but the machine's own: what sources need to compile. */
struct hostent { char *h_name; };
struct hostent *gethostbyname();
