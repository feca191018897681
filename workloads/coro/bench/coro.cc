/* coro: all cases as Google Benchmarks. Times are of one operation, but of a whole run of switches or round of reads. */
#include "scenario.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <set>
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

/* Arguments are those that are not Google Benchmark's. */
struct Arguments {
    std::string directory;
    std::string implementation; /* the kind whose cases there are; empty: all */
};

/* Curve is how the cases of a family are called: by what changes along it. */
struct Curve {
    bench::Family family;
    const char *name, *parameter;
};

constexpr Curve curves[] = {
    {bench::Family::Switch, "pure_switch", "switches"}, {bench::Family::Wake, "wake", "batches"},
    {bench::Family::Uneven, "uneven", "tasks"},         {bench::Family::Depth, "call_depth", "depth"},
    {bench::Family::Read, "read_diff_size", "kib"},
    {bench::Family::DirectRead, "direct_read", "kib"},  {bench::Family::DeepRead, "deep_read", "depth"},
    {bench::Family::SameRead, "same_read", "tasks"}, /* for each CPU */
};

/* nameIn leaves out the kind if it is the only one: so the cases of all kinds have the same names, and can be compared. */
std::string nameIn(const Curve &curve, const bench::Case &c, const Arguments &arguments, std::uint64_t value)
{
    std::string name(curve.name);
    if (arguments.implementation.empty())
        name.append("/kind:").append(nameOf(c.kind));
    return name.append("/").append(curve.parameter).append(":").append(std::to_string(value));
}

void registerOf(const Curve &curve, const bench::Case &c, const Arguments &arguments)
{
    auto add = [&](std::uint64_t value, std::uint64_t rounds, bool single) {
        registerCase(nameIn(curve, c, arguments, value), c, arguments.directory, rounds, single);
    };
    switch (c.family) {
    case bench::Family::Switch:
        for (std::uint64_t switches = 100'000; switches <= 100'000'000; switches *= 10)
            add(switches, switches, false);
        break;
    case bench::Family::Wake:
        add(1000, 1000, false);
        break;
    case bench::Family::Uneven:
        add(64, 1, false);
        break;
    case bench::Family::Depth:
        /* as many at once as make the way to the other thread and back small */
        add(c.parameter, std::max(8U, 8192 / c.parameter), true);
        break;
    default:
        add(c.parameter, 1, false);
    }
}

/* registerAll returns whether there is any case of the implementation. Those that cannot be had here are left out, and it says why. */
bool registerAll(const Arguments &arguments)
{
    bool found = false;
    std::set<std::string> said;
    for (const bench::Case &c : bench::allCases()) {
        if (!arguments.implementation.empty() && arguments.implementation != nameOf(c.kind))
            continue;
        if (const std::string what = bench::missing(c, arguments.directory); !what.empty()) {
            if (said.insert(what).second)
                std::fprintf(stderr, "coro: %s, and cases like it, are left out: %s\n", nameOf(c).c_str(), what.c_str());
            continue;
        }
        registerOf(*std::ranges::find(curves, c.family, &Curve::family), c, arguments);
        found = true;
    }
    return found;
}

/* takeOption takes the value of "--name VALUE" or "--name=VALUE" and moves on. */
bool takeOption(std::string_view name, int argc, char **argv, int &i, std::string &value)
{
    std::string_view argument = argv[i];
    if (argument == name && i + 1 < argc) {
        value = argv[++i];
        return true;
    }
    if (!argument.starts_with(name) || !argument.substr(name.size()).starts_with('='))
        return false;
    value = argument.substr(name.size() + 1);
    return true;
}

/* takeArguments removes --dir and --implementation from the arguments: the others are Google Benchmark's. */
Arguments takeArguments(int &argc, char **argv)
{
    const char *temporary = std::getenv("TMPDIR");
    Arguments arguments{.directory = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp", .implementation = ""};
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        if (!takeOption("--dir", argc, argv, i, arguments.directory) &&
            !takeOption("--implementation", argc, argv, i, arguments.implementation))
            argv[kept++] = argv[i];
    }
    argc = kept;
    return arguments;
}

} // namespace

int main(int argc, char **argv)
{
    const Arguments arguments = takeArguments(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    if (!registerAll(arguments)) {
        std::fprintf(stderr, "coro: no case here is of the implementation '%s': it is a kind, such as stackful\n", arguments.implementation.c_str());
        return 2;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return wrong == 0 ? 0 : 1;
}
