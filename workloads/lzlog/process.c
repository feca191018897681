#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards every change below */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct lz_folder *folders;
static struct lz_mapping *_Atomic mappings;
static atomic_uint walkers; /* handlers that are walking through the mappings */
static struct sigaction before;
static int refused; /* an errno: there is no handler of SIGBUS */

/* replace maps zeros where a file was cut. It returns false if the address is in no registered mapping. */
static bool replace(void *address)
{
    bool done = false;
    atomic_fetch_add(&walkers, 1);
    for (struct lz_mapping *m = atomic_load(&mappings); m != NULL; m = atomic_load(&m->next)) {
        void *base = atomic_load(&m->base);
        if ((uintptr_t)address - (uintptr_t)base >= m->size)
            continue;
        atomic_store(&m->cut, true); /* before anybody can see the zeros */
        done = mmap(base, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
        break;
    }
    atomic_fetch_sub(&walkers, 1);
    return done;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    if (!replace(info->si_addr)) {
        if ((before.sa_flags & SA_SIGINFO) != 0)
            before.sa_sigaction(number, info, context);
        else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
            before.sa_handler(number);
        else
            signal(number, SIG_DFL); /* the access is repeated, and ends the process */
    }
    errno = kept;
}

static void fork_begins(void)
{
    pthread_mutex_lock(&lock);
}

static void fork_ends(void)
{
    pthread_mutex_unlock(&lock);
}

/* A lock of flock() is released when all who share it have closed it: a child that lives on would keep the log of a parent that was killed. */
static void child_begins(void)
{
    for (struct lz_folder *f = folders; f != NULL; f = f->next) {
        close(f->fd);
        f->fd = -1;
    }
    folders = NULL;
    atomic_store(&walkers, 0);
    pthread_mutex_unlock(&lock);
}

static void begin(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    refused = pthread_atfork(fork_begins, fork_ends, child_begins);
    if (refused == 0 && sigaction(SIGBUS, &action, &before) != 0)
        refused = errno;
}

int lz_watch(struct lz_mapping *mapping, void *base, size_t size)
{
    pthread_once(&once, begin);
    if (refused != 0)
        return refused;
    pthread_mutex_lock(&lock);
    mapping->size = size;
    atomic_store(&mapping->base, base);
    atomic_store(&mapping->next, atomic_load(&mappings));
    atomic_store(&mappings, mapping);
    pthread_mutex_unlock(&lock);
    return 0;
}

void lz_forget(struct lz_mapping *mapping)
{
    pthread_mutex_lock(&lock);
    struct lz_mapping *_Atomic *link = &mappings;
    while (atomic_load(link) != NULL && atomic_load(link) != mapping)
        link = &atomic_load(link)->next;
    if (atomic_load(link) == mapping)
        atomic_store(link, atomic_load(&mapping->next));
    pthread_mutex_unlock(&lock);
    while (atomic_load(&walkers) != 0) /* one may be at this mapping */
        sched_yield();
}

int lz_folder_lock(struct lz_folder *folder, const char *path)
{
    pthread_once(&once, begin);
    if (refused != 0)
        return refused;
    pthread_mutex_lock(&lock); /* no child can begin before the folder is in the list */
    int failed = 0;
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0 || flock(folder->fd, LOCK_EX | LOCK_NB) != 0)
        failed = errno;
    if (failed != 0 && folder->fd >= 0)
        close(folder->fd);
    if (failed != 0) {
        folder->fd = -1;
    } else {
        folder->next = folders;
        folders = folder;
    }
    pthread_mutex_unlock(&lock);
    return failed;
}

void lz_folder_unlock(struct lz_folder *folder)
{
    pthread_mutex_lock(&lock);
    if (folder->fd >= 0) {
        struct lz_folder **link = &folders;
        while (*link != folder)
            link = &(*link)->next;
        *link = folder->next;
        flock(folder->fd, LOCK_UN); /* a child that was not made by fork() has it open, too */
        close(folder->fd);
        folder->fd = -1;
    }
    pthread_mutex_unlock(&lock);
}
