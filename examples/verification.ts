import { setTimeout as sleep } from "node:timers/promises";
import { request } from "./request.ts";
import type { UpFile } from "./up-file.ts";

/** So long the whole of a verdict may take: six answers of a model, and a block to become final. */
const PATIENCE_MS = 300_000;
const POLL_MS = 500;

/** Fields of a verdict that the example reads. */
export type Verdict = {
  readonly verdict_id: string;
  readonly status: string;
  readonly final_verdict: "ALLOW" | "HOLD" | "REJECT" | null;
  readonly final_score: number | null;
  readonly confidence: number | null;
  readonly reasoning: string | null;
  readonly error_message: string | null;
  /** Null before the decision is ready to be settled, and without a second panel. */
  readonly appeal: { readonly status: string; readonly appeal_by: string; readonly price_usd: string } | null;
  readonly settlement: {
    readonly status: string;
    readonly tx_hash: string | null;
    readonly review_by: string | null;
  } | null;
};

/** POSTs JSON and reads the answer; asks again for as long as the service says that it is not ready. */
export async function post<Answer>(up: UpFile, path: string, body: object): Promise<Answer> {
  const headers = { "content-type": "application/json", "x-api-key": up.api_key };
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await request(up.verify_base_url + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    const wait = Number(answer.headers.get("retry-after")) * 1_000;
    if (!passesByItself(answer.status, text) || !(wait > 0) || performance.now() + wait > deadline) {
      throw new Error(`POST ${path} was answered ${answer.status}: ${text}`);
    }
    await sleep(wait);
  }
}

/** The index shows a delivery a moment after the chain; other refusals stay. */
function passesByItself(status: number, text: string): boolean {
  return status === 503 || (status === 409 && text.includes("problem-job-not-submitted"));
}

/** Reads a verdict until it is as waited for; throws where it failed, or takes too long. */
export async function awaitVerdict(
  up: UpFile,
  verdictId: string,
  isThere: (verdict: Verdict) => boolean,
): Promise<Verdict> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await request(`${up.verify_base_url}/v1/verdicts/${verdictId}`);
    if (!answer.ok)
      throw new Error(`Verdict ${verdictId} was answered ${answer.status}: ${await answer.text()}`);
    const verdict: Verdict = JSON.parse(await answer.text());
    if (isThere(verdict)) return verdict;
    if (verdict.status === "failed") throw new Error(`Verdict ${verdictId} failed: ${verdict.error_message}`);
    if (performance.now() > deadline) {
      throw new Error(
        `Verdict ${verdictId} is ${verdict.status}, ${JSON.stringify(verdict.settlement)}, after ${PATIENCE_MS / 1_000} s.`,
      );
    }
    await sleep(POLL_MS);
  }
}
