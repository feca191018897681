#include "tag.h"

#include <string.h>

/* The state of SipHash. */
struct sip {
    uint64_t a, b, c, d;
};

static uint64_t turn(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(struct sip *s, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        s->a += s->b, s->c += s->d;
        s->b = turn(s->b, 13) ^ s->a, s->d = turn(s->d, 16) ^ s->c;
        s->a = turn(s->a, 32);
        s->a += s->d, s->c += s->b;
        s->b = turn(s->b, 17) ^ s->c, s->d = turn(s->d, 21) ^ s->a;
        s->c = turn(s->c, 32);
    }
}

static void take(struct sip *s, uint64_t word)
{
    s->d ^= word;
    mix(s, 2);
    s->a ^= word;
}

uint64_t lz_tag(const struct lz_tag_key *key, uint64_t place, const void *data, size_t size)
{
    const uint8_t *p = data;
    uint64_t word, last = (uint64_t)(size + sizeof(place)) << 56; /* SipHash's ending: the rest, and the length in its highest byte */
    struct sip s = {key->half[0] ^ UINT64_C(0x736f6d6570736575), key->half[1] ^ UINT64_C(0x646f72616e646f6d),
                    key->half[0] ^ UINT64_C(0x6c7967656e657261), key->half[1] ^ UINT64_C(0x7465646279746573)};
    take(&s, place);
    for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        take(&s, word);
    }
    for (size_t i = 0; i < size; i++)
        last |= (uint64_t)p[i] << 8 * i;
    take(&s, last);
    s.c ^= 0xff;
    mix(&s, 4);
    return s.a ^ s.b ^ s.c ^ s.d;
}
