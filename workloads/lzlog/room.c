/* Whether a file system keeps the room that it gives to a file. */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "internal.h"

/*
 * keeps is false of file systems on which a byte that a file has can still find no room when it is written: those that copy on write,
 * and those of other machines. There a full disk would be a signal.
 */
static bool keeps(const struct statfs *st)
{
    static const uint32_t without[] = {
        0x9123683E, /* Btrfs */
        0x2FC12FC1, /* ZFS */
        0xCA451A4E, /* bcachefs */
        0x00006969, /* NFS */
        0xFF534D42, /* CIFS */
        0xFE534D42, /* SMB2 */
    };
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
        if ((uint32_t)st->f_type == without[i])
            return false;
    }
    return true;
}

/* take_path takes a path out of the options of a mount, where some bytes are written as a backslash and three octal digits. */
static bool take_path(const char *from, char path[PATH_MAX])
{
    size_t size = 0;
    while (*from != ',' && *from != ' ' && *from != '\n' && *from != '\0' && size < PATH_MAX - 1) {
        unsigned byte;
        int length = 0;
        if (sscanf(from, "\\%3o%n", &byte, &length) == 1 && length == 4) {
            path[size++] = (char)byte;
            from += length;
        } else {
            path[size++] = *from++;
        }
    }
    path[size] = '\0';
    return size > 0 && size < PATH_MAX - 1 && strlen(path) == size; /* None has a zero in it, which the kernel never writes so. */
}

/* upper_of finds the folder that an overlay writes to: it stands in the line of its device. */
static bool upper_of(int dir, char path[PATH_MAX])
{
    struct stat st;
    char device[32], seen[32], *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    if (mounts == NULL || fstat(dir, &st) != 0) {
        if (mounts != NULL)
            fclose(mounts);
        return false;
    }
    snprintf(device, sizeof(device), "%u:%u", major(st.st_dev), minor(st.st_dev));
    while (!found && getline(&line, &room, mounts) > 0) {
        const char *upper = strstr(line, ",upperdir=");
        found = upper != NULL && sscanf(line, "%*u %*u %31s", seen) == 1 && strcmp(seen, device) == 0 &&
                take_path(upper + strlen(",upperdir="), path);
    }
    free(line);
    fclose(mounts);
    return found;
}

bool lz_keeps_room(int dir)
{
    struct statfs st;
    char upper[PATH_MAX];
    if (fstatfs(dir, &st) != 0 || !keeps(&st))
        return false;
    /* An overlay is as good as what it writes to, if that can be seen from here: from a container it cannot. */
    return st.f_type != OVERLAYFS_SUPER_MAGIC || !upper_of(dir, upper) || statfs(upper, &st) != 0 || keeps(&st);
}
