/* What ../epoll and ../uring want of the system: a listener, a clock, signals, and as many descriptors as there may be. PROGRAM is the name. */
#ifndef PROCESS_H
#define PROCESS_H

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* die says why the system refused something, and ends the program. */
static void die(const char *what)
{
    fprintf(stderr, PROGRAM ": %s: %s\n", what, strerror(errno));
    exit(1);
}

static int reserve = -1; /* a descriptor to have one when there are none left */

/* open_listener listens on an address, for connections on which nothing waits for more. It returns -1 with errno set when it cannot. */
static int open_listener(const struct sockaddr *address, socklen_t size)
{
    int one = 1, zero = 0;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (address->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* a connection has it from its listener */
    if (bind(fd, address, size) == 0 && listen(fd, 4096) == 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* listen_on listens for IPv6 and IPv4 where there is IPv6, else for IPv4. */
static int listen_on(uint16_t port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = open_listener((const struct sockaddr *)&six, sizeof(six));
    if (fd < 0)
        fd = open_listener((const struct sockaddr *)&four, sizeof(four));
    if (fd < 0)
        die("listen");
    reserve = dup(fd);
    return fd;
}

/* raise_files lets the process have as many connections as it may. */
static void raise_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        die("getrlimit");
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        die("setrlimit");
}

/* port_from reads "--port N" or "--port=N"; 8080 without. */
static uint16_t port_from(int argc, char **argv)
{
    const char *text = "8080";
    if (argc == 3 && strcmp(argv[1], "--port") == 0)
        text = argv[2];
    else if (argc == 2 && strncmp(argv[1], "--port=", 7) == 0)
        text = argv[1] + 7;
    else if (argc != 1)
        text = "";
    char *end;
    long port = strtol(text, &end, 10);
    if (end == text || *end != '\0' || port < 1 || port > 65535) {
        fprintf(stderr, "usage: " PROGRAM " [--port PORT]\n");
        exit(2);
    }
    return (uint16_t)port;
}

/* open_signals makes SIGTERM and SIGINT something to read. */
static int open_signals(void)
{
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    sigprocmask(SIG_BLOCK, &end, NULL);
    int fd = signalfd(-1, &end, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        die("signalfd");
    return fd;
}

/* open_clock makes each second something to read. */
static int open_clock(void)
{
    const struct itimerspec second = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = 1}};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0 || timerfd_settime(fd, 0, &second, NULL) < 0)
        die("timerfd");
    return fd;
}

/*
 * turn_away answers one of those who wait by closing its connection, for when there are no descriptors left: the listener would have
 * something to accept for ever.
 */
static void turn_away(int listener)
{
    if (reserve < 0)
        return;
    close(reserve);
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        close(fd);
    reserve = dup(listener);
}

#endif
