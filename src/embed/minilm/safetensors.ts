/** Reads a safetensors file of half-precision floats: eight bytes of header length, a JSON header, the raw tensors. */

interface TensorHeader {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [start: number, end: number];
}

export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

export interface HalfTensor {
  readonly shape: readonly number[];
  /** IEEE 754 binary16, one a value. */
  readonly halves: Uint16Array;
}

export interface Tensors {
  float(name: string): Tensor;
  half(name: string): HalfTensor;
}

/** Every one of the 65,536 halves widened once: a table look-up a weight keeps the first start short. */
function widenedHalves(): Float32Array {
  const table = new Float32Array(65_536);
  for (let half = 0; half < table.length; half++) {
    const sign = half & 0x8000 ? -1 : 1;
    const exponent = (half >> 10) & 31;
    const fraction = (half & 1023) / 1024;
    if (exponent === 0) table[half] = sign * fraction * 2 ** -14;
    else if (exponent === 31) table[half] = fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    else table[half] = sign * (1 + fraction) * 2 ** (exponent - 15);
  }
  return table;
}

export function readSafetensors(file: Buffer): Tensors {
  const dataStart = 8 + Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString('utf8', 8, dataStart)) as Record<string, TensorHeader>;
  const widened = widenedHalves();

  function half(name: string): HalfTensor {
    const entry = header[name];
    if (entry?.dtype !== 'F16') throw new Error(`tensor ${name} is missing or not F16`);
    const [start, end] = entry.data_offsets;
    // A copy, because a tensor may start at an odd address, where no Uint16Array can.
    const copy = Uint8Array.prototype.slice.call(file, dataStart + start, dataStart + end);
    return { shape: entry.shape, halves: new Uint16Array(copy.buffer, 0, copy.length / 2) };
  }

  function float(name: string): Tensor {
    const { shape, halves } = half(name);
    const values = new Float32Array(halves.length);
    for (let i = 0; i < halves.length; i++) values[i] = widened[halves[i]!]!;
    return { shape, values };
  }

  return { float, half };
}
