// Reads IDX files (the format of MNIST and its relatives: a header of big-endian sizes, then
// unsigned bytes), plain or compressed with gzip, through zlib. Knows nothing of calque: an example
// reads with it and hands the bytes on.
//
// Nothing in a file is believed: header, sizes, checksum and end of file are checked, and whatever
// is wrong throws `idx::format_error` with a sentence that names file, field, expected and found.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace idx {

/// A file that is missing, damaged, or not the kind of IDX file asked for.
struct format_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `count` images of `rows` x `columns` bytes, one after the other, rows first.
struct images {
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::uint8_t> pixels;
};

namespace detail {

[[noreturn]] inline void fail(const std::string& path, const std::string& field,
                              const std::string& expected, const std::string& found) {
  throw format_error(path + ": " + field + ": expected " + expected + ", found " + found);
}

inline std::string hex(unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%02x", value);
  return text;
}

inline std::string bytes(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

inline std::vector<std::uint8_t> load(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) fail(path, "file", "a readable file", std::strerror(errno));
  std::vector<std::uint8_t> content;
  std::vector<std::uint8_t> block(std::size_t{1} << 18);
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), file.get()))
    content.insert(content.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
  if (std::ferror(file.get())) fail(path, "file", "a readable file", std::strerror(errno));
  return content;
}

/// The bytes of a file one after the other, decompressed if it is a gzip file.
class reader {
 public:
  explicit reader(const std::string& path) : path_(path), content_(load(path)) {
    gzip_ = starts_member();
    // 15: the largest window; 16 more: a gzip wrapper, whose checksum and length zlib verifies.
    if (gzip_ && inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~reader() {
    if (gzip_) inflateEnd(&stream_);
  }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  /// Up to `n` bytes into `out`; fewer only where the data ends.
  std::size_t read(std::uint8_t* out, std::size_t n) {
    if (gzip_) return inflate_into(out, n);
    const std::size_t taken = std::min(n, content_.size() - position_);
    if (taken != 0) std::memcpy(out, content_.data() + position_, taken);
    position_ += taken;
    return taken;
  }

  /// More bytes than the rest of the file can hold; deflate shrinks at most 1032 times.
  [[nodiscard]] std::uint64_t most_left() const {
    const std::uint64_t rest = content_.size() - position_;
    return gzip_ ? (std::uint64_t{content_.size()} + 1) * 1032 : rest;
  }

  /// Throws unless all of the file has been read, checksum included.
  void expect_end() {
    std::uint8_t extra = 0;
    if (read(&extra, 1) != 0) fail(path_, "end of data", "nothing more", "trailing bytes");
    if (position_ != content_.size())
      fail(path_, "end of file", "nothing after the compressed data",
           bytes(content_.size() - position_));
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] bool starts_member() const {
    return content_.size() - position_ >= 2 && content_[position_] == 0x1f &&
           content_[position_ + 1] == 0x8b;
  }

  std::size_t inflate_into(std::uint8_t* out, std::size_t n) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    std::size_t done = 0;
    while (done < n && !ended_) {
      stream_.next_in = content_.data() + position_;
      stream_.avail_in = static_cast<uInt>(std::min(most, content_.size() - position_));
      stream_.next_out = out + done;
      stream_.avail_out = static_cast<uInt>(std::min(most, n - done));
      const uInt in = stream_.avail_in;
      const uInt room = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      position_ += in - stream_.avail_in;
      done += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        // gzip files may be concatenated.
        if (starts_member() && inflateReset(&stream_) == Z_OK) continue;
        ended_ = true;
      } else if (status == Z_BUF_ERROR) {
        fail(path_, "compressed data", "a complete gzip stream",
             "its end after " + bytes(content_.size()));
      } else if (status != Z_OK) {
        fail(path_, "compressed data", "an intact gzip stream",
             std::string("a damaged one (") + (stream_.msg ? stream_.msg : "no detail") +
                 ") near byte " + std::to_string(position_));
      }
    }
    return done;
  }

  std::string path_;
  std::vector<std::uint8_t> content_;
  std::size_t position_ = 0;
  bool gzip_ = false;
  bool ended_ = false;
  z_stream stream_{};
};

/// The header of a file of `Rank` axes of unsigned bytes.
template <std::size_t Rank>
std::array<std::int64_t, Rank> read_extents(reader& in) {
  std::array<std::uint8_t, 4 + 4 * Rank> header{};
  const std::size_t got = in.read(header.data(), header.size());
  if (got != header.size()) fail(in.path(), "header", bytes(header.size()), "only " + bytes(got));
  if (header[0] != 0 || header[1] != 0)
    fail(in.path(), "magic", "0x00 0x00", hex(header[0]) + " " + hex(header[1]));
  if (header[2] != 0x08) fail(in.path(), "element type", "0x08 (unsigned bytes)", hex(header[2]));
  if (header[3] != Rank) fail(in.path(), "rank", std::to_string(Rank), std::to_string(header[3]));
  std::array<std::int64_t, Rank> extents{};
  for (std::size_t axis = 0; axis < Rank; ++axis) {
    for (std::size_t k = 0; k < 4; ++k)
      extents[axis] = extents[axis] * 256 + header[4 + 4 * axis + k];
    if (axis > 0 && extents[axis] == 0)
      fail(in.path(), "extent of axis " + std::to_string(axis), "at least 1", "0");
  }
  return extents;
}

/// The bytes after the header, exactly as many as `extents` multiply to.
template <std::size_t Rank>
std::vector<std::uint8_t> read_payload(reader& in, const std::array<std::int64_t, Rank>& extents) {
  std::string product;
  for (std::int64_t e : extents) product += (product.empty() ? "" : " x ") + std::to_string(e);
  std::int64_t size = 1;
  for (std::int64_t e : extents)
    if (__builtin_mul_overflow(size, e, &size))
      fail(in.path(), "extents", "a product below 2^63", product);
  // Before allocating: a damaged header may ask for any amount.
  const auto wanted = static_cast<std::uint64_t>(size);
  if (wanted > in.most_left())
    fail(in.path(), "data", bytes(wanted) + " (" + product + ")",
         "a file that can hold at most " + bytes(in.most_left()));
  std::vector<std::uint8_t> data(static_cast<std::size_t>(size));
  const std::size_t got = in.read(data.data(), data.size());
  if (got != data.size())
    fail(in.path(), "data", bytes(wanted) + " (" + product + ")", "only " + bytes(got));
  in.expect_end();
  return data;
}

}  // namespace detail

/// Images of an IDX file with three axes (count, rows, columns), plain or gzip'd; throws
/// `format_error`.
[[nodiscard]] inline images read_images(const std::string& path) {
  detail::reader in(path);
  const std::array<std::int64_t, 3> extents = detail::read_extents<3>(in);
  return {extents[0], extents[1], extents[2], detail::read_payload(in, extents)};
}

/// Labels of an IDX file with one axis, plain or gzip'd; throws `format_error`.
[[nodiscard]] inline std::vector<std::uint8_t> read_labels(const std::string& path) {
  detail::reader in(path);
  return detail::read_payload(in, detail::read_extents<1>(in));
}

}  // namespace idx
