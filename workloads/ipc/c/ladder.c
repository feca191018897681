#include "ladder.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

enum {
    RING_BYTES = 1 << 16,
    HEADER = 4, /* the bytes of a message, before them; that of the end is 0 */
    MESSAGE_MAX = 1 << 16,
    SPINS = 5000,
    PATIENCE = 5,          /* seconds */
    GLANCE_NS = 20000000,  /* between two looks whether the other side is there: its death wakes nobody */
    OPERATIONS_A_LOOK = 64 /* at the clock */
};

const struct rung rungs[] = {{"memory-spin", true, SPINS}, {"memory-futex", true, 0}, {"unix-seqpacket", false, 0}};
const size_t rung_count = sizeof(rungs) / sizeof(rungs[0]);

const struct conversation conversations[] = {
    {"request/size:64", true, 64},   {"request/size:4096", true, 4096},   {"request/size:65536", true, 65536},
    {"transfer/size:64", false, 64}, {"transfer/size:4096", false, 4096}, {"transfer/size:65536", false, 65536},
};
const size_t conversation_count = sizeof(conversations) / sizeof(conversations[0]);

/* One direction of memory. The numbers of bytes written and read grow for ever, and wrap; what is between them is held. */
struct ring {
    _Alignas(128) _Atomic uint32_t written;
    _Alignas(128) _Atomic uint32_t read;
    _Alignas(128) _Atomic uint32_t reader_waits; /* 1 for a side that is to be woken */
    _Alignas(128) _Atomic uint32_t writer_waits;
    _Alignas(4096) unsigned char bytes[RING_BYTES];
};

/* One side of a connection. */
struct side {
    int fd;                /* of the socket, or of one that nothing is sent over: its end is the other side's */
    struct ring *out, *in; /* NULL: the socket carries the bytes */
    unsigned spins;
    double deadline;
    size_t begin, end; /* of what was received and not yet looked at */
    unsigned char sent[HEADER + MESSAGE_MAX], received[HEADER + MESSAGE_MAX];
};

_Noreturn static void wrong(const char *what)
{
    fprintf(stderr, "ipc-c-bench: %s\n", what);
    _exit(1);
}

static double monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* tell wakes the other side if it waits for a number. */
static void tell(_Atomic uint32_t *waits, _Atomic uint32_t *number)
{
    if (atomic_load(waits) != 0 && atomic_exchange(waits, 0) != 0)
        syscall(SYS_futex, number, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* is_gone tells whether the other side is. */
static bool is_gone(const struct side *s)
{
    char byte;
    return recv(s->fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* await waits until a number is no longer what it was. */
static void await(const struct side *s, _Atomic uint32_t *number, uint32_t was, _Atomic uint32_t *waits)
{
    const struct timespec glance = {.tv_nsec = GLANCE_NS};
    for (unsigned i = 0; i < s->spins; i++) {
        if (atomic_load(number) != was)
            return;
    }
    for (;;) {
        atomic_store(waits, 1); /* before the last look, as the other side looks here after it has changed the number */
        if (atomic_load(number) != was)
            return;
        bool gone = is_gone(s); /* before a look at what it may have done before that */
        syscall(SYS_futex, number, FUTEX_WAIT, was, &glance, NULL, 0);
        if (atomic_load(number) != was)
            return;
        if (gone)
            fail("waiting for the other process", END);
        if (monotonic() > s->deadline)
            wrong("the other process takes too long");
    }
}

static uint32_t held(const struct ring *ring)
{
    uint32_t bytes = atomic_load(&ring->written) - atomic_load(&ring->read);
    if (bytes > RING_BYTES)
        wrong("the shared memory is damaged: it holds more bytes than it has room for");
    return bytes;
}

static void put(struct side *s, const unsigned char *from, size_t size)
{
    struct ring *ring = s->out;
    for (;;) {
        uint32_t written = atomic_load(&ring->written), room = RING_BYTES - held(ring), at = written % RING_BYTES;
        size_t n = size < room ? size : room, first = n < RING_BYTES - at ? n : RING_BYTES - at;
        memcpy(ring->bytes + at, from, first);
        memcpy(ring->bytes, from + first, n - first);
        if (n > 0) {
            atomic_store(&ring->written, written + (uint32_t)n);
            tell(&ring->reader_waits, &ring->written);
        }
        from += n;
        size -= n;
        if (size == 0)
            return;
        await(s, &ring->read, written + (uint32_t)n - RING_BYTES, &ring->writer_waits);
    }
}

static size_t take(struct side *s, unsigned char *to, size_t room)
{
    struct ring *ring = s->in;
    uint32_t read = atomic_load(&ring->read), there;
    while ((there = held(ring)) == 0)
        await(s, &ring->written, read, &ring->reader_waits);
    uint32_t at = read % RING_BYTES;
    size_t n = there < room ? there : room, first = n < RING_BYTES - at ? n : RING_BYTES - at;
    memcpy(to, ring->bytes + at, first);
    memcpy(to + first, ring->bytes, n - first);
    atomic_store(&ring->read, read + (uint32_t)n);
    tell(&ring->writer_waits, &ring->read);
    return n;
}

/* send_bytes sends a message, which has no bytes at the end of a conversation. */
static void send_bytes(struct side *s, const void *message, size_t size)
{
    uint32_t header = (uint32_t)size;
    memcpy(s->sent, &header, HEADER);
    if (size > 0)
        memcpy(s->sent + HEADER, message, size);
    if (s->out != NULL) {
        put(s, s->sent, HEADER + size);
        return;
    }
    ssize_t n;
    do
        n = send(s->fd, s->sent, HEADER + size, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        fail("sending a message", FAILED);
}

static size_t receive_some(struct side *s, unsigned char *to, size_t room)
{
    if (s->in != NULL)
        return take(s, to, room);
    ssize_t n;
    do
        n = recv(s->fd, to, room, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        fail("receiving a message", n < 0 ? FAILED : END);
    return (size_t)n;
}

/* receive_bytes receives a message, which holds until the next call. */
static const unsigned char *receive_bytes(struct side *s, size_t *size)
{
    for (;;) {
        size_t there = s->end - s->begin;
        uint32_t wanted = 0;
        if (there >= HEADER) {
            memcpy(&wanted, s->received + s->begin, HEADER);
            if (wanted > MESSAGE_MAX)
                wrong("a message of more than 64 KiB came");
        }
        if (there >= HEADER && there >= HEADER + wanted) {
            const unsigned char *message = s->received + s->begin + HEADER;
            s->begin += HEADER + wanted;
            *size = wanted;
            return message;
        }
        if (there > 0 && s->in == NULL)
            wrong("a part of a message came");
        memmove(s->received, s->received + s->begin, there);
        s->begin = 0;
        s->end = there;
        s->end += receive_some(s, s->received + there, sizeof(s->received) - there);
    }
}

/* A script is what is said: messages that differ by their number. */
struct script {
    unsigned char *message;
    size_t size;
};

static struct script new_script(size_t size, unsigned seed)
{
    struct script script = {malloc(size), size};
    if (script.message == NULL)
        fail("allocating memory", FAILED);
    for (size_t i = 0; i < size; i++)
        script.message[i] = (unsigned char)(i * 7 + (i >> 8) + seed);
    return script;
}

static const unsigned char *number(const struct script *script, uint64_t n)
{
    memcpy(script->message, &n, sizeof(n));
    return script->message;
}

static void compare(const struct script *script, const unsigned char *got, size_t size, uint64_t n)
{
    if (size != script->size || memcmp(got, number(script, n), size) != 0)
        wrong("a message is not what was sent");
}

/* What the other process has done: since the conversation began the first, since it began itself the second. */
struct status {
    uint64_t messages;
    double cpu;
};

static void report(struct side *s, uint64_t messages)
{
    struct status status = {messages, cpu_now()};
    send_bytes(s, &status, sizeof(status));
}

static struct status receive_status(struct side *s)
{
    struct status status;
    size_t size;
    const unsigned char *got = receive_bytes(s, &size);
    if (size != sizeof(status))
        wrong("the other process did not say what it did");
    memcpy(&status, got, size);
    return status;
}

/* serve is the other side of a conversation. */
static void serve(struct side *s, const struct conversation *c, const struct script *asked, const struct script *answers)
{
    uint64_t messages = 0;
    size_t size;
    const unsigned char *got;
    report(s, 0);
    for (; got = receive_bytes(s, &size), size > 0; messages++) {
        compare(asked, got, size, messages);
        if (c->answers)
            send_bytes(s, number(answers, messages), c->size);
    }
    report(s, messages);
}

static struct talk ask(struct side *s, const struct conversation *c, const struct script *asked, const struct script *answers, double least)
{
    struct talk talk = {0};
    size_t size;
    struct status first = receive_status(s);
    double begin = monotonic(), cpu = cpu_now();
    for (uint64_t n = 0; n == 0 || n % OPERATIONS_A_LOOK != 0 || monotonic() < begin + least; n++, talk.operations++) {
        send_bytes(s, number(asked, n), c->size);
        if (!c->answers)
            continue;
        const unsigned char *got = receive_bytes(s, &size);
        compare(answers, got, size, n);
    }
    send_bytes(s, NULL, 0);
    struct status last = receive_status(s);
    talk.wall = monotonic() - begin;
    talk.cpu = cpu_now() - cpu + last.cpu - first.cpu;
    if (last.messages != talk.operations)
        wrong("not as many messages came as were sent");
    return talk;
}

/* lay makes both sides. What they have is the processes': nobody unmaps it. */
static void lay(const struct rung *rung, struct side **near, struct side **far, double life)
{
    int fds[2];
    const struct timeval limit = {.tv_sec = (time_t)life + 1};
    cpu_set_t cpus;
    bool several = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        fail("making a socket pair", FAILED);
    struct side *sides[2] = {calloc(1, sizeof(struct side)), calloc(1, sizeof(struct side))};
    struct ring *memory = mmap(NULL, 2 * sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sides[0] == NULL || sides[1] == NULL || memory == MAP_FAILED)
        fail("allocating memory", FAILED);
    for (int i = 0; i < 2; i++) {
        if (setsockopt(fds[i], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
            setsockopt(fds[i], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
            fail("setting a deadline", FAILED);
        sides[i]->fd = fds[i];
        sides[i]->spins = several ? rung->spins : 0;
        sides[i]->deadline = monotonic() + life;
        if (rung->memory) {
            sides[i]->out = memory + i;
            sides[i]->in = memory + 1 - i;
        }
    }
    if (!rung->memory)
        munmap(memory, 2 * sizeof(*memory));
    *near = sides[0];
    *far = sides[1];
}

static void let_go(struct side *s)
{
    close(s->fd);
    if (s->out != NULL)
        munmap(s->out < s->in ? s->out : s->in, 2 * sizeof(*s->out));
    free(s);
}

struct talk hold_conversation(const struct rung *rung, const struct conversation *c, double least)
{
    const double warm_up = least < 0.05 ? least : 0.05;
    struct side *near, *far;
    struct script asked = new_script(c->size, 1), answers = new_script(c->size, 101);
    lay(rung, &near, &far, least + warm_up + 2 * PATIENCE);
    pid_t child = fork();
    if (child < 0)
        fail("starting the other process", FAILED);
    if (child == 0) {
        close(near->fd); /* or its own death would be no end for it */
        serve(far, c, &asked, &answers);
        serve(far, c, &asked, &answers);
        _exit(0);
    }
    close(far->fd);
    free(far);
    ask(near, c, &asked, &answers, warm_up);
    struct talk talk = ask(near, c, &asked, &answers, least);
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        wrong("the other process did not end well");
    let_go(near);
    free(asked.message);
    free(answers.message);
    return talk;
}

const struct rung *find_rung(const char *name)
{
    for (size_t i = 0; i < rung_count; i++) {
        if (strcmp(rungs[i].name, name) == 0)
            return &rungs[i];
    }
    return NULL;
}

#define LINE "{\"schema\":\"loadstone.case/v1\","

static void print_value(const char *name, const char *metric, const char *unit, const char *better, double value)
{
    printf(LINE "\"case\":\"%s\",\"metric\":\"%s\",\"unit\":\"%s\",\"better\":\"%s\",\"value\":%.4f}\n", name, metric, unit, better, value);
}

int print_ladder(const struct rung *rung, double least)
{
    printf(LINE "\"context\":{\"rung\":\"%s\",\"compiler\":\"%s\"}}\n", rung->name, __VERSION__);
    for (size_t i = 0; i < conversation_count; i++) {
        const struct conversation *c = &conversations[i];
        if (fflush(stdout) != 0) /* or the other process would have it, too */
            return 1;
        struct talk talk = hold_conversation(rung, c, least);
        double n = (double)talk.operations;
        printf(LINE "\"case\":\"%s\",\"metric\":\"Time\",\"unit\":\"ns\",\"better\":\"Less\",\"value\":%.4f,\"iterations\":%llu}\n", c->name,
               talk.wall * 1e9 / n, (unsigned long long)talk.operations);
        print_value(c->name, "CPU time", "ns", "Less", talk.cpu * 1e9 / n);
        if (!c->answers)
            print_value(c->name, "Throughput", "MB/s", "More", n * (double)c->size / 1e6 / talk.wall);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
