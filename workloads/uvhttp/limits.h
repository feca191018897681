/* Every limit of the server, in one place. Tests build with shorter times and a smaller cache; /stats reports what holds. */
#ifndef UVHTTP_LIMITS_H
#define UVHTTP_LIMITS_H

#define HEAD_MAX 8192             /* bytes of a request head, and of the input that is read at once */
#define TARGET_MAX 4096           /* bytes of a request target */
#define BODY_MAX 65536            /* bytes of a request body */
#define CHUNK_LINE_MAX 256        /* bytes of a chunk's size and its extensions */
#define OUT_MAX 65536             /* bytes of answers gathered for one write */
#define REPLY_HEAD_MAX 1024       /* bytes of a response head */
#define COPIED_MAX 4096           /* a body up to this size is copied behind its head; a larger one is sent from where it is */
#define DISCARD_MAX (1024 * 1024) /* bytes read and thrown away after a refusal */
#define TURN_MAX (2 * 1024 * 1024) /* bytes of a file sent before it is another connection's turn */

#ifndef MEMORY_MAX
#define MEMORY_MAX 16384 /* a file up to this size is kept in memory; of a larger one the descriptor is kept, for sendfile */
#endif
#ifndef LEND
#define LEND 1 /* send large pieces of memory without copying them, where the kernel can */
#endif
#ifndef CACHE_BYTES
#define CACHE_BYTES (64 * 1024 * 1024)
#endif
#ifndef CACHE_FILES
#define CACHE_FILES 1024
#endif
#ifndef HEAD_MS
#define HEAD_MS 10000 /* a head must be complete this long after its first byte, a body this long after its head */
#endif
#ifndef IDLE_MS
#define IDLE_MS 60000
#endif
#ifndef STALL_MS
#define STALL_MS 30000 /* a client that takes nothing of an answer for so long is given up */
#endif
#ifndef LINGER_MS
#define LINGER_MS 2000 /* a refused client may send for so long before it is cut off */
#endif
#ifndef DRAIN_MS
#define DRAIN_MS 800 /* after SIGTERM, answers under way have this long */
#endif

#ifndef HELD_MAX
#define HELD_MAX (256 * 1024 * 1024) /* bytes that all connections together hold of requests and answers that wait for their clients */
#endif
#ifndef REQUESTS_MAX
#define REQUESTS_MAX 4096 /* requests of one instance that handlers have not answered, with 15 KiB and the bodies of each; more get 503 */
#endif
#define POOL_MAX (1024 * 1024) /* bytes of one kind that are kept for later when they are not in use */

#define ANSWER_MS 30000        /* a handler that answers later has so long, unless the config says otherwise */
#define TIME_EVERY 64          /* one of so many reads is timed, unless the config says otherwise */
#ifndef TICK_MS
#define TICK_MS 250            /* how often the clock, the deadlines and the Date are looked at */
#endif
#define CHECK_MS 1000          /* a cached file is compared with the one on disk at most this often */
#define CONNECTIONS_MAX 16384  /* unless --max-connections says otherwise */
#define REFUSED_MAX 128        /* connections above the limit that are told so politely at one time */
#define DESCRIPTORS_KEPT 1200  /* descriptors that are not for connections: cached files, refused connections, the loop's own */

#endif
