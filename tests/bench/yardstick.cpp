// Yardstick for JSON traces: reads the fields that tmerge uses with simdjson's On-Demand reader.
//
// yardstick PATH...
//
// Reads whole files into memory before parsing, as simdjson requires. ISA-L inflates gzip files.
// Keeps only the names, which is less work than merging. Prints for each file: bytes (decoded),
// records (entries of traceEvents), names; seconds (from opening to the last event); user_s and
// system_s (of the process so far); peak_kb (peak resident memory); a sum of all fields; and simd.
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ondemand = simdjson::ondemand;

namespace {

// A text followed by padding, which simdjson may read.
struct document_text {
    std::unique_ptr<char, decltype(&std::free)> bytes{nullptr, &std::free};
    size_t size = 0, capacity = 0;

    void reserve(size_t wanted) {
        void *grown = std::realloc(bytes.get(), wanted + simdjson::SIMDJSON_PADDING);
        if (!grown)
            throw std::bad_alloc();
        (void)bytes.release();
        bytes.reset(static_cast<char *>(grown));
        capacity = wanted;
    }
};

document_text read_file(const char *path) {
    document_text text;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        throw std::runtime_error("the file cannot be opened");
    text.reserve(static_cast<size_t>(status.st_size));
    while (text.size < text.capacity) {
        ssize_t got = read(fd, text.bytes.get() + text.size, text.capacity - text.size);
        if (got <= 0)
            throw std::runtime_error("the file cannot be read");
        text.size += static_cast<size_t>(got);
    }
    close(fd);
    return text;
}

bool is_gzip(const document_text &text) {
    return text.size > 18 && std::memcmp(text.bytes.get(), "\x1f\x8b", 2) == 0;
}

// Returns the uncompressed size of a gzip file's last member, from the file's last four bytes.
size_t size_by_trailer(const document_text &packed) {
    const auto *tail = reinterpret_cast<unsigned char *>(packed.bytes.get()) + packed.size - 4;
    return tail[0] | tail[1] << 8 | tail[2] << 16 | static_cast<size_t>(tail[3]) << 24;
}

document_text inflate(const document_text &packed) {
    document_text text;
    text.reserve(size_by_trailer(packed) + 1);
    auto state = std::make_unique<inflate_state>();
    isal_inflate_init(state.get());
    state->crc_flag = ISAL_GZIP;
    state->next_in = reinterpret_cast<uint8_t *>(packed.bytes.get());
    state->avail_in = static_cast<uint32_t>(packed.size);
    for (;;) {
        if (text.size == text.capacity)
            text.reserve(text.capacity * 2);
        state->next_out = reinterpret_cast<uint8_t *>(text.bytes.get()) + text.size;
        state->avail_out = static_cast<uint32_t>(text.capacity - text.size);
        if (isal_inflate(state.get()) != ISAL_DECOMP_OK)
            throw std::runtime_error("the gzip stream is damaged");
        text.size = text.capacity - state->avail_out;
        if (state->block_state == ISAL_BLOCK_FINISH) {
            if (state->avail_in == 0)
                return text;
            isal_inflate_reset(state.get()); // another member follows
            state->crc_flag = ISAL_GZIP;
        } else if (state->avail_in == 0 && state->avail_out > 0) {
            throw std::runtime_error("the gzip stream is cut short");
        }
    }
}

class dictionary {
  public:
    uint32_t intern(std::string_view name) {
        key_.assign(name); // reuses the buffer, so that only new names allocate
        return ids_.try_emplace(key_, static_cast<uint32_t>(ids_.size())).first->second;
    }
    size_t size() const {
        return ids_.size();
    }

  private:
    std::unordered_map<std::string, uint32_t> ids_;
    std::string key_;
};

struct fields {
    uint32_t name = 0;
    std::string_view category, pid, tid;
    double ts = 0, duration = 0;
    int64_t correlation = 0, stream = 0, device = 0, external_id = 0, bytes = 0;
    int64_t grid[3] = {}, block[3] = {};
};

// Sets `out` if the value is an integer. Some profilers write strings or null instead.
void take(ondemand::value value, int64_t &out) {
    int64_t number;
    if (value.get_int64().get(number) == simdjson::SUCCESS)
        out = number;
}

void take(ondemand::value value, int64_t (&out)[3]) {
    ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS)
        return;
    size_t i = 0;
    for (auto element : array)
        if (i < 3)
            take(element.value(), out[i++]);
}

void take_args(ondemand::object args, fields &out) {
    for (auto member : args) {
        auto key = member.key().value();
        switch (*key.raw()) {
        case 'E':
            if (key.unsafe_is_equal("External id"))
                take(member.value(), out.external_id);
            break;
        case 'b':
            if (key.unsafe_is_equal("bytes"))
                take(member.value(), out.bytes);
            else if (key.unsafe_is_equal("block"))
                take(member.value(), out.block);
            break;
        case 'c':
            if (key.unsafe_is_equal("correlation"))
                take(member.value(), out.correlation);
            break;
        case 'd':
            if (key.unsafe_is_equal("device"))
                take(member.value(), out.device);
            break;
        case 'e':
            if (key.unsafe_is_equal("external id"))
                take(member.value(), out.external_id);
            break;
        case 'g':
            if (key.unsafe_is_equal("grid"))
                take(member.value(), out.grid);
            break;
        case 's':
            if (key.unsafe_is_equal("stream"))
                take(member.value(), out.stream);
            break;
        default:
            break;
        }
    }
}

// On real traces, iterating is faster than looking up each field, because many are absent.
void take_event(ondemand::object event, dictionary &names, fields &out) {
    for (auto member : event) {
        auto key = member.key().value();
        if (key.unsafe_is_equal("cat"))
            out.category = member.value().get_string();
        else if (key.unsafe_is_equal("name"))
            out.name = names.intern(member.value().get_string());
        else if (key.unsafe_is_equal("pid"))
            out.pid = member.value().raw_json_token();
        else if (key.unsafe_is_equal("tid"))
            out.tid = member.value().raw_json_token();
        else if (key.unsafe_is_equal("ts"))
            out.ts = member.value().get_double();
        else if (key.unsafe_is_equal("dur"))
            out.duration = member.value().get_double();
        else if (key.unsafe_is_equal("args"))
            take_args(member.value().get_object(), out);
    }
}

// The sum depends on every field, so that the compiler cannot omit reading one.
uint64_t sum_of(const fields &f) {
    auto sum = static_cast<uint64_t>(f.ts * 1000) + static_cast<uint64_t>(f.duration * 1000);
    sum += f.name + f.category.size() + f.pid.size() + f.tid.size();
    for (int64_t number : {f.correlation, f.stream, f.device, f.external_id, f.bytes})
        sum += static_cast<uint64_t>(number);
    for (int i = 0; i < 3; i++)
        sum += static_cast<uint64_t>(f.grid[i] + f.block[i]);
    return sum;
}

double seconds_of(const struct timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void run(const char *path) {
    auto start = std::chrono::steady_clock::now();
    document_text text = read_file(path);
    if (is_gzip(text))
        text = inflate(text);
    ondemand::parser parser;
    ondemand::document document =
        parser.iterate(text.bytes.get(), text.size, text.size + simdjson::SIMDJSON_PADDING);
    ondemand::array events;
    if (document.type() == ondemand::json_type::array)
        events = document.get_array();
    else
        events = document["traceEvents"].get_array();
    dictionary names;
    uint64_t n = 0, sum = 0;
    for (auto event : events) {
        fields found;
        take_event(event.get_object(), names, found);
        sum += sum_of(found);
        n++;
    }
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf("bytes=%zu records=%" PRIu64 " seconds=%.6f user_s=%.6f system_s=%.6f peak_kb=%ld"
                " names=%zu sum=%016" PRIx64 " simd=%s\n",
                text.size, n, seconds.count(), seconds_of(usage.ru_utime),
                seconds_of(usage.ru_stime), usage.ru_maxrss, names.size(), sum,
                simdjson::get_active_implementation()->name().c_str());
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 2) {
        std::fputs("usage: yardstick PATH...\n", stderr);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        try {
            run(argv[i]);
        } catch (const std::exception &e) { // includes simdjson_error
            std::fprintf(stderr, "yardstick: %s: %s\n", argv[i], e.what());
            return 3;
        }
    }
    return 0;
}
