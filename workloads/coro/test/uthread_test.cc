/* Stackful coroutines by hand: the switch, the stacks, exceptions. */
#include "test.h"

#include "uthread.h"

#include <algorithm>
#include <cfenv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <xmmintrin.h>

using coro::Stack;
using coro::StackPool;
using coro::Uthread;

TEST("a Uthread runs from suspension to suspension, and tells when it has ended")
{
    StackPool stacks;
    std::string said;
    Uthread &uthread = Uthread::spawn(stacks, [&]() noexcept {
        said += 'a';
        Uthread::suspend();
        said += 'b';
    });
    CHECK(said.empty());
    CHECK(uthread.resume());
    CHECK(said == "a");
    CHECK(!uthread.resume());
    CHECK(said == "ab");
}

TEST("a Uthread may resume another, and each goes back to its own caller")
{
    StackPool stacks;
    std::string said;
    Uthread &outer = Uthread::spawn(stacks, [&]() noexcept {
        Uthread &self = *Uthread::current();
        Uthread &inner = Uthread::spawn(stacks, [&]() noexcept {
            said += '1';
            Uthread::suspend();
            said += '3';
        });
        inner.resume();
        CHECK(Uthread::current() == &self);
        said += '2';
        Uthread::suspend();
        inner.resume();
        said += '4';
    });
    CHECK(outer.resume());
    CHECK(Uthread::current() == nullptr);
    CHECK(!outer.resume());
    CHECK(said == "1234");
}

TEST("a Uthread goes back to whoever resumed it last, and one that ends inside another leaves that one's way back alone")
{
    StackPool stacks;
    std::string said;
    Uthread &inner = Uthread::spawn(stacks, [&]() noexcept {
        said += '1';
        Uthread::suspend();
        said += '3';
        Uthread::suspend();
        said += '5';
    });
    Uthread &middle = Uthread::spawn(stacks, [&]() noexcept {
        CHECK(inner.resume());
        Uthread::suspend();
        CHECK(!inner.resume());
    });
    Uthread &outer = Uthread::spawn(stacks, [&]() noexcept {
        CHECK(middle.resume());
        said += '2';
        Uthread::suspend();
        CHECK(!middle.resume());
        CHECK(Uthread::current() != nullptr);
        said += '6';
    });
    CHECK(outer.resume());
    CHECK(inner.resume());
    said += '4';
    CHECK(!outer.resume());
    CHECK(Uthread::current() == nullptr);
    CHECK(said == "123456");
}

/* Live values in more registers than the ABI preserves: the compiler has to save them around the switch by itself. */
template <class T> static T mixed(T seed, bool switches)
{
    T v[24];
    for (int i = 0; i < 24; i++)
        v[i] = seed + static_cast<T>(i) * 3;
    for (int round = 0; round < 50; round++) {
        if (switches)
            Uthread::suspend();
        for (int i = 0; i < 24; i++)
            v[i] = v[i] + v[(i + 7) % 24] / 5;
    }
    T sum = 0;
    for (T x : v)
        sum += x;
    return sum;
}

TEST("values in registers survive the switch, on both sides")
{
    StackPool stacks;
    long a = 0;
    double b = 0;
    Uthread &x = Uthread::spawn(stacks, [&]() noexcept { a = mixed<long>(3, true); });
    Uthread &y = Uthread::spawn(stacks, [&]() noexcept { b = mixed<double>(0.7, true); });
    bool xGoes = true, yGoes = true;
    while (xGoes || yGoes) {
        xGoes = xGoes && x.resume();
        yGoes = yGoes && y.resume();
    }
    CHECK(a == mixed<long>(3, false));
    CHECK(b == mixed<double>(0.7, false));
}

/* Doubles with names, not an array, which would lie in memory: the compiler keeps all in registers, in those of AVX-512 if it may. */
[[gnu::noinline]] static double chain(double seed, bool switches)
{
    double a = seed, b = seed + 1, c = seed + 2, d = seed + 3, e = seed + 4, f = seed + 5, g = seed + 6, h = seed + 7;
    for (int round = 0; round < 6; round++) {
        if (switches)
            Uthread::suspend();
        a = a * 1.5 + b, b = b * 0.5 + c, c = c * 0.25 + d, d = d * 0.5 + e;
        e = e * 0.125 + f, f = f * 0.5 + g, g = g * 0.75 + h, h = h * 0.5 + a * 1e-3;
    }
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

TEST("doubles in registers survive the switch to another coroutine that has as many")
{
    StackPool stacks;
    double a = 0, b = 0;
    Uthread &x = Uthread::spawn(stacks, [&]() noexcept { a = chain(5, true); });
    Uthread &y = Uthread::spawn(stacks, [&]() noexcept { b = chain(77, true); });
    bool xGoes = true, yGoes = true;
    while (xGoes || yGoes) {
        xGoes = xGoes && x.resume();
        yGoes = yGoes && y.resume();
    }
    CHECK(a == chain(5, false));
    CHECK(b == chain(77, false));
}

static void roundsForItself()
{
    StackPool stacks;
    Uthread &uthread = Uthread::spawn(stacks, []() noexcept {
        CHECK(std::fegetround() == FE_TONEAREST);
        std::fesetround(FE_UPWARD);
        Uthread::suspend();
        volatile double one = 1, three = 3;
        volatile long double longOne = 1, longThree = 3;
        CHECK(std::fegetround() == FE_UPWARD);
        CHECK(one / three * three > 1);
        CHECK(longOne / longThree * longThree > 1);
    });
    uthread.resume();
    CHECK(std::fegetround() == FE_TONEAREST);
    std::fesetround(FE_DOWNWARD);
    uthread.resume();
    CHECK(std::fegetround() == FE_DOWNWARD);
    std::fesetround(FE_TONEAREST);
}

TEST("the rounding mode belongs to a coroutine, for SSE and for x87, whether MXCSR is loaded each time or compared")
{
    const bool before = coro::loadsMxcsr;
    for (bool loads : {true, false}) {
        coro::loadsMxcsr = loads;
        roundsForItself();
    }
    coro::loadsMxcsr = before;
}

TEST("of MXCSR's flags the coroutine has its own where it is loaded, and its caller's where it is compared")
{
    const bool before = coro::loadsMxcsr;
    for (bool loads : {true, false}) {
        coro::loadsMxcsr = loads;
        StackPool stacks;
        bool inexact = false;
        _mm_setcsr(_mm_getcsr() & ~_MM_EXCEPT_INEXACT);
        Uthread &uthread = Uthread::spawn(stacks, [&]() noexcept { inexact = (_mm_getcsr() & _MM_EXCEPT_INEXACT) != 0; });
        _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_INEXACT);
        CHECK(!uthread.resume());
        CHECK(inexact == !loads);
    }
    coro::loadsMxcsr = before;
}

TEST("stacks begin as the ABI wants them, and are used again")
{
    StackPool stacks;
    for (int i = 0; i < 100; i++) {
        Uthread &uthread = Uthread::spawn(stacks, [&]() noexcept {
            alignas(16) volatile char local[16] = {};
            CHECK(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) % 16 == 0);
            CHECK(reinterpret_cast<std::uintptr_t>(&local) % 16 == 0);
        });
        CHECK(!uthread.resume());
    }
    CHECK(stacks.mapped() == 1);
}

TEST("a pool that keeps nothing gives its stacks back at once")
{
    StackPool stacks(StackPool::Keep::None);
    Stack stack = stacks.take();
    CHECK(stacks.mapped() == 1);
    stacks.give(stack);
    CHECK(stacks.mapped() == 0);
}

TEST("a pool that cannot map more throws, and what it has goes on working")
{
    StackPool stacks(StackPool::Keep::All, std::size_t{1} << 46);
    Stack stack{};
    bool refused = false;
    for (int i = 0; i < 4 && !refused; i++)
        refused = throwsAs<std::bad_alloc>([&] { stack = stacks.take(); });
    CHECK(refused);
    StackPool small;
    CHECK(!Uthread::spawn(small, []() noexcept {}).resume());
}

TEST("a body's captures end when the body has ended")
{
    StackPool stacks;
    auto token = std::make_shared<int>(1);
    Uthread &uthread = Uthread::spawn(stacks, [token]() noexcept { Uthread::suspend(); });
    uthread.resume();
    CHECK(token.use_count() == 2);
    uthread.resume();
    CHECK(token.use_count() == 1);
}

static void throwInTurns(int number, std::string &said)
{
    try {
        throw number;
    } catch (int caught) {
        Uthread::suspend();
        try {
            throw std::runtime_error(std::to_string(number));
        } catch (const std::runtime_error &inner) {
            Uthread::suspend();
            said += inner.what();
        }
        try {
            throw; /* what is being handled, again */
        } catch (int again) {
            said += again == number && caught == number ? "=" : "!";
        }
    }
}

TEST("coroutines that suspend inside of catch blocks keep their exceptions apart")
{
    StackPool stacks;
    std::string said;
    Uthread &one = Uthread::spawn(stacks, [&]() noexcept { throwInTurns(1, said); });
    Uthread &two = Uthread::spawn(stacks, [&]() noexcept { throwInTurns(2, said); });
    try {
        throw std::logic_error("the caller's");
    } catch (const std::logic_error &) {
        one.resume(), two.resume();
        one.resume(), two.resume();
        CHECK(!one.resume());
        CHECK(!two.resume());
        CHECK(throwsAs<std::logic_error>([] { throw; }));
    }
    CHECK(said == "1=2=");
    CHECK(std::current_exception() == nullptr);
}

struct SuspendsWhileFlying {
    int *flying;
    ~SuspendsWhileFlying()
    {
        Uthread::suspend();
        *flying = std::uncaught_exceptions();
    }
};

TEST("an exception in flight belongs to its coroutine alone")
{
    StackPool stacks;
    int flying = -1;
    Uthread &uthread = Uthread::spawn(stacks, [&]() noexcept {
        try {
            SuspendsWhileFlying guard{&flying};
            throw 1;
        } catch (int) {
        }
    });
    uthread.resume();
    CHECK(std::uncaught_exceptions() == 0);
    uthread.resume();
    CHECK(flying == 1);
}

TEST("waiting outside of a worker's Uthread is refused")
{
    CHECK(throwsAs<std::logic_error>([] { coro::await(coro::Yield{}); }));
}

[[gnu::noinline]] static int recurse(int depth)
{
    volatile char frame[1024];
    frame[0] = static_cast<char>(depth);
    return depth < 0 ? 0 : recurse(depth + 1) + frame[0]; /* never, but the compiler cannot know */
}

static std::byte *lowest; /* of the stack that overflows */

static void onFault(int, siginfo_t *info, void *)
{
    auto *at = static_cast<std::byte *>(info->si_addr);
    _exit(at < lowest && at >= lowest - 4096 ? 42 : 1);
}

/* A frame that is larger than the guard page, and used at its far end only. It is entered with less than that left of the stack. */
[[gnu::noinline]] static void leap()
{
    char frame[96 * 1024];
    frame[0] = 1;
    asm volatile("" : : "r"(frame) : "memory"); /* it is used, as far as the compiler knows */
}

[[gnu::noinline]] static int descend(const void *to)
{
    volatile char frame[1024];
    frame[0] = 1;
    if (__builtin_frame_address(0) < to) {
        leap();
        return 0;
    }
    return descend(to) + frame[0];
}

[[noreturn]] static void overflow(void (*body)())
{
    static char alternate[64 * 1024];
    stack_t onAnother{};
    onAnother.ss_sp = alternate;
    onAnother.ss_size = sizeof(alternate);
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (sigaltstack(&onAnother, nullptr) != 0 || sigaction(SIGSEGV, &action, nullptr) != 0)
        _exit(2);
    StackPool stacks;
    Stack one = stacks.take(), other = stacks.take();
    if (one.base < other.base)
        std::swap(one, other);
    lowest = one.base;
    stacks.give(other);
    stacks.give(one); /* the Uthread gets it next, and the other one lies below */
    Uthread::spawn(stacks, [body]() noexcept { body(); }).resume();
    _exit(3);
}

static bool hitsTheGuard(void (*body)())
{
    pid_t child = fork();
    if (child == 0)
        overflow(body);
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42;
}

TEST("a stack that overflows hits its guard page")
{
    CHECK(hitsTheGuard([] { recurse(0); }));
}

TEST("a frame that is larger than the guard page does not step over it")
{
    CHECK(hitsTheGuard([] { descend(lowest + 32 * 1024); }));
}

#ifndef __SANITIZE_THREAD__ /* it maps something of its own for each */
static std::ptrdiff_t mappings()
{
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

/* The kernel can since Linux 6.13; before, each stack is two mappings. */
static bool canGuardInside()
{
    void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool can = madvise(page, 4096, 102) == 0; /* MADV_GUARD_INSTALL */
    munmap(page, 4096);
    return can;
}

TEST("a thousand stacks are no thousand mappings, of which a process has 65,530")
{
    if (!canGuardInside())
        return;
    StackPool stacks;
    std::vector<Stack> taken(1000);
    const auto before = mappings();
    for (Stack &stack : taken)
        stack = stacks.take();
    CHECK(mappings() - before < 100);
    for (Stack stack : taken)
        stacks.give(stack);
}
#endif
