#include "options.h"
#include "test.h"

#include <set>
#include <vector>

/* accepts is true when a command line is taken, and the case is the one that it names. */
static bool accepts(const std::vector<const char *> &line)
{
    try {
        const bench::Options options = bench::parseOptions(line, nullptr);
        return nameOf(options.wanted) == line[1];
    } catch (const bench::Usage &) {
        return false;
    }
}

TEST("every case that is listed is known by its own name")
{
    std::set<std::string> names;
    for (const bench::Case &c : bench::allCases()) {
        const std::string name = nameOf(c);
        CHECK(names.insert(name).second);
        CHECK(accepts({"cell", name.c_str()}));
    }
    CHECK(!names.empty());
}

TEST("a case that is none is not known")
{
    for (const char *name : {"", "switch", "depth-3-boost", "depth-0-boost", "depth-4096-boost", "depth-064-boost", "depth--1-boost",
                             "read-2k-stackless", "read-32-stackless", "read-32k-boost", "same-read-32k-stackful",
                             "same-read-32-stackless-uring", "direct-read-512k-stackless", "switch-boost "})
        CHECK(!bench::parseCase(name));
}

TEST("a time to run is a positive number")
{
    CHECK(accepts({"cell", "switch-boost", "--seconds=0.5", "--dir", "/x"}));
    for (const char *seconds : {"0", "-1", "nan", "inf", "1e9", "", "1x", "0x1p3"})
        CHECK(!accepts({"cell", "switch-boost", "--seconds", seconds}));
}
