/** Bits for each window that may be kept: one window in a hundred is taken for another by error, which decides nothing. */
const BITS_PER_WINDOW = 128;
const SMALLEST_FILTER_BITS = 1 << 12;
const FACTOR = 0x01000193;

/** A text's windows by their hashes: what was seen is known by marks in a bit field, so that no text makes it slow. */
export type SeenWindows = { readonly has: (hash: number) => boolean; readonly add: (hash: number) => void };

/** An empty set of windows, for about as many as given; it never denies one that was added. */
export function createSeenWindows(windows: number): SeenWindows {
  const bits = 2 ** Math.ceil(Math.log2(Math.max(SMALLEST_FILTER_BITS, windows * BITS_PER_WINDOW)));
  const field = new Uint8Array(bits / 8);
  return {
    has: (hash) => ((field[(hash & (bits - 1)) >>> 3] ?? 0) & (1 << (hash & 7))) !== 0,
    add: (hash) => {
      const place = (hash & (bits - 1)) >>> 3;
      field[place] = (field[place] ?? 0) | (1 << (hash & 7));
    },
  };
}

/** The hash of every window of so many UTF-16 units, in order; none where the text is shorter. One pass. */
export function hashWindows(text: string, width: number): Uint32Array {
  const count = Math.max(0, text.length - width + 1);
  const hashes = new Uint32Array(count);
  if (count === 0) return hashes;
  let leaving = 1;
  for (let index = 1; index < width; index += 1) leaving = Math.imul(leaving, FACTOR);
  let rolling = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (index >= width) rolling = (rolling - Math.imul(text.charCodeAt(index - width) + 1, leaving)) | 0;
    rolling = (Math.imul(rolling, FACTOR) + text.charCodeAt(index) + 1) | 0;
    if (index >= width - 1) hashes[index - width + 1] = scatter(rolling);
  }
  return hashes;
}

/** Spreads neighbouring values over all bits. */
function scatter(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}
