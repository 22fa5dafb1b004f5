/* The declarations that such sources need to compile. A node has no network but the machine's own. */
struct hostent { char *h_name; };
struct hostent *gethostbyname();
