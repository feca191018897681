/* Generator: a stackless coroutine that is resumed by hand and yields a value each time. */
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace coro {

template <class T> class [[nodiscard]] Generator {
  public:
    struct promise_type {
        Generator get_return_object() noexcept { return Generator(Handle::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(T v) noexcept
        {
            value = std::move(v);
            return {};
        }
        void return_void() noexcept {}
        void unhandled_exception() { throw; }

        T value{};
    };
    using Handle = std::coroutine_handle<promise_type>;

    explicit Generator(Handle handle) noexcept : handle_(handle) {}
    Generator(Generator &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Generator &operator=(Generator &&) = delete;
    ~Generator()
    {
        if (handle_)
            handle_.destroy();
    }

    Handle handle() const { return handle_; }

    /* next returns false when there are no more values. */
    bool next()
    {
        handle_.resume();
        return !handle_.done();
    }
    T &value() const { return handle_.promise().value; }

  private:
    Handle handle_;
};

} // namespace coro
