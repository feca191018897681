/* What a process has of logs: mapped files, which somebody may cut, and locked folders, which a child of fork() must not keep. */
#ifndef LZ_PROCESS_H
#define LZ_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct lz_mapping {
    void *_Atomic base;
    size_t size;
    _Atomic bool cut; /* the file was cut, or has no room: since then zeros are mapped, and what is written there is in no file */
    struct lz_mapping *_Atomic next;
};

/*
 * lz_watch registers a mapped file: without that, an access behind the end of a file that was cut, or to a page that a full disk has no
 * room for, would end the process by SIGBUS. The
 * first call installs a handler, which leaves other addresses to the handler before it. It returns 0, or an errno.
 */
int lz_watch(struct lz_mapping *mapping, void *base, size_t size);

/* lz_forget is called before the file is unmapped. A mapping that was never registered is forgotten already. */
void lz_forget(struct lz_mapping *mapping);

static inline bool lz_cut(const struct lz_mapping *mapping)
{
    return atomic_load_explicit(&mapping->cut, memory_order_acquire);
}

struct lz_folder {
    int fd; /* -1: not open */
    struct lz_folder *next;
};

/* lz_folder_lock opens a folder and locks it. In a child of fork() it is closed. It returns 0 or an errno; EWOULDBLOCK: it is locked. */
int lz_folder_lock(struct lz_folder *folder, const char *path);
void lz_folder_unlock(struct lz_folder *folder);

#endif
