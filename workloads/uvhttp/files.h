/* Where files come from: a folder, or the files that the server makes itself. Everything here is done on the loop's thread. */
#ifndef UVHTTP_FILES_H
#define UVHTTP_FILES_H

#include "cache.h"

struct files {
    int root;   /* the folder, or -1 */
    char *made; /* without a folder: the content of the largest file, with which all others begin */
    struct timespec made_at;
    struct cache cache;
};

/* files_open opens the folder, or makes files when there is none. It returns false after a sentence on stderr. */
bool files_open(struct files *f, const char *root, size_t cache_bytes);
void files_close(struct files *f);

/* files_warm reads files into the cache, as many as it holds, before anybody asks for them. It returns how many. */
size_t files_warm(struct files *f, uint64_t now);

/*
 * files_get returns a file by its name, held for the caller, or NULL and a status. A cached file is compared with the one on
 * disk at most once in CHECK_MS.
 */
struct file *files_get(struct files *f, struct text name, uint64_t now, int *status);

/* file_unchanged answers the conditions of a request, which are empty when the request has none: true means 304. */
bool file_unchanged(const struct file *f, struct text if_none_match, struct text if_modified_since);

#endif
