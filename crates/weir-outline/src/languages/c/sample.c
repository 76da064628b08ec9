/* SPDX-License-Identifier: MIT */

/*
 * A ring buffer of bytes. One writer and one reader need no lock.
 */
#include "ring.h"
#include <stdlib.h>

#define RING_MAGIC 0x52494e47
#define RING_MIN(a, b) ((a) < (b) ? (a) : (b))
#ifndef RING_H
#define RING_H
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The state of a ring. */
typedef enum ring_state {
    RING_EMPTY = 0,
    RING_FULL,
    RING_BROKEN = -1, /* somebody wrote too far */
} ring_state;

/** A ring of bytes. */
struct ring {
    unsigned char *bytes; /**< where they are */
    size_t head, tail;
    unsigned int flags : 3;
    struct {
        int fd;
        const char *name;
    } file;
    int (*on_full)(struct ring *ring, void *data);
};

typedef struct ring ring_t;
typedef unsigned long long ring_mark;
typedef int (*ring_visit)(const ring_t *ring, size_t at, void *data);

typedef struct {
    float x, y;
} point;

union word {
    int number;
    char text[4];
};

enum { RING_LIMIT = 4096, RING_STEP = 16 };

extern int ring_count;
extern const char *const ring_names[];
static int counter = 0;
const char *ring_version = "1.0";
static const int table[] = {1, 2, 3};

struct ring *ring_new(size_t size);
static void grow(struct ring *ring, size_t by);
ring_visit ring_visitor(void);
int ring_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * Makes a ring of a size. Gives NULL if there is no memory.
 * @param size its size
 */
struct ring *ring_new(size_t size)
{
    struct ring *ring = malloc(sizeof *ring);
    ring->head = ring->tail = 0;
    return ring;
}

// Writes bytes, as many as there is room for.
size_t
ring_write(struct ring *ring,   /* to where */
           const void *bytes,
           size_t count)
{
    return RING_MIN(count, ring->tail);
}

static void grow(struct ring *ring, size_t by)
{
    (void)ring;
}

static inline int is_empty(const struct ring *ring) { return ring->head == ring->tail; }

#if defined(RING_POSIX)
int ring_open(const char *path, int flags)
{
    return -1;
}
#else
int ring_open(const wchar_t *path)
{
    return -1;
}
#endif

void (*ring_handler(int number, void (*handler)(int)))(int);

int main(int argc, char **argv)
{
    return argc > 1;
}

#ifdef __cplusplus
}
#endif
