#include "options.h"

#include <charconv>
#include <cstring>

namespace bench {
namespace {

constexpr double mostSeconds = 3600;

double parseSeconds(std::string_view text)
{
    double seconds = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0 && seconds <= mostSeconds))
        throw Usage("--seconds wants a number above 0, at most 3600, not '" + std::string(text) + "'");
    return seconds;
}

void setOption(Options &options, std::string_view name, std::string_view value)
{
    if (name == "--seconds")
        options.seconds = parseSeconds(value);
    else if (name == "--dir" && !value.empty())
        options.directory = value;
    else
        throw Usage("there is no option " + std::string(name) + " with '" + std::string(value) + "'");
}

} // namespace

Options parseOptions(std::span<const char *const> arguments, const char *temporary)
{
    Options options;
    options.directory = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
    if (arguments.size() == 1 && std::strcmp(arguments[0], "cases") == 0) {
        options.list = true;
        return options;
    }
    if (arguments.size() < 2 || std::strcmp(arguments[0], "cell") != 0)
        throw Usage("usage: coro-bench cases | coro-bench cell CASE [--seconds 1.0] [--dir DIRECTORY]");
    auto wanted = parseCase(arguments[1]);
    if (!wanted)
        throw Usage("there is no case '" + std::string(arguments[1]) + "'; 'coro-bench cases' lists them");
    options.wanted = *wanted;
    for (std::size_t i = 2; i < arguments.size(); i++) {
        std::string_view name = arguments[i];
        if (auto equals = name.find('='); equals != name.npos) {
            setOption(options, name.substr(0, equals), name.substr(equals + 1));
        } else {
            if (++i == arguments.size())
                throw Usage(std::string(name) + " wants a value");
            setOption(options, name, arguments[i]);
        }
    }
    return options;
}

} // namespace bench
