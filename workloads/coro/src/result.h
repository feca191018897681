/* Result: a value, or the exception that came instead. */
#pragma once

#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

namespace coro {

enum class Errors { Carried, Fatal }; /* Fatal: an exception ends the program, and takes no room */

template <class T, Errors errors = Errors::Carried> class Result {
    using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  public:
    template <class... Args> void emplace(Args &&...args) { state_.template emplace<1>(std::forward<Args>(args)...); }

    /* fail keeps the exception that is being handled. */
    void fail() noexcept
    {
        if constexpr (errors == Errors::Carried)
            state_.template emplace<2>(std::current_exception());
        else
            std::terminate();
    }

    void fail(std::exception_ptr error) noexcept
        requires(errors == Errors::Carried)
    {
        state_.template emplace<2>(std::move(error));
    }

    bool failed() const { return state_.index() == 2; }

    /* take hands the value out, once, or throws the exception. */
    T take()
    {
        if constexpr (errors == Errors::Carried) {
            if (failed())
                std::rethrow_exception(std::get<2>(state_));
        }
        if constexpr (!std::is_void_v<T>)
            return std::move(*std::get_if<1>(&state_));
    }

  private:
    struct Never {};
    std::variant<std::monostate, Value, std::conditional_t<errors == Errors::Carried, std::exception_ptr, Never>> state_;
};

/* resultOf calls a function and keeps what comes out of it. */
template <class F> auto resultOf(F &function) noexcept
{
    using T = std::invoke_result_t<F &>;
    Result<T> result;
    try {
        if constexpr (std::is_void_v<T>) {
            function();
            result.emplace();
        } else {
            result.emplace(function());
        }
    } catch (...) {
        result.fail();
    }
    return result;
}

} // namespace coro
