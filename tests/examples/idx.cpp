#include "examples/common/idx.hpp"

#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using bytes = std::vector<std::uint8_t>;

/// A file in the temporary folder that is gone with this object.
class temporary_file {
 public:
  explicit temporary_file(const bytes& content)
      : path_((std::filesystem::temp_directory_path() / "calque_idx_XXXXXX").string()) {
    const int file = mkstemp(path_.data());
    REQUIRE(file >= 0);
    REQUIRE(write(file, content.data(), content.size()) ==
            static_cast<std::ptrdiff_t>(content.size()));
    close(file);
  }
  ~temporary_file() { std::filesystem::remove(path_); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bytes idx_file(std::vector<std::uint32_t> extents, const bytes& data) {
  bytes file{0, 0, 8, static_cast<std::uint8_t>(extents.size())};
  for (std::uint32_t e : extents)
    for (int shift = 24; shift >= 0; shift -= 8)
      file.push_back(static_cast<std::uint8_t>((e >> shift) & 0xff));
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

bytes gzip(bytes plain) {
  z_stream s{};
  REQUIRE(deflateInit2(&s, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  bytes out(deflateBound(&s, plain.size()) + 64);
  s.next_in = plain.data();
  s.avail_in = static_cast<uInt>(plain.size());
  s.next_out = out.data();
  s.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&s, Z_FINISH) == Z_STREAM_END);
  out.resize(s.total_out);
  deflateEnd(&s);
  return out;
}

bytes noise(std::size_t n) {
  bytes data(n);
  std::uint32_t state = 1;
  for (std::uint8_t& b : data) {
    state = state * 1664525U + 1013904223U;
    b = static_cast<std::uint8_t>(state >> 24);
  }
  return data;
}

bytes operator+(bytes a, const bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The message that reading this content as images throws; empty if it does not throw.
std::string images_error(const bytes& content) {
  const temporary_file file(content);
  try {
    (void)idx::read_images(file.path());
  } catch (const idx::format_error& e) {
    const std::string text = e.what();
    CHECK(text.starts_with(file.path() + ": "));
    return text.substr(file.path().size() + 2);
  }
  return {};
}

const bytes pixels = noise(2 * 3 * 4);
const bytes good = idx_file({2, 3, 4}, pixels);

}  // namespace

TEST_CASE("images are read alike from plain, gzip'd and concatenated gzip files") {
  const bytes head(good.begin(), good.begin() + 21);
  const bytes tail(good.begin() + 21, good.end());
  for (const bytes& content : {good, gzip(good), gzip(head) + gzip(tail)}) {
    const temporary_file file(content);
    const idx::images read = idx::read_images(file.path());
    CHECK(read.count == 2);
    CHECK(read.rows == 3);
    CHECK(read.columns == 4);
    CHECK(read.pixels == pixels);
  }
}

TEST_CASE("labels are read from plain and gzip'd files, also none at all") {
  const bytes labels{9, 0, 3};
  for (const bytes& content : {idx_file({3}, labels), gzip(idx_file({3}, labels))})
    CHECK(idx::read_labels(temporary_file(content).path()) == labels);
  CHECK(idx::read_labels(temporary_file(idx_file({0}, {})).path()).empty());
  CHECK(idx::read_images(temporary_file(idx_file({0, 28, 28}, {})).path()).count == 0);
}

TEST_CASE("a missing file and a folder are format errors that name the path") {
  CHECK_THROWS_WITH_AS((void)idx::read_labels("/nowhere/labels"),
                       "/nowhere/labels: file: expected a readable file, found No such file or "
                       "directory",
                       idx::format_error);
  CHECK_THROWS_AS((void)idx::read_labels("/"), idx::format_error);
}

TEST_CASE("each damaged header field is named with what was expected and found") {
  bytes bad = good;
  bad[0] = 1;
  CHECK(images_error(bad) == "magic: expected 0x00 0x00, found 0x01 0x00");
  bad = good;
  bad[1] = 7;
  CHECK(images_error(bad) == "magic: expected 0x00 0x00, found 0x00 0x07");
  bad = good;
  bad[2] = 0x0d;
  CHECK(images_error(bad) == "element type: expected 0x08 (unsigned bytes), found 0x0d");
  CHECK(images_error(idx_file({24}, pixels)) == "rank: expected 3, found 1");
  CHECK(images_error(idx_file({2, 0, 4}, {})) == "extent of axis 1: expected at least 1, found 0");
  CHECK(images_error(idx_file({2, 3, 0}, {})) == "extent of axis 2: expected at least 1, found 0");
  CHECK(images_error({}) == "header: expected 16 bytes, found only 0 bytes");
  CHECK(images_error({0, 0, 8, 3, 0}) == "header: expected 16 bytes, found only 5 bytes");
  CHECK(images_error(gzip({0, 0, 8, 3, 0})) == "header: expected 16 bytes, found only 5 bytes");
  CHECK_THROWS_AS((void)idx::read_labels(temporary_file(good).path()), idx::format_error);
}

TEST_CASE("extents that overflow or ask for more than the file can hold allocate nothing") {
  const std::uint32_t most = 0xffffffff;
  CHECK(images_error(idx_file({most, most, most}, pixels)) ==
        "extents: expected a product below 2^63, found 4294967295 x 4294967295 x 4294967295");
  const std::string too_big =
      "data: expected 4294967295 bytes (4294967295 x 1 x 1), found a file that can hold at most ";
  CHECK(images_error(idx_file({most, 1, 1}, pixels)) == too_big + "24 bytes");
  CHECK(images_error(gzip(idx_file({most, 1, 1}, pixels))).starts_with(too_big));
}

TEST_CASE("truncated data is refused at every length, plain and gzip'd") {
  for (std::size_t n = 0; n < good.size(); ++n)
    CHECK_FALSE(images_error(bytes(good.begin(), good.begin() + static_cast<long>(n))).empty());
  const bytes packed = gzip(good);
  for (std::size_t n = 0; n < packed.size(); ++n)
    CHECK_FALSE(images_error(bytes(packed.begin(), packed.begin() + static_cast<long>(n))).empty());
  CHECK(images_error(gzip(bytes(good.begin(), good.end() - 1))) ==
        "data: expected 24 bytes (2 x 3 x 4), found only 23 bytes");
  CHECK(images_error(bytes(packed.begin(), packed.end() - 1)) ==
        "compressed data: expected a complete gzip stream, found its end after " +
            std::to_string(packed.size() - 1) + " bytes");
}

TEST_CASE("trailing bytes are refused, inside and after the compressed data") {
  CHECK(images_error(good + bytes{0}) ==
        "end of data: expected nothing more, found trailing bytes");
  CHECK(images_error(gzip(good + bytes{0})) ==
        "end of data: expected nothing more, found trailing bytes");
  CHECK(images_error(gzip(good) + bytes{1, 2, 3}) ==
        "end of file: expected nothing after the compressed data, found 3 bytes");
  CHECK(images_error(gzip(good) + bytes{1}) ==
        "end of file: expected nothing after the compressed data, found 1 byte");
}

TEST_CASE("a wrong checksum or length and any flipped bit in the data are refused") {
  bytes bad = gzip(good);
  bad[bad.size() - 8] ^= 1;
  CHECK(images_error(bad).find("incorrect data check") != std::string::npos);
  bad = gzip(good);
  bad[bad.size() - 1] ^= 1;
  CHECK(images_error(bad).find("incorrect length check") != std::string::npos);
  // Bits that carry nothing: the gzip header's time and system, and the padding before the
  // checksum.
  const bytes packed = gzip(good);
  for (std::size_t i = 10; i < packed.size(); ++i) {
    if (i == packed.size() - 9) continue;
    bad = packed;
    bad[i] ^= 0x10;
    CHECK_FALSE(images_error(bad).empty());
  }
}

TEST_CASE("data larger than one block of the file and of the decompressor is read whole") {
  const bytes data = noise(3 * 512 * 512);
  for (const bytes& content : {idx_file({3, 512, 512}, data), gzip(idx_file({3, 512, 512}, data))})
    CHECK(idx::read_images(temporary_file(content).path()).pixels == data);
}

TEST_CASE("the installed Fashion-MNIST files have their published sizes") {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  if (!std::filesystem::exists(folder)) return;
  const idx::images test = idx::read_images(folder + "t10k-images-idx3-ubyte.gz");
  CHECK(test.count == 10000);
  CHECK(test.rows == 28);
  CHECK(test.columns == 28);
  const bytes labels = idx::read_labels(folder + "train-labels-idx1-ubyte.gz");
  CHECK(labels.size() == 60000);
  for (std::uint8_t digit = 0; digit < 10; ++digit)
    CHECK(std::count(labels.begin(), labels.end(), digit) == 6000);
}
