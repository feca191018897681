/* What the parts of the writing side share. */
#ifndef LZ_INTERNAL_H
#define LZ_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "cipher.h"
#include "crc32c.h"
#include "format.h"
#include "lzlog.h"
#include "process.h"

/*
 * A place for one file. The log has as many as it may have files. What a place has once mapped stays mapped until the log is
 * freed, or is replaced in one step: a writer that was held up may touch the cursor of a file long retired, which must do no harm.
 */
struct lz_file {
    struct lz_header *head;    /* NULL: nothing was ever mapped here */
    struct lz_mapping mapping; /* of it */
    int fd;                 /* -1: there is no file here */
    bool unsynced;          /* since the last flush */
    int lost;               /* why a flush failed; 0: none did */
    time_t prefaulted;      /* when all pages were made writable, in seconds of the monotonic clock */
    uint64_t number;
    uint64_t seed;
    uint8_t nonce[LZ_NONCE];
    pthread_mutex_t reserve; /* guards the cursor of LZLOG_MUTEX */
};

struct lzlog_writer {
    _Alignas(64) _Atomic uint64_t turn; /* odd while a write is under way */
    bool closed;                        /* it has been told that the log is closed */
    bool plain;                         /* not encrypted, and the CPU has what crc32c_pass needs */
    struct lzlog *log;
    struct lz_cipher *cipher; /* NULL: not encrypted */
    uint64_t seen;            /* the turn when files were changed last */
    enum lzlog_level least;   /* of the lines that are written */
    uint64_t inside;          /* if that goes on: the number of the file that it may write to */
    struct lzlog_writer *next;
};

struct lzlog {
    /* What a write reads; only `current` changes, when files change. */
    _Alignas(64) struct lz_file *_Atomic current;
    const bool *ours;  /* in a page that the kernel empties for a child */
    uint64_t capacity; /* bytes of a file */
    enum lzlog_reservation reservation;
    crc32c_function *crc;

    /* What never changes after the opening. */
    _Alignas(64) struct lz_folder folder; /* locked */
    unsigned files;
    bool encrypted;
    uint8_t key[LZLOG_KEY_SIZE];
    pthread_t preparer;

    /* The preparer's alone; before it starts and after it ends, the opening and closing thread's. */
    struct lz_file *places; /* `files` of them; fd and head also read by others under `lock` */
    uint64_t *older;        /* numbers of files without a place, found at the opening, oldest first */
    size_t olders, oldest;
    uint64_t newest; /* the highest number given */

    pthread_mutex_t lock; /* guards what follows, and every change of `current` */
    pthread_cond_t work;  /* for the preparer */
    pthread_cond_t news;  /* from the preparer, and when the log closes */
    struct lz_file *ready;
    struct lz_file *full; /* the last one that was replaced, until its time has been noted; else NULL */
    bool wanted;
    bool closing;
    uint64_t attempts; /* of the preparer, ended */
    uint64_t switches; /* from one file to the next */
    int lost; /* why a flush of the folder failed; 0: none did */
    char why[LZLOG_WHY_SIZE];
    struct lzlog_writer *writers;
    _Atomic unsigned users; /* writers, and the opener */
};

/*
 * lz_forked is true in a child of the process that opened the log. The files go on without it, it has no preparer, and whoever held
 * the lock at the fork holds it for ever there. So the child touches nothing but its own copies.
 */
static inline bool lz_forked(const struct lzlog *log)
{
    return !*log->ours;
}

__attribute__((format(printf, 2, 3))) void lz_say(char why[LZLOG_WHY_SIZE], const char *format, ...);

/* file.c: one file. */
enum { LZ_NAME = 32 };
#define LZ_NUMBER_MAX UINT64_C(999999999999)
/* lz_name is a file's name: its number. */
void lz_name(char name[LZ_NAME], uint64_t number);
bool lz_file_fresh(struct lzlog *log, struct lz_file *file, uint64_t number, char why[LZLOG_WHY_SIZE]);
bool lz_file_recycle(struct lzlog *log, struct lz_file *file, int fd, uint64_t number, char why[LZLOG_WHY_SIZE]);
bool lz_file_resume(struct lzlog *log, struct lz_file *file, int fd, const struct lz_header *header, uint64_t end,
                    char why[LZLOG_WHY_SIZE]);
void lz_file_activate(struct lz_file *file);
/* lz_file_seal ends a file, and lz_file_note_end notes the place that a writer got and that its record does not fit into. */
void lz_file_seal(struct lzlog *log, struct lz_file *file, struct lz_cipher *cipher);
void lz_file_note_end(struct lzlog *log, struct lz_file *file, uint64_t place, struct lz_cipher *cipher);
void lz_file_trim(struct lzlog *log, struct lz_file *file);
void lz_file_note_time(struct lz_file *file);

/* store.c: the folder. */
bool lz_store_open(struct lzlog *log, const char *dir, char why[LZLOG_WHY_SIZE]);
bool lz_store_resume(struct lzlog *log, struct lz_file **file, char why[LZLOG_WHY_SIZE]);
void lz_store_cut(struct lzlog *log);
struct lz_file *lz_store_next(struct lzlog *log, char why[LZLOG_WHY_SIZE]);
/* lz_store_read opens the file with a number, and reads its header. It returns -1 when that is no file of a log. */
int lz_store_read(const struct lzlog *log, uint64_t number, struct lz_header *header);
/* lz_store_oldest is the place of the oldest file that this process has written. */
struct lz_file *lz_store_oldest(const struct lzlog *log);

/* log.c. lz_keep notes that something could not be put on the disk: the first failure stays. It returns that. */
int lz_keep(struct lzlog *log, int *lost, int failed);

/* switch.c: from one file to the next. */
void *lz_preparer(void *log);
enum lzlog_status lz_switch(struct lzlog_writer *writer, struct lz_file *full, uint64_t span);
void lz_note_turns(struct lzlog *log, const struct lz_file *sealed);
bool lz_is_idle(struct lzlog *log, const struct lz_file *file);
bool lz_await_idle(struct lzlog *log, const struct lz_file *file, unsigned milliseconds);

/* lz_take_identity makes what is known of an opened file known to the writers. */
void lz_take_identity(struct lz_file *file, const struct lz_identity *identity);

#endif
