#include "stack.h"

#include "sanitizer.h"

#include <new>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13 */
#endif

namespace coro {

static std::size_t pageSize()
{
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/*
 * makeGuard lets nobody touch the lowest page of a stack. Where the kernel can, it is a mark in the page table: a page with rights of its
 * own would split the mapping, and a process has 65,530 of those, which is 32,765 stacks.
 */
static bool makeGuard(void *page)
{
    return madvise(page, pageSize(), MADV_GUARD_INSTALL) == 0 || mprotect(page, pageSize(), PROT_NONE) == 0;
}

StackPool::StackPool(Keep keep, std::size_t size) : keep_(keep), size_((size + pageSize() - 1) / pageSize() * pageSize()) {}

StackPool::StackPool(std::span<std::byte> lent) : keep_(Keep::All), size_(lent.size())
{
    free_.push_back({lent.data(), lent.size(), false});
}

StackPool::~StackPool()
{
    for (Stack stack : free_) {
        if (stack.mapped)
            unmap(stack);
    }
}

Stack StackPool::map()
{
    free_.reserve(mapped_ + 2); /* this one, and one that may be lent */
    const std::size_t guard = pageSize();
    void *memory = mmap(nullptr, guard + size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        throw NoStack();
    if (!makeGuard(memory)) {
        munmap(memory, guard + size_);
        throw NoStack();
    }
    mapped_++;
    return {static_cast<std::byte *>(memory) + guard, size_, true};
}

void StackPool::unmap(Stack stack) noexcept
{
    munmap(stack.base - pageSize(), stack.size + pageSize());
    mapped_--;
}

void StackPool::give(Stack stack) noexcept
{
    forgetStack(stack.base, stack.size);
    if (keep_ == Keep::None && stack.mapped)
        unmap(stack);
    else
        free_.push_back(stack);
}

} // namespace coro
