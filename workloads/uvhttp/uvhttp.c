/* The library's front: a config, routes, and instances. */
#include "uvhttp.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "lend.h"
#include "mem.h"
#include "reply.h"
#include "server.h"

enum { PAGE_HEAD = 128 + 64 };

void uvhttp_use_allocator(void)
{
    mem_serve_libuv();
}

const char *uvhttp_allocator(void)
{
    static char text[64];
    snprintf(text, sizeof(text), "%s %s", mem_name(), mem_version());
    return text;
}

static bool complain(const char *what)
{
    fprintf(stderr, "uvhttp: %s\n", what);
    return false;
}

static bool good(const struct uvhttp_config *config)
{
    if (config->port < 1 || config->port > 65535)
        return complain("a port is between 1 and 65535");
    if (config->instances > UVHTTP_INSTANCES_MAX)
        return complain("there are 64 instances at most");
    return true;
}

struct uvhttp *uvhttp_new(const struct uvhttp_config *config)
{
    struct uvhttp *u = good(config) ? mem_try(sizeof(*u)) : NULL;
    if (u == NULL)
        return NULL;
    memset(u, 0, sizeof(*u));
    u->config = *config;
    u->config.instances = config->instances > 0 ? config->instances : 1;
    u->config.time_every = config->time_every > 0 ? config->time_every : TIME_EVERY;
    u->config.answer_milliseconds = config->answer_milliseconds > 0 ? config->answer_milliseconds : ANSWER_MS;
    if (uv_mutex_init(&u->lock) == 0)
        return u;
    mem_free(u);
    return NULL;
}

static bool add(struct uvhttp *u, const char *path, unsigned methods, enum handler handler, const void *content)
{
    if ((methods & METHOD_GET) != 0)
        methods |= METHOD_HEAD;
    struct route route = {.path = {path, strlen(path)}, .methods = (uint16_t)methods, .handler = handler, .content = content};
    return u->count == 0 && router_add(&u->router, route);
}

bool uvhttp_handle(struct uvhttp *server, unsigned methods, const char *path, uvhttp_handler handler, void *data)
{
    const unsigned all = METHOD_GET | METHOD_HEAD | METHOD_POST | METHOD_PUT | METHOD_PATCH | METHOD_DELETE;
    struct target *target = &server->targets[server->router.count % ROUTES_MAX];
    if (methods == 0 || (methods & ~all) != 0 || handler == NULL || !add(server, path, methods, SERVE_HANDLER, target))
        return false;
    *target = (struct target){handler, data};
    return true;
}

bool uvhttp_page(struct uvhttp *server, const char *path, const char *type, const void *bytes, size_t size)
{
    struct page *page = &server->pages[server->page_count % ROUTES_MAX];
    if (strlen(type) > 128 || !add(server, path, METHOD_GET, SERVE_PAGE, &page->content))
        return false;
    *page = (struct page){.type = type, .bytes = bytes, .size = size};
    server->page_count++;
    return true;
}

bool uvhttp_files(struct uvhttp *server, const char *path)
{
    size_t size = strlen(path);
    return size > 1 && path[size - 1] == '/' && add(server, path, METHOD_GET, SERVE_FILE, NULL);
}

bool uvhttp_stats(struct uvhttp *server, const char *path)
{
    return add(server, path, METHOD_GET, SERVE_STATS, NULL);
}

/* tell_metrics answers for all instances: of this one with what holds now, of the others with what they published last. */
static void tell_metrics(struct uvhttp_request *request, void *data)
{
    struct uvhttp *u = data;
    char text[32 << 10];
    server_account(u->instances[uvhttp_instance(request)]);
    uv_mutex_lock(&u->lock);
    size_t size = metrics_write(u->accounts, u->config.instances, text, sizeof(text));
    uv_mutex_unlock(&u->lock);
    (void)uvhttp_answer(request, 200, "text/plain; version=0.0.4", text, size);
}

bool uvhttp_metrics(struct uvhttp *server, const char *path)
{
    return uvhttp_handle(server, UVHTTP_GET, path, tell_metrics, server);
}

/* lay_pages puts the heads and bytes of all pages, which never change, where the kernel may send them from. */
static void lay_pages(struct uvhttp *u)
{
    for (unsigned i = 0; i < u->page_count; i++)
        u->page_size += PAGE_HEAD + u->pages[i].size;
    char *at = u->page_room = lend_memory(u->page_size + 1);
    for (unsigned i = 0; i < u->page_count; i++) {
        struct page *page = &u->pages[i];
        int head = snprintf(at, PAGE_HEAD, "Content-Type: %s\r\nContent-Length: %zu\r\n", page->type, page->size);
        char *bytes = at + head;
        memcpy(bytes, page->bytes, page->size);
        page->content = (struct content){.head = {at, (size_t)head}, .bytes = bytes, .fd = -1, .size = page->size, .lasting = true};
        at = bytes + page->size;
    }
}

/* raise_files lets the process have as many connections as it may, and fits their limit to that. */
static bool raise_files(struct uvhttp *u)
{
    struct rlimit files;
    unsigned wanted = u->config.max_connections, kept = DESCRIPTORS_KEPT * u->config.instances;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return complain(strerror(errno));
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        return complain(strerror(errno));
    rlim_t most = files.rlim_cur > 2 * (rlim_t)kept ? files.rlim_cur - kept : files.rlim_cur / 2;
    u->max = wanted > 0 ? wanted : CONNECTIONS_MAX;
    if (u->max > most) {
        u->max = (unsigned)most;
        if (wanted > 0)
            fprintf(stderr, "uvhttp: descriptors allow %u connections only\n", u->max);
    }
    return true;
}

bool uvhttp_start(struct uvhttp *server)
{
    signal(SIGPIPE, SIG_IGN); /* sendfile has no MSG_NOSIGNAL */
    if (!raise_files(server))
        return false;
    lay_pages(server);
    for (unsigned i = 0; i < server->config.instances; i++) {
        struct server *s = mem_alloc(sizeof(*s));
        server->instances[i] = s;
        server->count++;
        if (!server_open(s, server, i))
            return false;
    }
    /* All at once: who connects meanwhile stays where he is, and the first instance would have too many. */
    for (unsigned i = 0; i < server->count; i++) {
        if (!server_listen(server->instances[i]))
            return false;
    }
    return true;
}

unsigned uvhttp_max_connections(const struct uvhttp *server)
{
    return server->max;
}

/* run_other runs an instance other than the first. */
static void run_other(void *data)
{
    struct server *s = data;
    if (!server_run(s))
        uvhttp_stop(s->owner);
}

int uvhttp_run(struct uvhttp *server)
{
    unsigned begun = 1;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the first instance's thread alone takes signals */
    while (begun < server->count && uv_thread_create(&server->instances[begun]->thread, run_other, server->instances[begun]) == 0)
        begun++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    bool whole = begun == server->count || complain("a thread cannot be made");
    if (!whole)
        uvhttp_stop(server);
    bool well = server_run(server->instances[0]);
    for (unsigned i = 1; i < begun; i++)
        uv_thread_join(&server->instances[i]->thread);
    for (unsigned i = begun; i < server->count; i++)
        (void)server_run(server->instances[i]); /* until it has ended, as it is told to */
    return whole && well ? 0 : 1;
}

void uvhttp_stop(struct uvhttp *server)
{
    uv_mutex_lock(&server->lock);
    server->ending = true;
    for (unsigned i = 0; i < server->count; i++) {
        uv_handle_t *wake = (uv_handle_t *)&server->instances[i]->wake;
        if (wake->loop != NULL && !uv_is_closing(wake))
            uv_async_send((uv_async_t *)wake);
    }
    uv_mutex_unlock(&server->lock);
}

void uvhttp_free(struct uvhttp *server)
{
    for (unsigned i = 0; i < server->count; i++) {
        server_close(server->instances[i]);
        mem_free(server->instances[i]);
    }
    if (server->page_room != NULL)
        lend_unmap(server->page_room, server->page_size + 1);
    uv_mutex_destroy(&server->lock);
    mem_free(server);
}
