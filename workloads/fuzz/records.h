/* What must hold of the records of a file of lzlog's, whatever is in it. */
#ifndef FUZZ_RECORDS_H
#define FUZZ_RECORDS_H

#include "../lzlog/scan.h"
#include "fuzz.h"

/* fuzz_records reads a file to its end. */
static inline void fuzz_records(const uint8_t *file, size_t size)
{
    struct lz_scan s;
    struct lzlog_record record;
    enum lzlog_item item;
    uint64_t least = 0;
    if (lz_scan_begin(&s, file, size) != NULL)
        return;
    while ((item = lz_scan_next(&s, &record)) != LZLOG_END) {
        if (record.offset < least)
            fuzz_fail("it does not get on");
        least = record.offset + 1;
        if (item == LZLOG_RECORD && (record.data < file + LZ_DATA || record.size > size || record.data + record.size > file + size))
            fuzz_fail("a record lies outside of the file");
    }
}

#endif
