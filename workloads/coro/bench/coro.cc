/* coro: all cases as Google Benchmarks. Times are of one operation, but of a whole run of switches or round of reads. */
#include "scenario.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

int wrong = 0; /* cases; Google Benchmark does not say */

void runCase(benchmark::State &state, const bench::Case &c, const std::string &directory, std::uint64_t rounds, bool single)
{
    std::uint64_t operations = 0;
    try {
        auto scenario = bench::makeScenario(c, directory);
        scenario->run(rounds);
        if (single) {
            while (state.KeepRunningBatch(static_cast<std::int64_t>(rounds)))
                operations += scenario->run(rounds);
        } else {
            for (auto _ : state)
                operations += scenario->run(rounds);
        }
        scenario->verify();
    } catch (const std::exception &error) {
        wrong++;
        state.SkipWithError(error.what());
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(operations));
}

void registerCase(const std::string &name, const bench::Case &c, const std::string &directory, std::uint64_t rounds, bool single)
{
    auto body = [=](benchmark::State &state) { runCase(state, c, directory, rounds, single); };
    benchmark::RegisterBenchmark(name.c_str(), body)->UseRealTime()->MeasureProcessCPUTime();
}

/* registerAll names a case family/kind/parameter, so that a filter picks a curve. */
void registerAll(const std::string &directory)
{
    for (const bench::Case &c : bench::allCases()) {
        const std::string kind(nameOf(c.kind)), end = kind + "/" + std::to_string(c.parameter);
        switch (c.family) {
        case bench::Family::Switch:
            for (std::uint64_t switches = 100'000; switches <= 100'000'000; switches *= 10)
                registerCase("pure_switch/" + kind + "/" + std::to_string(switches), c, directory, switches, false);
            break;
        case bench::Family::Depth:
            /* as many at once as make the way to the other thread and back small */
            registerCase("call_depth/" + end, c, directory, std::max(8U, 8192 / c.parameter), true);
            break;
        case bench::Family::Read:
            registerCase("read_diff_size/" + end, c, directory, 1, false);
            break;
        case bench::Family::DeepRead:
            registerCase("deep_read/" + end, c, directory, 1, false);
            break;
        case bench::Family::SameRead:
            registerCase("same_read/" + end, c, directory, 1, false);
            break;
        }
    }
}

/* takeDirectory removes --dir DIRECTORY from the arguments: the others are Google Benchmark's. */
std::string takeDirectory(int &argc, char **argv)
{
    const char *temporary = std::getenv("TMPDIR");
    std::string directory = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        std::string_view argument = argv[i];
        if (argument.starts_with("--dir="))
            directory = argument.substr(6);
        else if (argument == "--dir" && i + 1 < argc)
            directory = argv[++i];
        else
            argv[kept++] = argv[i];
    }
    argc = kept;
    return directory;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string directory = takeDirectory(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    registerAll(directory);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return wrong == 0 ? 0 : 1;
}
