/* The programs as people and drivers call them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static const char *lzlog, *lzlog_bench;
static char output[65536]; /* of the last command, both streams */

/* run runs a command line through the shell, with $L and $B for the programs and $D for the scratch folder. */
static int run(const char *command)
{
    setenv("L", lzlog, 1);
    setenv("B", lzlog_bench, 1);
    setenv("D", scratch_dir, 1);
    char line[1024];
    snprintf(line, sizeof(line), "( %s ) 2>&1", command);
    FILE *pipe = popen(line, "r");
    CHECK(pipe != NULL);
    size_t size = fread(output, 1, sizeof(output) - 1, pipe);
    output[size] = '\0';
    int status = pclose(pipe);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void write_lines(const uint8_t *key)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN, .key = key};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    CHECK(lzlog_write(writer, "the first line", 14) == LZLOG_OK);
    CHECK(lzlog_write(writer, "the second line", 15) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

static void cat_prints(void)
{
    write_lines(NULL);
    CHECK(run("\"$L\" cat \"$D\"/*.lzlog") == 0);
    CHECK(strcmp(output, "the first line\nthe second line\n") == 0);
    CHECK(run("\"$L\" verify \"$D\"/*.lzlog") == 0);
    CHECK(strstr(output, "number 1, plain, sealed: 2 records, 29 bytes, 0 defects\n") != NULL);
}

static void lines_become_records(void)
{
    CHECK(run("printf 'one\\ntwo\\n' | \"$L\" write --dir \"$D\"/log && printf 'three, unended' | \"$L\" write --dir=\"$D\"/log") == 0);
    CHECK(output[0] == '\0');
    CHECK(run("\"$L\" cat \"$D\"/log/*") == 0 && strcmp(output, "one\ntwo\nthree, unended\n") == 0);
    CHECK(run("printf 'four\\n\\nsix\\n' | \"$L\" write --dir \"$D\"/log") == 1); /* the others are written */
    CHECK(strcmp(output, "lzlog: line 2: a record has 1 to 65527 bytes\n") == 0);
    CHECK(run("\"$L\" cat \"$D\"/log/* | tail -2") == 0 && strcmp(output, "four\nsix\n") == 0);
    CHECK(run("\"$L\" write --dir \"$D\"/log <\"$D\"") == 1 && strstr(output, "cannot be read") != NULL);
}

/* Its memory does not grow with the line. */
static void lines_have_no_end(void)
{
    CHECK(run("ulimit -v 400000; (head -c 300M /dev/zero; printf '\\nthe next one') | \"$L\" write --dir \"$D\"/log") == 1);
    CHECK(strcmp(output, "lzlog: line 1: a record has 1 to 65527 bytes\n") == 0);
    CHECK(run("head -c 65527 /dev/zero | \"$L\" write --dir \"$D\"/log && \"$L\" verify \"$D\"/log/*") == 0);
    CHECK(strstr(output, "2 records, 65539 bytes, 0 defects\n") != NULL);
}

static void second_process_is_refused(void)
{
    struct lzlog *log = open_or_die(&(struct lzlog_options){.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN});
    CHECK(run("echo too late | \"$L\" write --dir \"$D\"") == 1);
    CHECK(strstr(output, "is already open, here or in another process\n") != NULL);
    lzlog_close(log);
    CHECK(run("echo in time | \"$L\" write --dir \"$D\" && \"$L\" cat \"$D\"/*") == 0 && strcmp(output, "in time\n") == 0);
}

static void defects_are_named(void)
{
    write_lines(NULL);
    CHECK(run("printf X | dd of=\"$D\"/000000000001.lzlog bs=1 seek=4110 conv=notrunc status=none") == 0);
    CHECK(run("\"$L\" verify \"$D\"/*.lzlog") == 1);
    CHECK(strstr(output, "000000000001.lzlog: byte 4096: the record of 14 bytes is damaged\n") != NULL);
    CHECK(strstr(output, "1 records, 15 bytes, 1 defects\n") != NULL);
    CHECK(run("\"$L\" cat \"$D\"/*.lzlog") == 1);
    CHECK(strstr(output, "the second line\n") != NULL && strstr(output, "byte 4096: ") != NULL);
    CHECK(run("\"$L\" cat \"$D\"/*.lzlog >/dev/full") == 1);
    CHECK(run("\"$L\" verify /dev/null \"$D\" \"$D\"/nothing") == 1);
}

/* write_numbers writes records that fill several files. */
static void write_numbers(const char *dir, const uint8_t *key)
{
    char text[1000] = "";
    struct lzlog_options options = {.dir = dir, .file_bytes = LZLOG_FILE_MIN, .files = 10, .key = key};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    for (int i = 0; i < 700; i++)
        CHECK(lzlog_write(writer, text, sizeof(text)) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

static void missing_files_are_named(void)
{
    char dir[5000];
    snprintf(dir, sizeof(dir), "%s/log", scratch_dir);
    write_numbers(dir, NULL);
    CHECK(run("\"$L\" verify \"$D\"/log/*6.lzlog") == 0 && run("\"$L\" verify \"$D\"/log/*") == 0);
    CHECK(run("mkdir \"$D\"/other && cp \"$D\"/log/*6.lzlog \"$D\"/other && \"$L\" verify \"$D\"/log/*1.lzlog \"$D\"/other/*") == 0);
    CHECK(run("rm \"$D\"/log/*3.lzlog && \"$L\" verify \"$D\"/log/*") == 1);
    CHECK(strstr(output, "000000000004.lzlog: number 3 is missing before it\n") != NULL && strstr(output, "1 defects") == NULL);
    CHECK(run("\"$L\" cat \"$D\"/log/* >/dev/null") == 1 && strcmp(strrchr(output, ':'), ": number 3 is missing before it\n") == 0);
    CHECK(run("rm \"$D\"/log/*2.lzlog && \"$L\" verify \"$D\"/log/*") == 1);
    CHECK(strstr(output, "000000000004.lzlog: numbers 2 to 3 are missing before it\n") != NULL);
    CHECK(run("rm \"$D\"/log/*1.lzlog && \"$L\" verify \"$D\"/log/*") == 0); /* the oldest is always the first to go */
}

/* Nothing but its successor betrays a file that was cut and made to look as if it were being written. */
static void unfinished_files_are_named(void)
{
    char dir[5000];
    snprintf(dir, sizeof(dir), "%s/log", scratch_dir);
    write_numbers(dir, test_key);
    CHECK(run("\"$L\" verify \"$D\"/log/*") == 0);
    CHECK(run("dd if=/dev/zero of=\"$D\"/log/000000000003.lzlog bs=1 seek=192 count=8 conv=notrunc status=none") == 0); /* the seal */
    CHECK(run("\"$L\" verify \"$D\"/log/000000000003.lzlog") == 0 && strstr(output, " open: ") != NULL);
    CHECK(run("\"$L\" verify \"$D\"/log/*") == 1);
    CHECK(strstr(output, "000000000004.lzlog: number 3 before it was never finished: its writer was killed, or it was cut\n") != NULL);
}

/* With the key a verified log has no file that is plain, copied, or out of order. */
static void strangers_are_named(void)
{
    char dir[5000], plain[5000];
    snprintf(dir, sizeof(dir), "%s/log", scratch_dir);
    snprintf(plain, sizeof(plain), "%s/plain", scratch_dir);
    write_numbers(dir, test_key);
    write_numbers(plain, NULL);
    FILE *file;
    char path[5000];
    snprintf(path, sizeof(path), "%s/key", scratch_dir);
    CHECK((file = fopen(path, "wb")) != NULL && fwrite(test_key, 1, LZLOG_KEY_SIZE, file) == LZLOG_KEY_SIZE && fclose(file) == 0);
    CHECK(run("\"$L\" verify --key-file \"$D\"/key \"$D\"/log/*") == 0);
    CHECK(run("cp \"$D\"/plain/*3.lzlog \"$D\"/log/ && \"$L\" verify --key-file \"$D\"/key \"$D\"/log/*") == 1);
    CHECK(strstr(output, "000000000003.lzlog: it is not encrypted") != NULL && strstr(output, "4.lzlog: number 3 is missing before it") != NULL);
    CHECK(run("\"$L\" cat --key-file \"$D\"/key \"$D\"/log/*3.lzlog") == 1 && strstr(output, "it is not encrypted") != NULL);
    CHECK(run("echo more | \"$L\" write --dir \"$D\"/log --key-file \"$D\"/key") == 1 && strstr(output, "3.lzlog is not encrypted") != NULL);
    CHECK(run("cp \"$D\"/log/*1.lzlog \"$D\"/log/000000000099.lzlog && \"$L\" verify --key-file \"$D\"/key \"$D\"/log/*") == 1);
    CHECK(strstr(output, "it has number 1 and comes after number ") != NULL);
}

/* A record is one line of text, whatever bytes it has. */
static void records_forge_no_line(void)
{
    CHECK(run("printf 'one\\ra\\033[2J\\302\\233b\\tc\\377 \\303\\251\\342\\200\\250\n' | \"$L\" write --dir \"$D\"/log && \"$L\" cat \"$D\"/log/*") == 0);
    CHECK(strcmp(output, "one\\x0da\\x1b[2J\\xc2\\x9bb\tc\\xff \303\251\\xe2\\x80\\xa8\n") == 0);
}

static void secrets_come_from_files(void)
{
    write_lines(test_key);
    FILE *file;
    char path[5000];
    snprintf(path, sizeof(path), "%s/key", scratch_dir);
    CHECK((file = fopen(path, "wb")) != NULL && fwrite(test_key, 1, LZLOG_KEY_SIZE, file) == LZLOG_KEY_SIZE && fclose(file) == 0);
    CHECK(run("\"$L\" cat --key-file \"$D\"/key \"$D\"/*.lzlog") == 0);
    CHECK(strcmp(output, "the first line\nthe second line\n") == 0);
    CHECK(run("\"$L\" verify \"$D\"/*.lzlog") == 0 && strstr(output, "encrypted") != NULL);
    CHECK(run("\"$L\" verify --key-file \"$D\"/key \"$D\"/*.lzlog") == 0 && strstr(output, "2 records, 29 bytes, 0 defects") != NULL);
    CHECK(run("head -c 32 /dev/zero >\"$D\"/other; \"$L\" verify --key-file \"$D\"/other \"$D\"/*.lzlog") == 1);
    CHECK(run("\"$L\" cat \"$D\"/*.lzlog") == 1 && strstr(output, "it is encrypted") != NULL);
    CHECK(run("echo short >\"$D\"/short; \"$L\" cat --key-file=\"$D\"/short \"$D\"/*.lzlog") == 1);
    CHECK(strstr(output, "a key has 32 bytes") != NULL);
}

static void nonsense_is_refused(void)
{
    static const char *const lines[] = {
        "\"$L\"", "\"$L\" nonsense", "\"$L\" cat", "\"$L\" write", "\"$L\" write --dir x y", "\"$L\" verify --key x y", "\"$L\" bench --threads 0", "\"$L\" bench --threads 1x",
        "\"$L\" bench --dri x", "\"$L\" bench --seconds 0", "\"$B\"", "\"$B\" cell", "\"$B\" cell nonsense", "\"$B\" cell memcpy --seconds 0", "\"$B\" cell memcpy --seconds x",
        "\"$B\" cell memcpy --what", "\"$B\" cases x", "\"$B\" bench", "\"$B\" bench nobody", "\"$B\" bench lzlog --seconds 0", "\"$B\" compared x",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        CHECK(run(lines[i]) == 2);
        CHECK(strstr(output, "usage: ") != NULL);
    }
    CHECK(run("\"$B\" cell memcpy --dir /nowhere") == 1);
}

static void bench_has_rows(void)
{
    static const char *const rows[] = {"no gap ", "no gap, encrypted ", "gap 100 us ", "gap 1 ms ", "gap 10 ms "};
    CHECK(run("\"$L\" bench --threads 3 --seconds 0.02 --dir \"$D\"") == 0);
    const char *line = strchr(strchr(output, '\n') + 1, '\n') + 1; /* behind two of headings */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, line = strchr(line, '\n') + 1) {
        double one, all, scaling, slowest, fastest;
        CHECK(strncmp(line, rows[i], strlen(rows[i])) == 0);
        CHECK(sscanf(line + 20, "%lf %lf %lf%% %lf %lf", &one, &all, &scaling, &slowest, &fastest) == 5);
        /* All are printed as whole numbers: on a busy machine small ones, and with gaps perhaps none. */
        CHECK((one > 0 && slowest > 0) || i > 1);
        CHECK(slowest <= fastest && 3 * slowest <= all + 3 && all <= 3 * fastest + 3);
        CHECK(scaling >= 100 * (all - 0.5) / (3 * (one + 0.5)) - 1 && (one < 1 || scaling <= 100 * (all + 0.5) / (3 * (one - 0.5)) + 1));
    }
    CHECK(*line == '\0');
    CHECK(run("ls -A \"$D\"") == 0 && output[0] == '\0');
    CHECK(run("\"$L\" bench --dir \"$D\"/nothing") == 1);
}

static void cells_run(void)
{
    CHECK(run("\"$B\" cases") == 0);
    CHECK(strcmp(output, "memcpy\nmemcpy-fresh\nfetchadd-memcpy-10\nlzlog-1\nlzlog-1-cas\nlzlog-1-mutex\nlzlog-1-aes\nlzlog-1-equal\n"
                         "lzlog-5\nlzlog-10\nlzlog-10-cas\nlzlog-10-mutex\nlzlog-10-aes\nspdlog-1\nspdlog-1-rotating\nspdlog-5\n"
                         "spdlog-10\nwrite-1\nclock\nwrite-blocks-clock\n"
                         "lzlog-1-without-fork\nlzlog-1-without-turn\nlzlog-1-without-addition\nlzlog-1-without-ahead\n"
                         "lzlog-1-without-announcement\nlzlog-1-without-checksum\nlzlog-1-without-commitment\nlzlog-1-without-all\n") == 0);
    static const char *const cases[] = {"fetchadd-memcpy-10", "lzlog-10",  "lzlog-10-aes",      "lzlog-1-aes",
                                        "lzlog-1-equal",      "spdlog-10", "spdlog-1-rotating", "lzlog-5",
                                        "clock",     "write-blocks-clock", "lzlog-1-without-all"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[256], begin[64];
        snprintf(line, sizeof(line), "\"$B\" cell %s --seconds 0.01 --dir \"$D\"", cases[i]);
        snprintf(begin, sizeof(begin), "{\"case\":\"%s\",\"operations\":", cases[i]);
        CHECK(run(line) == 0);
        CHECK(strncmp(output, begin, strlen(begin)) == 0 && strchr(output, '\n') == output + strlen(output) - 1);
        CHECK(run("ls -A \"$D\"") == 0 && output[0] == '\0'); /* nothing is left */
    }
}

/* Two lines for each case, and one for a case that failed; nothing is left, and everything fits into what a container has. */
static void implementations_are_compared(void)
{
    CHECK(run("\"$B\" compared | grep -c '^lzlog write'") == 0 && strcmp(output, "5\n") == 0);
    CHECK(run("for i in $(\"$B\" compared | cut -d' ' -f1 | sort -u); do \"$B\" bench $i --seconds 0.01 --dir \"$D\" || exit; done") == 0);
    int lines = 0;
    for (const char *line = output; *line != '\0'; line = strchr(line, '\n') + 1, lines++) {
        char name[64], metric[16];
        double value;
        CHECK(sscanf(line, "{\"schema\":\"loadstone.case/v1\",\"case\":\"%63[^\"]\",\"metric\":\"%15[^\"]\",\"unit\":\"ns\",\"better\":\"Less\",\"value\":%lf",
                     name, metric, &value) == 3);
        CHECK(strcmp(metric, lines % 2 == 0 ? "Time" : "CPU time") == 0 && value > 0);
    }
    CHECK(run("\"$B\" compared | grep -c .") == 0 && lines == 2 * atoi(output));
    CHECK(run("ls -A \"$D\"") == 0 && output[0] == '\0');
    CHECK(run("\"$B\" bench write --dir /nowhere 2>/dev/null") == 1);
    CHECK(strcmp(output, "{\"schema\":\"loadstone.case/v1\",\"case\":\"write/threads:1\","
                         "\"failure\":\"it did not succeed; standard error has the reason\"}\n") == 0);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"write makes each line a record, cat prints them", lines_become_records},
        {"a line that does not end takes no memory, and the others are written", lines_have_no_end},
        {"a second process is refused with a sentence", second_process_is_refused},
        {"cat prints the records, verify counts them", cat_prints},
        {"defects are named with file and byte, and are the exit status", defects_are_named},
        {"files that are missing between others are named", missing_files_are_named},
        {"and so are those that were never finished", unfinished_files_are_named},
        {"secrets come from files", secrets_come_from_files},
        {"plain and copied files are named with the key", strangers_are_named},
        {"records forge no line", records_forge_no_line},
        {"nonsense is refused with the usage and status 2", nonsense_is_refused},
        {"bench has a row for each load, with rates that fit together", bench_has_rows},
        {"cells print one line and leave nothing", cells_run},
        {"implementations are compared under the same names", implementations_are_compared},
    };
    if (argc != 4) {
        fprintf(stderr, "usage: cli_test SCRATCH LZLOG LZLOG-BENCH\n");
        return 2;
    }
    lzlog = argv[2];
    lzlog_bench = argv[3];
    return RUN_TESTS("cli", tests, argv[1]);
}
