#include "cache.h"

#include <unistd.h>

#include "mem.h"
#include "router.h"

void cache_init(struct cache *c, size_t bytes_max, size_t files_max)
{
    *c = (struct cache){.bytes_max = bytes_max, .files_max = files_max};
}

size_t file_cost(const struct file *f)
{
    return sizeof(*f) + f->name.size + f->content.head.size + (f->content.bytes != NULL && !f->content.lasting ? f->content.size : 0);
}

struct file *file_hold(struct file *f)
{
    f->users++;
    return f;
}

void file_release(struct file *f)
{
    if (--f->users > 0)
        return;
    if (f->content.fd >= 0)
        close(f->content.fd);
    mem_free(f);
}

static void unlink_use(struct cache *c, struct file *f)
{
    *(f->newer != NULL ? &f->newer->older : &c->newest) = f->older;
    *(f->older != NULL ? &f->older->newer : &c->oldest) = f->newer;
}

static void link_newest(struct cache *c, struct file *f)
{
    f->newer = NULL;
    f->older = c->newest;
    *(c->newest != NULL ? &c->newest->newer : &c->oldest) = f;
    c->newest = f;
}

struct file *cache_find(struct cache *c, struct text name)
{
    uint64_t hash = router_hash(name);
    struct file *f = c->buckets[hash % CACHE_BUCKETS];
    while (f != NULL && (f->hash != hash || !text_same(f->name, name)))
        f = f->next;
    if (f == NULL) {
        c->misses++;
        return NULL;
    }
    c->hits++;
    if (f != c->newest) {
        unlink_use(c, f);
        link_newest(c, f);
    }
    return f;
}

void cache_drop(struct cache *c, struct file *f)
{
    struct file **at = &c->buckets[f->hash % CACHE_BUCKETS];
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    unlink_use(c, f);
    c->bytes -= file_cost(f);
    c->files--;
    f->cached = false;
    file_release(f);
}

void cache_put(struct cache *c, struct file *f)
{
    if (file_cost(f) > c->bytes_max) {
        file_release(f);
        return;
    }
    while (c->files == c->files_max || c->bytes + file_cost(f) > c->bytes_max) {
        cache_drop(c, c->oldest);
        c->evictions++;
    }
    f->hash = router_hash(f->name);
    struct file **bucket = &c->buckets[f->hash % CACHE_BUCKETS];
    f->next = *bucket;
    *bucket = f;
    link_newest(c, f);
    c->bytes += file_cost(f);
    c->files++;
    f->cached = true;
}

void cache_clear(struct cache *c)
{
    while (c->oldest != NULL)
        cache_drop(c, c->oldest);
}
