// spdlog's basic file sink for several threads, writing the same bytes: no pattern, no line end.
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "bench.h"

namespace {

struct Spd {
    std::string path;
    std::shared_ptr<spdlog::logger> logger;
    bool ordered;
    bool failed = false;
};

void *spd_open(const struct peer *peer, const char *dir)
{
    return new Spd{std::string(dir) + "/spdlog", nullptr, peer->threads == 1};
}

bool spd_begin(void *self)
{
    auto *s = static_cast<Spd *>(self);
    try {
        s->logger.reset(); // closes the file of the round before
        auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(s->path, true);
        s->logger = std::make_shared<spdlog::logger>("bench", sink);
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
    return file_fault(s->path.c_str(), records, s->ordered);
}

void spd_close(void *self)
{
    delete static_cast<Spd *>(self);
}

constexpr peer make(const char *name, unsigned threads)
{
    peer p{};
    p.name = name;
    p.threads = threads;
    p.round = ROUND;
    p.warm_up = WARM_UP;
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

extern const struct peer peer_spdlog_1 = make("spdlog-1", 1);
extern const struct peer peer_spdlog_10 = make("spdlog-10", 10);
