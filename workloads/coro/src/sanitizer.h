/* What AddressSanitizer and ThreadSanitizer want to be told about stacks. All of it is empty in other builds. */
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace coro {

/* forgetStack takes away the marks that frames left on a stack: the last one never returned. */
inline void forgetStack([[maybe_unused]] void *base, [[maybe_unused]] std::size_t size)
{
#ifdef __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(base, size);
#endif
}

/*
 * SwitchNotes belongs to a coroutine with a stack of its own. leaving...() is called right before a switch, arrived...() first
 * thing after it, on the stack that was switched to.
 */
#if defined(__SANITIZE_ADDRESS__)
class SwitchNotes {
  public:
    void leavingCaller(void *base, std::size_t size) { __sanitizer_start_switch_fiber(&callersFrames_, base, size); }
    void arrivedAtCaller() { __sanitizer_finish_switch_fiber(callersFrames_, nullptr, nullptr); }
    void leaving() { __sanitizer_start_switch_fiber(&frames_, callersBase_, callersSize_); }
    void leavingForEver() { __sanitizer_start_switch_fiber(nullptr, callersBase_, callersSize_); }
    void arrived() { __sanitizer_finish_switch_fiber(frames_, &callersBase_, &callersSize_); }

  private:
    void *frames_ = nullptr;
    void *callersFrames_ = nullptr;
    const void *callersBase_ = nullptr;
    std::size_t callersSize_ = 0;
};
#elif defined(__SANITIZE_THREAD__)
/* Inlined, or the entry of such a function would be noted on one stack and its exit on the other. */
class SwitchNotes {
  public:
    SwitchNotes() : fiber_(__tsan_create_fiber(0)) {}
    ~SwitchNotes() { __tsan_destroy_fiber(fiber_); }
    SwitchNotes(const SwitchNotes &) = delete;
    SwitchNotes &operator=(const SwitchNotes &) = delete;
    [[gnu::always_inline]] void leavingCaller(void *, std::size_t)
    {
        caller_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(fiber_, 0);
    }
    void arrivedAtCaller() {}
    [[gnu::always_inline]] void leaving() { __tsan_switch_to_fiber(caller_, 0); }
    [[gnu::always_inline]] void leavingForEver() { leaving(); }
    void arrived() {}

  private:
    void *fiber_;
    void *caller_ = nullptr;
};
#else
class SwitchNotes {
  public:
    void leavingCaller(void *, std::size_t) {}
    void arrivedAtCaller() {}
    void leaving() {}
    void leavingForEver() {}
    void arrived() {}
};
#endif

} // namespace coro
