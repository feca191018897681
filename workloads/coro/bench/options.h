/* The command line of coro-bench. */
#pragma once

#include "case.h"

#include <span>
#include <stdexcept>
#include <string>

namespace bench {

struct Usage : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

struct Options {
    bool list = false; /* the cases, instead of running one */
    Case wanted{};
    double seconds = 1;
    std::string directory;
};

/* parseOptions takes what follows the program's name. It throws Usage, with a sentence. */
Options parseOptions(std::span<const char *const> arguments, const char *temporary);

} // namespace bench
