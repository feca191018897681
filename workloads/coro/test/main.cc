/* Runs the tests whose names contain the argument, or all. */
#include "test.h"

#include <cstring>

int main(int argc, char **argv)
{
    int run = 0;
    for (const Test &test : tests()) {
        if (argc > 1 && std::strstr(test.name, argv[1]) == nullptr)
            continue;
        const int before = failures;
        run++;
        try {
            test.body();
        } catch (const std::exception &error) {
            std::fprintf(stderr, "threw: %s\n", error.what());
            failures++;
        }
        if (failures != before)
            std::fprintf(stderr, "FAIL %s\n", test.name);
    }
    std::printf("%d tests, %d failed checks\n", run, failures);
    return run > 0 && failures == 0 ? 0 : 1;
}
