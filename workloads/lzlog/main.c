/* lzlog: writes, reads, verifies and measures logs. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lzlog.h"
#include "people.h"

static int usage(const char *why)
{
    fprintf(stderr,
            "lzlog: %s\n"
            "usage: lzlog write --dir FOLDER [--key-file FILE]             each line becomes a record\n"
            "       lzlog cat [--key-file FILE] FILE...                    print the records, a line each\n"
            "       lzlog verify [--key-file FILE] FILE...                 name every defect, and with the key every forgery\n"
            "       lzlog bench [--dir FOLDER] [--threads N] [--seconds S] measure this machine\n",
            why);
    return 2;
}

/* option reads "--name VALUE" or "--name=VALUE" and moves on; NULL if it is neither. */
static const char *option(const char *name, int argc, char **argv, int *i)
{
    size_t size = strlen(name);
    if (strcmp(argv[*i], name) == 0 && *i + 1 < argc)
        return argv[++*i];
    return strncmp(argv[*i], name, size) == 0 && argv[*i][size] == '=' ? argv[*i] + size + 1 : NULL;
}

/* take_key reads a key, which is all of a file. It says why there is none. */
static bool take_key(uint8_t key[LZLOG_KEY_SIZE], const char *path)
{
    uint8_t read[LZLOG_KEY_SIZE + 1];
    FILE *file = fopen(path, "rbe");
    size_t size = file == NULL ? 0 : fread(read, 1, sizeof(read), file);
    bool failed = file == NULL || ferror(file);
    if (failed)
        fprintf(stderr, "lzlog: %s: %s\n", path, strerror(errno));
    else if (size != LZLOG_KEY_SIZE)
        fprintf(stderr, "lzlog: %s: a key has %d bytes\n", path, LZLOG_KEY_SIZE);
    if (file != NULL)
        fclose(file);
    memcpy(key, read, LZLOG_KEY_SIZE);
    explicit_bzero(read, sizeof(read));
    return !failed && size == LZLOG_KEY_SIZE;
}

/* What a command was told: --key-file, and for a log --dir. */
struct told {
    uint8_t bytes[LZLOG_KEY_SIZE];
    const uint8_t *key; /* NULL: none */
    const char *dir;
};

/* A command that reads files. visit reads one, and complain says what is wrong. Both statuses are 1 when something is. */
struct command {
    int (*visit)(struct lzlog_reader *reader, const char *path, const uint8_t *key);
    int (*complain)(const char *what);
};

static int complain_beside(const char *what)
{
    fprintf(stderr, "lzlog: %s\n", what);
    return 1;
}

static int complain_inside(const char *what)
{
    puts(what);
    return 1;
}

/* print_line prints a record as one line, whatever is in it. */
static void print_line(const uint8_t *data, size_t size)
{
    char escaped[LZLOG_ESCAPED];
    size_t length;
    for (size_t i = 0; i < size;) {
        i += lzlog_escape(data + i, size - i, escaped, &length);
        fwrite(escaped, 1, length, stdout);
    }
    putchar('\n');
}

static int cat_file(struct lzlog_reader *reader, const char *path, const uint8_t *key)
{
    int status = 0;
    if (lzlog_reader_facts(reader).encrypted && key == NULL) {
        fprintf(stderr, "lzlog: %s: it is encrypted; name the file of its key with --key-file\n", path);
        return 1;
    }
    struct lzlog_record record;
    enum lzlog_item item;
    while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
        if (item == LZLOG_RECORD) {
            print_line(record.data, record.size);
        } else {
            fprintf(stderr, "lzlog: %s: byte %" PRIu64 ": %s\n", path, record.offset, record.text);
            status = 1;
        }
    }
    return status;
}

static int verify_file(struct lzlog_reader *reader, const char *path, const uint8_t *key)
{
    (void)key;
    uint64_t records = 0, bytes = 0, defects = 0;
    struct lzlog_record record;
    enum lzlog_item item;
    while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
        if (item == LZLOG_RECORD) {
            records++;
            bytes += record.size;
        } else {
            printf("%s: byte %" PRIu64 ": %s\n", path, record.offset, record.text);
            defects++;
        }
    }
    struct lzlog_facts facts = lzlog_reader_facts(reader);
    printf("%s: number %" PRIu64 ", %s, %s: %" PRIu64 " records, %" PRIu64 " bytes, %" PRIu64 " defects\n", path, facts.number,
           facts.encrypted ? "encrypted" : "plain", facts.sealed ? "sealed" : "open", records, bytes,
           defects);
    return defects > 0;
}

/* options reads a command's options, --dir only for a log. It returns the exit status if the command ends with them. */
static int options(int argc, char **argv, struct told *told, bool log, int *first)
{
    const char *text;
    for (*first = 2; *first < argc && argv[*first][0] == '-' && argv[*first][1] != '\0'; ++*first) {
        if (log && (text = option("--dir", argc, argv, first)) != NULL)
            told->dir = text;
        else if ((text = option("--key-file", argc, argv, first)) == NULL)
            return usage("there is no such option");
        else if (!take_key(told->bytes, text))
            return 1;
        else
            told->key = told->bytes;
    }
    return 0;
}

/* folder_size is the length of a path up to its last slash. */
static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static bool same_folder(const char *a, const char *b)
{
    return folder_size(a) == folder_size(b) && strncmp(a, b, folder_size(a)) == 0;
}

/* A file that has been read. It stays open, and so is not recycled, until the next one has been read, too. */
struct visited {
    const char *path;
    struct lzlog_reader *reader; /* NULL: there is none */
};

/* visit_next reads a file, and holds it against the one before, if that is of the same log. It closes that one. */
static int visit_next(const struct command *command, struct visited *before, const char *path, const uint8_t *key)
{
    char why[LZLOG_WHY_SIZE], what[LZLOG_WHY_SIZE + PATH_MAX];
    struct visited now = {path, lzlog_reader_open(path, key, why)};
    int status = now.reader == NULL ? command->complain(why) : command->visit(now.reader, path, key);
    if (now.reader == NULL)
        return status; /* the next one is held against the one before, too: this one is missing */
    if (before->reader != NULL && same_folder(before->path, path) && lzlog_gap(before->reader, now.reader, why)) {
        snprintf(what, sizeof(what), "%s: %s", path, why);
        status |= command->complain(what);
    }
    if (before->reader != NULL)
        lzlog_reader_close(before->reader);
    *before = now;
    return status;
}

static int visit_files(int argc, char **argv, struct told *told, const struct command *command)
{
    int first, status = options(argc, argv, told, false, &first);
    if (status != 0)
        return status;
    if (first == argc)
        return usage("which file?");
    struct visited last = {0};
    for (int i = first; i < argc; i++)
        status |= visit_next(command, &last, argv[i], told->key);
    if (last.reader != NULL)
        lzlog_reader_close(last.reader);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "lzlog: the output cannot be written: %s\n", strerror(errno));
        return 1;
    }
    return status;
}

static int each_file(int argc, char **argv, const struct command *command)
{
    struct told told = {0};
    int status = visit_files(argc, argv, &told, command);
    explicit_bzero(&told, sizeof(told));
    return status;
}

/* read_line reads a line, and keeps what there is room for. It returns the size of all of it without its end, -1 when there is none. */
static ssize_t read_line(char *line, size_t room)
{
    size_t size = 0;
    int c;
    while ((c = getc_unlocked(stdin)) != EOF && c != '\n') {
        if (size < room)
            line[size] = (char)c;
        size++;
    }
    return c == EOF && (size == 0 || ferror(stdin)) ? -1 : (ssize_t)size;
}

static int copy_lines(struct lzlog_writer *writer)
{
    static char line[LZLOG_RECORD_MAX];
    char why[LZLOG_WHY_SIZE];
    uint64_t number = 0;
    int status = 0;
    ssize_t size;
    enum lzlog_status done = LZLOG_OK;
    while ((done == LZLOG_OK || done == LZLOG_BAD_SIZE) && (size = read_line(line, sizeof(line))) >= 0) {
        number++;
        done = lzlog_write(writer, line, (size_t)size);
        if (done != LZLOG_OK) {
            fprintf(stderr, "lzlog: line %" PRIu64 ": %s\n", number, lzlog_status_text(done));
            status = 1;
        }
    }
    if (ferror(stdin)) {
        fprintf(stderr, "lzlog: the input cannot be read: %s\n", strerror(errno));
        status = 1;
    }
    if (done == LZLOG_OK || done == LZLOG_BAD_SIZE)
        done = lzlog_flush(writer);
    if (done != LZLOG_OK) {
        lzlog_reason(writer, why);
        fprintf(stderr, "lzlog: %s\n", why);
        status = 1;
    }
    return status;
}

static int write_lines_with(int argc, char **argv, struct told *told)
{
    char why[LZLOG_WHY_SIZE];
    int first, status = options(argc, argv, told, true, &first);
    if (status != 0)
        return status;
    if (told->dir == NULL || first < argc)
        return usage("lines go from the input into a folder");
    struct lzlog *log = lzlog_open(&(struct lzlog_options){.dir = told->dir, .key = told->key}, why);
    explicit_bzero(told, sizeof(*told)); /* the log has made its own of it */
    if (log == NULL) {
        fprintf(stderr, "lzlog: %s\n", why);
        return 1;
    }
    struct lzlog_writer *writer = lzlog_writer_open(log);
    if (writer != NULL) {
        status = copy_lines(writer);
        lzlog_writer_close(writer);
    } else {
        fprintf(stderr, "lzlog: there is no memory for a writer\n");
        status = 1;
    }
    lzlog_close(log);
    return status;
}

static int write_lines(int argc, char **argv)
{
    struct told told = {0};
    int status = write_lines_with(argc, argv, &told);
    explicit_bzero(&told, sizeof(told));
    return status;
}

static int bench(int argc, char **argv)
{
    const char *dir = getenv("TMPDIR"), *text;
    long threads = 10;
    double seconds = 1;
    if (dir == NULL || dir[0] == '\0')
        dir = "/tmp";
    for (int i = 2; i < argc; i++) {
        char *end = NULL;
        if ((text = option("--dir", argc, argv, &i)) != NULL)
            dir = text;
        else if ((text = option("--threads", argc, argv, &i)) != NULL)
            threads = strtol(text, &end, 10);
        else if ((text = option("--seconds", argc, argv, &i)) != NULL)
            seconds = strtod(text, &end);
        else
            return usage("there is no such option");
        if (end != NULL && (end == text || *end != '\0' || threads < 1 || threads > 1000 || !(seconds >= 0.001 && seconds <= 3600)))
            return usage("there can be 1 to 1000 threads, for 0.001 to 3600 seconds");
    }
    return people_bench(dir, (unsigned)threads, seconds);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "write") == 0)
        return write_lines(argc, argv);
    if (argc >= 2 && strcmp(argv[1], "cat") == 0)
        return each_file(argc, argv, &(struct command){cat_file, complain_beside});
    if (argc >= 2 && strcmp(argv[1], "verify") == 0)
        return each_file(argc, argv, &(struct command){verify_file, complain_inside});
    if (argc >= 2 && strcmp(argv[1], "bench") == 0)
        return bench(argc, argv);
    return usage("it can write, cat, verify and bench");
}
