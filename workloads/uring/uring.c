/*
 * uring: what ../epoll does, by io_uring, on one thread. The kernel is asked once for all connections of a listener and once for all input of a
 * connection, and tells of what came in a ring that both share; answers to all that came are handed over in the system call that waits for
 * more. So a server that is kept busy makes one call for many requests, where one on epoll makes two for each.
 *
 * Input comes in pieces that all connections share. A connection has memory of its own only while it has sent half a request, or more than it
 * takes answers to; one that does not read its answers is not read from.
 */
#define _GNU_SOURCE
#define PROGRAM "uring"
#include <liburing.h>
#include <poll.h>

#include "../epoll/conn.h"
#include "../epoll/process.h"

enum {
    ASKED = 1024,    /* what the kernel is asked for in one call */
    TOLD = 16384,    /* what it can tell before somebody looks: all pieces of all that it looks at in one call, and more */
    PIECES = 256,    /* a power of two */
    PIECE = 2048,    /* bytes */
    NO_IO_URING = 3  /* exit code */
};

/* What the kernel tells of, in the lowest bits of what it is asked with. The others are the connection, if it is of one. */
enum about { CLIENT, LISTENER, SECOND, SIGNAL, NOTHING, INPUT, OUTPUT, CANCEL };
enum { ABOUT = 7 };

struct flow {
    struct conn c; /* first, as the ring of all connections is of these */
    struct flow *later;
    bool queued;    /* it has a turn */
    bool reading;   /* the kernel is asked for its input */
    bool cancelled; /* and is asked to forget that */
    bool blocked;   /* the client has not taken all that it was offered */
    bool writing;   /* the kernel waits until it takes more */
    bool half;      /* the client sends no more */
    bool ended;
    size_t offered; /* bytes that the kernel has, or is told to have, written */
};

static struct io_uring ring;
static struct io_uring_buf_ring *slots; /* of the pieces that the kernel may fill */
static char pieces[PIECES][PIECE];
static unsigned returned;  /* pieces that it may fill again once it is told so */
static struct flow *turns; /* connections that something is to be done for */
static bool hurry;         /* and that is all that is waited for */

/* ask is one more thing to ask the kernel for. */
static struct io_uring_sqe *ask(void)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
    while (sqe == NULL) {
        errno = -io_uring_submit(&ring);
        if (errno > 0 && errno != EINTR)
            die("io_uring_submit");
        sqe = io_uring_get_sqe(&ring);
    }
    return sqe;
}

/* name says what the answer will be about. In silence there is none unless it goes wrong. */
static void name(struct io_uring_sqe *sqe, struct flow *f, enum about about, bool silence)
{
    io_uring_sqe_set_data64(sqe, (uint64_t)(uintptr_t)f | about);
    if (silence)
        sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
}

static void take_turn(struct flow *f)
{
    if (f->queued)
        return;
    f->queued = true;
    f->later = turns;
    turns = f;
}

/* take reads a piece of input, and keeps what has to wait. It returns false when the connection is to be closed. */
static bool take(struct conn *c, char *piece, size_t size)
{
    if (c->drained > 0) {
        c->drained += size;
        return c->drained < DRAIN_MAX;
    }
    if (c->last != NULL) { /* nobody reads what follows, but there is something */
        c->used += size;
        return true;
    }
    char *input = piece;
    if (c->held != NULL) {
        input = realloc(c->held, c->used + size);
        if (input == NULL)
            return false;
        c->held = input;
        memcpy(input + c->used, piece, size);
    }
    c->used += size;
    parse_input(c, input);
    if (c->used == 0 || c->held != NULL)
        return true;
    c->held = malloc(c->used);
    if (c->held != NULL)
        memcpy(c->held, input, c->used);
    return c->held != NULL;
}

/* forget frees the input that was held when there is none any more. */
static void forget(struct conn *c)
{
    if (c->used == 0) {
        free(c->held);
        c->held = NULL;
    }
}

/* finish is for a connection whose last answer is out. */
static void finish(struct flow *f)
{
    struct conn *c = &f->c;
    if (closes(c->last) && c->used == 0) {
        f->ended = true;
        return;
    }
    /* Closing with unread input would reset the connection and might take the answer away from the client. */
    c->used = 0;
    c->drained = 1;
    allow(c, REQUEST_TICKS);
    f->ended = shutdown(c->fd, SHUT_WR) != 0;
}

/*
 * offer offers the client its next answers. Mostly it takes them at once: then the kernel says nothing, and nothing waits for it. What it does
 * not take the kernel keeps until it takes some.
 */
static void offer(struct flow *f)
{
    struct conn *c = &f->c;
    if (c->owed == 0 && c->last == NULL && c->scanned < c->used)
        parse_input(c, c->held);
    forget(c);
    struct text next = due(c);
    if (next.size == 0) {
        f->ended = f->half;
        await_input(c);
        return;
    }
    struct io_uring_sqe *sqe = ask();
    io_uring_prep_send(sqe, c->fd, next.data, next.size, f->blocked ? MSG_NOSIGNAL : MSG_NOSIGNAL | MSG_DONTWAIT | MSG_WAITALL);
    name(sqe, f, OUTPUT, !f->blocked);
    if (f->blocked) {
        f->blocked = false;
        f->writing = true;
        allow(c, ANSWER_TICKS);
        return;
    }
    f->offered = next.size;
    take_turn(f);
    hurry = hurry || c->owed > BATCH || c->last != NULL || c->scanned < c->used || f->half;
}

/* watch_input asks for a connection's input while it is wanted, and only then. */
static void watch_input(struct flow *f)
{
    bool wanted = !f->writing && !f->half && f->c.used <= HEAD_MAX;
    if (wanted && !f->reading) {
        struct io_uring_sqe *sqe = ask();
        io_uring_prep_recv_multishot(sqe, f->c.fd, NULL, 0, 0);
        sqe->flags |= IOSQE_BUFFER_SELECT; /* of group 0 */
        name(sqe, f, INPUT, false);
        f->reading = true;
    } else if (!wanted && f->reading && !f->cancelled) {
        struct io_uring_sqe *sqe = ask();
        io_uring_prep_cancel64(sqe, (uint64_t)(uintptr_t)f | INPUT, 0);
        name(sqe, f, CANCEL, true);
        f->cancelled = true;
    }
}

/* leave closes a connection once the kernel has forgotten it. */
static void leave(struct flow *f)
{
    if (f->reading || f->writing) {
        if (!f->cancelled) {
            struct io_uring_sqe *sqe = ask();
            io_uring_prep_cancel_fd(sqe, f->c.fd, IORING_ASYNC_CANCEL_ALL);
            name(sqe, f, CANCEL, true);
            f->cancelled = true;
        }
        return;
    }
    struct io_uring_sqe *sqe = ask();
    io_uring_prep_close(sqe, f->c.fd);
    name(sqe, NULL, NOTHING, true);
    part(&f->c);
    free(f);
}

/* turn does what is to be done for a connection when the kernel has told all that there was. */
static void turn(struct flow *f)
{
    struct conn *c = &f->c;
    size_t size = f->offered;
    f->offered = 0;
    if (!f->ended && size > 0 && wrote(c, size))
        finish(f);
    if (!f->ended && c->drained > 0)
        f->ended = f->half;
    else if (!f->ended && !f->writing)
        offer(f);
    if (f->ended)
        leave(f);
    else
        watch_input(f);
}

static void hear_input(struct flow *f, const struct io_uring_cqe *cqe)
{
    int n = cqe->res;
    if ((cqe->flags & IORING_CQE_F_MORE) == 0)
        f->reading = f->cancelled = false;
    if ((cqe->flags & IORING_CQE_F_BUFFER) != 0) {
        unsigned id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
        if (n > 0 && !f->ended && !take(&f->c, pieces[id], (size_t)n))
            f->ended = true;
        io_uring_buf_ring_add(slots, pieces[id], PIECE, (unsigned short)id, PIECES - 1, (int)returned++);
    }
    f->half = f->half || n == 0;
    /* Without a piece to fill, the kernel has to be asked again. */
    if (n < 0 && n != -ECANCELED && n != -ENOBUFS && n != -EINTR && n != -EAGAIN)
        f->ended = true;
    take_turn(f);
}

static void hear_output(struct flow *f, const struct io_uring_cqe *cqe)
{
    int n = cqe->res;
    f->blocked = !f->writing; /* the client was offered more than it took at once */
    f->writing = false;
    f->offered = n > 0 ? (size_t)n : 0;
    if (n < 0 && n != -EAGAIN && n != -EINTR)
        f->ended = true;
    take_turn(f);
}

/* await asks the kernel to tell when something can be read: each time, or once. */
static void await(int fd, enum about about, bool once)
{
    struct io_uring_sqe *sqe = ask();
    if (once)
        io_uring_prep_poll_add(sqe, fd, POLLIN);
    else
        io_uring_prep_poll_multishot(sqe, fd, POLLIN);
    name(sqe, NULL, about, false);
}

static void admit(int listener)
{
    struct io_uring_sqe *sqe = ask();
    io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
    name(sqe, NULL, CLIENT, false);
}

/* hear_client takes a new connection. Out of descriptors, it turns one away, and asks again when there is another. */
static void hear_client(int listener, const struct io_uring_cqe *cqe)
{
    bool full = cqe->res == -EMFILE || cqe->res == -ENFILE;
    if (full)
        turn_away(listener);
    if ((cqe->flags & IORING_CQE_F_MORE) == 0) {
        if (full)
            await(listener, LISTENER, true);
        else
            admit(listener);
    }
    if (cqe->res < 0)
        return;
    struct flow *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        close(cqe->res);
        return;
    }
    join(&f->c, cqe->res);
    watch_input(f);
}

/* tick lets go of the clients whose time is up. One that has sent half a request is told so. */
static void tick(void)
{
    ticks++;
    for (struct conn *c = conns.next; c != &conns; c = c->next) {
        struct flow *f = (struct flow *)c;
        if (c->deadline > ticks || f->ended || f->queued)
            continue; /* one that has a turn is about to be given time */
        f->ended = !late(c);
        hurry = true;
        take_turn(f);
    }
}

/* hear hears one thing. It returns false for the signal that ends the server. */
static bool hear(const struct io_uring_cqe *cqe, int listener, int clock, bool *ticked)
{
    uint64_t data = io_uring_cqe_get_data64(cqe), seconds;
    struct flow *f = (struct flow *)(uintptr_t)(data & ~(uint64_t)ABOUT);
    switch ((enum about)(data & ABOUT)) {
    case CLIENT:
        hear_client(listener, cqe);
        break;
    case LISTENER:
        admit(listener);
        break;
    case SECOND:
        *ticked = read(clock, &seconds, sizeof(seconds)) == sizeof(seconds) || *ticked;
        if ((cqe->flags & IORING_CQE_F_MORE) == 0)
            await(clock, SECOND, false);
        break;
    case SIGNAL:
        return false;
    case INPUT:
        hear_input(f, cqe);
        break;
    case OUTPUT:
        hear_output(f, cqe);
        break;
    case CANCEL: /* it could not be done, or not yet */
        f->cancelled = false;
        take_turn(f);
        break;
    case NOTHING:
        break;
    }
    return true;
}

/* serve answers until a signal ends it. */
static void serve(int listener, int clock)
{
    for (;;) {
        struct io_uring_cqe *cqe;
        unsigned head, heard = 0;
        bool ticked = false;
        int status = hurry ? io_uring_submit_and_get_events(&ring) : io_uring_submit_and_wait(&ring, 1);
        errno = -status;
        if (status < 0 && status != -EINTR && status != -EAGAIN && status != -EBUSY)
            die("io_uring_submit_and_wait");
        hurry = false;
        io_uring_for_each_cqe(&ring, head, cqe)
        {
            heard++;
            if (!hear(cqe, listener, clock, &ticked))
                return;
        }
        io_uring_cq_advance(&ring, heard);
        io_uring_buf_ring_advance(slots, (int)returned);
        returned = 0;
        struct flow *f = turns, *next;
        for (turns = NULL; f != NULL; f = next) {
            next = f->later;
            f->queued = false;
            turn(f);
        }
        if (ticked)
            tick();
    }
}

/* refused says what a kernel without io_uring means. */
static void refused(int reason)
{
    fprintf(stderr,
            PROGRAM ": the kernel refuses io_uring (%s): it takes Linux 6.1, kernel.io_uring_disabled=0, and no filter of system calls as "
                    "containers have; epoll is the server that goes without\n",
            strerror(reason));
    exit(NO_IO_URING);
}

/* open_ring makes the ring, and has all pieces filled by the kernel. */
static void open_ring(void)
{
    struct io_uring_params how = {
        .flags = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_DEFER_TASKRUN,
        .cq_entries = TOLD,
    };
    int status = io_uring_queue_init_params(ASKED, &ring, &how);
    if (status < 0)
        refused(-status);
    io_uring_register_ring_fd(&ring); /* what fails costs a look-up in each call, no more */
    slots = aligned_alloc(4096, PIECES * sizeof(struct io_uring_buf));
    if (slots == NULL)
        die("aligned_alloc");
    struct io_uring_buf_reg group = {.ring_addr = (uint64_t)(uintptr_t)slots, .ring_entries = PIECES};
    status = io_uring_register_buf_ring(&ring, &group, 0);
    if (status < 0)
        refused(-status);
    io_uring_buf_ring_init(slots);
    for (unsigned id = 0; id < PIECES; id++)
        io_uring_buf_ring_add(slots, pieces[id], PIECE, (unsigned short)id, PIECES - 1, (int)id);
    io_uring_buf_ring_advance(slots, PIECES);
}

int main(int argc, char **argv)
{
    uint16_t port = port_from(argc, argv);
    int ending = open_signals(), clock = open_clock();

    raise_files();
    open_ring();
    int listener = listen_on(port);
    admit(listener);
    await(ending, SIGNAL, false);
    await(clock, SECOND, false);
    serve(listener, clock);
    io_uring_queue_exit(&ring);
    free(slots);
    while (conns.next != &conns) {
        struct flow *f = (struct flow *)conns.next;
        close(f->c.fd);
        part(&f->c);
        free(f);
    }
    return 0;
}
