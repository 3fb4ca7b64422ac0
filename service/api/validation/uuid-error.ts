const GROUP_STARTS = [0, 9, 14, 19, 24] as const;
const GROUP_LENGTHS = [8, 4, 4, 4, 12] as const;

/** Why a string is no UUID, in the words of the Rust `uuid` crate that pydantic quotes. */
export function uuidError(text: string): string {
  const { body, offset } = withoutWrapping(text);
  const bounds: number[] = [];
  for (const [index, character] of [...body].entries()) {
    if (character === "-") bounds.push(index);
    else if (!/^[0-9a-fA-F]$/.test(character)) {
      return `invalid character: found \`${character}\` at ${index + offset + 1}`;
    }
  }
  if (bounds.length === 0 && offset === 0) {
    return `invalid length: expected length 32 for simple format, found ${text.length}`;
  }
  if (bounds.length !== 4) return `invalid group count: expected 5, found ${bounds.length + 1}`;
  return groupError(bounds, text.length);
}

function withoutWrapping(text: string): { readonly body: string; readonly offset: number } {
  if (text.startsWith("{") && text.endsWith("}")) return { body: text.slice(1, -1), offset: 1 };
  if (text.startsWith("urn:uuid:")) return { body: text.slice(9), offset: 9 };
  return { body: text, offset: 0 };
}

function groupError(bounds: readonly number[], length: number): string {
  for (const [group, bound] of bounds.entries()) {
    const start = GROUP_STARTS[group] ?? 0;
    const found = bound - start;
    const expected = GROUP_LENGTHS[group];
    if (found !== expected)
      return `invalid group length in group ${group}: expected ${expected}, found ${found}`;
  }
  return `invalid group length in group 4: expected 12, found ${length - GROUP_STARTS[4]}`;
}
