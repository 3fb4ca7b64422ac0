/** One JSON-RPC call of a batch. */
export type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

/** Sends calls to one JSON-RPC endpoint over HTTP. */
export type JsonRpc = {
  readonly url: string;
  /** One call; throws JsonRpcError when the node refuses it. */
  request(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** Calls in one HTTP request, which the node may run at the same time; throws JsonRpcError for the first refused. */
  batch(calls: readonly RpcCall[]): Promise<readonly unknown[]>;
};

/** The node refused a call; the message names the method and the node's own words. */
export class JsonRpcError extends Error {
  override readonly name = "JsonRpcError";
  readonly code: number;
  /** Position of the call in its batch. */
  readonly position: number;

  constructor(refusal: { method: string; code: number; message: string; position: number }) {
    super(`${refusal.method}: ${refusal.message}`);
    this.code = refusal.code;
    this.position = refusal.position;
  }
}

/** A client without retries: a lost connection rejects with the fetch error. */
export function jsonRpc(url: string): JsonRpc {
  const batch = async (calls: readonly RpcCall[]): Promise<readonly unknown[]> => {
    if (calls.length === 0) return [];
    const body = calls.map((call, id) => ({ jsonrpc: "2.0", id, method: call.method, params: call.params }));
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answers = (await response.json()) as readonly {
      readonly id: number;
      readonly result?: unknown;
      readonly error?: { readonly code: number; readonly message: string };
    }[];
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    return calls.map(({ method }, position) => {
      const answer = byId.get(position);
      const error =
        answer === undefined ? { code: 0, message: "the node left the call unanswered" } : answer.error;
      if (error) throw new JsonRpcError({ method, position, ...error });
      return answer?.result;
    });
  };
  return {
    url,
    batch,
    request: async (method, ...params) => (await batch([{ method, params }]))[0],
  };
}
