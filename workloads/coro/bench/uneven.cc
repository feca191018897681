/*
 * Tasks that take differently long, begun on the workers in turn, or where one is idle. Each second one takes twenty times as long as those
 * between: in turn, two workers have all long ones on one of them. One operation is one task.
 * There are as many workers as processors that the process may use: with one there is nothing to even out, and the case needs two.
 */
#include "scenario.h"

#include "collect.h"

#include <vector>

namespace bench {
namespace {

constexpr std::uint64_t tasks = 64, shortSteps = 1'000, longSteps = 20'000;

std::uint64_t stepsOf(std::uint64_t task)
{
    return task % 2 == 0 ? longSteps : shortSteps;
}

coro::Lazy<std::uint64_t> step(std::uint64_t steps)
{
    std::uint64_t done = 0;
    while (done < steps) {
        done++;
        asm volatile("" : "+r"(done)); /* each by itself */
    }
    co_return done;
}

class Uneven : public Scenario {
  public:
    explicit Uneven(coro::Begin begin) : executor_(processors(), coro::Binding::None, begin) {}

    std::uint64_t run(std::uint64_t rounds) override
    {
        steps_ += syncAwait(executor_, root(rounds));
        rounds_ += rounds;
        return rounds * tasks;
    }

    void verify() override
    {
        if (steps_ != rounds_ * tasks / 2 * (shortSteps + longSteps))
            throw Wrong("the tasks did not make the steps that they should");
    }

  private:
    coro::Lazy<std::uint64_t> root(std::uint64_t rounds)
    {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < rounds; i++) {
            std::vector<coro::Lazy<std::uint64_t>> list;
            for (std::uint64_t task = 0; task < tasks; task++)
                list.push_back(step(stepsOf(task)));
            for (auto &result : co_await collectAll(executor_, std::move(list)))
                sum += result.take();
        }
        co_return sum;
    }

    coro::Executor executor_;
    std::uint64_t steps_ = 0;
    std::uint64_t rounds_ = 0;
};

} // namespace

std::unique_ptr<Scenario> makeUneven(Kind kind)
{
    switch (kind) {
    case Kind::InTurn:
        return std::make_unique<Uneven>(coro::Begin::InTurn);
    case Kind::WhereIdle:
        return std::make_unique<Uneven>(coro::Begin::WhereIdle);
    default:
        throw std::invalid_argument("tasks do not begin so");
    }
}

} // namespace bench
