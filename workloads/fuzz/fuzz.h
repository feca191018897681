/*
 * A fuzzer that the code it tries guides: inputs that make it do something new are kept, and changed further. It needs nothing but a
 * compiler. A program is the fuzzer, the code, and a target.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define FUZZ_NORETURN [[noreturn]]
#else
#define FUZZ_NORETURN _Noreturn
#endif

struct fuzz_text {
    const char *data;
    size_t size;
};

#define FUZZ_TEXT(s) { s, sizeof(s) - 1 }

/* What is tried. */
struct fuzz_target {
    const struct fuzz_text *seeds; /* inputs that mean something */
    size_t seed_count;
    const struct fuzz_text *words; /* what an input gets more of; each byte of any of them, too */
    size_t word_count;
    size_t most;                                   /* bytes of an input */
    void (*attempt)(const char *input, size_t size); /* calls fuzz_fail when something is wrong */
};

/* fuzz_target is defined by the program's target. */
extern const struct fuzz_target fuzz_target;

/* fuzz_chance is a number below another one. Within an attempt it follows from the input alone. */
uint64_t fuzz_chance(uint64_t below);

/* fuzz_exact copies to memory that ends where the input ends, so that reading beyond it is seen. The caller frees it. */
char *fuzz_exact(const char *input, size_t size);

/* fuzz_fail prints the input that is tried, and ends the program. */
FUZZ_NORETURN void fuzz_fail(const char *what);

#ifdef __cplusplus
}
#endif

#endif
