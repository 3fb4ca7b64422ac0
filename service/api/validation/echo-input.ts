const STRING_LIMIT = 256;
const STRUCTURE_LIMIT_BYTES = 2048;

/** The caller's value as a fault repeats it: strings cut at 256 characters, objects and arrays over 2 KiB null. */
export function echoInput(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === "string") return value.slice(0, STRING_LIMIT);
  if (typeof value === "object" && value !== null && exceeds(value, STRUCTURE_LIMIT_BYTES)) return null;
  return value;
}

// A walk with its own stack and a budget: JSON.stringify overflows the stack on hostile nesting.
function exceeds(root: object, limit: number): boolean {
  const open: unknown[] = [root];
  let bytes = 0;
  while (open.length > 0 && bytes <= limit) {
    const value = open.pop();
    if (typeof value === "object" && value !== null) {
      bytes += 2;
      for (const [key, member] of Object.entries(value)) {
        bytes += Array.isArray(value) ? 1 : Buffer.byteLength(key) + 4;
        open.push(member);
        if (bytes > limit) break;
      }
    } else {
      bytes += Buffer.byteLength(JSON.stringify(value) ?? "null");
    }
  }
  return bytes > limit;
}
