/* A scenario is a case that is set up. Both programs time its run() and nothing else, and then have it verified. */
#pragma once

#include "case.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <sched.h>
#include <string>
#include <thread>

namespace bench {

struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Scenario {
  public:
    virtual ~Scenario() = default;

    /* run does so many rounds and returns the number of operations that they had: switches, calls of the chain, reads. */
    virtual std::uint64_t run(std::uint64_t rounds) = 0;

    /* verify throws Wrong unless everything that was ever run did what it should. */
    virtual void verify() = 0;
};

/* processors is how many the process may use: who starts it may have pinned it to some. */
inline unsigned processors()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
    return std::max(1U, known ? static_cast<unsigned>(CPU_COUNT(&set)) : std::thread::hardware_concurrency());
}

/* missing says what a case needs and this machine, or the directory, does not have. It is empty where nothing is missing. */
std::string missing(const Case &, const std::string &directory);

/*
 * makeScenario may make a file in the directory, which nobody else sees and which goes with the scenario. It throws where something is
 * missing: a case does not do by other means what its name says.
 */
std::unique_ptr<Scenario> makeScenario(const Case &, const std::string &directory);

std::unique_ptr<Scenario> makeSwitch(Kind);
std::unique_ptr<Scenario> makeWake(Kind);
std::unique_ptr<Scenario> makeUneven(Kind);
std::unique_ptr<Scenario> makeDepth(Kind, unsigned depth);
std::unique_ptr<Scenario> makeRead(Kind, unsigned kib, const std::string &directory);
std::unique_ptr<Scenario> makeDirectRead(Kind, unsigned kib, const std::string &directory);
std::unique_ptr<Scenario> makeSameRead(Kind, unsigned tasks, const std::string &directory);
std::unique_ptr<Scenario> makeDeepRead(Kind, unsigned depth, const std::string &directory);

} // namespace bench
