#include "case.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace bench {
namespace {

struct KindName {
    Kind kind;
    std::string_view name;
};

constexpr std::array kindNames{
    KindName{Kind::Stackful, "stackful"},
    KindName{Kind::StackfulNoexcept, "stackful-noexcept"},
    KindName{Kind::StackfulPrealloc, "stackful-prealloc"},
    KindName{Kind::StackfulUnpooled, "stackful-unpooled"},
    KindName{Kind::StackfulPool, "stackful-pool"},
    KindName{Kind::StackfulUring, "stackful-uring"},
    KindName{Kind::StackfulFlagsDiffer, "stackful-flags-differ"},
    KindName{Kind::Boost, "boost"},
    KindName{Kind::BoostFlagsDiffer, "boost-flags-differ"},
    KindName{Kind::Stackless, "stackless"},
    KindName{Kind::StacklessNoexcept, "stackless-noexcept"},
    KindName{Kind::StacklessPrealloc, "stackless-prealloc"},
    KindName{Kind::StacklessPreallocNoexcept, "stackless-prealloc-noexcept"},
    KindName{Kind::StacklessInlined, "stackless-inlined"},
    KindName{Kind::StacklessPool, "stackless-pool"},
    KindName{Kind::StacklessUring, "stackless-uring"},
    KindName{Kind::StacklessAio, "stackless-aio"},
    KindName{Kind::Hybrid, "hybrid"},
    KindName{Kind::OwnQueue, "own"},
    KindName{Kind::StealableQueue, "stealable"},
    KindName{Kind::InTurn, "in-turn"},
    KindName{Kind::WhereIdle, "where-idle"},
};

constexpr std::array switchKinds{Kind::Stackful,         Kind::StackfulFlagsDiffer, Kind::Boost,
                                 Kind::BoostFlagsDiffer, Kind::Stackless,           Kind::StacklessInlined};
constexpr std::array wakeKinds{Kind::OwnQueue, Kind::StealableQueue};
constexpr std::array unevenKinds{Kind::InTurn, Kind::WhereIdle};
constexpr std::array depthKinds{Kind::Stackful,          Kind::StackfulNoexcept,  Kind::StackfulPrealloc,
                                Kind::StackfulUnpooled,  Kind::Boost,             Kind::Stackless,
                                Kind::StacklessNoexcept, Kind::StacklessPrealloc, Kind::StacklessPreallocNoexcept};
constexpr std::array bothKinds{Kind::Stackful, Kind::Stackless};
constexpr std::array readKinds{Kind::Stackful,  Kind::StackfulPool,  Kind::StackfulUring,
                               Kind::Stackless, Kind::StacklessPool, Kind::StacklessUring, Kind::StacklessAio};
constexpr std::array deepReadKinds{Kind::Stackful, Kind::Stackless, Kind::Hybrid};

struct FamilyName {
    Family family;
    std::string_view prefix, unit;  /* around the parameter */
    unsigned least, most;           /* of the parameter, in powers of two; 0: it has none */
    std::span<const Kind> kinds;
};

const std::array families{
    FamilyName{Family::Switch, "switch-", "", 0, 0, switchKinds},
    FamilyName{Family::Wake, "wake-", "", 0, 0, wakeKinds},
    FamilyName{Family::Uneven, "uneven-", "", 0, 0, unevenKinds},
    FamilyName{Family::Depth, "depth-", "-", 1, 2048, depthKinds},
    FamilyName{Family::Read, "read-", "k-", 4, 2048, readKinds},
    FamilyName{Family::DirectRead, "direct-read-", "k-", 4, 256, readKinds},
    FamilyName{Family::DeepRead, "deep-read-", "-", 1, 256, deepReadKinds},
    FamilyName{Family::SameRead, "same-read-", "-", 4, 2048, bothKinds},
};

bool dropPrefix(std::string_view &text, std::string_view prefix)
{
    if (!text.starts_with(prefix))
        return false;
    text.remove_prefix(prefix.size());
    return true;
}

/* dropNumber takes digits as nameOf() would write them: no zeroes, no signs before. */
std::optional<unsigned> dropNumber(std::string_view &text)
{
    unsigned number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || text.starts_with('0'))
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

std::optional<Case> parseIn(const FamilyName &family, std::string_view name)
{
    unsigned parameter = 0;
    if (!dropPrefix(name, family.prefix))
        return std::nullopt;
    if (family.most != 0) {
        auto number = dropNumber(name);
        if (!number || *number < family.least || *number > family.most || (*number & (*number - 1)) != 0)
            return std::nullopt;
        parameter = *number;
    }
    if (!dropPrefix(name, family.unit))
        return std::nullopt;
    for (Kind kind : family.kinds) {
        if (nameOf(kind) == name)
            return Case{family.family, kind, parameter};
    }
    return std::nullopt;
}

} // namespace

std::string_view nameOf(Kind kind)
{
    return std::ranges::find(kindNames, kind, &KindName::kind)->name;
}

std::string nameOf(const Case &c)
{
    const FamilyName &family = *std::ranges::find(families, c.family, &FamilyName::family);
    std::string name(family.prefix);
    if (family.most != 0)
        name.append(std::to_string(c.parameter)).append(family.unit);
    return name.append(nameOf(c.kind));
}

std::vector<Case> allCases()
{
    std::vector<Case> all;
    for (const FamilyName &family : families) {
        for (unsigned parameter = family.least; parameter <= family.most; parameter *= 2) {
            for (Kind kind : family.kinds)
                all.push_back({family.family, kind, parameter});
            if (family.most == 0)
                break;
        }
    }
    return all;
}

std::optional<Case> parseCase(std::string_view name)
{
    for (const FamilyName &family : families) {
        if (auto found = parseIn(family, name))
            return found;
    }
    return std::nullopt;
}

} // namespace bench
