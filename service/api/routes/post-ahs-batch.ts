import { z } from "@hono/zod-openapi";
import type { Logger } from "pino";
import type { Address } from "viem";
import type { Caller } from "../../access/access.ts";
import { PROBLEMS, Problem, problemType } from "../../access/problems.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { definePaid, isMeteredBy } from "../kit/endpoint.ts";
import { problemOf } from "../kit/handle-error.ts";
import type { EnrolNeeds, RecordNeeds, ScoringNeeds, SenderNeeds } from "../kit/score-record.ts";
import { recordOf, requireSender, scoredRow, scorerOf } from "../kit/score-record.ts";
import { echoInput, ValidationFailed } from "../kit/validation-failed.ts";
import type { ScoredNeeds } from "../kit/wallet-report.ts";
import { scoredSnapshot } from "../kit/wallet-report.ts";
import { type AhsRecord, ahsRecordSchema } from "../schemas/ahs-record.ts";
import { addressSchema, eip55Schema, toEip55 } from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = ScoredNeeds & ScoringNeeds & SenderNeeds & RecordNeeds & EnrolNeeds;

/** Maximum entries of the list as sent, for every caller. */
const MAX_ENTRIES = 100;
/** Maximum distinct wallets by way of paying. */
export const MAX_WALLETS = { key: 25, payer: 10, nobody: 10 } as const satisfies Record<
  Caller["kind"],
  number
>;
/** Thousandths of a US dollar: of each wallet, of all of them at most, and of an answer without a score, which took a settlement. */
export const BATCH_PRICE = { wallet: 1_000, most: 10_000, unscored: 10 } as const;
/** Wallets scored at once: 25 wallets with histories of 8 s each finish within the deadline. */
const AT_ONCE = 8;

const bodySchema = z
  .object({
    addresses: z
      .array(
        addressSchema.openapi({
          type: "string",
          pattern: "^0x[0-9a-fA-F]{40}$",
          example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
        }),
      )
      .min(1)
      .max(MAX_ENTRIES)
      .openapi({
        description: `Wallets in any case, at most ${MAX_WALLETS.payer} distinct ones by payment and ${MAX_WALLETS.key} with a key`,
      }),
  })
  .openapi("BatchRequest");

const entryProblemSchema = z
  .object({
    type: z.string().openapi({ example: "/docs#problem-not-indexed" }),
    title: z.string().openapi({ example: "Wallet not indexed" }),
    status: z.int().openapi({ example: 404 }),
    detail: z.string().openapi({
      example: "The index does not follow 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc.",
    }),
  })
  .openapi("BatchProblem", { description: "What GET /ahs/{address} would have answered" });

const batchSchema = z
  .object({
    results: z
      .array(ahsRecordSchema)
      .openapi({ description: "In the order of the request, each wallet once" }),
    count: z.int().min(1).openapi({ description: "Of the results" }),
    errors: z
      .array(z.object({ address: eip55Schema, problem: entryProblemSchema }))
      .openapi({ description: "Wallets that could not be scored" }),
  })
  .openapi("Batch");

/** Result of one wallet of a batch. */
type Entry =
  | { readonly kind: "record"; readonly record: AhsRecord }
  | { readonly kind: "failed"; readonly address: Address; readonly problem: Problem };

/** POST /ahs/batch. */
export const postAhsBatch = definePaid<Needs>()({
  method: "post",
  path: "/ahs/batch",
  operationId: "score_wallets",
  tool: "Returns the Agent Health Scores of up to 25 wallets at once. Use it to compare several agents; it costs as much as the wallets one by one, and 10 USD at most.",
  price: {
    from: BATCH_PRICE.wallet,
    upTo: BATCH_PRICE.most,
    of: ({ body }) => Math.min(BATCH_PRICE.most, BATCH_PRICE.wallet * distinct(body).length),
    metered: ({ results }) => meteredUnits(results.filter(({ ahs_score }) => ahs_score !== null).length),
  },
  tag: "Scores",
  summary: "Agent Health Scores of up to 25 wallets",
  description:
    "Scores each wallet as `GET /ahs/{address}` does, up to 10 distinct ones for a payment and up to 25 with a key, and answers the records in the order of the request; a repeated wallet, in any case, is answered once. A wallet that cannot be scored becomes an entry of `errors`; the others are still scored. If none can be scored, the call fails like that of the first one.\n\nThe price is 1 USD for each distinct wallet, and 10 USD at most: the 402 names that of the request. A key and a payment of scheme `exact` pay it whole. A payment of scheme `upto` authorizes it, and is charged 1 USD for each wallet with a score, and 0.01 USD where none has one.",
  request: { params: z.object({}), query: z.object({}), body: bodySchema },
  answer: { schema: batchSchema, description: "The records" },
  problems: [
    "not-indexed",
    "index-unavailable",
    "index-behind",
    "scoring-unavailable",
    "history-unavailable",
  ],
  async check({ body }, { deps, now, caller }) {
    const most = MAX_WALLETS[caller.kind];
    if (distinct(body).length > most) throw tooLong(distinct(body), most);
    const wallets = await Promise.all(
      distinct(body).map(async (address) => ({
        address,
        snapshot: await scoredSnapshot(address, deps, now),
      })),
    );
    await refusalsOf(wallets, ({ address, snapshot }) => scorerOf(address, snapshot, deps));
    return wallets;
  },
  async prepare(_input, wallets, { deps, caller }) {
    // Such a payment is settled after the work, which until then may leave nothing behind: no history is read for it.
    const scorers = isMeteredBy(caller) ? { ...deps, scoreOnDemand: null } : deps;
    const refusals = await refusalsOf(wallets, async ({ address, snapshot }) => {
      const score = scorerOf(address, snapshot, scorers);
      if (score === scorers.scoreOnDemand) await requireSender(address, snapshot, deps);
    });
    return {
      wallets: wallets.map((one, place) => ({ ...one, refusal: refusals[place] ?? null })),
      scorers,
      settlement: isMeteredBy(caller) ? ("after" as const) : ("before" as const),
    };
  },
  payment: { settled: ({ settlement }) => settlement },
  interestIn: ({ results }) => results.map(({ address }) => address),
  async work(
    _input,
    { wallets, scorers },
    { deps, now, caller, debitId },
  ): Promise<z.infer<typeof batchSchema>> {
    const unfollowed: Address[] = [];
    const entries = await mapLimited(
      wallets,
      AT_ONCE,
      async ({ address, snapshot, refusal }): Promise<Entry> => {
        if (refusal !== null) return { kind: "failed", address, problem: refusal };
        try {
          const score = scorerOf(address, snapshot, scorers);
          const row = await scoredRow(address, score, caller);
          const { threats, followed } = snapshot;
          const record = await recordOf({ row, threats }, deps, now);
          if (score === scorers.scoreOnDemand && !followed) unfollowed.push(address);
          return { kind: "record", record };
        } catch (error) {
          return { kind: "failed", address, problem: toProblem(error, address, deps) };
        }
      },
    );
    const answer = answerEntries(entries);
    if (unfollowed.length > 0) await deps.enrol(unfollowed, { caller, debitId });
    return answer;
  },
});

/** The share of each wallet with a score. */
function meteredUnits(scored: number): number {
  return Math.max(BATCH_PRICE.wallet * scored, BATCH_PRICE.unscored);
}

function distinct(body: z.infer<typeof bodySchema> | null): readonly Address[] {
  // A body is required, so null never gets here.
  return body === null ? [] : [...new Set(body.addresses)];
}

function tooLong(wallets: readonly Address[], most: number): ValidationFailed {
  const actual = wallets.length;
  return new ValidationFailed([
    {
      type: "too_long",
      loc: ["body", "addresses"],
      msg: `List should have at most ${most} items after validation, not ${actual}`,
      input: echoInput(wallets),
      ctx: { field_type: "List", max_length: most, actual_length: actual },
    },
  ]);
}

/** Refusals of wallets in their order, null for those that can be scored. Throws that of the first wallet if none can be. */
async function refusalsOf<Asked>(
  wallets: readonly Asked[],
  attempt: (asked: Asked) => unknown,
): Promise<readonly (Problem | null)[]> {
  const refusals = await mapLimited(wallets, AT_ONCE, async (asked) => {
    try {
      await attempt(asked);
      return null;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  });
  const [first] = refusals;
  if (first !== undefined && first !== null && refusals.every((refusal) => refusal !== null)) throw first;
  return refusals;
}

function toProblem(error: unknown, address: Address, { logger }: { readonly logger: Logger }): Problem {
  if (error instanceof Problem) return error;
  const failure = error instanceof Error ? error : new Error("scoring failed", { cause: error });
  return problemOf(failure, { wallet: address }, logger);
}

/** Throws if no wallet was scored: a temporary failure first, else the first failure. */
function answerEntries(entries: readonly Entry[]): z.infer<typeof batchSchema> {
  const results = entries.flatMap((entry) => (entry.kind === "record" ? [entry.record] : []));
  const failed = entries.flatMap((entry) => (entry.kind === "failed" ? [entry] : []));
  if (results.length === 0) {
    const worst = failed.find(({ problem }) => problem.status === 503) ?? failed[0];
    throw worst === undefined ? new Error("a batch of no wallets") : worst.problem;
  }
  return {
    results,
    count: results.length,
    errors: failed.map(({ address, problem }) => ({
      address: toEip55(address),
      problem: renderEntry(problem),
    })),
  };
}

function renderEntry({ code, status, detail }: Problem): z.infer<typeof entryProblemSchema> {
  return { type: problemType(code), title: PROBLEMS[code].title, status, detail };
}
