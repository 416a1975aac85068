#!/usr/bin/env python3
"""Times the rows of benchmarks/report in whichever of NumPy, PyTorch, JAX, TensorFlow and ONNX Runtime can
be imported, on one thread, and prints JSON for `benchmarks/report --python`.

  benchmarks/python_peers.py > peers.json

Results are preallocated where the package can (NumPy's out=, PyTorch's out=); JAX, TensorFlow and torch.compile
give fresh arrays, whose pages they keep or not as they like. Times are wall-clock nanoseconds of 5
repetitions, after a warm-up that compiles.
"""
import importlib
import json
import os
import sys
import time

for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'NUMEXPR_NUM_THREADS'):
  os.environ[name] = '1'  # before anything is imported
os.environ.setdefault('XLA_FLAGS', '--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1')
os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
if hasattr(os, 'sched_setaffinity'):
  os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

ROWS = {}


def module(name):
  try:
    return importlib.import_module(name)
  except Exception as error:  # a package that is there but broken is as good as none
    print(f'{name}: {error}', file=sys.stderr)
    return None


def add(row, who, run, repetitions=5):
  """Times `run`, at least 20 ms a repetition."""
  try:
    run()
    start = time.perf_counter_ns()
    run()
    count = max(1, int(2e7 / max(1, time.perf_counter_ns() - start)))
    times = []
    for _ in range(repetitions):
      start = time.perf_counter_ns()
      for _ in range(count):
        run()
      times.append((time.perf_counter_ns() - start) / count)
    ROWS.setdefault(row, {})[who] = times
  except Exception as error:
    print(f'{who}, {row}: {error}', file=sys.stderr)


np = module('numpy')
if np is None:
  sys.exit('NumPy is needed to make the operands')

random = np.random.default_rng(1)


def noise(shape, low=-1.0, high=1.0):
  return random.uniform(low, high, shape).astype(np.float32)


N, M = 10_000_000, 2_000_000
x, y = noise(N, 0, 1), noise(N, 0, 1)
spot, strike, years = noise(M, 50, 150), noise(M, 50, 150), noise(M, 0.25, 2)
matrix = x.reshape(10_000, 1_000)
rows = noise((4096, 1024), -3, 3)
gamma, beta = noise(1024, 0.5, 2), noise(1024)
images = noise((100, 100, 784), 0, 1)
labels = (np.arange(10_000) * 7 % 10).reshape(100, 100).astype(np.int32)
layers = [(noise((784, 512), -.05, .05), noise(512)), (noise((512, 512), -.05, .05), noise(512)),
          (noise((512, 10), -.05, .05), noise(10))]
batch = noise((128, 784), 0, 1)
square = noise((512, 512)), noise((512, 512))
tall, wide = noise((100, 784)), noise((784, 10))
short, flat = noise((784, 100)), noise((100, 10))
many = noise((32, 64, 64)), noise((32, 64, 64))
PRODUCTS = [('matmul 512', *square), ('matmul 100x784x10', tall, wide), ('matmul 784x100x10', short, flat),
            ('matmul 32 of 64', *many)]


def with_numpy():
  out, other = np.empty_like(x), np.empty_like(x)

  def axpy():
    np.multiply(x, np.float32(2), out=out)
    np.add(out, y, out=out)

  def chain():
    np.exp(x, out=out)
    np.multiply(out, np.float32(2), out=out)
    np.sqrt(x, out=other)
    np.add(out, other, out=out)
    np.tanh(out, out=out)

  def norm():
    axpy()
    np.square(out, out=out)
    return np.sqrt(out.sum())

  def softmax(v, to):
    np.subtract(v, v.max(axis=1, keepdims=True), out=to)
    np.exp(to, out=to)
    np.divide(to, to.sum(axis=1, keepdims=True), out=to)
    return to

  normal, part = np.empty_like(rows), np.empty_like(rows)

  def layer_norm():
    np.subtract(rows, rows.mean(axis=1, keepdims=True), out=normal)
    np.square(normal, out=part)
    deviation = np.sqrt(part.mean(axis=1, keepdims=True) + np.float32(1e-5))
    np.divide(normal, deviation, out=normal)
    np.multiply(normal, gamma, out=normal)
    np.add(normal, beta, out=normal)

  hidden = [np.empty((128, w.shape[1]), np.float32) for w, _ in layers]

  def mlp():
    v = batch
    for i, (w, b) in enumerate(layers):
      np.matmul(v, w, out=hidden[i])
      v = np.add(hidden[i], b, out=hidden[i])
      if i < 2:
        np.maximum(v, 0, out=v)
    softmax(v, v)

  z, every = np.empty((100, 10), np.float32), np.arange(100)

  def regression():
    w, b, losses = np.zeros((784, 10), np.float32), np.zeros(10, np.float32), []
    for s in range(100):
      np.matmul(images[s], w, out=z)
      np.add(z, b, out=z)
      softmax(z, z)
      losses.append(-np.log(z[every, labels[s]]).mean())
      z[every, labels[s]] -= 1
      np.multiply(z, np.float32(.01), out=z)
      np.subtract(w, np.float32(.01) * (images[s].T @ z), out=w)
      np.subtract(b, np.float32(.01) * z.sum(axis=0), out=b)

  sums, places = np.empty(1000, np.float32), np.empty(10_000, np.intp)
  add('axpy', 'NumPy', axpy)
  add('chain', 'NumPy', chain)
  add('norm', 'NumPy', norm)
  add('column sums', 'NumPy', lambda: matrix.sum(axis=0, out=sums))
  add('argmax rows', 'NumPy', lambda: matrix.argmax(axis=1, out=places))
  add('softmax', 'NumPy', lambda: softmax(rows, part))
  add('layer norm', 'NumPy', layer_norm)
  add('inclusive scan', 'NumPy', lambda: np.cumsum(x, out=out))
  for row, a, b in PRODUCTS:
    result = np.empty((*a.shape[:-1], b.shape[-1]), np.float32)
    add(row, 'NumPy', lambda: np.matmul(a, b, out=result))
  add('mlp', 'NumPy', mlp)
  add('softmax regression', 'NumPy', regression)
  few, result = [noise(16) for _ in range(3)], np.empty(16, np.float32)

  def small():
    np.multiply(few[0], few[1], out=result)
    np.add(result, few[2], out=result)

  add('warm call', 'NumPy', small)


def with_torch(torch):
  torch.set_num_threads(1)
  of = torch.from_numpy
  tx, ty, trows, tg, tb = of(x), of(y), of(rows), of(gamma), of(beta)
  out, part = torch.empty_like(tx), torch.empty_like(trows)
  f = torch.nn.functional

  def options(s, k, t):
    deviation = 0.2 * torch.sqrt(t)
    d1 = (torch.log(s / k) + (0.05 + 0.02) * t) / deviation
    cdf = lambda d: 0.5 * torch.erf(d * 0.70710678) + 0.5
    return s * cdf(d1) - k * torch.exp(-0.05 * t) * cdf(d1 - deviation)

  with torch.no_grad():
    add('axpy', 'PyTorch', lambda: torch.add(ty, tx, alpha=2, out=out))
    add('norm', 'PyTorch', lambda: torch.linalg.vector_norm(torch.add(ty, tx, alpha=2, out=out)))
    add('column sums', 'PyTorch', lambda: of(matrix).sum(0))
    add('argmax rows', 'PyTorch', lambda: of(matrix).argmax(1))
    add('softmax', 'PyTorch', lambda: torch.softmax(trows, 1, out=part))
    add('layer norm', 'PyTorch', lambda: f.layer_norm(trows, (1024,), tg, tb))
    add('inclusive scan', 'PyTorch', lambda: torch.cumsum(tx, 0, out=out))
    for row, a, b in PRODUCTS:
      ta, tb2 = of(a), of(b)
      result = torch.empty((*a.shape[:-1], b.shape[-1]))
      add(row, 'PyTorch', lambda: torch.matmul(ta, tb2, out=result))
    weights = [(of(w).t().contiguous(), of(b)) for w, b in layers]

    def mlp():
      v = of(batch)
      for i, (w, b) in enumerate(weights):
        v = f.linear(v, w, b)
        v = torch.relu_(v) if i < 2 else torch.softmax(v, 1)

    add('mlp', 'PyTorch', mlp)
    few = [of(noise(16)) for _ in range(3)]
    result = torch.empty(16)
    add('warm call', 'PyTorch', lambda: torch.addcmul(few[2], few[0], few[1], out=result))
    try:
      compiled = {
          'axpy': (torch.compile(lambda a, b: a * 2 + b), (tx, ty)),
          'chain': (torch.compile(lambda a: torch.tanh(torch.exp(a) * 2 + torch.sqrt(a))), (tx,)),
          'norm': (torch.compile(lambda a, b: torch.sqrt(torch.sum((a * 2 + b) ** 2))), (tx, ty)),
          'black-scholes': (torch.compile(options), (of(spot), of(strike), of(years))),
      }
      for row, (function, arguments) in compiled.items():
        add(row, 'torch.compile', lambda: function(*arguments))
    except Exception as error:
      print(f'torch.compile: {error}', file=sys.stderr)
  gx, gg, gb = (t.clone().requires_grad_() for t in (trows, tg, tb))
  dy = of(noise(rows.shape))

  def layer_norm_gradient():
    gx.grad = gg.grad = gb.grad = None
    f.layer_norm(gx, (1024,), gg, gb).backward(dy)

  add('layer norm gradient', 'PyTorch', layer_norm_gradient)

  def regression():
    w, b = torch.zeros(784, 10, requires_grad=True), torch.zeros(10, requires_grad=True)
    for s in range(100):
      loss = f.cross_entropy(of(images[s]) @ w + b, of(labels[s]).long())
      dw, db = torch.autograd.grad(loss, (w, b))
      with torch.no_grad():
        w -= .01 * dw
        b -= .01 * db

  add('softmax regression', 'PyTorch', regression)


def with_jax(jax):
  jnp = jax.numpy

  def time_of(row, function, *arguments):
    compiled, operands = jax.jit(function), [jnp.asarray(a) for a in arguments]
    add(row, 'JAX', lambda: jax.block_until_ready(compiled(*operands)))

  def options(s, k, t):
    deviation = 0.2 * jnp.sqrt(t)
    d1 = (jnp.log(s / k) + (0.05 + 0.02) * t) / deviation
    cdf = lambda d: 0.5 * jax.lax.erf(d * 0.70710678) + 0.5
    return s * cdf(d1) - k * jnp.exp(-0.05 * t) * cdf(d1 - deviation)

  def layer_norm(v, g, b):
    away = v - v.mean(1, keepdims=True)
    return away * jax.lax.rsqrt((away * away).mean(1, keepdims=True) + 1e-5) * g + b

  def with_gradient(v, g, b, d):
    out, pull = jax.vjp(layer_norm, v, g, b)
    return (out, *pull(d))

  def mlp(v, *parameters):
    for i in range(3):
      v = v @ parameters[2 * i] + parameters[2 * i + 1]
      v = jax.nn.relu(v) if i < 2 else jax.nn.softmax(v, 1)
    return v

  time_of('axpy', lambda a, b: a * 2 + b, x, y)
  time_of('chain', lambda a: jnp.tanh(jnp.exp(a) * 2 + jnp.sqrt(a)), x)
  time_of('norm', lambda a, b: jnp.sqrt(jnp.sum((a * 2 + b) ** 2)), x, y)
  time_of('black-scholes', options, spot, strike, years)
  time_of('column sums', lambda a: a.sum(0), matrix)
  time_of('argmax rows', lambda a: a.argmax(1), matrix)
  time_of('softmax', lambda a: jax.nn.softmax(a, 1), rows)
  time_of('layer norm', layer_norm, rows, gamma, beta)
  time_of('layer norm gradient', with_gradient, rows, gamma, beta, noise(rows.shape))
  time_of('inclusive scan', jnp.cumsum, x)
  for row, a, b in PRODUCTS:
    time_of(row, jnp.matmul, a, b)
  time_of('mlp', mlp, batch, *[p for layer in layers for p in layer])
  time_of('warm call', lambda a, b, c: a * b + c, noise(16), noise(16), noise(16))

  def loss(w, b, v, target):
    log_p = jax.nn.log_softmax(v @ w + b)
    return -jnp.take_along_axis(log_p, target[:, None], 1).mean()

  @jax.jit
  def step(w, b, v, target):
    value, (dw, db) = jax.value_and_grad(loss, (0, 1))(w, b, v, target)
    return value, w - .01 * dw, b - .01 * db

  inputs = [(jnp.asarray(images[s]), jnp.asarray(labels[s])) for s in range(100)]

  def regression():
    w, b = jnp.zeros((784, 10)), jnp.zeros(10)
    for v, target in inputs:
      value, w, b = step(w, b, v, target)
    jax.block_until_ready(w)

  add('softmax regression', 'JAX', regression)


def with_tensorflow(tf):
  tf.config.threading.set_intra_op_parallelism_threads(1)
  tf.config.threading.set_inter_op_parallelism_threads(1)

  def time_of(row, function, *arguments):
    compiled, operands = tf.function(function, jit_compile=True), [tf.constant(a) for a in arguments]
    add(row, 'TensorFlow', lambda: compiled(*operands))

  time_of('axpy', lambda a, b: a * 2 + b, x, y)
  time_of('chain', lambda a: tf.tanh(tf.exp(a) * 2 + tf.sqrt(a)), x)
  time_of('norm', lambda a, b: tf.sqrt(tf.reduce_sum((a * 2 + b) ** 2)), x, y)
  time_of('column sums', lambda a: tf.reduce_sum(a, 0), matrix)
  time_of('argmax rows', lambda a: tf.argmax(a, 1), matrix)
  time_of('softmax', lambda a: tf.nn.softmax(a, 1), rows)
  for row, a, b in PRODUCTS:
    time_of(row, tf.matmul, a, b)
  time_of('warm call', lambda a, b, c: a * b + c, noise(16), noise(16), noise(16))


def with_onnxruntime(runtime, onnx):
  from onnx import TensorProto, helper, numpy_helper

  def time_of(row, nodes, inputs, output_shape, constants=()):
    graph = helper.make_graph(
        nodes, 'g', [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in inputs.items()],
        [helper.make_tensor_value_info('out', TensorProto.FLOAT, output_shape)],
        [numpy_helper.from_array(v, n) for n, v in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
    binding, out = session.io_binding(), np.empty(output_shape, np.float32)
    for n, v in inputs.items():
      binding.bind_cpu_input(n, v)
    binding.bind_output('out', 'cpu', 0, np.float32, output_shape, out.ctypes.data)
    add(row, 'ONNX Runtime', lambda: session.run_with_iobinding(binding))

  node = helper.make_node
  time_of('softmax', [node('Softmax', ['x'], ['out'], axis=1)], {'x': rows}, rows.shape)
  time_of('layer norm', [node('LayerNormalization', ['x', 'g', 'b'], ['out'], axis=-1, epsilon=1e-5)],
          {'x': rows}, rows.shape, [('g', gamma), ('b', beta)])
  nodes, constants, v = [], [], 'x'
  for i, (w, b) in enumerate(layers):
    constants += [(f'w{i}', w), (f'b{i}', b)]
    nodes.append(node('Gemm', [v, f'w{i}', f'b{i}'], [f'z{i}']))
    nodes.append(node('Relu', [f'z{i}'], [f'h{i}']) if i < 2 else node('Softmax', ['z2'], ['out'], axis=1))
    v = f'h{i}'
  time_of('mlp', nodes, {'x': batch}, (128, 10), constants)


with_numpy()
for name, run in (('torch', with_torch), ('jax', with_jax), ('tensorflow', with_tensorflow)):
  found = module(name)
  if found:
    run(found)
runtime, onnx = module('onnxruntime'), module('onnx')
if runtime and onnx:
  with_onnxruntime(runtime, onnx)
json.dump({'clock': 'wall', 'numpy': np.__version__, 'rows': ROWS}, sys.stdout, indent=1)
print()
