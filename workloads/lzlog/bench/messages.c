#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define TEXT(s) { s, sizeof(s) - 1 }

const struct message messages[MESSAGES] = {
    TEXT("0 2026-01-01 00:00:00.000 INFO  [main] gateway: accepted a connection from 10.0.0.17:48210 on port 8080."),
    TEXT("1 2026-01-01 00:00:00.000 DEBUG [pool-3] orders: read 42 rows in 1.7 ms from replica b, 3 of them older than 24 hours ..."),
    TEXT("2 2026-01-01 00:00:00.000 WARN  [pool-1] billing: the exchange rate is 61 minutes old, the limit being 60; still using it"),
    TEXT("3 2026-01-01 00:00:00.000 INFO  [main] gateway: answered GET /v1/orders/1842 with 200 in 3.1 ms, 5,120 bytes, kept alive"),
    TEXT("4 2026-01-01 00:00:00.000 ERROR [pool-2] mail: the server at 10.0.0.25 refused the message 7f3a: 452 too many "
         "recipients; retrying in 600 s"),
};

int message_at(const char *data, size_t size)
{
    unsigned i = size > 0 ? (unsigned)(data[0] - '0') : MESSAGES;
    if (i >= MESSAGES || size < messages[i].size || memcmp(data, messages[i].data, messages[i].size) != 0)
        return -1;
    return (int)i;
}

const char *messages_fault(const char *data, size_t size, uint64_t records, bool ordered)
{
    int last = -1;
    uint64_t found = 0;
    while (size > 0) {
        int i = message_at(data, size);
        if (i < 0)
            return "something lies there that nobody wrote";
        if (ordered && last >= 0 && i != (last + 1) % MESSAGES)
            return "the records are not in the order in which they were written";
        last = i;
        data += messages[i].size;
        size -= messages[i].size;
        found++;
    }
    return found == records ? NULL : "there are not as many records as were written";
}

const char *files_fault(const char *const *paths, size_t count, uint64_t records, bool ordered)
{
    size_t room = ROUND_BYTES + (size_t)THREADS_MAX * BATCH * MESSAGE_MAX, size = 0;
    char *data = malloc(room);
    const char *fault = data != NULL ? NULL : "there is no memory to read it";
    for (size_t i = 0; i < count && fault == NULL; i++) {
        FILE *file = fopen(paths[i], "rb");
        if (file != NULL)
            size += fread(data + size, 1, room - size, file);
        if (file == NULL || ferror(file) != 0 || fgetc(file) != EOF)
            fault = "it cannot be read";
        if (file != NULL)
            fclose(file);
    }
    if (fault == NULL)
        fault = messages_fault(data, size, records, ordered);
    free(data);
    return fault;
}

const char *file_fault(const char *path, uint64_t records, bool ordered)
{
    return files_fault(&path, 1, records, ordered);
}
