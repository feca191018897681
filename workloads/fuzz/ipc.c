/* ipc's reading of control data: it is taken or refused, and nothing beyond it is touched. */
#include "../ipc/c/socket.h"
#include "fuzz.h"

/* A control message of a size, with its header, as the kernel has it on a machine with 64 bits. */
#define MESSAGE(size, type) size "\0\0\0\0\0\0\0" "\1\0\0\0" type "\0\0\0"

static const struct fuzz_text seeds[] = {
    FUZZ_TEXT(MESSAGE("\x14", "\1") "\3\0\0\0" "\0\0\0\0"),
    FUZZ_TEXT(MESSAGE("\x18", "\1") "\3\0\0\0" "\4\0\0\0"),
    FUZZ_TEXT(MESSAGE("\x1c", "\2") "\1\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0"),
    FUZZ_TEXT(MESSAGE("\x10", "\1")),
};
static const struct fuzz_text words[] = {
    FUZZ_TEXT("\0\1\2\3\x0f\x10\x11\x14\x1c\x7f\x80\xff"), FUZZ_TEXT("\xff\xff\xff\xff\xff\xff\xff\xff"), FUZZ_TEXT("\0\0\0\0\0\0\0\x80"),
    FUZZ_TEXT("\xf1\xff\xff\xff\xff\xff\xff\xff"), FUZZ_TEXT("\0\0\1\0\0\0\0\0"), FUZZ_TEXT("\x14\0\0\0\0\0\0\0"), FUZZ_TEXT("\xff\xff\xff\x7f"),
};

static void attempt(const char *input, size_t size)
{
    struct beside beside;
    enum outcome outcome = parse_control(input, size, &beside);
    if (outcome != DONE && outcome != MALFORMED)
        fuzz_fail("control data is neither taken nor refused");
    if (beside.fd_count > MAX_FDS || beside.fd_count > size / sizeof(int))
        fuzz_fail("there are more descriptors than there can be");
}

const struct fuzz_target fuzz_target = {
    .seeds = seeds,
    .seed_count = sizeof(seeds) / sizeof(seeds[0]),
    .words = words,
    .word_count = sizeof(words) / sizeof(words[0]),
    .most = 2048,
    .attempt = attempt,
};
