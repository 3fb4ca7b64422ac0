/** Reads the body of an answer as UTF-8 text. Returns null if it is longer than the bound; the rest is not read. */
export async function readText({ body }: Pick<Response, "body">, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the body.
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
