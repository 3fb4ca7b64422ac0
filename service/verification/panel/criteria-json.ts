/**
 * The elements of a text that is a JSON array: strings as they read, all else as it is written. A text that is other JSON with
 * members is one element; null for what is no such JSON.
 */
export function splitJsonArray(text: string): readonly string[] | null {
  const json = text.trim();
  if (!(json.startsWith("[") || json.startsWith("{")) || !isJson(json)) return null;
  return json.startsWith("[") ? elementsOf(json).map(readElement) : [json];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    // Too deep to be parsed is no list of criteria either.
    if (error instanceof SyntaxError || error instanceof RangeError) return false;
    throw error;
  }
}

/** What stands between the commas of the outermost array of valid JSON. */
function elementsOf(json: string): readonly string[] {
  const elements: string[] = [];
  let depth = 0;
  let quoted = false;
  let start = 1;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (quoted) {
      if (character === "\\") index += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth === 0 || (depth === 1 && character === "," && !quoted)) {
      elements.push(json.slice(start, index).trim());
      start = index + 1;
    }
  }
  return elements;
}

function readElement(element: string): string {
  if (!element.startsWith('"')) return element;
  const value: unknown = JSON.parse(element);
  return typeof value === "string" ? value : element;
}
