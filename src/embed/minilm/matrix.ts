/** The few matrix operations that turn trained weights into those of the graph. All matrices are row by row. */
import type { Tensor } from './safetensors.ts';

const INT8_MAX = 127;

/** PyTorch keeps a linear layer as [out, in]; MatMul wants [in, out]. */
export function transpose({ shape, values }: Tensor): Tensor {
  const [rows, columns] = shape as [number, number];
  const out = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) out[column * rows + row] = values[row * columns + column]!;
  }
  return { shape: [columns, rows], values: out };
}

/** Matrices of equal height side by side. */
export function joinColumns(matrices: readonly Tensor[]): Tensor {
  const rows = matrices[0]!.shape[0]!;
  const width = matrices.reduce((sum, matrix) => sum + matrix.shape[1]!, 0);
  const values = new Float32Array(rows * width);
  let left = 0;
  for (const matrix of matrices) {
    const columns = matrix.shape[1]!;
    for (let row = 0; row < rows; row++) {
      values.set(matrix.values.subarray(row * columns, (row + 1) * columns), row * width + left);
    }
    left += columns;
  }
  return { shape: [rows, width], values };
}

export function joinVectors(vectors: readonly Float32Array[]): Float32Array {
  return Float32Array.from(vectors.flatMap((vector) => [...vector]));
}

/** Symmetric int8 with one scale a column: `weight ≈ quantised * scale`. */
export function quantise({ shape, values }: Tensor): { quantised: Int8Array; scales: Float32Array } {
  const [rows, columns] = shape as [number, number];
  const scales = new Float32Array(columns);
  for (let i = 0; i < values.length; i++) {
    const column = i % columns;
    scales[column] = Math.max(scales[column]!, Math.abs(values[i]!));
  }
  for (let column = 0; column < columns; column++) scales[column] = scales[column]! / INT8_MAX || 1;
  const quantised = new Int8Array(rows * columns);
  for (let i = 0; i < values.length; i++) {
    const scaled = Math.round(values[i]! / scales[i % columns]!);
    quantised[i] = Math.max(-INT8_MAX, Math.min(INT8_MAX, scaled));
  }
  return { quantised, scales };
}
