#include "scenario.h"

namespace bench {

std::unique_ptr<Scenario> makeScenario(const Case &c, const std::string &directory)
{
    if (const std::string what = missing(c, directory); !what.empty())
        throw std::runtime_error(nameOf(c) + " is not to be had here: " + what);
    switch (c.family) {
    case Family::Switch:
        return makeSwitch(c.kind);
    case Family::Wake:
        return makeWake(c.kind);
    case Family::Uneven:
        return makeUneven(c.kind);
    case Family::Depth:
        return makeDepth(c.kind, c.parameter);
    case Family::Read:
        return makeRead(c.kind, c.parameter, directory);
    case Family::DirectRead:
        return makeDirectRead(c.kind, c.parameter, directory);
    case Family::SameRead:
        return makeSameRead(c.kind, c.parameter, directory);
    case Family::DeepRead:
        return makeDeepRead(c.kind, c.parameter, directory);
    }
    throw std::logic_error("no such family of cases");
}

} // namespace bench
