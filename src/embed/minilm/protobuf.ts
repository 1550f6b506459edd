/**
 * Writes the few protobuf messages an ONNX encoder graph needs. Not a general protobuf library: no reading, no maps,
 * no packed fields. Field numbers are those of onnx.proto3.
 */

export const DataType = { float: 1, int8: 3, int32: 6, int64: 7, float16: 10 } as const;
export type DataType = (typeof DataType)[keyof typeof DataType];

/** A float attribute is written as `{ float: 1e-12 }`, since a JavaScript number cannot say whether it is one. */
export type Attribute = number | readonly number[] | { readonly float: number };

/** A number is a fixed size, a string the name of a size known only at run time. */
type Dimension = number | string;

export interface ValueInfo {
  readonly name: string;
  readonly type: DataType;
  readonly dimensions: readonly Dimension[];
}

interface Graph {
  readonly nodes: readonly Uint8Array[];
  readonly initializers: readonly Uint8Array[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
}

const WIRE_VARINT = 0;
const WIRE_BYTES = 2;
const WIRE_FLOAT = 5;
const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;
/** The first file format that knows opset 17, which brought LayerNormalization. */
const IR_VERSION = 8;
const OPSET = 17;

const encoder = new TextEncoder();

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}

function varint(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value));
  const out: number[] = [];
  while (rest > 127n) {
    out.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return Uint8Array.from(out);
}

const tag = (field: number, wire: number) => varint((field << 3) | wire);
const bytes = (field: number, value: Uint8Array) => concat([tag(field, WIRE_BYTES), varint(value.length), value]);
const string = (field: number, value: string) => bytes(field, encoder.encode(value));
const integer = (field: number, value: number) => concat([tag(field, WIRE_VARINT), varint(value)]);
const float = (field: number, value: number) =>
  concat([tag(field, WIRE_FLOAT), new Uint8Array(Float32Array.of(value).buffer)]);
const message = (field: number, parts: readonly Uint8Array[]) => bytes(field, concat(parts));

function attribute(name: string, value: Attribute): Uint8Array {
  if (typeof value === 'number') return message(5, [string(1, name), integer(3, value), integer(20, ATTRIBUTE_INT)]);
  if ('float' in value) return message(5, [string(1, name), float(2, value.float), integer(20, ATTRIBUTE_FLOAT)]);
  return message(5, [string(1, name), ...value.map((item) => integer(8, item)), integer(20, ATTRIBUTE_INTS)]);
}

/** A constant of the graph; `data` is little-endian, as typed arrays are on every platform Node supports. */
export function tensor(name: string, type: DataType, shape: readonly number[], data: ArrayBufferView): Uint8Array {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return message(5, [...shape.map((size) => integer(1, size)), integer(2, type), string(8, name), bytes(9, raw)]);
}

/** One operation. An empty string among the inputs leaves an optional input out. */
export function node(
  operator: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, Attribute>> = {},
  domain = '',
): Uint8Array {
  return message(1, [
    ...inputs.map((input) => string(1, input)),
    ...outputs.map((output) => string(2, output)),
    string(4, operator),
    ...Object.entries(attributes).map(([name, value]) => attribute(name, value)),
    string(7, domain),
  ]);
}

function valueInfo(field: number, { name, type, dimensions }: ValueInfo): Uint8Array {
  const sizes = dimensions.map((size) => message(1, [typeof size === 'number' ? integer(1, size) : string(2, size)]));
  const tensorType = message(1, [integer(1, type), message(2, sizes)]);
  return message(field, [string(1, name), message(2, [tensorType])]);
}

/** The bytes of an .onnx file. */
export function model(graph: Graph): Uint8Array {
  return concat([
    integer(1, IR_VERSION),
    message(8, [string(1, ''), integer(2, OPSET)]),
    message(8, [string(1, 'com.microsoft'), integer(2, 1)]),
    message(7, [
      ...graph.nodes,
      string(2, 'encoder'),
      ...graph.initializers,
      ...graph.inputs.map((info) => valueInfo(11, info)),
      ...graph.outputs.map((info) => valueInfo(12, info)),
    ]),
  ]);
}
