// A multi-layer perceptron and the training of softmax regression: operands and lists of peers, see
// peers.hpp.
#pragma once

#include <cstdint>

#include "benchmarks/peers.hpp"

namespace peers {

struct networks_operands {
  // (rows, inputs) -> hidden -> hidden -> classes, relu between, softmax at the end
  std::int64_t rows, inputs, hidden, classes;
  const float *x, *w1, *b1, *w2, *b2, *w3, *b3;
  float *h1, *h2, *out;
  // `steps` batches of `batch` rows of images, with labels; w and b begin at zero
  std::int64_t steps, batch;
  const float* images;
  const std::int32_t* labels;
  float rate;
  float *w, *b;
  float* losses;       // one a step
  float *logits, *dw;  // (batch, classes), (inputs, classes)
};

namespace plain {
list<networks_operands> networks();
}
namespace native {
list<networks_operands> networks();
}

}  // namespace peers
