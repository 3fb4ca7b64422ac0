import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import type { BoughtAnswer } from "../../access/access.ts";
import { type RepeatStore, slotOf } from "../../access/idempotent-answers.ts";
import { addHeaders } from "./answer.ts";
import type { ApiContext } from "./api-env.ts";
import { answerBought } from "./serve-paid.ts";

/** Header and problems of every acting endpoint. */
export const ACT_ONCE = {
  headers: {
    "Idempotency-Key":
      "1 to 255 printable ASCII characters, as a quoted string or bare. For 24 hours the same request of the same caller gets the same answer without its secrets and nothing happens again; another request is refused.",
  },
  problems: ["header-malformed", "request-in-flight", "idempotency-key-reused"],
} as const;

/**
 * Acts and answers 200. A repeat under the same Idempotency-Key gets the stored answer and changes nothing. Throws the 400, 409
 * and 422 of invalid keys, and errors of `run`; after an error the next request acts again.
 */
export async function actOnce(
  context: ApiContext,
  repeats: RepeatStore,
  act: {
    /** Owner of the Idempotency-Keys, for example key:ID. */
    readonly scope: string;
    /** Method and path template. */
    readonly endpoint: string;
    readonly input: unknown;
    /** Acts. Returns the answer, and the answer for repeats without secrets. */
    run(): Promise<{ readonly answer: unknown; readonly stored: unknown }>;
  },
): Promise<Response> {
  addHeaders(context, { "cache-control": "private, no-store" });
  const { scope, endpoint, input } = act;
  const slot = slotOf(scope, {
    header: (name) => context.req.header(name),
    fingerprint: () => hash("sha256", canonicalize({ endpoint, input }) ?? "", "hex"),
  });
  if (slot === null) return answerBought(context, json((await act.run()).answer));
  const repeated = await repeats.begin(slot);
  if (repeated !== null) return answerBought(context, repeated);
  try {
    const { answer, stored } = await act.run();
    await repeats.keep(slot, json(stored));
    return answerBought(context, json(answer));
  } catch (error) {
    await repeats.forget(slot);
    throw error;
  }
}

function json(body: unknown): BoughtAnswer {
  return { contentType: "application/json", body: JSON.stringify(body) };
}
