/** Far more than an answer of any model; what is longer is no answer. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Whether a key may travel to this URL: it is https, or http to this machine, and holds no name or password. */
export function isSafeBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** Whether every character may stand in a header; a fetch would repeat the others in its error. */
export function isHeaderText(text: string): boolean {
  return /^[\x21-\x7E]+$/.test(text);
}

/**
 * A fetch for one server: it sends JSON and the key, and none of the headers that a library adds by itself; follows no redirect, so
 * that the key goes nowhere else; and reads 8 MiB at most. Rejects as fetch does, and where the answer is larger.
 */
export function createBoundedFetch(apiKey: string | null): typeof fetch {
  const headers = new Headers({ accept: "application/json", "content-type": "application/json" });
  if (apiKey !== null) headers.set("authorization", `Bearer ${apiKey}`);
  return async (input, init) => {
    const response = await fetch(input, { ...init, headers, redirect: "error" });
    const { status, headers: told } = response;
    const body = await readBounded(response);
    return new Response(body.length === 0 ? null : body, { status, headers: told });
  };
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

async function readBounded(response: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the body.
    if (length > MAX_BYTES) throw new Error(`The model server's answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
