/*
 * Command lines, mutated for ever the same: the parser takes them or says a sentence, what it takes is in bounds, and a name that it
 * knows is the one that it writes.
 */
#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <set>
#include <vector>

using bench::Case;

static std::uint64_t state = 88172645463325252;

static std::size_t random(std::size_t below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

static void require(bool holds, const char *what, const std::string &about)
{
    if (holds)
        return;
    std::fprintf(stderr, "%s: '%s'\n", what, about.c_str());
    std::exit(1);
}

static std::string mutate(std::string text)
{
    for (std::size_t n = random(4); n > 0; n--) {
        const std::size_t at = random(text.size() + 1);
        static const char bytes[] = "0123456789.-+=ek \xff" "inf";
        switch (random(3)) {
        case 0:
            text.insert(at, 1, bytes[random(sizeof(bytes) - 1)]);
            break;
        case 1:
            text.erase(at, random(3));
            break;
        default:
            if (at < text.size())
                text[at] = static_cast<char>(1 + random(255));
        }
    }
    return text;
}

static bool accepted(const std::vector<std::string> &line)
{
    std::vector<const char *> arguments;
    for (const std::string &argument : line)
        arguments.push_back(argument.c_str());
    try {
        auto options = bench::parseOptions(arguments, nullptr);
        require(options.seconds > 0 && options.seconds <= 3600, "seconds out of bounds", line.back());
        require(!options.directory.empty(), "no directory", line.back());
        require(options.list || nameOf(options.wanted) == line[1], "another case than was named", line[1]);
        return true;
    } catch (const bench::Usage &error) {
        require(error.what()[0] != '\0', "no sentence", line.back());
        return false;
    }
}

int main()
{
    std::vector<std::string> names;
    for (const Case &c : bench::allCases())
        names.push_back(nameOf(c));
    require(std::set(names.begin(), names.end()).size() == names.size(), "a name twice", names[0]);
    for (const std::string &name : names)
        require(accepted({"cell", name}), "a case that is listed is not known", name);
    for (const char *name : {"", "switch", "depth-3-boost", "depth-0-boost", "depth-4096-boost", "depth-064-boost", "depth--1-boost",
                             "read-2k-stackless", "read-32-stackless", "read-32k-boost", "same-read-32k-stackful", "switch-boost "})
        require(!bench::parseCase(name), "a case that is none is known", name);
    require(accepted({"cell", names[0], "--seconds=0.5", "--dir", "/x"}), "good options are refused", names[0]);
    for (const char *seconds : {"0", "-1", "nan", "inf", "1e9", "", "1x", "0x1p3"})
        require(!accepted({"cell", names[0], "--seconds", seconds}), "these seconds are accepted", seconds);

    long lines = 0, taken = 0;
    for (const std::time_t end = std::time(nullptr) + 3; std::time(nullptr) < end;) {
        for (int i = 0; i < 1000; i++, lines++) {
            std::vector<std::string> line{random(20) == 0 ? mutate("cell") : "cell", mutate(names[random(names.size())])};
            if (random(2) == 0)
                line.insert(line.end(), {mutate("--seconds"), mutate("1.5")});
            if (random(2) == 0)
                line.push_back(mutate("--seconds=2"));
            if (random(2) == 0)
                line.push_back(mutate("--dir=/tmp"));
            taken += accepted(line);
        }
    }
    require(taken > 0 && taken < lines, "nothing was refused, or everything", "");
    std::printf("%ld lines, %ld taken\n", lines, taken);
    return 0;
}
