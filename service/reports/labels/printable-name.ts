/** Characters of a name that are shown; documents may hold names of any length. */
const MAX_CHARACTERS = 64;

/**
 * A name that a stranger chose, fit to be shown: one line, of no control, format, private or unassigned characters (which
 * could hide or turn the text around it), at most 64 characters, an ellipsis for the rest; empty where nothing is left.
 */
export function printableName(name: string): string {
  const line = name
    // Beyond this nothing could be shown; a document may be as long as a download.
    .slice(0, 4 * MAX_CHARACTERS)
    .normalize("NFC")
    .replace(/\s+/gu, " ")
    .replace(/\p{C}/gu, "")
    .trim();
  const characters = [...line];
  if (characters.length <= MAX_CHARACTERS) return line;
  return `${characters
    .slice(0, MAX_CHARACTERS - 1)
    .join("")
    .trimEnd()}…`;
}
