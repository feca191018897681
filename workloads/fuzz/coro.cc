/*
 * coro's command lines: the parser takes them or says a sentence, what it takes is in bounds, and a name that it knows is the one that it
 * writes. The arguments of an input have line feeds between them.
 */
#include "fuzz.h"
#include "options.h"

#include <string>
#include <vector>

static const fuzz_text seeds[] = {
    FUZZ_TEXT("cases"),
    FUZZ_TEXT("cell\nswitch-boost-flags-differ\n--seconds=0.5\n--dir\n/x"),
    FUZZ_TEXT("cell\ndepth-2048-stackless-prealloc-noexcept\n--seconds\n1e3"),
    FUZZ_TEXT("cell\nsame-read-4-stackful\n--dir=/tmp"),
    FUZZ_TEXT("cell\ndeep-read-256-hybrid"),
};
static const fuzz_text words[] = {
    FUZZ_TEXT("\n"), FUZZ_TEXT("0123456789.-+=ekinf \xff"), FUZZ_TEXT("-noexcept"), FUZZ_TEXT("read-32k-"), FUZZ_TEXT("stackless"),
    FUZZ_TEXT("boost"), FUZZ_TEXT("switch-"), FUZZ_TEXT("--seconds"), FUZZ_TEXT("--dir"), FUZZ_TEXT("nan"),
};

static void require(bool holds, const char *what)
{
    if (!holds)
        fuzz_fail(what);
}

static std::vector<std::string> split(const std::string &text)
{
    std::vector<std::string> line;
    std::size_t begin = 0, end;
    while ((end = text.find('\n', begin)) != std::string::npos) {
        line.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    line.push_back(text.substr(begin));
    return line;
}

static void attempt(const char *input, std::size_t size)
{
    const std::vector<std::string> line = split(std::string(input, size));
    std::vector<const char *> arguments;
    for (const std::string &argument : line)
        arguments.push_back(argument.c_str());
    try {
        const auto options = bench::parseOptions(arguments, nullptr);
        require(options.seconds > 0 && options.seconds <= 3600, "seconds out of bounds");
        require(!options.directory.empty(), "no directory");
        require(options.list || nameOf(options.wanted) == arguments[1], "another case than was named");
    } catch (const bench::Usage &error) {
        require(error.what()[0] != '\0', "no sentence");
    }
}

const struct fuzz_target fuzz_target = {seeds, std::size(seeds), words, std::size(words), 256, attempt};
