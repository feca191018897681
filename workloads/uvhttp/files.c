#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lend.h"
#include "limits.h"
#include "mem.h"
#include "path.h"

/* open_beneath lets the kernel see to it that no link, and no name, leads out of the folder. */
static int open_beneath(int root, const char *name, uint64_t flags)
{
    struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
}

/* The files that the server makes: "helloworld" in lines, as much of it as the name says. */
static const struct {
    struct text name;
    size_t size;
} made_files[] = {
    {TEXT_INIT("12b.txt"), 12}, {TEXT_INIT("10k.bin"), 10 << 10}, {TEXT_INIT("100k.bin"), 100 << 10}, {TEXT_INIT("1m.bin"), 1 << 20},
    {TEXT_INIT("10m.bin"), 10 << 20},
};
enum { MADE_FILES = sizeof(made_files) / sizeof(made_files[0]), MADE_SIZE = 10 << 20 };

static void make_files(struct files *f)
{
    static const char line[] = "helloworld\n";
    const size_t line_size = sizeof(line) - 1;
    f->made = lend_memory(MADE_SIZE);
    for (size_t at = 0; at < MADE_SIZE; at += line_size)
        memcpy(f->made + at, line, MADE_SIZE - at < line_size ? MADE_SIZE - at : line_size);
    clock_gettime(CLOCK_REALTIME, &f->made_at);
}

bool files_open(struct files *f, const char *root, size_t cache_bytes)
{
    *f = (struct files){.root = -1};
    cache_init(&f->cache, cache_bytes, CACHE_FILES);
    if (root == NULL) {
        make_files(f);
        return true;
    }
    f->root = open(root, O_DIRECTORY | O_CLOEXEC | O_PATH);
    int probe = f->root < 0 ? -1 : open_beneath(f->root, ".", O_DIRECTORY | O_PATH);
    if (probe < 0) {
        fprintf(stderr, "uvhttp: opening the folder %s: %s\n", root, strerror(errno));
        return false;
    }
    close(probe);
    return true;
}

void files_close(struct files *f)
{
    cache_clear(&f->cache);
    if (f->root >= 0)
        close(f->root);
    if (f->made != NULL)
        lend_unmap(f->made, MADE_SIZE);
}

/* open_made describes a file that the server made as if it had been opened. */
static int open_made(const struct files *f, struct text name, struct stat *st)
{
    for (size_t i = 0; i < MADE_FILES; i++) {
        if (!text_same(made_files[i].name, name))
            continue;
        *st = (struct stat){.st_ino = i + 1, .st_size = (off_t)made_files[i].size, .st_mtim = f->made_at};
        return 0;
    }
    return 404;
}

/* open_file opens a regular file, or returns a status. The name ends with a NUL. */
static int open_file(const struct files *f, struct text name, int *fd, struct stat *st)
{
    *fd = -1;
    if (f->root < 0)
        return open_made(f, name, st);
    *fd = open_beneath(f->root, name.data, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? 503 : errno == EACCES || errno == EPERM ? 403 : 404;
    if (fstat(*fd, st) == 0 && S_ISREG(st->st_mode))
        return 0;
    close(*fd);
    return 404;
}

static bool read_all(int fd, char *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, to + done, size - done, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* describe writes the header lines of a file, and notes where the shared ones begin. */
static size_t describe(char *out, size_t room, const char *type, const struct stat *st, size_t *shared, struct text *etag)
{
    char date[DATE_SIZE + 1] = {0};
    date_write(date, st->st_mtim.tv_sec);
    int first = snprintf(out, room, "Content-Type: %s\r\nContent-Length: %lld\r\n", type, (long long)st->st_size);
    *shared = (size_t)first;
    int second = snprintf(out + first, room - (size_t)first, "ETag: \"%llx-%llx-%llx\"\r\n", (unsigned long long)st->st_ino,
                          (unsigned long long)st->st_size,
                          (unsigned long long)st->st_mtim.tv_sec * 1000000000ULL + (unsigned long long)st->st_mtim.tv_nsec);
    *etag = (struct text){out + first + 6, (size_t)second - 8};
    int third = snprintf(out + first + second, room - (size_t)(first + second), "Last-Modified: %s\r\n", date);
    return (size_t)(first + second + third);
}

static bool is_young(const struct stat *st)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - st->st_mtim.tv_sec <= 1;
}

/* load reads a file that is not cached, or no longer the same. */
static struct file *load(const struct files *f, struct text name, uint64_t now, int *status)
{
    char head[REPLY_HEAD_MAX / 2];
    size_t shared;
    struct text etag;
    struct stat st;
    int fd;
    *status = open_file(f, name, &fd, &st);
    if (*status != 0)
        return NULL;
    size_t head_size = describe(head, sizeof(head), path_type(name), &st, &shared, &etag);
    size_t size = (size_t)st.st_size, kept = f->root >= 0 && size <= MEMORY_MAX ? size : 0;
    struct file *file = mem_try(sizeof(*file) + name.size + 1 + head_size + kept);
    if (file == NULL) {
        if (fd >= 0)
            close(fd);
        *status = 503;
        return NULL;
    }
    char *room = file->room;
    memcpy(room, name.data, name.size + 1);
    memcpy(room + name.size + 1, head, head_size);
    const char *lines = room + name.size + 1;
    *file = (struct file){
        .content = {.head = {lines, head_size}, .shared = {lines + shared, head_size - shared}, .fd = -1, .size = size},
        .name = {room, name.size},
        .etag = {lines + (etag.data - head), etag.size},
        .checked = now,
        .modified = st.st_mtim,
        .inode = st.st_ino,
        .young = f->root >= 0 && is_young(&st),
        .users = 1,
    };
    if (f->root < 0) {
        file->content.bytes = f->made;
        file->content.lasting = true;
        return file;
    }
    if (size > MEMORY_MAX) {
        file->content.fd = fd;
        return file;
    }
    char *bytes = room + name.size + 1 + head_size;
    file->content.bytes = bytes;
    bool good = read_all(fd, bytes, size);
    close(fd);
    if (!good) { /* it has become shorter meanwhile, or the disk is broken */
        file_release(file);
        *status = 500;
        return NULL;
    }
    return file;
}

/* is_same compares a cached file with the one on disk. Files that the server made never change. */
static bool is_same(const struct files *f, const struct file *file)
{
    struct stat st;
    if (f->root < 0)
        return true;
    if (file->young || fstatat(f->root, file->name.data, &st, 0) != 0)
        return false;
    return st.st_ino == file->inode && (size_t)st.st_size == file->content.size && st.st_mtim.tv_sec == file->modified.tv_sec &&
           st.st_mtim.tv_nsec == file->modified.tv_nsec;
}

struct file *files_get(struct files *f, struct text name, uint64_t now, int *status)
{
    char path[TARGET_MAX + 1];
    struct file *file = cache_find(&f->cache, name);
    if (file != NULL) {
        if (now - file->checked < CHECK_MS)
            return file_hold(file);
        if (is_same(f, file)) {
            file->checked = now;
            return file_hold(file);
        }
        cache_drop(&f->cache, file);
        f->cache.changes++;
    }
    if (name.size == 0 || name.size > TARGET_MAX || path_hidden(name)) {
        *status = 404;
        return NULL;
    }
    memcpy(path, name.data, name.size);
    path[name.size] = '\0';
    file = load(f, (struct text){path, name.size}, now, status);
    if (file != NULL)
        cache_put(&f->cache, file_hold(file));
    return file;
}

/* names_tag looks for an entity tag in a list of them; a weak one matches too, as RFC 9110 has it for If-None-Match. */
static bool names_tag(struct text list, struct text etag)
{
    const char *p = list.data, *end = p + list.size;
    while (p < end) {
        if (*p == '*' && list.size == 1)
            return true;
        if (*p != '"') { /* blanks, commas and W/ */
            p++;
            continue;
        }
        const char *close = memchr(p + 1, '"', (size_t)(end - p) - 1);
        if (close == NULL)
            return false;
        if (text_same((struct text){p, (size_t)(close - p) + 1}, etag))
            return true;
        p = close + 1;
    }
    return false;
}

bool file_unchanged(const struct file *f, struct text if_none_match, struct text if_modified_since)
{
    time_t since;
    if (if_none_match.size > 0)
        return names_tag(if_none_match, f->etag);
    return if_modified_since.size > 0 && date_read(if_modified_since, &since) && f->modified.tv_sec <= since;
}

/* warm reads a file. It returns false when the cache has no more room, and the file would drive out another. */
static bool warm(struct files *f, struct text name, uint64_t now)
{
    int status;
    uint64_t evictions = f->cache.evictions;
    struct file *file = files_get(f, name, now, &status);
    if (file != NULL)
        file_release(file);
    return f->cache.evictions == evictions;
}

/* warm_folder reads what is in a folder and below. Its name ends with a slash, or is empty; path has room for TARGET_MAX. */
static bool warm_folder(struct files *f, char *path, size_t size, unsigned depth, uint64_t now)
{
    bool room = true;
    path[size] = '\0';
    int fd = open_beneath(f->root, size == 0 ? "." : path, O_RDONLY | O_DIRECTORY);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        if (fd >= 0)
            close(fd);
        return true; /* who asks for what is in it will be told why not */
    }
    const struct dirent *entry;
    while (room && (entry = readdir(folder)) != NULL) {
        size_t length = strlen(entry->d_name);
        struct stat st;
        if (entry->d_name[0] == '.' || size + length + 1 >= TARGET_MAX || fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        memcpy(path + size, entry->d_name, length);
        if (S_ISREG(st.st_mode)) {
            room = warm(f, (struct text){path, size + length}, now);
        } else if (S_ISDIR(st.st_mode) && depth > 0) {
            path[size + length] = '/';
            room = warm_folder(f, path, size + length + 1, depth - 1, now);
        }
    }
    closedir(folder);
    return room;
}

size_t files_warm(struct files *f, uint64_t now)
{
    enum { DEPTH_MAX = 16 };
    char path[TARGET_MAX];
    if (f->root >= 0)
        (void)warm_folder(f, path, 0, DEPTH_MAX, now);
    for (size_t i = 0; i < MADE_FILES && f->root < 0; i++)
        (void)warm(f, made_files[i].name, now);
    return f->cache.files;
}
