import { APIError } from "openai";
import { causeOf } from "./classify-model-error.ts";
import { createOpenaiClient, type OpenaiModelSettings } from "./openai-models.ts";

/** Whether the model server answers us; the detail names a status or an error code alone, and is null where it does. */
export type ModelReachability = { readonly isReachable: boolean; readonly detail: string | null };

/** Readiness waits for it. */
const PROBE_MS = 2_000;
/** The server knows us not, or will not serve us. */
const UNUSABLE = new Set([401, 403, 407]);

export type ModelProbeSettings = Pick<OpenaiModelSettings, "baseUrl" | "apiKey">;

/**
 * A probe that lists the server's models, which costs nothing, within 2 s; whoever offers it to others keeps its answer for a while.
 * A server that has no such list but answers is reachable. Never rejects.
 */
export function createModelProbe(server: ModelProbeSettings): () => Promise<ModelReachability> {
  const client = createOpenaiClient(server);
  return () => probe(client);
}

async function probe(client: ReturnType<typeof createOpenaiClient>): Promise<ModelReachability> {
  const signal = AbortSignal.timeout(PROBE_MS);
  try {
    await client.models.list({ signal });
    return { isReachable: true, detail: null };
  } catch (error) {
    if (signal.aborted) return { isReachable: false, detail: `no answer within ${PROBE_MS / 1_000} s` };
    // An answer that is no JSON is one all the same.
    if (!(error instanceof APIError)) return { isReachable: true, detail: null };
    if (error.status === undefined)
      return { isReachable: false, detail: `the connection failed (${causeOf(error)})` };
    const isUsable = error.status < 500 && error.status !== 429 && !UNUSABLE.has(error.status);
    return isUsable
      ? { isReachable: true, detail: null }
      : { isReachable: false, detail: `HTTP status ${error.status}` };
  }
}
