/* Stacks for coroutines: mapped memory with a page below that nobody may touch, kept for the next user. */
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace coro {

/* Stack is the usable memory, from its lowest address. */
struct Stack {
    std::byte *base = nullptr;
    std::size_t size = 0;
    bool mapped = false; /* by a pool, with a guard page; others are lent */

    std::byte *top() const { return base + size; }
};

/* NoStack is what a pool throws when the system gives it no stack. */
struct NoStack : std::bad_alloc {
    const char *what() const noexcept override { return "there is no memory for another stack"; }
};

/* StackPool belongs to one thread. It keeps as many stacks as were ever in use at once, or none. */
class StackPool {
  public:
    enum class Keep { All, None };
    static constexpr std::size_t defaultSize = 512 * 1024;

    explicit StackPool(Keep keep = Keep::All, std::size_t size = defaultSize);
    explicit StackPool(std::span<std::byte> lent); /* one stack of somebody else's memory, without a guard */
    ~StackPool();
    StackPool(const StackPool &) = delete;
    StackPool &operator=(const StackPool &) = delete;

    Stack take()
    {
        if (free_.empty())
            return map();
        Stack stack = free_.back();
        free_.pop_back();
        return stack;
    }

    void give(Stack stack) noexcept;
    std::size_t mapped() const { return mapped_; }

  private:
    Stack map();
    void unmap(Stack stack) noexcept;

    Keep keep_;
    std::size_t size_;
    std::size_t mapped_ = 0;
    std::vector<Stack> free_; /* with room for all that are mapped, so that giving back cannot fail */
};

} // namespace coro
