/* Tests of socket.c. Names are sentences; a failure ends with status 1. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "ladder.h"

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, __func__, #condition);   \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

static struct endpoint a, b;
static struct beside beside;

static void open_pair(int kind)
{
    CHECK(pair(kind, &a, &b) == DONE);
}

static void close_pair(void)
{
    CHECK(close(a.fd) == 0 && close(b.fd) == 0);
}

/* lowest_free is the number that the next file gets: it tells whether one was left open. */
static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && close(fd) == 0);
    return fd;
}

static void messages_arrive_whole_and_in_order_and_then_the_end(void)
{
    char buffer[100];
    size_t n;
    open_pair(SOCK_SEQPACKET);
    CHECK(send_message(&a, "one", 3, NULL) == DONE && send_message(&a, "four", 4, NULL) == DONE);
    CHECK(shutdown(a.fd, SHUT_WR) == 0);
    CHECK(receive_message(&b, buffer, sizeof(buffer), &n, &beside) == DONE && n == 3 && memcmp(buffer, "one", 3) == 0);
    CHECK(receive_message(&b, buffer, sizeof(buffer), &n, &beside) == DONE && n == 4 && memcmp(buffer, "four", 4) == 0);
    CHECK(receive_message(&b, buffer, sizeof(buffer), &n, &beside) == END);
    CHECK(receive_message(&b, buffer, sizeof(buffer), &n, &beside) == END);
    close_pair();
}

static void descriptors_and_credentials_arrive(void)
{
    int fds[2];
    char buffer[100];
    size_t n;
    open_pair(SOCK_SEQPACKET);
    CHECK(pass_cred(&b) == DONE && pipe(fds) == 0);
    struct beside sent = {.fd_count = 2, .has_cred = true, .cred = {getpid(), getuid(), getgid()}, .fds = {fds[0], fds[1]}};
    CHECK(send_message(&a, "two", 3, &sent) == DONE);
    CHECK(receive_message(&b, buffer, sizeof(buffer), &n, &beside) == DONE && n == 3);
    CHECK(beside.fd_count == 2 && beside.has_cred && memcmp(&beside.cred, &sent.cred, sizeof(sent.cred)) == 0);
    CHECK(write(beside.fds[1], "x", 1) == 1 && read(fds[0], buffer, 10) == 1 && buffer[0] == 'x');
    CHECK(fcntl(beside.fds[0], F_GETFD) == FD_CLOEXEC);
    for (int i = 0; i < 2; i++)
        CHECK(close(fds[i]) == 0 && close(beside.fds[i]) == 0);
    close_pair();
}

static void what_does_not_fit_is_an_error_and_its_descriptors_are_closed(void)
{
    char buffer[100];
    size_t n;
    open_pair(SOCK_SEQPACKET);
    int before = lowest_free();
    struct beside sent = {.fd_count = 3, .fds = {0, 1, 2}};
    CHECK(send_message(&a, "message", 7, &sent) == DONE);
    CHECK(receive_message(&b, buffer, 6, &n, &beside) == TRUNCATED && n == 0 && beside.fd_count == 0);
    CHECK(lowest_free() == before);
    close_pair();
}

static void descriptors_that_were_lost_are_an_error_and_the_others_are_closed(void)
{
    char buffer[100];
    size_t n;
    open_pair(SOCK_SEQPACKET);
    struct beside sent = {.fd_count = 3, .fds = {0, 1, 2}};
    CHECK(send_message(&a, "message", 7, &sent) == DONE);
    /* Room for one of three. */
    struct rlimit old, few;
    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    few = old;
    few.rlim_cur = (rlim_t)lowest_free() + 1;
    int before = lowest_free();
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    enum outcome outcome = receive_message(&b, buffer, sizeof(buffer), &n, &beside);
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    CHECK(outcome == LOST && n == 0 && beside.fd_count == 0 && lowest_free() == before);
    close_pair();
}

static void nothing_and_too_much_are_refused(void)
{
    size_t n;
    struct beside sent = {.fd_count = MAX_FDS + 1};
    open_pair(SOCK_SEQPACKET);
    CHECK(send_message(&a, "", 0, NULL) == EMPTY && receive_message(&b, &n, 0, &n, &beside) == EMPTY);
    CHECK(send_message(&a, "x", 1, &sent) == TOO_MANY);
    CHECK(close(b.fd) == 0);
    CHECK(send_message(&a, "x", 1, NULL) == FAILED && errno == EPIPE);
    CHECK(close(a.fd) == 0);
}

static void names_of_cases_are_understood_and_no_others(void)
{
    static const char *const bad[] = {"", "c", "c-thread", "c-threads-", "c-threads-6", "c-threads-65537", "c-threads-07", "c-threads-7x", "go-baseline"};
    size_t size;
    CHECK(find_benchmark("c-threads", &size) == &benchmarks[0] && size == SMALLEST);
    CHECK(find_benchmark("c-threads-4096", &size) == &benchmarks[0] && size == 4096);
    CHECK(strcmp(find_benchmark("c-roundtrip-processes", &size)->name, "c-roundtrip-processes") == 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(find_benchmark(bad[i], &size) == NULL);
}

/* Each case in this process, so that sanitizers see both threads; other processes are sanitized too. */
static void every_case_runs(void)
{
    for (size_t i = 0; i < benchmark_count; i++) {
        int before = lowest_free();
        for (size_t size = SMALLEST; size <= LARGEST; size += LARGEST - SMALLEST) {
            struct run run = {.size = size, .least = 0.02};
            do_benchmark(&benchmarks[i], &run);
            CHECK(run.operations > 0 && run.wall >= 0.02 && run.cpu > 0);
        }
        CHECK(lowest_free() == before);
    }
}

static void more_descriptors_than_there_can_be_are_refused(void)
{
    static char control[8192];
    for (size_t count = MAX_FDS - 1; count <= MAX_FDS + 2; count++) {
        struct cmsghdr header = {.cmsg_len = CMSG_LEN(count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(control, &header, sizeof(header));
        CHECK((parse_control(control, header.cmsg_len, &beside) == DONE) == (count <= MAX_FDS));
    }
}

static void every_rung_talks(void)
{
    for (size_t i = 0; i < rung_count; i++) {
        CHECK(find_rung(rungs[i].name) == &rungs[i]);
        for (size_t j = 0; j < conversation_count; j++) {
            struct talk talk = hold_conversation(&rungs[i], &conversations[j], 0.002);
            CHECK(talk.operations > 0 && talk.wall > 0 && talk.cpu > 0);
        }
    }
    CHECK(find_rung("memory") == NULL && find_rung("") == NULL);
}

/* only_child is a process that another one has started; it waits for it. */
static pid_t only_child(pid_t parent)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
    for (int i = 0; i < 100000 && child == 0; i++) {
        FILE *children = fopen(path, "r");
        CHECK(children != NULL);
        if (fscanf(children, "%d", &child) != 1)
            child = 0;
        fclose(children);
        usleep(1000);
    }
    CHECK(child > 0);
    return child;
}

static void the_death_of_the_other_process_ends_a_conversation(void)
{
    for (size_t i = 0; i < rung_count; i++) {
        pid_t talker = fork();
        CHECK(talker >= 0);
        if (talker == 0) {
            CHECK(freopen("/dev/null", "w", stderr) != NULL); /* it says what is expected here */
            hold_conversation(&rungs[i], &conversations[0], 3600);
            _exit(0);
        }
        CHECK(kill(only_child(talker), SIGKILL) == 0);
        int status;
        CHECK(waitpid(talker, &status, 0) == talker && WIFEXITED(status) && WEXITSTATUS(status) == 1);
    }
}

int main(void)
{
    messages_arrive_whole_and_in_order_and_then_the_end();
    descriptors_and_credentials_arrive();
    what_does_not_fit_is_an_error_and_its_descriptors_are_closed();
    descriptors_that_were_lost_are_an_error_and_the_others_are_closed();
    nothing_and_too_much_are_refused();
    names_of_cases_are_understood_and_no_others();
    more_descriptors_than_there_can_be_are_refused();
    every_case_runs();
    every_rung_talks();
    the_death_of_the_other_process_ends_a_conversation();
    return 0;
}
