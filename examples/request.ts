/** Fetches; a failed connection throws an error that names the request and the cause, which fetch itself leaves out. */
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
