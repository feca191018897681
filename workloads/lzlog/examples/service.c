/* service FOLDER: logs as a service does, from several threads with a writer each, and then reads the folder and counts what is there. */
#include <glob.h>
#include <lzlog.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, JOBS = 1000 };

/* work does jobs, and tells of each. It returns NULL, or what went wrong. */
static void *work(void *log)
{
    static char why[THREADS][LZLOG_WHY_SIZE];
    static _Atomic unsigned threads;
    unsigned self = threads++;
    struct lzlog_writer *writer = lzlog_writer_open(log);
    enum lzlog_status status = LZLOG_OK;
    if (writer == NULL)
        return "there is no memory for a writer";
    for (int job = 0; job < JOBS && status == LZLOG_OK; job++) {
        (void)lzlog_print(writer, LZLOG_DEBUG, "job %d begins", job); /* below the writer's level: nothing is written */
        status = lzlog_print(writer, LZLOG_INFO, "thread %u has done job %d", self, job);
    }
    if (status == LZLOG_OK)
        status = lzlog_flush(writer); /* from here on a power cut loses nothing */
    if (status != LZLOG_OK)
        lzlog_reason(writer, why[self]);
    lzlog_writer_close(writer);
    return status == LZLOG_OK ? NULL : why[self];
}

/* count_records counts the records of a file, and prints what is wrong with it. */
static unsigned count_records(const char *path)
{
    char why[LZLOG_WHY_SIZE];
    struct lzlog_record record;
    unsigned records = 0;
    enum lzlog_item item;
    struct lzlog_reader *reader = lzlog_reader_open(path, NULL, why);
    if (reader == NULL) {
        fprintf(stderr, "%s: %s\n", path, why);
        return 0;
    }
    while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
        if (item == LZLOG_RECORD)
            records++;
        else
            fprintf(stderr, "%s: %s\n", path, record.text);
    }
    lzlog_reader_close(reader);
    return records;
}

int main(int argc, char **argv)
{
    char why[LZLOG_WHY_SIZE], pattern[4096];
    pthread_t threads[THREADS];
    int status = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: service FOLDER\n");
        return 2;
    }
    struct lzlog_options options = {.dir = argv[1], .file_bytes = 1 << 20};
    struct lzlog *log = lzlog_open(&options, why);
    if (log == NULL) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, log) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        if (wrong != NULL) {
            fprintf(stderr, "%s\n", (char *)wrong);
            status = 1;
        }
    }
    lzlog_close(log);

    glob_t files;
    unsigned records = 0;
    snprintf(pattern, sizeof(pattern), "%s/*.lzlog", argv[1]);
    if (glob(pattern, 0, NULL, &files) == 0) {
        for (size_t i = 0; i < files.gl_pathc; i++)
            records += count_records(files.gl_pathv[i]);
        globfree(&files);
    }
    printf("%u records\n", records);
    return status;
}
