/*
 * lzlog: a logger that writes records into mapped files.
 *
 * One process opens a log, which is a folder. Each thread that writes opens a writer of its own; a write reserves its place with
 * one atomic addition, copies, and commits. Records lie in the files in the order of their reservations.
 */
#ifndef LZLOG_H
#define LZLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LZLOG_RECORD_MAX = 65527,
    LZLOG_PRINT_MAX = 4096,
    LZLOG_ESCAPED = 20, /* room for a character as lzlog_escape writes it */
    LZLOG_KEY_SIZE = 32,
    LZLOG_WHY_SIZE = 256,              /* room for any sentence about a failure */
    LZLOG_FILE_MIN = 128 * 1024,       /* bytes */
    LZLOG_FILE_MAX = 1024 * 1024 * 1024,
    LZLOG_FILES_MIN = 3,
    LZLOG_FILES_MAX = 1000
};

enum lzlog_status {
    LZLOG_OK,
    LZLOG_CLOSED,   /* the log was closed before the record got its place, or opened by a parent; the record is not written */
    LZLOG_BAD_SIZE, /* the record is empty or longer than LZLOG_RECORD_MAX */
    LZLOG_NO_FILE,  /* there is no next file, most likely because the disk is full; see lzlog_reason; try again later */
    LZLOG_FAILED    /* the system refused something else: no memory, or no synchronisation with the disk */
};

/* How a writer gets its place in the file. */
enum lzlog_reservation { LZLOG_FETCH_ADD, LZLOG_CAS, LZLOG_MUTEX };

struct lzlog_options {
    const char *dir;    /* made if missing; its parent must be there */
    size_t file_bytes;  /* 0: 64 MiB; rounded up to pages */
    unsigned files;     /* 0: 4; how many files there are at most, the current and the next one included */
    enum lzlog_reservation reservation;
    const uint8_t *key; /* LZLOG_KEY_SIZE bytes; NULL: not encrypted */
};

struct lzlog;
struct lzlog_writer;

/*
 * lzlog_open opens a log for this process alone. On failure it returns NULL and says why. A child of fork() cannot write to it: all that
 * it tries is LZLOG_CLOSED. It does not keep the log locked when its parent ends. It can close what it has of the log and its writers, and open a log of its own.
 */
struct lzlog *lzlog_open(const struct lzlog_options *options, char why[LZLOG_WHY_SIZE]);

/*
 * lzlog_close lets writes in flight finish and refuses all later ones: they return LZLOG_CLOSED. For a thread that was stopped in the
 * middle of one it waits a second, and its record is a defect until it ends it. The log must not be used after it; writers may, and must
 * still be closed. Its folder can be opened again when the last of them is.
 */
void lzlog_close(struct lzlog *log);

/* lzlog_writer_open makes a writer for one thread at a time. It returns NULL without memory or when the log is closing. */
struct lzlog_writer *lzlog_writer_open(struct lzlog *log);
void lzlog_writer_close(struct lzlog_writer *writer);

/* lzlog_write writes one record. When it returns LZLOG_OK the record survives the end of the process, however it ends. */
enum lzlog_status lzlog_write(struct lzlog_writer *writer, const void *data, size_t size);

/* How bad that is which a line tells of. */
enum lzlog_level { LZLOG_TRACE, LZLOG_DEBUG, LZLOG_INFO, LZLOG_WARN, LZLOG_ERROR, LZLOG_FATAL };

/* lzlog_set_level has a writer's lines below a level left out. Without it that level is LZLOG_INFO. */
void lzlog_set_level(struct lzlog_writer *writer, enum lzlog_level least);

/*
 * lzlog_print writes a line: the time (UTC, with microseconds), the level, and what printf would make of the rest, escaped: no argument
 * can end the line or reach a terminal's controls. Lines end after LZLOG_PRINT_MAX - 1 bytes. One that is left out is LZLOG_OK.
 */
__attribute__((format(printf, 3, 4))) enum lzlog_status lzlog_print(struct lzlog_writer *writer, enum lzlog_level level,
                                                                   const char *format, ...);

/*
 * lzlog_escape writes the first character of size bytes of text (at least 1) for people: a newline as \n; any other control character
 * but a tab, and a byte that is not UTF-8, as \xNN. It returns how many bytes the character has; *written is how many were written.
 */
size_t lzlog_escape(const void *data, size_t size, char to[LZLOG_ESCAPED], size_t *written);

/*
 * lzlog_flush puts all records whose writes have returned on the disk, so that they survive the end of the machine. Once it has failed it
 * goes on to, until the files with the records that are lost have gone.
 */
enum lzlog_status lzlog_flush(struct lzlog_writer *writer);

/* lzlog_reason says why the last LZLOG_NO_FILE or LZLOG_FAILED was returned to anybody. */
void lzlog_reason(struct lzlog_writer *writer, char why[LZLOG_WHY_SIZE]);

const char *lzlog_status_text(enum lzlog_status status);

/* Reading. */

struct lzlog_reader;

enum lzlog_item { LZLOG_END, LZLOG_RECORD, LZLOG_DEFECT };

struct lzlog_record {
    uint64_t offset;           /* of the record, or of the defect, in the file */
    const uint8_t *data;       /* valid until the next call; NULL for a defect */
    size_t size;
    char text[LZLOG_WHY_SIZE]; /* of a defect */
};

struct lzlog_facts {
    uint64_t number;
    bool encrypted;
    bool sealed; /* no writer will add to it */
    bool empty;  /* sealed before it had a record, as a log's next file is */
};

/*
 * lzlog_reader_open opens one file, which a writer may be writing. While the reader is open the file is neither reused nor cut.
 * With a key a file that is not encrypted is refused. Without one an encrypted file's records come as they lie there, encrypted; then accidents are found, but no forgery is.
 */
struct lzlog_reader *lzlog_reader_open(const char *path, const uint8_t *key, char why[LZLOG_WHY_SIZE]);
struct lzlog_facts lzlog_reader_facts(const struct lzlog_reader *reader);
enum lzlog_item lzlog_reader_next(struct lzlog_reader *reader, struct lzlog_record *record);
void lzlog_reader_close(struct lzlog_reader *reader);

/*
 * lzlog_gap says what is missing between two files of one log, the older one first: files, or the end of the older one's records; or that
 * they are not in order. It returns false when nothing is wrong. Ask when the newer one has been read: then the end of the older one has long been noted.
 */
bool lzlog_gap(const struct lzlog_reader *older, const struct lzlog_reader *newer, char why[LZLOG_WHY_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
