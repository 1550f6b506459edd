/** Clients read replies of at most two MiB: what does not fit is on the next page. */
export const REPLY_BYTES = 2_000_000;

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** As many from the beginning as fit, and at least one. `taken`: bytes that stand in the reply besides. */
export function fitting<T>(all: readonly T[], sizeOf: (one: T) => number, taken = 0): readonly T[] {
  let bytes = taken;
  const end = all.findIndex((one, i) => {
    bytes += sizeOf(one);
    return i > 0 && bytes > REPLY_BYTES;
  });
  return end < 0 ? all : all.slice(0, end);
}
