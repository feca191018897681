#include "scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct lz_header *header(const struct lz_scan *scan)
{
    return (const struct lz_header *)(const void *)scan->base;
}

static bool all_zero(const uint8_t *p, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        if (p[i] != 0)
            return false;
    }
    return true;
}

const char *lz_scan_begin(struct lz_scan *scan, const uint8_t *base, uint64_t size)
{
    *scan = (struct lz_scan){.base = base, .size = size, .at = LZ_DATA, .crc = crc32c_best()};
    if (size < LZ_PAGE)
        return "it is shorter than the header of a log file";
    memcpy(&scan->id, base, sizeof(scan->id));
    const char *fault = lz_identity_fault(&scan->id);
    if (fault != NULL)
        return fault;
    const struct lz_header *head = header(scan);
    if (!all_zero(head->zero1, sizeof(head->zero1)) || !all_zero(head->zero2, sizeof(head->zero2)) ||
        !all_zero(head->zero3, sizeof(head->zero3)))
        return "its header has something where nothing belongs";
    if (!lz_session_valid(&head->session) && !all_zero((const uint8_t *)&head->session, sizeof(head->session)))
        return "its header does not say which kernel it was written under";
    uint64_t seal = atomic_load_explicit(&head->seal, memory_order_acquire);
    uint64_t end = lz_seal_end(scan->id.seed, seal);
    if (seal != 0 && (end < LZ_DATA || end > scan->id.capacity || end % LZ_WORD != 0))
        return "its seal is damaged";
    bool encrypted = (scan->id.flags & LZ_ENCRYPTED) != 0;
    if (encrypted ? end != 0 && !lz_end_valid(&head->end) : !lz_end_empty(&head->end))
        return "its header does not say who has sealed it";
    scan->end = end;
    return NULL;
}

uint64_t lz_scan_sealed(const struct lz_scan *scan)
{
    return scan->end != 0 ? scan->end : lz_seal_end(scan->id.seed, atomic_load_explicit(&header(scan)->seal, memory_order_acquire));
}

struct lz_end lz_scan_end(const struct lz_scan *scan)
{
    return header(scan)->end;
}

/* A bound: up to `end` there must be records; `exact` if none can follow. */
struct bound {
    uint64_t end;
    bool exact;
    bool known; /* false: the file was filled and its writer killed before it could note the end */
};

static struct bound bound_of(const struct lz_scan *scan)
{
    uint64_t end = lz_scan_sealed(scan);
    if (end != 0)
        return (struct bound){.end = end, .exact = true, .known = true};
    uint64_t place = atomic_load_explicit(&header(scan)->cursor, memory_order_acquire) & LZ_OFFSET & ~(uint64_t)(LZ_WORD - 1);
    if (place > scan->id.capacity)
        return (struct bound){.end = scan->id.capacity};
    return (struct bound){.end = place, .known = true};
}

static uint64_t word_at(const struct lz_scan *scan, uint64_t at)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)(scan->base + at), memory_order_acquire);
}

/* kind_at judges what lies at a place. A committed record is one only if its payload is whole and its padding zero. */
static enum lz_kind kind_at(const struct lz_scan *scan, uint64_t at, size_t *size)
{
    uint64_t limit = scan->size < scan->id.capacity ? scan->size : scan->id.capacity;
    if (at + LZ_WORD > limit)
        return LZ_NOTHING;
    uint64_t word = word_at(scan, at);
    enum lz_kind kind = lz_word_kind(word, scan->id.seed, at, size);
    if (kind == LZ_NOTHING || lz_span(*size) > limit - at)
        return LZ_NOTHING;
    if (kind == LZ_BEGUN)
        return kind;
    const uint8_t *payload = scan->base + at + LZ_WORD;
    if (scan->crc(payload, *size) != lz_word_crc(word, scan->id.seed, at, *size) ||
        !all_zero(payload + *size, lz_span(*size) - LZ_WORD - *size))
        return LZ_NOTHING;
    return kind;
}

__attribute__((format(printf, 4, 5))) static enum lzlog_item defect(struct lz_scan *scan, struct lzlog_record *record, uint64_t end,
                                                                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(record->text, sizeof(record->text), format, arguments);
    va_end(arguments);
    record->offset = scan->at;
    record->size = end - scan->at;
    record->data = NULL;
    scan->at = end;
    return LZLOG_DEFECT;
}

/* resume_at is the next place at which something whole lies, or the end. */
static uint64_t resume_at(const struct lz_scan *scan, uint64_t from, uint64_t end)
{
    size_t size;
    while (from < end && kind_at(scan, from, &size) == LZ_NOTHING)
        from += LZ_WORD;
    return from < end ? from : end;
}

/* name_defect tells a record that was begun from one that is damaged, as far as that can be told. */
static enum lzlog_item name_defect(struct lz_scan *scan, struct lzlog_record *record, enum lz_kind kind, size_t size, uint64_t end)
{
    if (kind == LZ_BEGUN) {
        uint64_t next = scan->at + lz_span(size);
        return defect(scan, record, next, "a record of %zu bytes was begun and not finished", size);
    }
    uint64_t next = resume_at(scan, scan->at + LZ_WORD, end);
    uint64_t bytes = next - scan->at;
    if (lz_word_kind(word_at(scan, scan->at), scan->id.seed, scan->at, &size) == LZ_COMMITTED && lz_span(size) == bytes)
        return defect(scan, record, next, "the record of %zu bytes is damaged", size);
    return defect(scan, record, next, "%llu bytes are no record: damaged, or reserved by a writer that did not live to begin",
                  (unsigned long long)bytes);
}

/* end_of_open ends a file that is not sealed. Its writer has given it all its room, so one that has less was cut. */
static enum lzlog_item end_of_open(struct lz_scan *scan, struct lzlog_record *record)
{
    if (scan->size >= scan->id.capacity)
        return LZLOG_END;
    scan->ended = true;
    return defect(scan, record, scan->at, "the file was cut to %llu bytes, of %llu that its writer gave it",
                  (unsigned long long)scan->size, (unsigned long long)scan->id.capacity);
}

enum lzlog_item lz_scan_next(struct lz_scan *scan, struct lzlog_record *record)
{
    size_t size = 0;
    struct bound bound = bound_of(scan);
    if (scan->ended || (bound.exact && scan->at >= bound.end))
        return LZLOG_END;
    enum lz_kind kind = kind_at(scan, scan->at, &size);
    if (kind == LZ_COMMITTED && (!bound.exact || scan->at + lz_span(size) <= bound.end)) {
        *record = (struct lzlog_record){.offset = scan->at, .data = scan->base + scan->at + LZ_WORD, .size = size};
        scan->at += lz_span(size);
        return LZLOG_RECORD;
    }
    /* Whole records were also taken from behind the bound: after the machine went down it may be older than they are. */
    if (scan->at >= bound.end)
        return end_of_open(scan, record);
    if (bound.end > scan->size && scan->at + LZ_WORD > scan->size) {
        scan->ended = true;
        return defect(scan, record, bound.end, "the file ends at byte %llu, but its records should end at byte %llu",
                      (unsigned long long)scan->size, (unsigned long long)bound.end);
    }
    uint64_t end = bound.end < scan->size ? bound.end : scan->size & ~(uint64_t)(LZ_WORD - 1);
    if (kind == LZ_NOTHING && !bound.known && resume_at(scan, scan->at, end) == end)
        return end_of_open(scan, record); /* nothing but the rest that the next record did not fit into */
    return name_defect(scan, record, kind, size, end);
}
