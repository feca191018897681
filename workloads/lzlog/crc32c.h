/* CRC-32C (Castagnoli) of data padded with zeros to eight bytes, as it lies in a log file. */
#ifndef LZ_CRC32C_H
#define LZ_CRC32C_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t crc32c_function(const void *data, size_t size);

/* crc32c_best is the fastest that this CPU can do. */
crc32c_function *crc32c_best(void);

/* crc32c_portable is for every CPU, a byte at a time. */
uint32_t crc32c_portable(const void *data, size_t size);

#endif
