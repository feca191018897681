/* The parser: the records of a file, or of bytes that claim to be one. It trusts nothing and touches nothing but memory. */
#ifndef LZ_SCAN_H
#define LZ_SCAN_H

#include "crc32c.h"
#include "format.h"
#include "lzlog.h"

struct lz_scan {
    const uint8_t *base; /* page-aligned; a writer may be adding records */
    uint64_t size;       /* bytes there are */
    uint64_t at;         /* where the next record is expected */
    uint64_t end; /* where the records ended at the beginning of the scan, whoever goes on with the file; 0: it was not sealed */
    struct lz_identity id;
    crc32c_function *crc;
    bool ended;
};

/* lz_scan_begin returns what is wrong with the header, or NULL. */
const char *lz_scan_begin(struct lz_scan *scan, const uint8_t *base, uint64_t size);

/* lz_scan_next finds the next record or defect. The data of a record is as it lies in the file. */
enum lzlog_item lz_scan_next(struct lz_scan *scan, struct lzlog_record *record);

/* lz_scan_sealed is where the records end, if that is written down; else 0. */
uint64_t lz_scan_sealed(const struct lz_scan *scan);

/* lz_scan_end is who has written it down: valid if the file is sealed. */
struct lz_end lz_scan_end(const struct lz_scan *scan);

#endif
