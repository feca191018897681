/* Paths as clients write them, and dates as HTTP writes them. Pure. */
#ifndef UVHTTP_PATH_H
#define UVHTTP_PATH_H

#include <time.h>

#include "text.h"

/*
 * path_clean decodes %XX into out, which has room for path.size bytes, and returns 0, or the status to refuse the path with:
 * 400 for a bad escape, for an escaped '/' or NUL, and for a "." or ".." between slashes, however it is written.
 */
int path_clean(struct text path, char *out, struct text *clean);

/* path_hidden is true when a part of the path begins with a dot. */
bool path_hidden(struct text path);

/* path_type is a media type, by the name's ending. */
const char *path_type(struct text path);

enum { DATE_SIZE = 29 };

/* date_write writes "Sun, 06 Nov 1994 08:49:37 GMT" and no NUL. */
void date_write(char *out, time_t t);

/* date_read reads a date in any of HTTP's three forms. */
bool date_read(struct text date, time_t *t);

#endif
