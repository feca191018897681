/* Unit tests of everything that needs no socket. A test's name is the sentence that it checks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "body.h"
#include "cache.h"
#include "files.h"
#include "head.h"
#include "lend.h"
#include "limits.h"
#include "mem.h"
#include "metrics.h"
#include "path.h"
#include "router.h"
#include "uvhttp.h"

static int failures, checks;

static void check(bool good, const char *name, const char *detail)
{
    checks++;
    if (!good) {
        failures++;
        printf("FAIL %s: %s\n", name, detail);
    }
}

#define R "GET / HTTP/1.1\r\n"
#define H R "Host: h\r\n"

/* head_case: in how many bytes the head ends, or the status it is refused with; and what was found. */
struct head_case {
    const char *name, *text;
    int want;
    const char *path;
    bool closes, chunked;
    uint64_t length;
};

static const struct head_case heads[] = {
    {"a request", H "\r\n", 1, "/", false, false, 0},
    {"an old request ends its connection", "GET / HTTP/1.0\r\n\r\n", 1, "/", true, false, 0},
    {"an old request may keep its connection", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 1, "/", false, false, 0},
    {"close is heard in a list", H "Connection: x, CLOSE\r\n\r\n", 1, "/", true, false, 0},
    {"close wins over keep-alive", H "Connection: keep-alive\r\nConnection: close\r\n\r\n", 1, "/", true, false, 0},
    {"a word that contains close is not close", H "Connection: disclosed\r\n\r\n", 1, "/", false, false, 0},
    {"the query is not part of the path", "GET /a/b?c=/../d HTTP/1.1\r\nHost: h\r\n\r\n", 1, "/a/b", false, false, 0},
    {"a target may name its host", "GET http://h/x HTTP/1.1\r\nHost: h\r\n\r\n", 1, "/x", false, false, 0},
    {"a scheme's case does not matter", "GET HTTP://h/x HTTP/1.1\r\nHost: h\r\n\r\n", 1, "/x", false, false, 0},
    {"a host without a path", "GET http://h HTTP/1.1\r\nHost: h\r\n\r\n", 1, "/", false, false, 0},
    {"a host with a query only", "GET http://h?a=/b HTTP/1.1\r\nHost: h\r\n\r\n", 1, "/", false, false, 0},
    {"blank lines before a request are left out", "\r\n\r\n" H "\r\n", 1, "/", false, false, 0},
    {"a name's case does not matter", R "hOsT:h\r\ncOnTeNt-LeNgTh: 5\r\n\r\n", 1, "/", false, false, 5},
    {"blanks around a value do not count", H "Content-Length: \t 5 \t\r\n\r\n", 1, "/", false, false, 5},
    {"a body may come in chunks", H "Transfer-Encoding: Chunked\r\n\r\n", 1, "/", false, true, 0},
    {"a length beyond counting is very long", H "Content-Length: 99999999999999999999999\r\n\r\n", 1, "/", false, false, UINT64_MAX},
    {"bytes beyond ASCII may be in a value", H "X: \xc3\xa4\r\n\r\n", 1, "/", false, false, 0},
    {"nonsense", "nonsense\r\n\r\n", 400, NULL, false, false, 0},
    {"a line feed alone ends no line", "GET / HTTP/1.1\nHost: h\n\n", 400, NULL, false, false, 0},
    {"a carriage return alone ends no line", "GET / HTTP/1.1\rHost: h\r\n\r\n", 400, NULL, false, false, 0},
    {"a folded line", H "X: a\r\n b\r\n\r\n", 400, NULL, false, false, 0},
    {"a blank before the colon", H "X : a\r\n\r\n", 400, NULL, false, false, 0},
    {"a header without a name", H ": a\r\n\r\n", 400, NULL, false, false, 0},
    {"a header without a colon", H "X\r\n\r\n", 400, NULL, false, false, 0},
    {"a control byte in a value", H "X: a\x01\r\n\r\n", 400, NULL, false, false, 0},
    {"two blanks in the request line", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400, NULL, false, false, 0},
    {"a blank after the version", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400, NULL, false, false, 0},
    {"a request line without a version", "GET /\r\n\r\n", 400, NULL, false, false, 0},
    {"a target without a slash", "GET x HTTP/1.1\r\nHost: h\r\n\r\n", 400, NULL, false, false, 0},
    {"a target whose host is empty", "GET http:///x HTTP/1.1\r\nHost: h\r\n\r\n", 400, NULL, false, false, 0},
    {"a target with a fragment", "GET /#x HTTP/1.1\r\nHost: h\r\n\r\n", 400, NULL, false, false, 0},
    {"a target beyond ASCII", "GET /\xc3\xa4 HTTP/1.1\r\nHost: h\r\n\r\n", 400, NULL, false, false, 0},
    {"a new request without a host", R "\r\n", 400, NULL, false, false, 0},
    {"a request with two hosts", H "Host: h\r\n\r\n", 400, NULL, false, false, 0},
    {"two lengths", H "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400, NULL, false, false, 0},
    {"a length that is no number", H "Content-Length: +1\r\n\r\n", 400, NULL, false, false, 0},
    {"a length of two numbers", H "Content-Length: 1, 1\r\n\r\n", 400, NULL, false, false, 0},
    {"an empty length", H "Content-Length:\r\n\r\n", 400, NULL, false, false, 0},
    {"a length and chunks", H "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, NULL, false, false, 0},
    {"chunks and a length", H "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400, NULL, false, false, 0},
    {"chunks of an old client", "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, NULL, false, false, 0},
    {"another coding than chunks", H "Transfer-Encoding: gzip, chunked\r\n\r\n", 501, NULL, false, false, 0},
    {"an expectation that nobody knows", H "Expect: wonders\r\n\r\n", 417, NULL, false, false, 0},
    {"another version", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505, NULL, false, false, 0},
    {"a version that is none", "GET / HTTP/x.1\r\nHost: h\r\n\r\n", 400, NULL, false, false, 0},
};

/* read_split gives a head in two parts, the first of them at a place in memory of its own. */
static int read_split(struct head *h, const char *text, size_t size, size_t cut)
{
    char first[HEAD_MAX + 64];
    memcpy(first, text, cut);
    head_begin(h);
    int result = head_read(h, first, cut);
    return result == HEAD_MORE ? head_read(h, text, size) : result;
}

static void test_heads(void)
{
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        const struct head_case *tc = &heads[i];
        size_t size = strlen(tc->text);
        for (size_t cut = 0; cut <= size; cut++) {
            struct head h;
            int result = read_split(&h, tc->text, size, cut);
            check(result == tc->want, tc->name, "it was judged otherwise");
            if (result != HEAD_DONE || tc->want != HEAD_DONE)
                continue;
            check(h.size == size, tc->name, "it ended elsewhere");
            check(text_same(head_text(tc->text, h.path), (struct text){tc->path, strlen(tc->path)}), tc->name, "the path is another");
            check(head_keeps(&h) != tc->closes, tc->name, "the connection's fate is another");
            check(h.chunked == tc->chunked && h.length == tc->length, tc->name, "the body is another");
        }
    }
}

static void test_head_limits(void)
{
    static char text[HEAD_MAX * 2];
    struct head h;
    int n = snprintf(text, sizeof(text), H "X: ");
    memset(text + n, 'x', sizeof(text) - (size_t)n);
    for (size_t cut = 0; cut <= HEAD_MAX; cut += 61)
        check(read_split(&h, text, sizeof(text), cut) == 431, "a head that is too large is refused", "it was not");
    head_begin(&h);
    check(head_read(&h, text, HEAD_MAX - 1) == HEAD_MORE, "a head is refused only when it is too large", "it was refused");
    memcpy(text + HEAD_MAX - 4, "\r\n\r\n", 4);
    head_begin(&h);
    check(head_read(&h, text, HEAD_MAX) == HEAD_DONE && h.size == HEAD_MAX, "a head may be as large as the limit", "it may not");

    memset(text, 'x', sizeof(text));
    memcpy(text, "GET /", 5);
    head_begin(&h);
    check(head_read(&h, text, sizeof(text)) == 414, "a target without an end is too long", "it was not");
    for (size_t size = TARGET_MAX; size <= TARGET_MAX + 1; size++) {
        memset(text, 'x', sizeof(text));
        memcpy(text, "GET /", 5);
        n = snprintf(text + 4 + size, 100, " HTTP/1.1\r\nHost: h\r\n\r\n");
        head_begin(&h);
        int want = size <= TARGET_MAX ? HEAD_DONE : 414;
        check(head_read(&h, text, 4 + size + (size_t)n) == want, "a target may be as long as the limit, and no longer", "it was judged otherwise");
    }
}

static void test_conditions_in_heads(void)
{
    const char *text = H "If-None-Match: \"a\"\r\nIf-Modified-Since: then\r\nIf-None-Match: \"b\"\r\n\r\n";
    struct head h;
    head_begin(&h);
    check(head_read(&h, text, strlen(text)) == HEAD_DONE, "conditions are found", "the head was refused");
    check(text_same(head_text(text, h.if_none_match), TEXT("\"a\"")), "the first of two conditions counts", "it does not");
    check(text_same(head_text(text, h.if_modified_since), TEXT("then")), "conditions are found", "not the date");
}

static const struct {
    const char *name, *text;
    int want;
    const char *content, *rest;
} bodies[] = {
    {"chunks", "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\nGET", BODY_DONE, "abcde", "GET"},
    {"blanks before an extension", "3 \t; x=y\r\nabc\r\n0\r\n\r\n", BODY_DONE, "abc", ""},
    {"words after a size that are no extension", "3 xyz\r\nabc\r\n0\r\n\r\n", 400, "", NULL},
    {"blanks after a size and no extension", "3 \r\nabc\r\n0\r\n\r\n", 400, "", NULL},
    {"no chunk", "0\r\n\r\n", BODY_DONE, "", ""},
    {"sizes in hexadecimal, of any case, with zeros before", "00a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n", BODY_DONE, "01234567890123456789a", ""},
    {"trailers are left out", "1\r\na\r\n0\r\nX: y\r\nZ: \r\n\r\nrest", BODY_DONE, "a", "rest"},
    {"an unfinished body", "3\r\nab", BODY_MORE, "ab", ""},
    {"a chunk without a size", "\r\nabc\r\n", 400, "", NULL},
    {"a chunk whose size is no number", "x\r\n", 400, "", NULL},
    {"a chunk with a sign", "-1\r\n", 400, "", NULL},
    {"a chunk longer than its size", "2\r\nabc\r\n", 400, "ab", NULL},
    {"a size line that ends with a line feed alone", "2\nab\r\n", 400, "", NULL},
    {"a chunk that ends with a line feed alone", "2\r\nab\n", 400, "ab", NULL},
    {"an extension that ends with a line feed alone", "2;x\nab\r\n", 400, "", NULL},
    {"a trailer that ends with a line feed alone", "0\r\nX: y\n\r\n", 400, "", NULL},
    {"a chunk that is too large", "10001\r\n", 413, "", NULL},
    {"a chunk beyond counting", "ffffffffffffffffffffffff\r\n", 413, "", NULL},
};

static int read_body(struct body *b, struct text *input, char *out, size_t *size)
{
    struct text piece;
    int result;
    while ((result = body_read(b, input, &piece)) == BODY_PIECE) {
        memcpy(out + *size, piece.data, piece.size);
        *size += piece.size;
    }
    return result;
}

static void test_bodies(void)
{
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        size_t length = strlen(bodies[i].text);
        for (size_t cut = 0; cut <= length; cut++) {
            char out[256];
            size_t size = 0;
            struct body b;
            body_begin_chunked(&b);
            struct text input = {bodies[i].text, cut};
            int result = read_body(&b, &input, out, &size);
            if (result == BODY_MORE) {
                check(input.size == 0, bodies[i].name, "input is left that more could follow");
                input = (struct text){bodies[i].text + cut, length - cut};
                result = read_body(&b, &input, out, &size);
            } else {
                input.size += length - cut;
            }
            check(result == bodies[i].want, bodies[i].name, "it was judged otherwise");
            check(text_same((struct text){out, size}, (struct text){bodies[i].content, strlen(bodies[i].content)}), bodies[i].name, "the content is another");
            if (bodies[i].rest != NULL)
                check(text_same(input, (struct text){bodies[i].rest, strlen(bodies[i].rest)}), bodies[i].name, "the rest is another");
        }
    }
    char line[HEAD_MAX + 100], out[8];
    memset(line, ' ', sizeof(line));
    line[0] = '1';
    struct body b;
    size_t size = 0;
    body_begin_chunked(&b);
    check(read_body(&b, &(struct text){line, CHUNK_LINE_MAX + 1}, out, &size) == 400, "a size line without an end is refused", "it is not");
    memcpy(line, "0\r\n", 3);
    body_begin_chunked(&b);
    check(read_body(&b, &(struct text){line, sizeof(line)}, out, &size) == 431, "trailers without an end are refused", "they are not");
    body_begin_length(&b, 3);
    struct text input = TEXT("abcd");
    size = 0;
    check(read_body(&b, &input, out, &size) == BODY_DONE && size == 3 && input.size == 1, "a body by length ends at its length", "it does not");
}

static void test_paths(void)
{
    static const struct {
        const char *raw;
        int want;
        const char *clean;
    } cases[] = {
        {"/a%20b", 0, "/a b"},   {"/%61/%7E", 0, "/a/~"}, {"/a..b/..c", 0, "/a..b/..c"}, {"/", 0, "/"},       {"//a", 0, "//a"},
        {"/..", 400, NULL},      {"/../a", 400, NULL},    {"/a/../b", 400, NULL},        {"/.", 400, NULL},   {"/a/./b", 400, NULL},
        {"/%2e%2e/a", 400, NULL}, {"/a/.%2E", 400, NULL}, {"/a%2fb", 400, NULL},         {"/%00", 400, NULL}, {"/%", 400, NULL},
        {"/%4", 400, NULL},      {"/%zz", 400, NULL},     {"/%252e%252e/", 0, "/%2e%2e/"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[64];
        struct text clean;
        int result = path_clean((struct text){cases[i].raw, strlen(cases[i].raw)}, out, &clean);
        check(result == cases[i].want, "a path is cleaned or refused", cases[i].raw);
        if (result == 0 && cases[i].clean != NULL)
            check(text_same(clean, (struct text){cases[i].clean, strlen(cases[i].clean)}), "a path is decoded once", cases[i].raw);
    }
    check(path_hidden(TEXT(".git/config")) && path_hidden(TEXT("a/.b")) && !path_hidden(TEXT("a.b/c")), "a name that begins with a dot is hidden", "not so");
    check(strcmp(path_type(TEXT("a.HTML")), "text/html; charset=utf-8") == 0, "a type goes by the ending, of any case", "not so");
    check(strcmp(path_type(TEXT(".html")), "application/octet-stream") == 0, "an ending alone is no ending", "not so");
}

static void test_dates(void)
{
    const time_t when = 784111777;
    char text[DATE_SIZE];
    time_t t;
    date_write(text, when);
    check(memcmp(text, "Sun, 06 Nov 1994 08:49:37 GMT", DATE_SIZE) == 0, "a date is written as HTTP has it", text);
    static const char *const forms[] = {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"};
    for (size_t i = 0; i < 3; i++)
        check(date_read((struct text){forms[i], strlen(forms[i])}, &t) && t == when, "all three forms of a date are read", forms[i]);
    static const char *const others[] = {"", "yesterday", "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 06 Nov 1994 08:49:37 GMT and much more than that"};
    for (size_t i = 0; i < 4; i++)
        check(!date_read((struct text){others[i], strlen(others[i])}, &t), "what is no date is not read", others[i]);
}

static void test_router(void)
{
    static char names[ROUTES_MAX][16];
    struct router *r = calloc(1, sizeof(*r));
    for (int i = 0; i < ROUTES_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), i % 2 == 0 ? "/r%d" : "/r%d/", i);
        check(router_find(r, (struct text){names[i], strlen(names[i])}) == NULL, "a route is not found before it is added", names[i]);
        check(router_add(r, (struct route){.path = {names[i], strlen(names[i])}, .handler = i}), "a route is added", names[i]);
        check(!router_add(r, (struct route){.path = {names[i], strlen(names[i])}}), "a route is added once", names[i]);
    }
    for (int i = 0; i < ROUTES_MAX; i++) {
        char under[32];
        const struct route *found = router_find(r, (struct text){names[i], strlen(names[i])});
        check(found != NULL && found->handler == i, "every route is found", names[i]);
        int n = snprintf(under, sizeof(under), "/r%d/x/y", i);
        found = router_find(r, (struct text){under, (size_t)n});
        check((found != NULL && found->handler == i) == (i % 2 == 1), "a path under a route that ends with a slash is the route's", under);
    }
    check(router_find(r, TEXT("/r1")) == NULL && router_find(r, TEXT("r1/")) == NULL, "a route's name without its slash is another path", "not so");
    check(!router_add(r, (struct route){.path = TEXT_INIT("/more")}), "a full router says so", "it does not");
    free(r);
}

static void test_methods(void)
{
    struct router *r = calloc(1, sizeof(*r));
    check(router_add(r, (struct route){.path = TEXT_INIT("/users"), .methods = METHOD_GET, .handler = 1}), "a route is added", "GET /users");
    check(router_add(r, (struct route){.path = TEXT_INIT("/users"), .methods = METHOD_POST | METHOD_PUT, .handler = 2}), "a path may have other methods",
          "POST /users");
    check(router_add(r, (struct route){.path = TEXT_INIT("/users"), .methods = METHOD_DELETE, .handler = 3}), "a path may have other methods", "DELETE");
    check(!router_add(r, (struct route){.path = TEXT_INIT("/users"), .methods = METHOD_PUT}), "a method is added once", "PUT /users");
    const struct route *route = router_find(r, TEXT("/users"));
    for (int i = 1; i <= 3; i++, route = router_next(r, route))
        check(route != NULL && route->handler == i, "the routes of a path follow each other", "not so");
    check(route == NULL, "the routes of a path end", "they do not");
    free(r);
}

/* Which paths a route may have. */
static void test_route_paths(void)
{
    static const struct {
        const char *path;
        bool want;
    } cases[] = {
        {"/", true},        {"/a", true},        {"/a/b", true},   {"/static/", true}, {"/a/b/", false},    {"", false},
        {"a", false},       {"/:id", true},      {"/a/:id", true}, {"/a/:", false},    {"/a/:id/", false},  {"/a/:id/b/:name", true},
        {"/a/b:c", true},   {"/:1/:2/:3/:4/:5/:6/:7/:8", true},    {"/:1/:2/:3/:4/:5/:6/:7/:8/:9", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct router *r = calloc(1, sizeof(*r));
        struct route route = {.path = {cases[i].path, strlen(cases[i].path)}, .methods = METHOD_GET};
        check(router_add(r, route) == cases[i].want, "a route's path is judged", cases[i].path);
        check(!cases[i].want || !router_add(r, route), "a route is added once", cases[i].path);
        free(r);
    }
}

static void test_params(void)
{
    static const struct route routes[] = {
        {.path = TEXT_INIT("/users/:id"), .methods = METHOD_GET, .handler = 0},
        {.path = TEXT_INIT("/users/:id"), .methods = METHOD_DELETE, .handler = 1},
        {.path = TEXT_INIT("/users/:id/posts/:post"), .methods = METHOD_GET, .handler = 2},
        {.path = TEXT_INIT("/users/:id/:what"), .methods = METHOD_GET, .handler = 3},
        {.path = TEXT_INIT("/:a/b:c/:d"), .methods = METHOD_GET, .handler = 4},
    };
    static const struct {
        const char *path;
        unsigned method;
        int want; /* -1: no route; -405: other methods */
        const char *first, *second;
    } cases[] = {
        {"/users/7", METHOD_GET, 0, "7", NULL},
        {"/users/7", METHOD_DELETE, 1, "7", NULL},
        {"/users/7", METHOD_POST, -405, NULL, NULL},
        {"/users/a b:c", METHOD_GET, 0, "a b:c", NULL},
        {"/users/:id", METHOD_GET, 0, ":id", NULL},
        {"/users/", METHOD_GET, -1, NULL, NULL},
        {"/users", METHOD_GET, -1, NULL, NULL},
        {"/users/7/", METHOD_GET, -1, NULL, NULL},
        {"/user/7", METHOD_GET, -1, NULL, NULL},
        {"/users/7/posts/12", METHOD_GET, 2, "7", "12"},
        {"/users/7/posts", METHOD_GET, 3, "7", "posts"},
        {"/users/7/posts/", METHOD_GET, -1, NULL, NULL},
        {"/users//posts/12", METHOD_GET, -1, NULL, NULL},
        {"/users/7/posts/12/more", METHOD_GET, -1, NULL, NULL},
        {"/x/b:c/y", METHOD_GET, 4, "x", "y"},
        {"/x/b:d/y", METHOD_GET, -1, NULL, NULL},
        {"*", METHOD_OTHER, -1, NULL, NULL},
    };
    struct router *r = calloc(1, sizeof(*r));
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
        check(router_add(r, routes[i]), "a route with parameters is added", routes[i].path.data);
    check(!router_add(r, (struct route){.path = TEXT_INIT("/users/:name"), .methods = METHOD_GET}), "a parameter's name makes no other route", "it does");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text params[PARAMS_MAX] = {0}, path = {cases[i].path, strlen(cases[i].path)};
        const char *want[] = {cases[i].first, cases[i].second};
        unsigned allowed = 0;
        const struct route *route = router_match(r, path, cases[i].method, params, &allowed);
        check((route == NULL ? allowed != 0 ? -405 : -1 : route->handler) == cases[i].want, "a path finds its route", cases[i].path);
        for (size_t k = 0; k < 2 && want[k] != NULL; k++)
            check(text_same(params[k], (struct text){want[k], strlen(want[k])}), "a parameter is what the path has in its place", cases[i].path);
    }
    check(route_param(&routes[2], TEXT("id")) == 0 && route_param(&routes[2], TEXT("post")) == 1, "parameters are found by name", "they are not");
    check(route_param(&routes[2], TEXT("posts")) == -1 && route_param(&routes[2], TEXT("")) == -1, "other names are no parameters", "they are");
    free(r);
}

static void test_headers_by_name(void)
{
    static const char text[] = "\r\nPOST /a:b?Host: HTTP/1.1\r\nHost: h\r\nX-Empty:\r\nX-Two: \t one \t\r\nx-two: two\r\nX-Twofold: no\r\n\r\n";
    static const struct {
        const char *name, *want;
    } cases[] = {{"host", "h"}, {"X-TWO", "one"}, {"x-empty", ""}, {"x-tw", NULL}, {"post", NULL}, {"", NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text value = head_find(text, sizeof(text) - 1, (struct text){cases[i].name, strlen(cases[i].name)});
        bool good = cases[i].want == NULL ? value.data == NULL : value.data != NULL && text_same(value, (struct text){cases[i].want, strlen(cases[i].want)});
        check(good, "a header is found by its name", cases[i].name);
    }
    check(head_token(TEXT("X-a")) && !head_token(TEXT("")) && !head_token(TEXT("a b")) && !head_token(TEXT("a:")), "a name is a token", "not so");
}

static void test_queries(void)
{
    static const struct {
        const char *target, *want;
    } cases[] = {{"/a?b=c?d", "b=c?d"}, {"/a?", ""}, {"/a", ""}, {"http://h?x=/y", "x=/y"}, {"http://h/a?x", "x"}, {"http://h", ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        struct head h;
        int size = snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", cases[i].target);
        head_begin(&h);
        check(head_read(&h, text, (size_t)size) == HEAD_DONE, "a target with a query is read", cases[i].target);
        check(text_same(head_text(text, h.query), (struct text){cases[i].want, strlen(cases[i].want)}), "the query is what follows the mark", cases[i].target);
    }
}

static void test_times(void)
{
    static const struct {
        uint64_t nanoseconds;
        unsigned bucket;
    } cases[] = {{0, 0}, {1, 0}, {1000, 0}, {1001, 1}, {2000, 1}, {2001, 2}, {4000, 2}, {1000000, 10}, {8388608000, 23}, {8388608001, 24}, {UINT64_MAX / 2, 24}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct times t = {0};
        char detail[32];
        snprintf(detail, sizeof(detail), "%llu ns", (unsigned long long)cases[i].nanoseconds);
        times_add(&t, cases[i].nanoseconds);
        check(t.buckets[cases[i].bucket] == 1 && t.nanoseconds == cases[i].nanoseconds, "a time is in the first bucket that holds it", detail);
    }
    struct account accounts[2] = {{.counters.requests = 3, .open = 1, .most_late_ms = 5}, {.counters.requests = 4, .open = 2, .most_late_ms = 2}}, sum = {0};
    static char text[32 << 10], small[100];
    times_add(&accounts[0].latency, 1500);
    times_add(&accounts[1].latency, 9000000000);
    account_add(&sum, &accounts[0]), account_add(&sum, &accounts[1]);
    check(sum.counters.requests == 7 && sum.open == 3 && sum.most_late_ms == 5, "accounts add up", "they do not");
    size_t size = metrics_write(accounts, 2, text, sizeof(text));
    check(size < sizeof(text) && text[size] == '\0' && text[size - 1] == '\n', "metrics end with their last line", "they do not");
    static const char *const lines[] = {
        "uvhttp_requests_total{instance=\"1\"} 4\n", "uvhttp_latency_seconds_bucket{le=\"0.000001\"} 0\n", "uvhttp_latency_seconds_bucket{le=\"0.000002\"} 1\n",
        "uvhttp_latency_seconds_bucket{le=\"8.388608\"} 1\n", "uvhttp_latency_seconds_bucket{le=\"+Inf\"} 2\n", "uvhttp_latency_seconds_count 2\n",
        "uvhttp_latency_seconds_sum 9.000001500\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        check(strstr(text, lines[i]) != NULL, "metrics have a line", lines[i]);
    check(metrics_write(accounts, 2, small, sizeof(small)) < sizeof(small), "metrics take no more than there is", "they do");
    static struct account many[UVHTTP_INSTANCES_MAX];
    memset(many, 0xff, sizeof(many)); /* the longest numbers */
    size = metrics_write(many, UVHTTP_INSTANCES_MAX, text, sizeof(text));
    check(strstr(text, "uvhttp_loop_delay_seconds_count") != NULL, "the metrics of all instances have room", "they do not");
}

/* The model of the cache is an array in order of use. */
enum { MODEL = 6 };

static struct file *make_file(const char *name, size_t size)
{
    struct file *f = mem_alloc(sizeof(*f) + 8 + size);
    *f = (struct file){.content = {.bytes = f->room + 8, .fd = -1, .size = size}, .name = {f->room, strlen(name)}, .users = 1};
    memcpy(f->room, name, strlen(name));
    memset(f->room + 8, name[0], size);
    return f;
}

static bool agrees(const struct cache *c, const int *order, const size_t *sizes, size_t count)
{
    size_t bytes = 0, i = 0;
    for (const struct file *f = c->newest; f != NULL; f = f->older, i++) {
        if (i >= count || f->name.data[0] != 'a' + order[i] || f->content.size != sizes[order[i]])
            return false;
        if (f->content.bytes[0] != f->name.data[0] || (f->older != NULL && f->older->newer != f))
            return false;
        bytes += file_cost(f);
    }
    return i == count && bytes == c->bytes && count == c->files && bytes <= c->bytes_max;
}

/* move puts a name first; from is where it was, or the end. */
static void move_first(int *order, size_t from, int name)
{
    memmove(order + 1, order, from * sizeof(*order));
    order[0] = name;
}

static void test_cache(void)
{
    struct cache c;
    int order[MODEL + 1];
    size_t sizes[26] = {0}, count = 0, base = sizeof(struct file) + 1;
    const size_t limit = 10 * base + 2000;
    cache_init(&c, limit, MODEL);
    uint64_t x = 88172645463325252;
    for (int step = 0; step < 20000; step++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int name = (int)(x % 12);
        char text[2] = {(char)('a' + name), 0};
        size_t at = 0, size = 1 + (x >> 8) % 1400;
        while (at < count && order[at] != name)
            at++;
        struct file *f = cache_find(&c, (struct text){text, 1});
        check((f != NULL) == (at < count), "the cache holds what its model holds", text);
        if (f != NULL && (x >> 32) % 8 == 0) {
            struct file *held = file_hold(f);
            cache_drop(&c, f);
            check(held->content.bytes[0] == text[0], "a dropped file lives while it is held", text);
            file_release(held);
            memmove(order + at, order + at + 1, (--count - at) * sizeof(*order));
        } else if (f != NULL) {
            move_first(order, at, name);
        } else {
            size_t bytes = 0;
            for (size_t i = 0; i < count; i++)
                bytes += base + sizes[order[i]];
            for (; count == MODEL || bytes + base + size > limit; count--)
                bytes -= base + sizes[order[count - 1]];
            sizes[name] = size;
            move_first(order, count++, name);
            cache_put(&c, make_file(text, size));
        }
        check(agrees(&c, order, sizes, count), "the cache does what its model does", text);
    }
    check(c.evictions > 100 && c.hits > 100, "the model test drops and hits", "it does not");
    cache_put(&c, make_file("z", limit));
    check(agrees(&c, order, sizes, count), "a file larger than the cache is not kept", "it is");
    cache_clear(&c);
    check(c.bytes == 0 && c.files == 0 && c.newest == NULL, "a cleared cache is empty", "it is not");
}

static void test_conditions(void)
{
    struct file f = {.etag = TEXT_INIT("\"1-2-3\""), .modified = {.tv_sec = 784111777, .tv_nsec = 5}};
    static const struct {
        const char *tags, *since;
        bool want;
    } cases[] = {
        {"", "", false},
        {"\"1-2-3\"", "", true},
        {"W/\"1-2-3\"", "", true},
        {"\"x\", \"1-2-3\"", "", true},
        {"*", "", true},
        {"\"1-2\"", "", false},
        {"1-2-3", "", false},
        {"\"1-2-3", "", false},
        {"\"", "", false},
        {"", "Sun, 06 Nov 1994 08:49:37 GMT", true},
        {"", "Sun, 06 Nov 1994 08:49:36 GMT", false},
        {"", "nonsense", false},
        {"\"x\"", "Sun, 06 Nov 1994 08:49:37 GMT", false}, /* a tag that differs wins over a date */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text tags = {cases[i].tags, strlen(cases[i].tags)}, since = {cases[i].since, strlen(cases[i].since)};
        check(file_unchanged(&f, tags, since) == cases[i].want, "a condition is judged", cases[i].tags);
    }
}

/* A socket that takes part of what it is offered must later get just the rest, and the next sender nothing of the last one's. */
static void test_lending(void)
{
    enum { SIZE = 5 << 20 };
    char *memory = lend_memory(SIZE), *got = calloc(1, SIZE);
    struct lender l;
    int pair[2];
    for (size_t i = 0; i < SIZE; i++)
        memory[i] = (char)(i * 2654435761u >> 13);
    lender_open(&l);
    check(l.room > 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0, "memory can be lent", "it cannot");
    for (int round = 0; round < 3; round++) {
        size_t sent = 0, taken = 0, blocked = 0;
        while (taken < SIZE) {
            size_t asked = 0;
            ssize_t n = sent < SIZE ? lender_send(&l, pair[0], memory + sent, SIZE - sent, &asked) : 0;
            check(n >= 0 || errno == EAGAIN, "lent memory is sent", strerror(errno));
            check(n <= (ssize_t)asked, "no more is sent than was offered", "more is");
            blocked += n < (ssize_t)asked;
            sent += n > 0 ? (size_t)n : 0;
            n = read(pair[1], got + taken, 1 + (taken * 7) % 300000);
            taken += n > 0 ? (size_t)n : 0;
        }
        check(sent == SIZE && memcmp(memory, got, SIZE) == 0, "lent memory arrives byte for byte", "it does not");
        check(blocked > 0 && l.room > 0, "a socket takes part of what is lent, and the pipe is emptied", "not so");
    }
    close(pair[0]), close(pair[1]);
    lender_close(&l);
    lend_unmap(memory, SIZE);
    free(got);
}

static void write_file(const char *name, const char *text, long age)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "a test file is written", name);
    struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
    futimens(fd, times);
    close(fd);
}

/* expect_file gets a file and compares its content, or its status when there is to be none. */
static void expect_file(struct files *f, const char *name, uint64_t now, const char *want, int want_status, const char *test)
{
    int status = 0;
    struct file *file = files_get(f, (struct text){name, strlen(name)}, now, &status);
    if (want == NULL)
        check(file == NULL && status == want_status, test, name);
    else
        check(file != NULL && text_same((struct text){file->content.bytes, file->content.size}, (struct text){want, strlen(want)}), test, name);
    if (file != NULL)
        file_release(file);
}

static void test_files(void)
{
    char dir[] = "/tmp/uvhttp-unit-XXXXXX", outside[64];
    struct files f;
    if (mkdtemp(dir) == NULL || chdir(dir) != 0) {
        check(false, "a folder for tests is made", dir);
        return;
    }
    snprintf(outside, sizeof(outside), "%s-outside", dir);
    write_file("a.txt", "one", 100);
    write_file(".secret", "secret", 100);
    write_file(outside, "outside", 100);
    check(mkdir("sub", 0755) == 0 && symlink(outside, "out") == 0 && symlink("a.txt", "in") == 0 && symlink("..", "sub/up") == 0, "links are made", dir);
    check(files_open(&f, dir, CACHE_BYTES), "a folder is opened", dir);
    expect_file(&f, "a.txt", 5000, "one", 0, "a file is served");
    expect_file(&f, "in", 5000, "one", 0, "a link within the folder is followed");
    expect_file(&f, "out", 5000, NULL, 404, "a link out of the folder is not followed");
    expect_file(&f, "sub/up/sub/up/a.txt", 5000, "one", 0, "a link up within the folder is followed");
    expect_file(&f, "../etc/passwd", 5000, NULL, 404, "a name out of the folder is not followed");
    expect_file(&f, "/etc/passwd", 5000, NULL, 404, "an absolute name is not followed");
    expect_file(&f, ".secret", 5000, NULL, 404, "a hidden file is not served");
    expect_file(&f, "sub", 5000, NULL, 404, "a folder is not served");
    expect_file(&f, "", 5000, NULL, 404, "nothing is not served");
    expect_file(&f, "b.txt", 5000, NULL, 404, "a missing file is missing");
    write_file("a.txt", "two", 50);
    expect_file(&f, "a.txt", 5000 + CHECK_MS - 1, "one", 0, "a file is looked at only once in a while");
    expect_file(&f, "a.txt", 5000 + CHECK_MS, "two", 0, "a changed file is read again");
    write_file("a.txt", "new", 0);
    expect_file(&f, "a.txt", 9000, "new", 0, "a changed file is read again");
    write_file("a.txt", "NEW", 0);
    expect_file(&f, "a.txt", 9000 + CHECK_MS, "NEW", 0, "a file that was just changed is not trusted");
    check(unlink("a.txt") == 0, "a file is removed", "a.txt");
    expect_file(&f, "a.txt", 20000, NULL, 404, "a removed file is missing");
    files_close(&f);
    unlink("out"), unlink("in"), unlink("sub/up"), unlink(".secret"), unlink(outside), rmdir("sub"), rmdir(dir);
}

/* The cache is warm before anybody asks, and what is read into it drives nothing out. */
static void test_warming(void)
{
    char dir[] = "/tmp/uvhttp-unit-XXXXXX";
    struct files f;
    int status;
    if (mkdtemp(dir) == NULL || chdir(dir) != 0 || mkdir("sub", 0755) != 0) {
        check(false, "a folder for tests is made", dir);
        return;
    }
    write_file("a.txt", "one", 100), write_file("sub/b.txt", "two", 100), write_file(".hidden", "no", 100);
    check(symlink("a.txt", "link") == 0 && symlink(".", "sub/loop") == 0, "links are made", dir);
    check(files_open(&f, dir, CACHE_BYTES) && files_warm(&f, 1000) == 2, "all files of a folder are read, and no link", "not so");
    uint64_t misses = f.cache.misses;
    expect_file(&f, "sub/b.txt", 1500, "two", 0, "a file that was read is served");
    check(f.cache.misses == misses && f.cache.hits == 1, "a file that was read is in the cache", "it is not");
    files_close(&f);
    check(files_open(&f, dir, 1000) && files_warm(&f, 1000) > 0 && f.cache.evictions <= 1 && f.cache.bytes <= 1000, "warming ends where the cache is full", "it goes on");
    files_close(&f);
    check(files_open(&f, NULL, CACHE_BYTES) && files_warm(&f, 1000) == 5, "made files are read, too", "they are not");
    struct file *file = files_get(&f, TEXT("10m.bin"), 1000, &status);
    check(file != NULL && f.cache.hits == 1, "a made file is in the cache", "it is not");
    file_release(file);
    files_close(&f);
    unlink("a.txt"), unlink("link"), unlink(".hidden"), unlink("sub/b.txt"), unlink("sub/loop"), rmdir("sub"), rmdir(dir);
}

int main(void)
{
    test_heads();
    test_head_limits();
    test_conditions_in_heads();
    test_bodies();
    test_paths();
    test_dates();
    test_router();
    test_methods();
    test_route_paths();
    test_params();
    test_headers_by_name();
    test_queries();
    test_times();
    test_cache();
    test_conditions();
    test_lending();
    test_files();
    test_warming();
#ifdef __SANITIZE_ADDRESS__
    const char *build = ", with sanitizers";
#else
    const char *build = "";
#endif
    printf("unit tests%s: %d checks, %d failed\n", build, checks, failures);
    return failures > 0;
}
