/** Order of two bigints for sorting. */
export function compareBigints(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Order of two texts for sorting, the same everywhere. */
export function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
