/* The server that is measured, as an example of a program on the library: pages, files, and an API with handlers that answer at once or later. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uvhttp.h"

enum { SMALL = 1 << 10, MEDIUM = 10 << 10, LARGE = 100 << 10 };

/* answer_echo answers with what came. */
static void answer_echo(struct uvhttp_request *request, void *data)
{
    struct uvhttp_text body = uvhttp_body(request);
    (void)data;
    (void)uvhttp_answer(request, 200, "application/octet-stream", body.data, body.size);
}

/* quote writes a text as JSON has it, as far as there is room for it. */
static void quote(struct uvhttp_text text, char *out, size_t room)
{
    size_t used = 0;
    out[used++] = '"';
    for (size_t i = 0; i < text.size && used + 8 < room; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '"' || c == '\\')
            used += (size_t)sprintf(out + used, "\\%c", c);
        else if (c < ' ')
            used += (size_t)sprintf(out + used, "\\u%04x", c);
        else
            out[used++] = (char)c;
    }
    out[used++] = '"';
    out[used] = '\0';
}

/* answer_user answers /api/users/:id with what it was asked for; with a query, the answer names that, too. */
static void answer_user(struct uvhttp_request *request, void *data)
{
    char id[512], query[512], text[1200];
    (void)data;
    quote(uvhttp_param(request, "id"), id, sizeof(id));
    quote(uvhttp_query(request), query, sizeof(query));
    int size = snprintf(text, sizeof(text), "{\"user\":%s,\"query\":%s,\"instance\":%u}\n", id, query, uvhttp_instance(request));
    (void)uvhttp_answer(request, 200, "application/json", text, (size_t)size);
}

/* create_user answers a POST: what a client may send, and the error when it has sent nothing. */
static void create_user(struct uvhttp_request *request, void *data)
{
    struct uvhttp_text body = uvhttp_body(request);
    (void)data;
    if (body.size == 0) {
        static const char error[] = "{\"error\":\"a user needs a body\"}\n";
        (void)uvhttp_answer(request, 422, "application/json", error, sizeof(error) - 1);
        return;
    }
    (void)uvhttp_add_header(request, "Location", "/api/users/1");
    (void)uvhttp_answer(request, 201, "application/octet-stream", body.data, body.size);
}

static void remove_user(struct uvhttp_request *request, void *data)
{
    (void)data;
    (void)uvhttp_answer(request, 204, NULL, NULL, 0);
}

/* later is an answer that waits for a timer. */
struct later {
    uv_timer_t timer;
    struct uvhttp_request *request;
};

static void free_later(uv_handle_t *timer)
{
    free(timer->data);
}

static void answer_now(uv_timer_t *timer)
{
    struct later *later = timer->data;
    static const char text[] = "{\"later\":true}\n";
    (void)uvhttp_answer(later->request, 200, "application/json", text, sizeof(text) - 1);
    uv_close((uv_handle_t *)timer, free_later);
}

/* give_up ends a timer that nobody waits for any more. */
static void give_up(struct uvhttp_request *request, void *data)
{
    struct later *later = data;
    (void)uvhttp_answer(request, 503, NULL, NULL, 0); /* which frees it */
    uv_close((uv_handle_t *)&later->timer, free_later);
}

/* answer_later answers /api/later/:milliseconds after so long, ten seconds at most. Its client may be gone by then. */
static void answer_later(struct uvhttp_request *request, void *data)
{
    struct uvhttp_text text = uvhttp_param(request, "milliseconds");
    uint64_t wait = 0;
    (void)data;
    for (size_t i = 0; i < text.size && wait <= 10000; i++)
        wait = text.data[i] >= '0' && text.data[i] <= '9' ? wait * 10 + (uint64_t)(text.data[i] - '0') : UINT64_MAX;
    if (wait > 10000) {
        static const char error[] = "{\"error\":\"milliseconds are a number up to 10000\"}\n";
        (void)uvhttp_answer(request, 400, "application/json", error, sizeof(error) - 1);
        return;
    }
    struct later *later = malloc(sizeof(*later));
    if (later == NULL || uv_timer_init(uvhttp_loop(request), &later->timer) != 0) {
        free(later);
        (void)uvhttp_answer(request, 503, NULL, NULL, 0);
        return;
    }
    later->timer.data = later;
    later->request = request;
    uvhttp_when_gone(request, give_up, later);
    uv_timer_start(&later->timer, answer_now, wait, 0);
}

/* add_pages adds what never changes. */
static bool add_pages(struct uvhttp *server)
{
    static const char hello[] = "helloworld", healthy[] = "ok\n", api[] = "{\"api\":\"uvhttp\"}\n";
    static const char json[] = "{\"message\":\"helloworld\",\"server\":\"uvhttp\"}\n";
    static char small[SMALL], medium[MEDIUM], large[LARGE];
    memset(small, 'a', sizeof(small));
    memset(medium, 'b', sizeof(medium));
    memset(large, 'c', sizeof(large));
    return uvhttp_page(server, "/", "text/plain", hello, sizeof(hello) - 1) &&
           uvhttp_page(server, "/json", "application/json", json, sizeof(json) - 1) &&
           uvhttp_page(server, "/small", "text/plain", small, sizeof(small)) && uvhttp_page(server, "/medium", "text/plain", medium, sizeof(medium)) &&
           uvhttp_page(server, "/large", "text/plain", large, sizeof(large)) &&
           uvhttp_page(server, "/health", "text/plain", healthy, sizeof(healthy) - 1) &&
           uvhttp_page(server, "/api", "application/json", api, sizeof(api) - 1);
}

static bool add_routes(struct uvhttp *server)
{
    return add_pages(server) && uvhttp_files(server, "/static/") && uvhttp_stats(server, "/stats") && uvhttp_metrics(server, "/metrics") &&
           uvhttp_handle(server, UVHTTP_POST, "/echo", answer_echo, NULL) &&
           uvhttp_handle(server, UVHTTP_POST, "/api/users", create_user, NULL) &&
           uvhttp_handle(server, UVHTTP_GET, "/api/users/:id", answer_user, NULL) &&
           uvhttp_handle(server, UVHTTP_DELETE, "/api/users/:id", remove_user, NULL) &&
           uvhttp_handle(server, UVHTTP_GET, "/api/later/:milliseconds", answer_later, NULL);
}

/* number reads a whole decimal number, or returns -1. */
static long number(const char *text, long least, long most)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    long n = strtol(text, &end, 10);
    return *end == '\0' && n >= least && n <= most ? n : -1;
}

/* flag_value returns the value of "--name VALUE" or "--name=VALUE" and steps over it, or NULL when this is another flag. */
static const char *flag_value(char **argv, int *i, const char *name)
{
    size_t size = strlen(name);
    if (strncmp(argv[*i], name, size) != 0)
        return NULL;
    if (argv[*i][size] == '=')
        return argv[*i] + size + 1;
    if (argv[*i][size] != '\0')
        return NULL;
    if (argv[*i + 1] == NULL)
        return "";
    return argv[++*i];
}

/* read_flags returns false for flags that nobody knows. */
static bool read_flags(char **argv, struct uvhttp_config *config)
{
    bool good = true;
    long port = 8080, most = 0, instances = 1, every = 0;
    for (int i = 1; argv[i] != NULL && good; i++) {
        const char *value;
        if ((value = flag_value(argv, &i, "--port")) != NULL)
            good = (port = number(value, 1, 65535)) > 0;
        else if ((value = flag_value(argv, &i, "--max-connections")) != NULL)
            good = (most = number(value, 1, 1000000)) > 0;
        else if ((value = flag_value(argv, &i, "--instances")) != NULL)
            good = (instances = number(value, 1, UVHTTP_INSTANCES_MAX)) > 0;
        else if ((value = flag_value(argv, &i, "--time-every")) != NULL)
            good = (every = number(value, 1, 1000000)) > 0;
        else if ((value = flag_value(argv, &i, "--root")) != NULL)
            good = *(config->root = value) != '\0';
        else
            good = config->warm = strcmp(argv[i], "--warm") == 0;
    }
    config->port = (int)port;
    config->max_connections = (unsigned)most;
    config->instances = (unsigned)instances;
    config->time_every = (unsigned)every;
    return good;
}

int main(int argc, char **argv)
{
    struct uvhttp_config config = {.end_by_signal = true};
    (void)argc;
    if (!read_flags(argv, &config)) {
        fprintf(stderr, "usage: uvhttp [--port PORT] [--root DIR] [--warm] [--instances N] [--max-connections N] [--time-every N]\n");
        return 2;
    }
    uvhttp_use_allocator();
    struct uvhttp *server = uvhttp_new(&config);
    if (server == NULL || !add_routes(server) || !uvhttp_start(server))
        return 1; /* with everything that it holds: the process ends */
    printf("uvhttp: port %d, %u connections, %s, libuv %s\n", config.port, uvhttp_max_connections(server), uvhttp_allocator(), uv_version_string());
    fflush(stdout);
    int status = uvhttp_run(server);
    uvhttp_free(server);
    uv_library_shutdown();
    return status;
}
