#include "stack.h"

#include "sanitizer.h"

#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace coro {

static std::size_t pageSize()
{
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
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
    void *memory = mmap(nullptr, guard + size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        throw std::bad_alloc();
    auto *base = static_cast<std::byte *>(memory) + guard;
    if (mprotect(base, size_, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, guard + size_);
        throw std::bad_alloc();
    }
    mapped_++;
    return {base, size_, true};
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
