/* coro-bench: one case, for a while, and one line of JSON about it. */
#include "options.h"
#include "scenario.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>

namespace {

struct Times {
    double wall, cpu;
};

double clockSeconds(clockid_t clock)
{
    timespec t;
    clock_gettime(clock, &t); /* cannot fail: both clocks exist everywhere */
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Times now()
{
    return {clockSeconds(CLOCK_MONOTONIC), clockSeconds(CLOCK_PROCESS_CPUTIME_ID)};
}

/* warmUp runs the case for a tenth of a second, and finds how many rounds are worth looking at the clock for. */
std::uint64_t warmUp(bench::Scenario &scenario)
{
    constexpr double span = 0.1, worthLooking = 0.002;
    const double begin = now().wall;
    for (std::uint64_t rounds = 1;;) {
        const double from = now().wall;
        scenario.run(rounds);
        const double to = now().wall;
        if (to - from < worthLooking)
            rounds *= 2;
        else if (to - begin >= span)
            return rounds;
    }
}

void runCell(const bench::Options &options)
{
    auto scenario = bench::makeScenario(options.wanted, options.directory);
    const std::uint64_t rounds = warmUp(*scenario);
    std::uint64_t operations = 0;
    const Times begin = now();
    Times end;
    do {
        operations += scenario->run(rounds);
        end = now();
    } while (end.wall - begin.wall < options.seconds);
    scenario->verify();
    std::printf("{\"case\":\"%s\",\"operations\":%llu,\"wallSeconds\":%.6f,\"cpuSeconds\":%.6f}\n", nameOf(options.wanted).c_str(),
                static_cast<unsigned long long>(operations), end.wall - begin.wall, end.cpu - begin.cpu);
}

} // namespace

int main(int argc, char **argv)
{
    try {
        auto options = bench::parseOptions({argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0)}, std::getenv("TMPDIR"));
        if (options.list) {
            for (const bench::Case &c : bench::allCases())
                std::puts(nameOf(c).c_str());
        } else {
            runCell(options);
        }
        return std::fflush(stdout) == 0 ? 0 : 1;
    } catch (const bench::Usage &error) {
        std::fprintf(stderr, "coro-bench: %s\n", error.what());
        return 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "coro-bench: %s\n", error.what());
        return 1;
    }
}
