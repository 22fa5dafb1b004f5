/* The messages between manager and workers. */
enum {
    TASK = 1,   /* int: the argument of f */
    RESULT = 2, /* long */
    STOP = 3,   /* nothing */
};
