// spdlog's file sinks for several threads, writing the same bytes: no pattern, no line end.
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "bench.h"

namespace {

enum { BASIC, ROTATING };

// A round of a rotating log fits into its files, of which each is as large as one of lzlog's, so that all of it can be checked.
constexpr std::size_t fileBytes = 64 << 20, olderFiles = 5;
static_assert((olderFiles + 1) * fileBytes > ROUND_BYTES + fileBytes);

struct Spd {
    std::string dir;
    std::shared_ptr<spdlog::logger> logger;
    bool ordered;
    bool rotating;
    bool failed = false;

    std::string path() const { return dir + "/spdlog"; }
};

spdlog::sink_ptr sinkOf(const Spd &s)
{
    if (s.rotating)
        return std::make_shared<spdlog::sinks::rotating_file_sink_mt>(s.path(), fileBytes / divisor, olderFiles);
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(s.path(), true);
}

// paths are the files of a round, the oldest first.
std::vector<std::string> paths(const Spd &s)
{
    std::vector<std::string> all;
    for (std::size_t i = olderFiles; i > 0 && s.rotating; i--) {
        auto older = spdlog::sinks::rotating_file_sink_mt::calc_filename(s.path(), i);
        if (access(older.c_str(), F_OK) == 0)
            all.push_back(older);
    }
    all.push_back(s.path());
    return all;
}

void *spd_open(const struct peer *peer, const char *dir)
{
    return new Spd{dir, nullptr, peer->threads == 1, peer->variant == ROTATING};
}

bool spd_begin(void *self)
{
    auto *s = static_cast<Spd *>(self);
    try {
        s->logger.reset(); // closes the file of the round before
        for (const auto &path : paths(*s))
            std::remove(path.c_str());
        s->logger = std::make_shared<spdlog::logger>("bench", sinkOf(*s));
        s->logger->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::local, ""));
        s->logger->set_error_handler([s](const std::string &why) {
            std::fprintf(stderr, "lzlog-bench: spdlog: %s\n", why.c_str());
            s->failed = true;
        });
        return true;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "lzlog-bench: spdlog: %s\n", e.what());
        return false;
    }
}

void *spd_enter(void *self)
{
    return self;
}

void spd_leave(void *) {}

bool spd_batch(void *self, uint64_t records)
{
    auto *s = static_cast<Spd *>(self);
    auto *logger = s->logger.get();
    for (uint64_t n = 0; n < records; n += MESSAGES) {
        for (const auto &m : messages)
            logger->info(spdlog::string_view_t(m.data, m.size));
    }
    return !s->failed;
}

bool spd_finish(void *self)
{
    auto *s = static_cast<Spd *>(self);
    s->logger->flush();
    return !s->failed;
}

const char *spd_fault(void *self, uint64_t records, bool)
{
    auto *s = static_cast<Spd *>(self);
    std::vector<const char *> names;
    const auto all = paths(*s);
    for (const auto &path : all)
        names.push_back(path.c_str());
    return files_fault(names.data(), names.size(), records, s->ordered);
}

void spd_close(void *self)
{
    delete static_cast<Spd *>(self);
}

constexpr peer make(const char *name, unsigned threads, int variant)
{
    peer p{};
    p.name = name;
    p.threads = threads;
    p.round = ROUND;
    p.warm_up = WARM_UP;
    p.variant = variant;
    p.open = spd_open;
    p.begin = spd_begin;
    p.enter = spd_enter;
    p.leave = spd_leave;
    p.fault = spd_fault;
    p.close = spd_close;
    p.batch = spd_batch;
    p.finish = spd_finish;
    return p;
}

} // namespace

extern const struct peer peer_spdlog_1 = make("spdlog-1", 1, BASIC);
extern const struct peer peer_spdlog_1_rotating = make("spdlog-1-rotating", 1, ROTATING);
extern const struct peer peer_spdlog_5 = make("spdlog-5", 5, BASIC);
extern const struct peer peer_spdlog_10 = make("spdlog-10", 10, BASIC);
