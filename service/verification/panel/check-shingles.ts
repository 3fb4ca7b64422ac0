/** Three marks in a field of so many bits for each window: one in two hundred is taken for another by error, which decides nothing. */
const BITS_PER_WINDOW = 16;
const SMALLEST_FIELD_BITS = 1 << 12;
/** Odd, and so far apart that the places that they lead to are independent. */
const [SECOND_PLACE, THIRD_PLACE] = [0x9e3779b1, 0x85ebca77];
const FACTOR = 0x01000193;

/** A text's windows by their hashes: what was seen is known by marks in a bit field, so that no text makes it slow. */
export type SeenWindows = { readonly has: (hash: number) => boolean; readonly add: (hash: number) => void };

/** An empty set of windows, for about as many as given; it never denies one that was added. */
export function createSeenWindows(windows: number): SeenWindows {
  const digits = Math.ceil(Math.log2(Math.max(SMALLEST_FIELD_BITS, windows * BITS_PER_WINDOW)));
  // Small, since memory that was never used costs more time than all the rest.
  const field = new Uint8Array(2 ** (digits - 3));
  const shift = 32 - digits;
  const isMarked = (place: number) => ((field[place >>> 3] ?? 0) & (1 << (place & 7))) !== 0;
  const mark = (place: number) => {
    field[place >>> 3] = (field[place >>> 3] ?? 0) | (1 << (place & 7));
  };
  return {
    has: (hash) =>
      isMarked(hash >>> shift) &&
      isMarked(Math.imul(hash, SECOND_PLACE) >>> shift) &&
      isMarked(Math.imul(hash, THIRD_PLACE) >>> shift),
    add: (hash) => {
      mark(hash >>> shift);
      mark(Math.imul(hash, SECOND_PLACE) >>> shift);
      mark(Math.imul(hash, THIRD_PLACE) >>> shift);
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
