/*
 * uvhttp: an HTTP/1.1 server in a program of one's own. A program makes a server, gives it routes, starts it and runs it; examples/server.c
 * does all of that.
 *
 * Each instance has a thread, a loop of libuv and connections of its own, and a request stays in its instance from the first byte to the
 * last: handlers of one instance never run at the same time, those of several do. Whatever a handler is given stays good until it answers.
 */
#ifndef UVHTTP_H
#define UVHTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uvhttp;         /* a server */
struct uvhttp_request; /* a request, and the way to its answer */

/* uvhttp_text is memory of somebody else's, without a NUL at its end; a text that is not there has no data and no size. */
struct uvhttp_text {
    const char *data;
    size_t size;
};

/* Methods, of which a route may have several. A route of UVHTTP_GET takes HEAD, too: the body of its answer is left out. */
enum uvhttp_method { UVHTTP_GET = 1, UVHTTP_HEAD = 2, UVHTTP_POST = 4, UVHTTP_PUT = 16, UVHTTP_PATCH = 32, UVHTTP_DELETE = 64 };

enum { UVHTTP_INSTANCES_MAX = 64, UVHTTP_PARAMS_MAX = 8, UVHTTP_COPY_MAX = 65536 };

/* uvhttp_config says how a server is. All zero but the port is a good server. */
struct uvhttp_config {
    int port;                    /* 1 to 65535 */
    const char *address;         /* IPv4; NULL: every address of the machine */
    unsigned instances;          /* threads with a loop each, which share the port by SO_REUSEPORT; 0: one, in the caller's thread */
    unsigned max_connections;    /* of all instances together; 0: as many as descriptors allow, and 16,384 at most */
    const char *root;            /* the folder of uvhttp_files; NULL: a few files made in memory */
    bool warm;                   /* read the folder into the cache before listening, as far as the cache holds it */
    bool end_by_signal;          /* end at SIGTERM and SIGINT; else only uvhttp_stop ends the server */
    unsigned time_every;         /* one of so many reads is timed for the metrics; 0: 64 */
    unsigned answer_milliseconds; /* a handler that answers later must do so within this time; 0: 30,000 */
};

/* uvhttp_use_allocator makes libuv take its memory where uvhttp does. A program may call it before any other function of libuv. */
void uvhttp_use_allocator(void);

/* uvhttp_allocator names the allocator, as it names itself. */
const char *uvhttp_allocator(void);

/* uvhttp_new returns NULL, after a sentence on stderr, for a config that makes no server. Texts that it names must live on. */
struct uvhttp *uvhttp_new(const struct uvhttp_config *config);

/*
 * Routes are added before uvhttp_start. What is found first is a path that is the same, then a route that ends with '/' ("/static/"; it is
 * one part long), which takes everything under it, then routes with parameters in the order in which they were added: ":id" stands for one
 * part of the path that is not empty. All functions return false for a path that cannot be a route, or is there with the same method, and
 * when there are too many. Paths and types must live on.
 */
typedef void (*uvhttp_handler)(struct uvhttp_request *request, void *data);

bool uvhttp_handle(struct uvhttp *server, unsigned methods, const char *path, uvhttp_handler handler, void *data);

/* uvhttp_page answers with the same bytes for ever, which is what costs least. The bytes are copied when the server starts. */
bool uvhttp_page(struct uvhttp *server, const char *path, const char *type, const void *bytes, size_t size);

/* uvhttp_files serves the folder of the config under a path that ends with '/'. */
bool uvhttp_files(struct uvhttp *server, const char *path);

/* uvhttp_stats answers with what the server is and has done, as JSON; uvhttp_metrics with what Prometheus reads. */
bool uvhttp_stats(struct uvhttp *server, const char *path);
bool uvhttp_metrics(struct uvhttp *server, const char *path);

/* uvhttp_start makes all instances, which listen from then on. It returns false after a sentence on stderr; the program should then end. */
bool uvhttp_start(struct uvhttp *server);

/* uvhttp_max_connections is how many connections the server takes, once it has started. */
unsigned uvhttp_max_connections(const struct uvhttp *server);

/*
 * uvhttp_run serves until the server is told to end, and then until answers under way are out, or 800 ms have passed, and nothing else is left
 * in its loops: a handler's timer keeps its loop running. It returns 0, or 1 when a loop failed. uvhttp_free comes last.
 */
int uvhttp_run(struct uvhttp *server);
void uvhttp_free(struct uvhttp *server);

/* uvhttp_stop tells a started server to end. It may be called in every thread, and in a handler. */
void uvhttp_stop(struct uvhttp *server);

/* What a handler may ask. A path and its parameters are decoded; the query is as it came, without the '?'. */
enum uvhttp_method uvhttp_method(const struct uvhttp_request *request);
struct uvhttp_text uvhttp_path(const struct uvhttp_request *request);
struct uvhttp_text uvhttp_query(const struct uvhttp_request *request);
struct uvhttp_text uvhttp_param(const struct uvhttp_request *request, const char *name);
struct uvhttp_text uvhttp_body(const struct uvhttp_request *request);

/* uvhttp_header returns the value of the first header of this name, in whatever case. */
struct uvhttp_text uvhttp_header(const struct uvhttp_request *request, const char *name);

/* The loop of the request's instance, for timers and work that an answer has to wait for; and which instance it is, from 0. */
uv_loop_t *uvhttp_loop(const struct uvhttp_request *request);
unsigned uvhttp_instance(const struct uvhttp_request *request);

/* uvhttp_gone is true once nobody can get the answer any more. The request must be answered all the same, which then only frees it. */
bool uvhttp_gone(const struct uvhttp_request *request);

/*
 * uvhttp_when_gone has a function called once nobody can get the answer of a request any more whose handler has returned: the connection broke,
 * the time for the answer is over, or the server ends. The function may answer at once, and end what the answer has waited for.
 */
void uvhttp_when_gone(struct uvhttp_request *request, uvhttp_handler function, void *data);

/*
 * uvhttp_add_header adds a line to the answer. It returns false for a name that is no token or that the server writes itself (Content-Type,
 * Content-Length, Transfer-Encoding, Connection, Date), for a value with control characters, and when the lines are longer than 512 bytes.
 */
bool uvhttp_add_header(struct uvhttp_request *request, const char *name, const char *value);

/*
 * uvhttp_answer answers, once for each request: in the handler, or later in the same thread (a handler that returns without an answer has the
 * connection wait). The request must not be used any more after that. The body is copied, unless it is the request's own; UVHTTP_COPY_MAX
 * bytes is the most. It returns false when it answered with 500 or 503 instead: the status, type or body was not possible, or there was no memory.
 */
bool uvhttp_answer(struct uvhttp_request *request, int status, const char *type, const void *body, size_t size);

#ifdef __cplusplus
}
#endif
#endif
