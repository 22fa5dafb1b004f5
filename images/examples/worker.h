/* The messages between manager and workers. */
enum {
    TASK = 1,   /* int: compute f of it */
    RESULT = 2, /* long */
    STOP = 3,   /* nothing */
};
