/** Fetches, and says of whom nobody answers what was asked and why it failed, where fetch itself says no more than that it did. */
export async function request(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw new Error(`${url} does not answer: ${reasonOf(error)}. Is the service up?`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
