// Yardstick for TensorFlow and JAX profiles: the time that protobuf's library needs to decode one.
//
// decode_space PATH [arena]
//
// Allocates messages on the heap, as usual, or in an arena. Prints: events; seconds (of the
// decoding); user_s and system_s (of the process); and peak_kb (peak of resident memory).
#include <fcntl.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "xspace.pb.h"

namespace {

using google::protobuf::Arena;
using tmerge::bench::XSpace;

double seconds_of(const timeval &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

bool decode(int fd, XSpace *space) {
    google::protobuf::io::FileInputStream file(fd, 1 << 20);
    google::protobuf::io::CodedInputStream input(&file);
    input.SetTotalBytesLimit(INT_MAX);
    return space->ParseFromCodedStream(&input);
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 2) {
        std::fputs("usage: decode_space PATH [arena]\n", stderr);
        return 2;
    }
    Arena arena;
    auto heap = std::make_unique<XSpace>();
    XSpace *space = argc > 2 ? Arena::CreateMessage<XSpace>(&arena) : heap.get();
    int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
    auto start = std::chrono::steady_clock::now();
    if (fd < 0 || !decode(fd, space)) {
        std::fprintf(stderr, "decode_space: %s cannot be decoded\n", argv[1]);
        return 1;
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    close(fd);
    size_t events = 0;
    for (const auto &plane : space->planes())
        for (const auto &line : plane.lines())
            events += static_cast<size_t>(line.events_size());
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("events=%zu seconds=%.6f user_s=%.6f system_s=%.6f peak_kb=%ld\n", events,
                took.count(), seconds_of(usage.ru_utime), seconds_of(usage.ru_stime),
                usage.ru_maxrss);
    std::fflush(stdout);
    std::_Exit(0); // skips freeing the messages, which takes as long as decoding
}
