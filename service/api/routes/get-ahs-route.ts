import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { ownerOf, ownerText } from "../../access/access.ts";
import { gradeLabel } from "../../model/score/record.ts";
import { DEFAULT_ROUTING, type RoutingPolicy, routedScore, routeWallet } from "../../model/score/route.ts";
import type {
  AmountOutcome,
  AvailableBacking,
  PromisedAmounts,
} from "../../scores/backing/available-backing.ts";
import type { WalletSnapshot } from "../../scores/stored-score.ts";
import { defineSale } from "../kit/endpoint.ts";
import type { Sale } from "../kit/endpoint-spec.ts";
import type { WalletNeeds } from "../kit/wallet-report.ts";
import { freshSnapshot } from "../kit/wallet-report.ts";
import {
  currentScoreShape,
  gradeLabelSchema,
  nullableScoreSchema,
  renderCurrentScore,
  renderThreats,
  routingActionSchema,
  routingReasonSchema,
  threatsShape,
} from "../schemas/ahs-record.ts";
import { backingSchema, renderBacking } from "../schemas/backing.ts";
import type { PolicyNeeds } from "../schemas/route-policy.ts";
import { MAX_AMOUNT_MICRO_USD } from "../schemas/route-policy.ts";
import { addressParams, eip55Schema, flag, microDecimal, text, toEip55 } from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = WalletNeeds &
  PolicyNeeds & {
    /** Backing of wallets, and the ledger of amounts that routing promised of it. */
    readonly backing: PromisedAmounts;
  };

const query = z.object({
  amount_usd: microDecimal({ least: 1, most: MAX_AMOUNT_MICRO_USD }).optional().openapi({
    description:
      "The payment in US dollars, with at most 6 decimals. An instant_settle of more than the available safe amount becomes escrow",
    example: "12.50",
  }),
});

const routeSchema = z
  .object({
    address: eip55Schema,
    action: routingActionSchema,
    ...currentScoreShape,
    grade_label: gradeLabelSchema,
    reason: routingReasonSchema,
    policy_applied: flag("Whether a policy of the caller, and not the default table, decided"),
    allowlisted: flag(
      "Whether the wallet is on the allowlist of that policy; a sanctioned wallet is rejected anyway",
    ),
    backing: backingSchema.nullable(),
    ...threatsShape,
    warning: text(
      "A plain sentence for a wallet on a list of threats that the decision does not take into account; null without one",
    ).nullable(),
    agent_health_score: nullableScoreSchema.openapi({ description: "Equal to ahs_score" }),
    routing_recommendation: routingActionSchema.openapi({ description: "Equal to action" }),
  })
  .openapi("RoutingDecision");

type Answer = z.infer<typeof routeSchema>;

/**
 * GET /ahs/route/{address}. An instant_settle for an amount is a promise: it is stored before the answer, in one transaction with
 * the decision, and deleted if the answer is not delivered.
 */
export const getAhsRoute = defineSale<Needs>()({
  method: "get",
  path: "/ahs/route/{address}",
  operationId: "route_payment",
  tool: "Decides how to pay a wallet now: instant_settle, escrow or reject, with the reason and the amount that is safe to settle. Use it before every payment, with the amount in US dollars.",
  price: { units: 10 },
  tag: "Routing",
  summary: "Trust routing decision for a payment to a wallet",
  description:
    "Decides by the caller's routing policy, which `PUT /ahs/route/policy` sets for a key or a paying wallet. The default policy settles grades A and B at once, sends C and unscored wallets to escrow and rejects the rest.\n\n- **Sanctions** are read at the newest indexed block on every call. A sanctioned wallet is always rejected; no allowlist changes that.\n- **Threats** are imported lists of phishing, scam, mixer and exploit addresses. By default they only set `warning`. `threat_action` of a policy holds or rejects listed wallets with the reason `threat_listed`.\n- **Amounts**: with `amount_usd`, `instant_settle` requires that much of the wallet's safe amount. A higher amount gets `escrow` with the reason `above_safe_amount`, or `backing_unknown` while the backing is unknown. Allowlisted wallets settle any amount.\n- **Promises**: each `instant_settle` with an amount reserves it for a day for all callers, whether you pay or not. Allowlisted wallets reserve nothing. Without `amount_usd` the answer shows the backing and reserves nothing.\n- An x402 payment with `amount_usd` is settled before the decision.",
  request: { params: addressParams, query, body: null },
  answer: { schema: routeSchema, description: "The decision" },
  problems: ["index-unavailable", "index-behind"],
  check: ({ params }, { deps, now }) => freshSnapshot(params.address, deps, now),
  async prepare({ params: { address }, query: { amount_usd: micros } }, snapshot, { deps, caller }) {
    const owner = ownerText(ownerOf(caller));
    const [stored, backing] = await Promise.all([deps.policies.of(owner), deps.backing.read(address)]);
    const amountMicroUsd = micros === undefined ? null : BigInt(micros);
    return { owner, snapshot, policy: stored?.policy ?? null, backing, amountMicroUsd };
  },
  interestIn: ({ address, scored_at }) => (scored_at === null ? [] : [address]),
  async sell({ params: { address } }, asked, sale) {
    // No caller takes part of a safe amount before paying.
    const settlement = asked.amountMicroUsd === null ? "after" : "before";
    const { deliver } = await sale.take({ settlement });
    const amount: { deciding: Promise<AmountOutcome> | null } = { deciding: null };
    try {
      return await deliver(async () => {
        amount.deciding = decideAmount(address, asked, sale);
        const { backing } = await amount.deciding;
        return decide(address, { ...asked, backing }, sale.now);
      });
    } catch (error) {
      if (amount.deciding !== null) releasePromise(amount.deciding, sale);
      throw error;
    }
  },
});

/** All that a decision depends on. */
type Asked = {
  readonly owner: string;
  readonly snapshot: WalletSnapshot;
  /** Null if the default table decides. */
  readonly policy: RoutingPolicy | null;
  readonly backing: AvailableBacking | null;
  /** Null if the caller gave no amount. */
  readonly amountMicroUsd: bigint | null;
};

/** The backing that decides, and the promise that an amount is. Only an amount that may settle at once takes a lock. */
async function decideAmount(
  address: Address,
  asked: Asked,
  { deps }: Sale<Needs, Answer>,
): Promise<AmountOutcome> {
  const { owner, backing, amountMicroUsd } = asked;
  const read = { backing, promiseId: null };
  if (amountMicroUsd === null || backing === null) return read;
  const { action, reason } = routeBy(address, asked, backing.availableMicroUsd);
  if (action !== "instant_settle" || reason === "allowlist") return read;
  return deps.backing.promise({
    wallet: address,
    caller: owner,
    amountMicroUsd,
    settles: (availableMicroUsd) => routeBy(address, asked, availableMicroUsd).action === "instant_settle",
  });
}

/** Does not wait: the decision may have missed the deadline. A promise that cannot be released ends by itself after a day. */
function releasePromise(deciding: Promise<AmountOutcome>, { deps }: Sale<Needs, Answer>): void {
  deciding
    .then(async ({ promiseId }) => (promiseId === null ? undefined : deps.backing.release(promiseId)))
    .catch((error: unknown) => deps.logger.warn({ err: error }, "promised amount not released"));
}

function routeBy(
  wallet: Address,
  { snapshot: { sanctions, threats, score }, policy, amountMicroUsd }: Asked,
  availableMicroUsd: bigint | null,
) {
  return routeWallet(policy ?? DEFAULT_ROUTING, {
    wallet,
    sanctioned: sanctions.length > 0,
    threatened: threats.length > 0,
    score: routedScore(score),
    payment: amountMicroUsd === null ? null : { amountMicroUsd, availableMicroUsd },
  });
}

function decide(address: Address, asked: Asked, now: Date): Answer {
  const { snapshot, policy, backing } = asked;
  const { score, threats } = snapshot;
  const sanctioned = snapshot.sanctions.length > 0;
  const shown = renderCurrentScore(score, { sanctioned, now });
  const { action, reason } = routeBy(address, asked, backing?.availableMicroUsd ?? null);
  return {
    address: toEip55(address),
    action,
    ...shown,
    grade_label: score === null && !sanctioned ? "Not scored" : gradeLabel(shown.grade),
    reason,
    policy_applied: policy !== null,
    allowlisted: policy?.allowlist.includes(address) ?? false,
    backing: renderBacking(backing),
    ...renderThreats(threats),
    warning: action === "reject" || reason === "threat_listed" ? null : warningOf(threats),
    agent_health_score: shown.ahs_score,
    routing_recommendation: action,
  };
}

function warningOf(threats: WalletSnapshot["threats"]): string | null {
  if (threats.length === 0) return null;
  const lists = threats.map(({ list, kind }) => `${list} (${kind})`).join(", ");
  return `The wallet is on a list of threats: ${lists}. The decision does not take this into account.`;
}
