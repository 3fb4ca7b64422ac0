/** The words of a text that has one blank between them. */
export function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** What is left from the first word on that is not to be skipped; nothing where all are. */
export function skip(all: readonly string[], skipped: ReadonlySet<string>): readonly string[] {
  const start = all.findIndex((word) => !skipped.has(word));
  return start < 0 ? [] : all.slice(start);
}
