/*
 * The library as a program has it: servers in this process, whose handlers do what the server that is measured does not. A test's name is
 * the sentence that it checks.
 */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "uvhttp.h"

enum { PATIENCE = 300, TRIES = PATIENCE * 100 }; /* seconds, and tries of 10 ms */

static atomic_int failures, checks;

static void check(bool good, const char *name, const char *detail)
{
    checks++;
    if (!good) {
        failures++;
        printf("FAIL %s: %s\n", name, detail);
    }
}

/* kept holds requests whose answers are for other handlers to give. */
static struct {
    struct uvhttp_request *requests[8];
    atomic_uint count;
} kept;

static atomic_uint told_gone;

static void count_gone(struct uvhttp_request *request, void *data)
{
    (void)data;
    check(uvhttp_gone(request), "who is told that a client has gone may ask", "it has not");
    told_gone++;
}

static void keep(struct uvhttp_request *request, void *data)
{
    (void)data;
    uvhttp_when_gone(request, count_gone, NULL);
    kept.requests[kept.count++ % 8] = request;
}

/* release answers what was kept, from within another handler, and tells whose clients had gone. */
static void release(struct uvhttp_request *request, void *data)
{
    char text[64];
    unsigned gone = 0, count = kept.count;
    (void)data;
    for (unsigned i = 0; i < count; i++) {
        gone += uvhttp_gone(kept.requests[i]);
        struct uvhttp_text path = uvhttp_param(kept.requests[i], "name");
        check(uvhttp_answer(kept.requests[i], 200, "text/plain", path.data, path.size), "a request is answered later", "it is not");
    }
    kept.count = 0;
    int size = snprintf(text, sizeof(text), "%u of %u gone", gone, count);
    (void)uvhttp_answer(request, 200, NULL, text, (size_t)size);
}

/* odd answers in ways that a server must not pass on, and then says what it was told. */
static void odd(struct uvhttp_request *request, void *data)
{
    static char large[UVHTTP_COPY_MAX + 1];
    struct uvhttp_text kind = uvhttp_query(request);
    (void)data;
    check(!uvhttp_add_header(request, "X-Split", "a\r\nX-Other: b"), "a header's value is one line", "it is not");
    check(!uvhttp_add_header(request, "X Split", "a") && !uvhttp_add_header(request, "", "a"), "a header's name is a token", "it is not");
    check(!uvhttp_add_header(request, "content-length", "3"), "the length is the server's to say", "it is not");
    check(uvhttp_add_header(request, "X-Good", "yes"), "a header is added", "it is not");
    if (kind.data == NULL)
        check(uvhttp_answer(request, 200, NULL, "", 0), "an answer may be empty", "it may not");
    else if (kind.data[0] == 'l')
        check(!uvhttp_answer(request, 200, NULL, large, sizeof(large)), "an answer that is too large is refused", "it is not");
    else if (kind.data[0] == 's')
        check(!uvhttp_answer(request, 99, NULL, "x", 1), "a status that is none is refused", "it is not");
    else if (kind.data[0] == 't')
        check(!uvhttp_answer(request, 200, "a\r\nb: c", "x", 1), "a type that is more than a line is refused", "it is not");
    else
        check(uvhttp_answer(request, 304, NULL, "x", 1), "an answer without a body may be told to have one", "it may not");
}

static void tell(struct uvhttp_request *request, void *data)
{
    char text[256];
    struct uvhttp_text agent = uvhttp_header(request, "x-agent"), path = uvhttp_path(request), body = uvhttp_body(request);
    int size = snprintf(text, sizeof(text), "%s %d %.*s %.*s %.*s", (const char *)data, (int)uvhttp_method(request), (int)path.size, path.data,
                        (int)agent.size, agent.size > 0 ? agent.data : "", (int)body.size, body.size > 0 ? body.data : "");
    (void)uvhttp_answer(request, 200, NULL, text, (size_t)size);
}

static void stop(struct uvhttp_request *request, void *data)
{
    (void)uvhttp_answer(request, 200, NULL, "bye", 3);
    uvhttp_stop(data);
}

static int dial(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = PATIENCE};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    close(fd);
    return -1;
}

static void say(int fd, const char *text)
{
    check(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text), "a request is sent", text);
}

/* hear reads one answer whole, head and body. */
static void hear(int fd, char *out, size_t room)
{
    size_t used = 0, want = room;
    while (used < want && used + 1 < room) {
        ssize_t n = recv(fd, out + used, used + 1 < room ? 1 : 0, 0);
        if (n <= 0)
            break;
        used += (size_t)n;
        out[used] = '\0';
        if (want == room && used >= 4 && memcmp(out + used - 4, "\r\n\r\n", 4) == 0) {
            const char *length = strstr(out, "Content-Length: ");
            want = used + (length != NULL ? (size_t)atoi(length + 16) : 0);
        }
    }
    out[used] = '\0';
}

#define REST " HTTP/1.1\r\nHost: h\r\n"

/* ask sends a request on a connection, and looks for texts in the answer. */
static void ask(int fd, const char *request, const char *status, const char *part, const char *name)
{
    char got[8192];
    say(fd, request);
    hear(fd, got, sizeof(got));
    check(strncmp(got + 9, status, 3) == 0 && strstr(got, part) != NULL, name, got);
}

static void test_answers(int port)
{
    int fd = dial(port);
    ask(fd, "PUT /tell/a%20b" REST "X-Agent:  me \r\nContent-Length: 4\r\n\r\nbody", "200", "put 16 /tell/a b me body", "a handler knows the request");
    ask(fd, "PATCH /tell/x" REST "Transfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n", "200", "put 32 /tell/x  body", "a body may come in chunks");
    ask(fd, "POST /tell/x" REST "\r\n", "405", "Allow: PUT, PATCH, DELETE\r\n", "a path tells its methods");
    ask(fd, "DELETE /tell/x" REST "\r\n", "200", "delete 64 /tell/x", "each method has its handler");
    ask(fd, "GET /odd" REST "\r\n", "200", "X-Good: yes\r\n", "a header is told");
    ask(fd, "GET /odd?large" REST "\r\n", "500", "Content-Length: 0\r\n", "an impossible answer is a 500");
    ask(fd, "GET /odd?status" REST "\r\n", "500", "Content-Length: 0\r\n", "an impossible answer is a 500");
    ask(fd, "GET /odd?type" REST "\r\n", "500", "Content-Length: 0\r\n", "an impossible answer is a 500");
    ask(fd, "GET /odd?not" REST "\r\n", "304", "X-Good: yes\r\n", "a 304 has headers and no body");
    ask(fd, "GET /page" REST "\r\n", "200", "\r\n\r\npage", "a page is served");
    close(fd);
}

static void test_later(int port)
{
    int a = dial(port), b = dial(port), c = dial(port), d = dial(port);
    char got[8192];
    struct linger reset = {1, 0};
    ask(d, "GET /release" REST "\r\n", "200", "0 of 0 gone", "nothing was kept");
    say(a, "GET /keep/one" REST "\r\nGET /page" REST "\r\n");
    say(b, "GET /keep/two" REST "\r\n");
    say(c, "PUT /keep/three" REST "Content-Length: 3\r\n\r\nabc");
    for (int i = 0; i < TRIES && kept.count < 3; i++)
        usleep(10000);
    check(kept.count == 3, "handlers keep requests", "they do not");
    setsockopt(b, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(b);
    for (int i = 0; i < TRIES; i++) {
        ask(d, "GET /metrics" REST "\r\n", "200", "uvhttp_requests_waiting", "metrics are told");
        ask(d, "GET /stats" REST "\r\n", "200", "\"waiting\":3", "requests of those who have gone are the handler's still");
        say(d, "GET /stats" REST "\r\n");
        hear(d, got, sizeof(got));
        if (strstr(got, "\"open\":3") != NULL)
            break;
        usleep(10000);
    }
    ask(d, "GET /release" REST "\r\n", "200", "1 of 3 gone", "a handler knows whose client has gone");
    hear(a, got, sizeof(got));
    check(strstr(got, "\r\n\r\none") != NULL, "another handler may answer", got);
    hear(a, got, sizeof(got));
    check(strstr(got, "\r\n\r\npage") != NULL, "the next request has its answer after that", got);
    hear(c, got, sizeof(got));
    check(strstr(got, "\r\n\r\nthree") != NULL, "another handler may answer", got);
    ask(d, "GET /stats" REST "\r\n", "200", "\"waiting\":0", "nothing is left over");
    close(a), close(c), close(d);
}

/* The server that this asks gives handlers no more than 200 ms. */
static void test_never(int port)
{
    int a = dial(port), b = dial(port);
    ask(a, "GET /keep/never" REST "\r\n", "503", "Connection: close\r\n", "who waits too long is told so");
    check(told_gone == 2, "a handler is told once of each client that has gone", "it is not");
    ask(b, "GET /release" REST "\r\n", "200", "1 of 1 gone", "a request that was given up may be answered all the same");
    ask(b, "GET /stats" REST "\r\n", "200", "\"waiting\":0", "nothing is left over");
    close(a), close(b);
}

static void client(void *data)
{
    const struct uvhttp_config *config = data;
    int port = config->port;
    if (config->answer_milliseconds > 0) {
        test_never(port);
    } else {
        test_answers(port);
        test_later(port);
    }
    int fd = dial(port);
    ask(fd, "GET /stop" REST "\r\n", "200", "bye", "a handler may end the server");
    close(fd);
}

static bool add_routes(struct uvhttp *u)
{
    static const char put[] = "put", deleted[] = "delete";
    return uvhttp_handle(u, UVHTTP_PUT | UVHTTP_PATCH, "/tell/:what", tell, (void *)(uintptr_t)put) &&
           uvhttp_handle(u, UVHTTP_DELETE, "/tell/:what", tell, (void *)(uintptr_t)deleted) && uvhttp_handle(u, UVHTTP_GET, "/odd", odd, NULL) &&
           uvhttp_handle(u, UVHTTP_GET | UVHTTP_PUT, "/keep/:name", keep, NULL) && uvhttp_handle(u, UVHTTP_GET, "/release", release, NULL) &&
           uvhttp_handle(u, UVHTTP_GET, "/stop", stop, u) && uvhttp_page(u, "/page", "text/plain", "page", 4) && uvhttp_stats(u, "/stats") &&
           uvhttp_metrics(u, "/metrics");
}

/* free_port is one that nobody has at the moment. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    check(bind(fd, (struct sockaddr *)&address, size) == 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0, "there is a port", "there is none");
    close(fd);
    return ntohs(address.sin_port);
}

static void test_config(void)
{
    check(uvhttp_new(&(struct uvhttp_config){.port = 65536}) == NULL, "a port is a port", "it is not");
    check(uvhttp_new(&(struct uvhttp_config){.port = 80, .instances = UVHTTP_INSTANCES_MAX + 1}) == NULL, "instances have a limit", "they have not");
    struct uvhttp *u = uvhttp_new(&(struct uvhttp_config){.port = 80});
    check(u != NULL && !uvhttp_handle(u, 0, "/a", tell, NULL) && !uvhttp_handle(u, 8, "/a", tell, NULL), "a route has methods that there are", "it has not");
    check(!uvhttp_handle(u, UVHTTP_GET, "/a", NULL, NULL) && !uvhttp_files(u, "/files"), "a route can be served", "it cannot");
    check(uvhttp_handle(u, UVHTTP_GET, "/a", tell, NULL) && !uvhttp_handle(u, UVHTTP_HEAD, "/a", tell, NULL), "who takes GET takes HEAD", "not so");
    uvhttp_free(u);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_config();
    for (unsigned round = 0; round < 2; round++) { /* one server after the other in one process */
        struct uvhttp_config config = {.port = free_port(), .address = "127.0.0.1", .answer_milliseconds = round * 200};
        struct uvhttp *u = uvhttp_new(&config);
        uv_thread_t thread;
        bool begun = u != NULL && add_routes(u) && uvhttp_start(u) && uv_thread_create(&thread, client, &config) == 0;
        check(begun, "a server starts", "it does not");
        if (!begun)
            return 1;
        check(uvhttp_run(u) == 0, "a server ends well", "it does not");
        uv_thread_join(&thread);
        uvhttp_free(u);
    }
    printf("library: %d checks, %d failed\n", checks, failures);
    return failures > 0;
}
