/* A message layer as codes of the early nineties had it: no prototypes, no headers of the machine. */
#define FLIP(node, k) ((node) ^ (1 << (k)))

int md_node, md_nodes, md_dim;
static int md_proc, md_host, md_flag;
static double md_start;
extern double amicclk();
extern long n_time();

md_init()
{
    whoami(&md_node, &md_proc, &md_host, &md_dim);
    md_nodes = 1 << md_dim;
    md_start = amicclk();
}

md_write(buf, bytes, dest, type)
char *buf;
int bytes, dest, type;
{
    return nwrite(buf, bytes, dest, type, &md_flag);
}

md_read(buf, bytes, source, type)
char *buf;
int bytes, *source, *type;
{
    return nread(buf, bytes, source, type, &md_flag);
}

md_probe(source, type)
int *source, *type;
{
    return ntest(source, type);
}

double md_seconds()
{
    int us;
    long s = n_time(&us);

    if (s < 0 || us < 0 || us > 999999)
        return -1;
    return (amicclk() - md_start) / 1000000.0;
}

/* Global sum: each dimension in turn, both partners write, then read. */
double md_gsum(x, type)
double x;
int type;
{
    double other;
    int k, from, t;

    for (k = 0; k < md_dim; k++) {
        from = FLIP(md_node, k);
        t = type + k;
        md_write(&x, sizeof x, from, t);
        md_read(&other, sizeof other, &from, &t);
        x += other;
    }
    return x;
}

md_broadcast(buf, bytes, type)
char *buf;
int bytes, type;
{
    int root = 0;

    if (md_node == 0)
        md_write(buf, bytes, 0xffff, type);
    md_read(buf, bytes, &root, &type);
}
