#include "cases.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const struct benchmark benchmarks[] = {
    {.name = "c-threads", .as = "baseline", .kind = SOCK_SEQPACKET, .sweep = true},
    {.name = "c-stream", .as = "stream", .kind = SOCK_STREAM, .sweep = true},
    {.name = "c-fds", .as = "fds", .kind = SOCK_SEQPACKET, .fds = true},
    {.name = "c-cred", .as = "cred", .kind = SOCK_SEQPACKET, .cred = true},
    {.name = "c-roundtrip", .as = "roundtrip", .kind = SOCK_SEQPACKET, .echo = true},
    {.name = "c-processes", .as = "processes", .kind = SOCK_SEQPACKET, .sweep = true, .processes = true},
    {.name = "c-roundtrip-processes", .as = "roundtrip-processes", .kind = SOCK_SEQPACKET, .processes = true, .echo = true},
};
const size_t benchmark_count = sizeof(benchmarks) / sizeof(benchmarks[0]);

const size_t sweep_sizes[] = {64, 512, 4096, 16384, 65536};
const size_t sweep_count = sizeof(sweep_sizes) / sizeof(sweep_sizes[0]);

/* exchange is one go at a case, for both of its sides. */
struct exchange {
    const struct benchmark *benchmark;
    struct run *run;
    struct endpoint near, far;
    struct beside sent; /* beside each message */
    struct stat file;   /* of the descriptor that is sent */
    uint64_t received;
};

static void end_sending(const struct endpoint *end)
{
    if (shutdown(end->fd, SHUT_WR) < 0)
        fail("ending a direction", FAILED);
}

static void send_all(struct exchange *x)
{
    unsigned char *message = new_message(x->run->size);
    const struct beside *beside = x->sent.fd_count > 0 || x->sent.has_cred ? &x->sent : NULL;
    uint64_t sent = 0;
    for (; more(x->run, sent); sent++) {
        stamp(message, sent);
        must("sending", send_message(&x->near, message, x->run->size, beside));
    }
    end_sending(&x->near);
    x->run->operations = sent;
    free(message);
}

/* ping sends messages, waits for each to come back, and checks it. */
static void ping(struct exchange *x)
{
    size_t size = x->run->size, n;
    unsigned char *message = new_message(size), *buffer = new_buffer(SOCK_SEQPACKET, size);
    struct checker checker = new_checker(size);
    struct beside beside;
    uint64_t trips = 0;
    for (; more(x->run, trips); trips++) {
        stamp(message, trips);
        must("sending", send_message(&x->near, message, size, NULL));
        must("receiving", receive_message(&x->near, buffer, size < 1024 ? 1024 : size + 1, &n, &beside));
        check(&checker, buffer, n);
    }
    end_sending(&x->near);
    x->run->operations = trips;
    free(message);
    free(buffer);
    free_checker(&checker);
}

/* check_beside sees that what was sent has come, and closes it. Closely, it also sees that a descriptor is of the file that was sent. */
static void check_beside(const struct exchange *x, const struct beside *came, bool closely)
{
    if (came->fd_count != x->sent.fd_count || came->has_cred != x->sent.has_cred)
        fail("checking what came beside a message", MALFORMED);
    for (size_t i = 0; i < came->fd_count; i++) {
        struct stat file;
        if (closely && (fstat(came->fds[i], &file) < 0 || file.st_ino != x->file.st_ino || file.st_dev != x->file.st_dev))
            fail("checking a descriptor that came", MALFORMED);
        if (close(came->fds[i]) < 0)
            fail("closing a descriptor that came", FAILED);
    }
    if (came->has_cred && memcmp(&came->cred, &x->sent.cred, sizeof(came->cred)) != 0)
        fail("checking credentials that came", MALFORMED);
}

/* receive_whole receives one whole message. */
static enum outcome receive_whole(struct exchange *x, unsigned char *buffer, size_t room, size_t *size, struct beside *beside)
{
    enum outcome outcome = receive_message(&x->far, buffer, room, size, beside);
    while (outcome == DONE && x->benchmark->kind == SOCK_STREAM && *size < room) {
        struct beside nothing;
        size_t n;
        must("receiving the rest of a message", receive_message(&x->far, buffer + *size, room - *size, &n, &nothing));
        *size += n;
    }
    return outcome;
}

/* receive_all checks messages until the end, and sends them back if the case is a round trip. */
static void receive_all(struct exchange *x)
{
    size_t size = x->run->size, n;
    size_t room = x->benchmark->kind == SOCK_STREAM ? size : size < 1024 ? 1024 : size + 1;
    unsigned char *buffer = new_buffer(x->benchmark->kind, size);
    struct checker checker = new_checker(size);
    struct beside beside;
    enum outcome outcome;
    while ((outcome = receive_whole(x, buffer, room, &n, &beside)) == DONE) {
        check_beside(x, &beside, checks_closely(&checker));
        check(&checker, buffer, n);
        if (x->benchmark->echo)
            must("sending back", send_message(&x->far, buffer, n, NULL));
    }
    if (outcome != END)
        fail("receiving", outcome);
    x->received = checker.count;
    free(buffer);
    free_checker(&checker);
}

static void near_side(void *x)
{
    (((struct exchange *)x)->benchmark->echo ? ping : send_all)(x);
}

static void far_side(void *x)
{
    receive_all(x);
}

/* report is what the other process found. */
struct report {
    uint64_t count;
    double cpu;
};

_Noreturn static void other_process(struct exchange *x)
{
    struct report report = {0};
    close(x->near.fd);
    must("saying that all is ready", send_message(&x->far, &report, sizeof(report), NULL));
    double begin = cpu_now();
    receive_all(x);
    report = (struct report){x->received, cpu_now() - begin};
    must("reporting", send_message(&x->far, &report, sizeof(report), NULL));
    _exit(0);
}

static void receive_report(struct exchange *x, struct report *report)
{
    struct beside beside;
    size_t n;
    must("waiting for the other process", receive_message(&x->near, report, sizeof(*report), &n, &beside));
    if (n != sizeof(*report))
        fail("waiting for the other process", MALFORMED);
}

static void between_processes(struct exchange *x)
{
    pid_t child = fork();
    if (child < 0)
        fail("starting the other process", FAILED);
    if (child == 0)
        other_process(x);
    close(x->far.fd);
    struct report report;
    receive_report(x, &report);
    start_clock(x->run);
    near_side(x);
    receive_report(x, &report);
    stop_clock(x->run);
    x->run->cpu += report.cpu;
    x->received = report.count;
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        fail("ending the other process", MALFORMED);
}

void do_benchmark(const struct benchmark *benchmark, struct run *run)
{
    struct exchange x = {.benchmark = benchmark, .run = run};
    must("making a socket pair", pair(benchmark->kind, &x.near, &x.far));
    if (benchmark->cred) {
        x.sent.has_cred = true;
        x.sent.cred = (struct ucred){getpid(), getuid(), getgid()};
        must("asking for credentials", pass_cred(&x.far));
    }
    if (benchmark->fds) {
        x.sent.fd_count = 1;
        x.sent.fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (x.sent.fds[0] < 0 || fstat(x.sent.fds[0], &x.file) < 0)
            fail("opening a file to pass", FAILED);
    }
    if (benchmark->processes) {
        between_processes(&x);
    } else {
        together(run, near_side, far_side, &x);
        close(x.far.fd);
    }
    close(x.near.fd);
    if (benchmark->fds)
        close(x.sent.fds[0]);
    if (x.received != run->operations)
        fail("counting the messages", MALFORMED);
}

const struct benchmark *find_benchmark(const char *name, size_t *size)
{
    for (size_t i = 0; i < benchmark_count; i++) {
        size_t length = strlen(benchmarks[i].name);
        if (strncmp(name, benchmarks[i].name, length) != 0)
            continue;
        *size = SMALLEST;
        if (name[length] == '\0')
            return &benchmarks[i];
        char again[32];
        *size = name[length] == '-' ? strtoul(name + length + 1, NULL, 10) : 0;
        snprintf(again, sizeof(again), "-%zu", *size);
        if (strcmp(again, name + length) == 0 && *size >= SMALLEST && *size <= LARGEST)
            return &benchmarks[i];
    }
    return NULL;
}
