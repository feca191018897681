/*
 * ablation: the server of ../epoll, which computes something for each request: it reads an order in JSON, sorts its items by what they
 * cost, and hashes them. It allocates nothing for that and calls no library, so that what it takes depends on how it was compiled. Every
 * build must come to the same hash.
 */
#define _GNU_SOURCE
#include <stdint.h>

static void on_request(void);
#define ON_REQUEST on_request

#define main epoll_main
#include "../epoll/epoll.c"
#undef main

enum { ITEMS_MAX = 64, NAME_MAX_BYTES = 16, ROUNDS = 48 };

static const uint64_t expected = 0x61021e6f6cbd5e25;

#define ITEM(id, name, price, quantity) "{\"id\":" #id ",\"name\":\"" name "\",\"price\":" #price ",\"quantity\":" #quantity "}"
static const char order[] = "{\"order\":4711,\"items\":["
    ITEM(17, "hinge", 349, 12) "," ITEM(3, "bracket", 125, 40) "," ITEM(88, "door", 18990, 2) "," ITEM(41, "handle", 1499, 2) ","
    ITEM(5, "screw", 4, 500) "," ITEM(63, "lock", 5250, 2) "," ITEM(29, "frame", 9900, 2) "," ITEM(71, "seal", 89, 24) ","
    ITEM(12, "glass", 7425, 4) "," ITEM(94, "paint", 2199, 3) "," ITEM(36, "brush", 299, 6) "," ITEM(58, "foam", 649, 5) ","
    ITEM(20, "nail", 2, 1000) "," ITEM(77, "wedge", 35, 60) "," ITEM(9, "sill", 3150, 2) "," ITEM(50, "tape", 420, 9) "]}";

struct item {
    char name[NAME_MAX_BYTES];
    int64_t id, price, quantity;
};

/* A reader goes through a text; what it finds is never beyond its end. */
struct reader {
    const char *at, *end;
};

static bool take(struct reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static int64_t number(struct reader *r)
{
    int64_t value = 0;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        value = value * 10 + (*r->at++ - '0');
    return value;
}

/* string copies a text without escapes as far as there is room, and returns its size. */
static size_t string(struct reader *r, char *out, size_t room)
{
    size_t size = 0;
    if (!take(r, '"'))
        return 0;
    while (r->at < r->end && *r->at != '"') {
        if (size + 1 < room)
            out[size++] = *r->at;
        r->at++;
    }
    take(r, '"');
    out[size] = '\0';
    return size;
}

/* read_item reads the members of one item, which are known by their first letter. */
static struct item read_item(struct reader *r)
{
    struct item item = {0};
    char name[NAME_MAX_BYTES];
    do {
        string(r, name, sizeof(name));
        take(r, ':');
        switch (name[0]) {
        case 'i':
            item.id = number(r);
            break;
        case 'p':
            item.price = number(r);
            break;
        case 'q':
            item.quantity = number(r);
            break;
        default:
            string(r, item.name, sizeof(item.name));
        }
    } while (take(r, ','));
    return item;
}

/* read_order reads the items of an order, and returns how many there are. */
static size_t read_order(const char *text, size_t size, struct item *items)
{
    struct reader r = {text, text + size};
    size_t count = 0;
    while (r.at < r.end && *r.at != '[')
        r.at++;
    take(&r, '[');
    while (count < ITEMS_MAX && take(&r, '{')) {
        items[count++] = read_item(&r);
        take(&r, '}');
        take(&r, ',');
    }
    return count;
}

static int64_t cost(const struct item *item)
{
    return item->price * item->quantity;
}

static bool before(const struct item *a, const struct item *b)
{
    return cost(a) != cost(b) ? cost(a) < cost(b) : a->id < b->id;
}

static void sort(struct item *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && before(&items[j], &items[j - 1]); j--) {
            struct item swapped = items[j];
            items[j] = items[j - 1];
            items[j - 1] = swapped;
        }
}

/* hash_items is FNV-1a over what the items are. */
static uint64_t hash_items(uint64_t hash, const struct item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (const char *c = items[i].name; *c != '\0'; c++)
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
        hash = (hash ^ (uint64_t)cost(&items[i])) * 0x100000001b3;
    }
    return hash;
}

static void on_request(void)
{
    uint64_t hash = 0xcbf29ce484222325;
    struct item items[ITEMS_MAX];
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = read_order(order, sizeof(order) - 1, items);
        sort(items, count);
        hash = hash_items(hash, items, count);
    }
    if (hash != expected) {
        fprintf(stderr, "ablation: the hash is %#jx\n", (uintmax_t)hash);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    return epoll_main(argc, argv);
}
