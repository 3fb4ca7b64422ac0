/** Where a text stops being JSON, in UTF-16 units, and why. */
export type JsonFault = { readonly offset: number; readonly error: string };

/** What has to come next, and where. */
type Step = { readonly due: "value" | "name" | "after" | "nothing"; readonly at: number };

/** The first fault of a text in the words of Python's json module, at the place that it names; null where there is none. */
export function findJsonFault(text: string): JsonFault | null {
  // What closes the objects and arrays that are open: a stack of our own, since hostile nesting is deeper than the engine's.
  const closers: string[] = [];
  let step: Step | JsonFault = { due: "value", at: afterBlanks(text, 0) };
  while (!("error" in step)) {
    if (step.due === "nothing") return null;
    step = take(text, step, closers);
  }
  return step;
}

function take(text: string, { due, at }: Step, closers: string[]): Step | JsonFault {
  switch (due) {
    case "value":
      return takeValue(text, at, closers);
    case "name":
      return takeName(text, at);
    case "after":
      return takeAfter(text, at, closers);
    case "nothing":
      return { due, at };
  }
}

function takeValue(text: string, at: number, closers: string[]): Step | JsonFault {
  const first = text[at];
  if (first === "{" || first === "[") {
    const inside = afterBlanks(text, at + 1);
    closers.push(first === "{" ? "}" : "]");
    return text[inside] === closers.at(-1)
      ? { due: "after", at: inside }
      : { due: first === "{" ? "name" : "value", at: inside };
  }
  if (first === '"') {
    const end = endOfString(text, at);
    return typeof end === "number" ? { due: "after", at: afterBlanks(text, end) } : end;
  }
  const end = endOf(/null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, text, at);
  if (end === null) return { offset: at, error: "Expecting value" };
  return { due: "after", at: afterBlanks(text, end) };
}

function takeName(text: string, at: number): Step | JsonFault {
  if (text[at] !== '"') return { offset: at, error: "Expecting property name enclosed in double quotes" };
  const end = endOfString(text, at);
  if (typeof end !== "number") return end;
  const colon = afterBlanks(text, end);
  if (text[colon] !== ":") return { offset: colon, error: "Expecting ':' delimiter" };
  return { due: "value", at: afterBlanks(text, colon + 1) };
}

function takeAfter(text: string, at: number, closers: string[]): Step | JsonFault {
  const closer = closers.at(-1);
  if (closer === undefined)
    return at === text.length ? { due: "nothing", at } : { offset: at, error: "Extra data" };
  if (text[at] === closer) {
    closers.pop();
    return { due: "after", at: afterBlanks(text, at + 1) };
  }
  if (text[at] !== ",") return { offset: at, error: "Expecting ',' delimiter" };
  return { due: closer === "}" ? "name" : "value", at: afterBlanks(text, at + 1) };
}

/** The place after the string that begins there. */
function endOfString(text: string, begin: number): number | JsonFault {
  let at = begin + 1;
  for (;;) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a string may not hold
    at = endOf(/[^"\\\u0000-\u001f]*/y, text, at) ?? at;
    if (text[at] === '"') return at + 1;
    if (at >= text.length) return { offset: begin, error: "Unterminated string starting at" };
    if (text[at] !== "\\") return { offset: at, error: "Invalid control character at" };
    const escaped = text[at + 1];
    if (escaped === undefined) return { offset: begin, error: "Unterminated string starting at" };
    const end = endOf(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}(?=[\s\S]))/y, text, at);
    if (end === null && escaped === "u") return { offset: at + 1, error: "Invalid \\uXXXX escape" };
    if (end === null) return { offset: at, error: "Invalid \\escape" };
    at = end;
  }
}

function afterBlanks(text: string, at: number): number {
  return endOf(/[ \t\n\r]*/y, text, at) ?? at;
}

/** The place after what a sticky expression matches there; null where it does not. */
function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}
