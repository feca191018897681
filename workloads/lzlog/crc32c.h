/*
 * The checksum of data, padded with zeros to words of eight bytes as it lies in a log file: four CRC-32C (Castagnoli) of every
 * fourth word each, joined by going on with the first over the other three. Whatever is altered within 32 bits in a row of one word
 * is found for certain.
 */
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
