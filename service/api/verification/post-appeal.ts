import { z } from "@hono/zod-openapi";
import { ownerOf, ownerText, type PayingCaller, usd } from "../../access/access.ts";
import { Problem, unavailable } from "../../access/problems.ts";
import { LEAST_APPEAL_UNITS } from "../../verification/escrow/appeal-price.ts";
import {
  type AppealCaller,
  type AppealOffer,
  answerOf,
  type noteAppeal,
  type offerAppeal,
  type openAppeal,
} from "../../verification/verdicts/appeals.ts";
import { type PanelBudget, requirePanel } from "../../verification/verdicts/token-budget.ts";
import { defineSale } from "../kit/endpoint.ts";
import { ValidationFailed, valueFault } from "../kit/validation-failed.ts";
import type { PolicyNeeds } from "../schemas/route-policy.ts";
import { isoSchema } from "../schemas/values.ts";
import { unknownVerdict, verdictIdOf } from "./require-verdict.ts";
import { verdictParams } from "./verdict-schema.ts";

/** Services of the endpoint. */
type Needs = Pick<PolicyNeeds, "policies"> & {
  readonly appeals: {
    /** Null if there are no appeals. */
    readonly terms: object | null;
    offer(request: Parameters<typeof offerAppeal>[1]): ReturnType<typeof offerAppeal>;
    note(purchase: Parameters<typeof noteAppeal>[1]): ReturnType<typeof noteAppeal>;
    open(verdictId: string): ReturnType<typeof openAppeal>;
    withdraw(verdictId: string): Promise<void>;
  };
  readonly panelBudget: PanelBudget | null;
};

/** Thousandths of a US dollar have three decimals. */
const USD = /^\d{1,8}(?:\.\d{1,3})?$/;
const querySchema = z.object({
  price_usd: z
    .string()
    .regex(USD, "expected US dollars with at most three decimals")
    .default(usd(LEAST_APPEAL_UNITS))
    .openapi({ description: "`appeal.price_usd` of the verdict", example: "8.000" }),
});

const RETRY_AFTER_SECONDS = 5;
const OFF_RETRY_SECONDS = 3_600;

const appealedSchema = z
  .object({
    verdict_id: z.uuid(),
    status: z.enum(["open", "upheld", "overturned", "held", "failed"]).openapi({
      description: "As `appeal.status` of the verdict, which changes with the second panel's decision",
    }),
    decide_by: isoSchema.openapi({
      description: "Without a decision until then the appeal fails, and its price goes back",
    }),
  })
  .openapi("AppealedVerdict");

/**
 * POST /v1/verdicts/{verdict_id}/appeal. The appeal is stored after its price is reserved and before money moves, opened once it is
 * paid, and withdrawn if the price was given back.
 */
export const postAppeal = defineSale<Needs>()({
  method: "post",
  path: "/v1/verdicts/{verdict_id}/appeal",
  operationId: "appeal_verdict",
  tool: "Appeals an ALLOW or REJECT that is about to settle a job: a second panel, of another model, decides anew. Use it before `appeal.appeal_by` of the verdict.",
  price: { from: LEAST_APPEAL_UNITS, of: ({ query }) => unitsOf(query) },
  tag: "Verification",
  summary: "Have a second panel decide",
  description:
    "A second panel, of another model, judges the same texts anew. ALLOW and REJECT of it take the place of the first decision; after a HOLD of it the first one is settled. Nothing is signed before it.\n\n- Price: `appeal.price_usd` of the verdict, which the caller repeats in `price_usd`. It is a quarter of what the decision moves, at least 0.50 USD, and comes back if the second panel decides the opposite.\n- What: ALLOW and REJECT of a job, once, from the time that the decision is ready to be settled until `appeal.appeal_by` of the verdict. HOLD, decisions of reviewers and decisions on appeal cannot be appealed.\n- Who: the job's client or provider, paying by x402 from its wallet or by a key that this wallet bought, or the key or wallet that submitted the output. A repeat by the same caller is free.\n- Without a decision until `decide_by` the first one is settled and the price goes back: to the key, or for a payment as the credits of a key of the paying wallet, whose secret `POST /keys/rotate` makes.\n\n`GET /v1/appeals` counts how many were overturned.",
  request: { params: verdictParams, query: querySchema, body: null },
  answer: { schema: appealedSchema, description: "The appeal" },
  problems: [
    "not-found",
    "not-the-submitter",
    "appeal-closed",
    "appeal-unsettled",
    "appeals-not-configured",
    "panel-budget-spent",
    "panel-not-configured",
  ],
  async check({ params, query }, { deps: { appeals }, now }) {
    if (appeals.terms === null)
      throw unavailable(
        "appeals-not-configured",
        "No second panel is configured here, so decisions cannot be appealed.",
        {
          retryAfterSeconds: OFF_RETRY_SECONDS,
        },
      );
    const verdictId = verdictIdOf(params.verdict_id);
    const offer = await appeals.offer({ verdictId, caller: null, now });
    if (offer.kind === "unknown" || offer.kind === "closed") throw refusalOf(offer, verdictId);
    if (offer.kind === "open" && offer.units !== unitsOf(query)) throw otherPrice(query, offer);
    return { verdictId };
  },
  async prepare(_input, { verdictId }, { deps, caller, now }) {
    const appellant = await appealCaller(caller, deps);
    const offer = await deps.appeals.offer({ verdictId, caller: appellant, now });
    if (offer.kind !== "open" && offer.kind !== "there") throw refusalOf(offer, verdictId);
    if (offer.kind === "open")
      await requirePanel(deps.panelBudget, now, { owner: appellant.owner, isOfJob: true });
    return { verdictId, appellant, offer };
  },
  async sell(_input, { verdictId, appellant, offer }, sale) {
    const { appeals } = sale.deps;
    if (offer.kind === "there" && !sale.isOwed) return sale.free(answerOf({ verdictId, ...offer }));
    const noted = { is: false };
    try {
      const { deliver } = await sale.take({
        settlement: "before",
        async accept(price) {
          const purchase = { verdictId, caller: appellant, now: sale.now, ...price };
          const outcome = await appeals.note(purchase);
          if (outcome.kind !== "noted") throw refusalOf(outcome, verdictId);
          noted.is = true;
          return true;
        },
      });
      return await deliver(async () => answerOf({ verdictId, ...(await appeals.open(verdictId)) }));
    } catch (error) {
      if (noted.is) await appeals.withdraw(verdictId);
      throw error;
    }
  },
});

function unitsOf({ price_usd }: z.infer<typeof querySchema>): number {
  return Math.round(Number(price_usd) * 1_000);
}

function otherPrice({ price_usd }: z.infer<typeof querySchema>, { units }: { units: number }): Error {
  const fault = `expected the price of this appeal, ${usd(units)}`;
  return new ValidationFailed([valueFault(["query", "price_usd"], price_usd, fault)]);
}

/** A paying caller with the wallets that it speaks for: its own, or the one that bought its key. */
async function appealCaller(caller: PayingCaller, { policies }: PolicyNeeds): Promise<AppealCaller> {
  const owner = ownerOf(caller);
  return { owner: ownerText(owner), wallets: await policies.ownWallets(owner) };
}

function refusalOf(offer: Exclude<AppealOffer, { kind: "open" | "there" }>, verdictId: string): Problem {
  switch (offer.kind) {
    case "unknown":
      return unknownVerdict(verdictId);
    case "closed":
      return new Problem("appeal-closed", `Verdict ${verdictId} cannot be appealed now. ${offer.reason}`);
    case "appealed":
      return new Problem(
        "appeal-closed",
        `Verdict ${verdictId} was appealed before, and can be appealed once.`,
      );
    case "stranger":
      return new Problem(
        "not-the-submitter",
        "A decision is appealed by the job's client or provider, from its wallet or by a key that this wallet bought, or by the key or wallet that submitted the output.",
      );
    case "busy":
      return new Problem("appeal-unsettled", "Another appeal of this verdict is being paid.", {
        headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
      });
  }
}
