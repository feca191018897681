/* lzlog: writes, reads, verifies and measures logs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lzlog.h"
#include "people.h"

enum { PASSPHRASE_MAX = 1024 };

static int usage(const char *why)
{
    fprintf(stderr,
            "lzlog: %s\n"
            "usage: lzlog write --dir FOLDER [--by-day] [--compress | --key-file FILE | --passphrase-file FILE]   each line becomes a record\n"
            "       lzlog cat [--key-file FILE | --passphrase-file FILE] FILE...   print the records, a line each\n"
            "       lzlog verify [--key-file FILE | --passphrase-file FILE] FILE...   name every defect, and with the secret every forgery\n"
            "       lzlog bench [--dir FOLDER] [--threads N] [--seconds S]         measure this machine\n",
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

/* read_secret reads a file of at most room bytes; it returns its size, or -1 having said why. */
static ssize_t read_secret(const char *path, char *to, size_t room)
{
    size_t size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;
    while (n > 0 && size < room && (n = read(fd, to + size, room - size)) > 0)
        size += (size_t)n;
    if (n < 0)
        fprintf(stderr, "lzlog: %s: %s\n", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return n < 0 ? -1 : (ssize_t)size;
}

struct keys {
    uint8_t key[LZLOG_KEY_SIZE + 1];
    char passphrase[PASSPHRASE_MAX + 1];
    struct lzlog_secret secret;
};

static bool take_key(struct keys *keys, const char *path)
{
    ssize_t size = read_secret(path, (char *)keys->key, sizeof(keys->key));
    if (size >= 0 && size != LZLOG_KEY_SIZE)
        fprintf(stderr, "lzlog: %s: a key has %d bytes\n", path, LZLOG_KEY_SIZE);
    keys->secret.key = keys->key;
    return size == LZLOG_KEY_SIZE;
}

/* take_passphrase takes a file's first line. */
static bool take_passphrase(struct keys *keys, const char *path)
{
    ssize_t size = read_secret(path, keys->passphrase, PASSPHRASE_MAX);
    if (size < 0)
        return false;
    keys->passphrase[size] = '\0';
    keys->passphrase[strcspn(keys->passphrase, "\r\n")] = '\0';
    keys->secret.passphrase = keys->passphrase;
    return true;
}

/* A command that reads files. visit reads one, and complain says what is wrong. Both statuses are 1 when something is. */
struct command {
    int (*visit)(struct lzlog_reader *reader, const char *path, const struct lzlog_secret *secret);
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

static int cat_file(struct lzlog_reader *reader, const char *path, const struct lzlog_secret *secret)
{
    int status = 0;
    if (lzlog_reader_facts(reader).encrypted && secret->key == NULL && secret->passphrase == NULL) {
        fprintf(stderr, "lzlog: %s: it is encrypted; name the file of its key or of its passphrase\n", path);
        return 1;
    }
    struct lzlog_record record;
    enum lzlog_item item;
    while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
        if (item == LZLOG_RECORD) {
            fwrite(record.data, 1, record.size, stdout);
            putchar('\n');
        } else {
            fprintf(stderr, "lzlog: %s: byte %" PRIu64 ": %s\n", path, record.offset, record.text);
            status = 1;
        }
    }
    return status;
}

static int verify_file(struct lzlog_reader *reader, const char *path, const struct lzlog_secret *secret)
{
    (void)secret;
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
    printf("%s: number %" PRIu64 ", %s, %s%s: %" PRIu64 " records, %" PRIu64 " bytes, %" PRIu64 " defects\n", path, facts.number,
           facts.encrypted ? "encrypted" : "plain", facts.sealed ? "sealed" : "open", facts.compressed ? ", compressed" : "", records,
           bytes, defects);
    return defects > 0;
}

/* options reads a command's options, those of a log only where there is one. It returns the exit status if the command ends with them. */
static int options(int argc, char **argv, struct keys *keys, struct lzlog_options *log, int *first)
{
    const char *text;
    for (*first = 2; *first < argc && argv[*first][0] == '-' && argv[*first][1] != '\0'; ++*first) {
        bool taken = true;
        if (log != NULL && strcmp(argv[*first], "--compress") == 0)
            log->compress = true;
        else if (log != NULL && strcmp(argv[*first], "--by-day") == 0)
            log->by_day = true;
        else if (log != NULL && (text = option("--dir", argc, argv, first)) != NULL)
            log->dir = text;
        else if ((text = option("--key-file", argc, argv, first)) != NULL)
            taken = take_key(keys, text);
        else if ((text = option("--passphrase-file", argc, argv, first)) != NULL)
            taken = take_passphrase(keys, text);
        else
            return usage("there is no such option");
        if (!taken)
            return 1;
    }
    if (keys->secret.key != NULL && keys->secret.passphrase != NULL)
        return usage("a log has a key or a passphrase");
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
static int visit_next(const struct command *command, struct visited *before, const char *path, const struct lzlog_secret *secret)
{
    char why[LZLOG_WHY_SIZE], what[LZLOG_WHY_SIZE + PATH_MAX];
    struct visited now = {path, lzlog_reader_open(path, secret, why)};
    int status = now.reader == NULL ? command->complain(why) : command->visit(now.reader, path, secret);
    if (before->reader != NULL && now.reader != NULL && same_folder(before->path, path) && lzlog_gap(before->reader, now.reader, why)) {
        snprintf(what, sizeof(what), "%s: %s", path, why);
        status |= command->complain(what);
    }
    if (before->reader != NULL)
        lzlog_reader_close(before->reader);
    *before = now;
    return status;
}

static int visit_files(int argc, char **argv, struct keys *keys, const struct command *command)
{
    int first, status = options(argc, argv, keys, NULL, &first);
    if (status != 0)
        return status;
    if (first == argc)
        return usage("which file?");
    struct visited last = {0};
    for (int i = first; i < argc; i++)
        status |= visit_next(command, &last, argv[i], &keys->secret);
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
    struct keys keys = {0};
    int status = visit_files(argc, argv, &keys, command);
    explicit_bzero(&keys, sizeof(keys));
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

static int write_lines_with(int argc, char **argv, struct keys *keys)
{
    struct lzlog_options wanted = {0};
    char why[LZLOG_WHY_SIZE];
    int first, status = options(argc, argv, keys, &wanted, &first);
    if (status != 0)
        return status;
    if (wanted.dir == NULL || first < argc)
        return usage("lines go from the input into a folder");
    wanted.secret = keys->secret;
    struct lzlog *log = lzlog_open(&wanted, why);
    explicit_bzero(keys, sizeof(*keys)); /* the log has made its own of it */
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
    struct keys keys = {0};
    int status = write_lines_with(argc, argv, &keys);
    explicit_bzero(&keys, sizeof(keys));
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
