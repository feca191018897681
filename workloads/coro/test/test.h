/* The least of a test framework: tests are named by sentences, and a check that fails says where. */
#pragma once

#include <cstdio>
#include <exception>
#include <vector>

struct Test {
    const char *name;
    void (*body)();
};

inline std::vector<Test> &tests()
{
    static std::vector<Test> all;
    return all;
}

struct Registration {
    Registration(const char *name, void (*body)()) { tests().push_back({name, body}); }
};

inline int failures = 0;

inline void check(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
    __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
}

/* throwsAs is true when the call throws a T, or what is derived from it. */
template <class T, class F> bool throwsAs(F call)
{
    try {
        call();
    } catch (const T &) {
        return true;
    } catch (...) {
    }
    return false;
}

#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define TEST_AT(sentence, line)                                                                                                      \
    static void test##line();                                                                                                        \
    static const Registration registration##line(sentence, test##line);                                                              \
    static void test##line()
#define TEST_ON(sentence, line) TEST_AT(sentence, line)
#define TEST(sentence) TEST_ON(sentence, __LINE__)
