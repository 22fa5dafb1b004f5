/*
 * Terminals. No descriptor of a node is one that could be set, so both calls fail with ENOTTY; the front end's terminal
 * stays as the user has it.
 */
#ifndef _TERMIOS_H
#define _TERMIOS_H

typedef unsigned char cc_t;
typedef unsigned int tcflag_t;
typedef unsigned int speed_t;

enum { VINTR, VQUIT, VERASE, VKILL, VEOF, VTIME, VMIN, VSTART, VSTOP, VSUSP, VEOL, NCCS = 20 };

struct termios {
    tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
    cc_t c_cc[NCCS];
};

#define BRKINT 0x0001
#define ICRNL  0x0002
#define IGNBRK 0x0004
#define IGNCR  0x0008
#define INLCR  0x0010
#define INPCK  0x0020
#define ISTRIP 0x0040
#define IXOFF  0x0080
#define IXON   0x0100
#define OPOST  0x0001
#define CSIZE  0x0030
#define CS8    0x0030
#define CREAD  0x0080
#define PARENB 0x0100
#define ECHO   0x0001
#define ECHOE  0x0002
#define ECHOK  0x0004
#define ECHONL 0x0008
#define ICANON 0x0010
#define IEXTEN 0x0020
#define ISIG   0x0040
#define NOFLSH 0x0080
#define TOSTOP 0x0100

#define TCSANOW   0
#define TCSADRAIN 1
#define TCSAFLUSH 2

/* -1 with errno: EBADF, or ENOTTY. */
int tcgetattr(int fd, struct termios *t);
int tcsetattr(int fd, int when, const struct termios *t);

#endif
