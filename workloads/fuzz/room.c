/*
 * lzlog's reader of the kernel's list of mounts: whatever stands there, a folder that is found has a name that fits; and one that is written
 * as the kernel does is found by its name. An input is such a list, and such a name.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "fuzz.h"

/* The list that is read, and the device that is looked for. */
static struct fuzz_text mounts;
#define DEVICE "0:42"

/* UNSEEN is the target itself, which is not to tell which way it goes. */
#define UNSEEN __attribute__((no_sanitize_coverage))

UNSEEN static FILE *open_mounts(void)
{
    return fmemopen((void *)(uintptr_t)mounts.data, mounts.size, "r");
}

UNSEEN static int have_device(struct stat *st)
{
    st->st_dev = makedev(0, 42);
    return 0;
}

#define fopen(path, mode) open_mounts()
#define fstat(fd, st) ((void)(fd), have_device(st))
#include "../lzlog/room.c"
#undef fopen
#undef fstat

enum { INPUT_MAX = 512 };

#define LINE "36 35 " DEVICE " / /merged rw,relatime shared:7 - overlay overlay rw,lowerdir=/lower,upperdir="

static const struct fuzz_text seeds[] = {
    FUZZ_TEXT("22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n" LINE "/a\\040b,workdir=/work\n"),
    FUZZ_TEXT("/upper, of \\ it\n"),
    FUZZ_TEXT(LINE "\\000per,workdir=/work\n"),
};
static const struct fuzz_text words[] = {
    FUZZ_TEXT(" \n\t,\\01257:/\0\xff"), FUZZ_TEXT("\n" LINE), FUZZ_TEXT(",upperdir="), FUZZ_TEXT(DEVICE), FUZZ_TEXT("\\040"), FUZZ_TEXT("\\777"),
};

/* add_name writes a name as the kernel writes it among a mount's options, and returns where it ends. */
UNSEEN static char *add_name(char *out, const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (strchr(", \t\n\\", name[i]) != NULL)
            out += sprintf(out, "\\%03o", (unsigned char)name[i]);
        else
            *out++ = name[i];
    }
    return out;
}

/* find_name makes a list with a folder of a name, and looks for it. */
UNSEEN static void find_name(const char *name, size_t size)
{
    static const char other[] = "35 1 0:41 / /other rw - overlay overlay rw,upperdir=/other\n" LINE;
    char list[sizeof(other) + 4 * INPUT_MAX + 20], path[PATH_MAX];
    memcpy(list, other, sizeof(other) - 1);
    char *end = add_name(list + sizeof(other) - 1, name, size);
    end += sprintf(end, ",workdir=/work\n");
    mounts = (struct fuzz_text){list, (size_t)(end - list)};
    if (!upper_of(-1, path) || strlen(path) != size || memcmp(path, name, size) != 0)
        fuzz_fail("a folder is not found by its name");
}

UNSEEN static void attempt(const char *input, size_t size)
{
    char path[PATH_MAX];
    mounts = (struct fuzz_text){input, size};
    bool found = size > 0 && upper_of(-1, path);
    if (found && (memmem(input, size, ",upperdir=", 10) == NULL || memmem(input, size, DEVICE, 4) == NULL))
        fuzz_fail("a folder is found that is not there");
    if (found && (path[0] == '\0' || memchr(path, '\0', sizeof(path)) == NULL))
        fuzz_fail("a folder has no name, or one without an end");
    if (size > 0 && memchr(input, '\0', size) == NULL)
        find_name(input, size);
}

const struct fuzz_target fuzz_target = {
    .seeds = seeds,
    .seed_count = sizeof(seeds) / sizeof(seeds[0]),
    .words = words,
    .word_count = sizeof(words) / sizeof(words[0]),
    .most = INPUT_MAX,
    .attempt = attempt,
};
