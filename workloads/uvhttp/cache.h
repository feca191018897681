/*
 * The cache of files: a hash table and a list in order of use, with a limit of bytes and one of files. It knows nothing of
 * disks. An entry may be dropped while it is being sent; it then lives until the last that sends it lets go.
 */
#ifndef UVHTTP_CACHE_H
#define UVHTTP_CACHE_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "text.h"

/* content is what answers a request: the end of a head, and a body in memory or in a file. */
struct content {
    struct text head;   /* header lines with Content-Type and Content-Length, without the blank line */
    struct text shared; /* the last of them, which a 304 repeats: ETag and Last-Modified */
    const char *bytes;  /* NULL when the body is only in the file */
    int fd;             /* -1 when the body is in memory */
    size_t size;
    bool lasting;       /* the bytes stay as they are while the process lives, and may be lent to the kernel */
};

struct file {
    struct content content;
    struct text name;
    struct text etag;
    uint64_t hash;
    uint64_t checked; /* when it was last compared with the disk, in the loop's milliseconds */
    struct timespec modified;
    ino_t inode;
    bool young; /* it was changed so shortly before it was read that another change may not show in its time */
    bool cached;
    unsigned users; /* the cache itself counts as one */
    struct file *newer, *older, *next; /* in order of use; in the hash chain */
    char room[];    /* name, head and bytes */
};

enum { CACHE_BUCKETS = 1024 };

struct cache {
    struct file *buckets[CACHE_BUCKETS];
    struct file *newest, *oldest;
    size_t bytes, bytes_max, files, files_max;
    uint64_t hits, misses, evictions, changes;
};

void cache_init(struct cache *c, size_t bytes_max, size_t files_max);

/* cache_find returns a file and makes it the newest. The pointer is good until the cache is next changed: see file_hold. */
struct file *cache_find(struct cache *c, struct text name);

/* cache_put takes over one use of a file. It drops the oldest files until there is room; a file that alone is too much is not kept. */
void cache_put(struct cache *c, struct file *f);

void cache_drop(struct cache *c, struct file *f);
void cache_clear(struct cache *c);

/* file_cost is what a file takes of the cache's bytes. */
size_t file_cost(const struct file *f);

struct file *file_hold(struct file *f);
void file_release(struct file *f);

#endif
