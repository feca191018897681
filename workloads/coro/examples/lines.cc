/*
 * lines FILE...: counts the lines of files. Each file is a coroutine's, which lets others run while the kernel reads for it; its pieces are
 * looked through on a stack, as deep calls would be.
 */
#include <coro/collect.h>
#include <coro/file_read.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <vector>

class File {
  public:
    explicit File(const char *path) : number_(open(path, O_RDONLY | O_CLOEXEC))
    {
        if (number_ < 0)
            throw std::system_error(errno, std::generic_category(), "opening it");
    }
    ~File() { close(number_); }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

static coro::Lazy<std::size_t> countLines(const char *path)
{
    const File file(path);
    std::vector<std::byte> piece(64 * 1024);
    std::size_t lines = 0, got = piece.size();
    for (off_t at = 0; got == piece.size(); at += static_cast<off_t>(got)) {
        got = co_await coro::AsyncRead(file.number(), piece, at);
        auto count = [&] { return std::count(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got), std::byte{'\n'}); };
        lines += static_cast<std::size_t>(co_await coro::OnStack(count));
    }
    co_return lines;
}

int main(int argc, char **argv)
{
    coro::Executor executor(2);
    std::vector<coro::Lazy<std::size_t>> files;
    for (int i = 1; i < argc; i++)
        files.push_back(countLines(argv[i]));
    auto counts = coro::syncAwait(executor, coro::collectAll(executor, std::move(files)));
    int status = 0;
    for (int i = 1; i < argc; i++) {
        try {
            std::printf("%zu %s\n", counts[static_cast<std::size_t>(i) - 1].take(), argv[i]);
        } catch (const std::exception &e) {
            std::fprintf(stderr, "%s: %s\n", argv[i], e.what());
            status = 1;
        }
    }
    return status;
}
