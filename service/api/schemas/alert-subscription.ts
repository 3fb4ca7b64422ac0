import { timingSafeEqual } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { type OwnerAccess, ownerOf, ownerText, type PayingCaller } from "../../access/access.ts";
import type { RepeatStore } from "../../access/idempotent-answers.ts";
import { Problem, type ProblemCode } from "../../access/problems.ts";
import type { StoredSubscription } from "../../alerts/alert-subscriptions.ts";
import { ALERT_EVENTS, type AlertEvent, THRESHOLD_EVENT } from "../../alerts/plan-events.ts";
import {
  hashManageToken,
  PAUSE_MS,
  type Replay,
  type Subscribe,
  type SubscribeRequest,
  type Subscriptions,
} from "../../alerts/subscriptions.ts";
import { thresholdsFrom, thresholdsWithValues, WATCHED_VALUES } from "../../alerts/thresholds.ts";
import type { AlertThresholds } from "../../db/tables/alerts.ts";
import { ACT_ONCE, actOnce } from "../kit/act-once.ts";
import { callerRequest } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import type { CheckContext } from "../kit/endpoint-spec.ts";
import {
  echoInput,
  refuseUrl,
  type UrlGuard,
  ValidationFailed,
  valueFault,
} from "../kit/validation-failed.ts";
import { chainIdSchema } from "./ahs-record.ts";
import { deliveryIdSchema } from "./deliveries.ts";
import { eip55Schema, fieldsOf, isoSchema, laxInteger, num, toEip55 } from "./values.ts";

/** Services of endpoints that sell a subscription. */
export type SubscribeNeeds = {
  /** Buys 30 days of monitoring, or extends it by 30 days. */
  readonly subscribe: Subscribe;
  /** Whether an owner's running subscription for a wallet and URL has thresholds. */
  readonly hasThresholds: (
    place: Pick<SubscribeRequest, "wallet" | "owner" | "webhookUrl">,
  ) => Promise<boolean>;
};

/** Services of endpoints about a subscription. */
export type SubscriptionNeeds = {
  readonly owners: OwnerAccess;
  readonly subscriptions: Subscriptions;
};

/** Services of endpoints that act on a subscription. */
export type ActingNeeds = SubscriptionNeeds & { readonly repeats: RepeatStore };

/** The guard of URLs that callers name; see `refuseUrl`. */
export type UrlNeeds = { readonly infrastructure: UrlGuard };

/** Owner and purchase of a subscription: the payment or the debit, if there is one. */
export function purchaseBy(
  caller: PayingCaller,
  debitId: string | null,
): Pick<SubscribeRequest, "owner" | "purchase" | "debitId"> {
  const purchase = debitId === null ? paymentName(caller) : `debit ${debitId}`;
  return { owner: ownerText(ownerOf(caller)), purchase, debitId };
}

function paymentName(caller: PayingCaller): string | null {
  if (caller.kind !== "payer") return null;
  const { requirements, asset, nonce } = caller.payment;
  return `${requirements.network} ${asset} ${caller.address} ${nonce}`;
}

/** As `refuseUrl`, for the normalized URL, which may be longer than the given one. */
export async function refuseWebhookUrl(url: string, { infrastructure }: UrlNeeds): Promise<void> {
  const asked = URL.canParse(url) ? new URL(url).href : url;
  await refuseUrl({ loc: ["query", "webhook_url"], given: url, asked }, infrastructure.refusal);
}

/** 0 to 1 in at most three decimals. */
const CONFIDENCE = /^(?:0(?:\.[0-9]{1,3})?|1(?:\.0{1,3})?)$/;

/** The query parameters that choose thresholds. */
export const thresholdQuery = {
  score_below: scoreBelow("the score"),
  d1_below: scoreBelow("the first dimension"),
  d2_below: scoreBelow("the second dimension"),
  confidence_below: z.string().regex(CONFIDENCE).transform(Number).optional().openapi({
    type: "number",
    minimum: 0,
    maximum: 1,
    multipleOf: 0.001,
    description:
      "Sends an event when the confidence falls below this, 0 to 1 in at most three decimals. Nothing is below 0.",
    example: 0.5,
  }),
} as const;

/** The thresholds of a query in stored form; null if it has none. */
export function thresholdsOf(query: {
  readonly score_below?: number | undefined;
  readonly d1_below?: number | undefined;
  readonly d2_below?: number | undefined;
  readonly confidence_below?: number | undefined;
}): AlertThresholds | null {
  return thresholdsFrom({
    ahs_score: query.score_below,
    d1_score: query.d1_below,
    d2_score: query.d2_below,
    confidence: query.confidence_below,
  });
}

/**
 * Throws the 422 of events and thresholds that do not match: thresholds without their event, or the event without thresholds.
 * `held` answers whether the subscription has thresholds already.
 */
export async function refuseUnheard(
  {
    events,
    thresholds,
  }: { readonly events: readonly AlertEvent[] | undefined; readonly thresholds: AlertThresholds | null },
  held: () => Promise<boolean>,
): Promise<void> {
  if (events === undefined) return;
  const isAsked = events.includes(THRESHOLD_EVENT);
  if (thresholds !== null && !isAsked)
    throw refusal(
      events,
      `thresholds were given, and events leave ${THRESHOLD_EVENT} out: no breach would be reported`,
    );
  if (thresholds === null && isAsked && !(await held()))
    throw refusal(
      events,
      `${THRESHOLD_EVENT} needs a threshold: give score_below, d1_below, d2_below or confidence_below`,
    );
}

/** A threshold with the state of its value. */
export const watchedSchema = z
  .object({
    value: z.enum(WATCHED_VALUES),
    below: num("The threshold", 70),
    current: num("Of the newest score; null without a score, or without enough history", 78).nullable(),
  })
  .openapi("WatchedThreshold");

/** A threshold that a change of score crossed downwards. */
export const breachSchema = z
  .object({
    value: z.enum(WATCHED_VALUES),
    below: num("The threshold", 70),
    previous: num("At or above the threshold, or null: unknown", 78).nullable(),
    current: z.number().openapi({ example: 68 }),
  })
  .openapi("ThresholdBreach");

function scoreBelow(what: string) {
  return laxInteger(z.int().min(0).max(100))
    .optional()
    .openapi({
      type: "integer",
      minimum: 0,
      maximum: 100,
      description: `Sends an event when ${what} falls below this. Nothing is below 0.`,
    });
}

function refusal(events: readonly AlertEvent[], error: string): ValidationFailed {
  return new ValidationFailed([valueFault(["query", "events"], echoInput(events.join(",")), error)]);
}

export const eventsSchema = z.array(z.string()).openapi({ example: [...ALERT_EVENTS] });
export const expirySchema = isoSchema.openapi({ example: "2026-12-20T09:58:00.000Z" });

/** Members of a subscription, without its secrets. */
export const subscriptionShape = {
  subscription_id: z.uuid(),
  address: eip55Schema,
  chain_id: chainIdSchema,
  webhook_url: z.string().openapi({ example: "https://hooks.example.com/agent-health" }),
  events: eventsSchema,
  thresholds: z.array(watchedSchema).openapi({ description: "Thresholds of `ahs.threshold_breached`" }),
  status: z.enum(["unverified", "active", "disabled", "expired", "ended"]).openapi({
    description:
      "unverified: no delivery was answered with a 2xx yet. disabled: the endpoint was given up, until a test or a replay is asked for. expired: what happened before is still delivered, and paying again continues it. ended: by its owner, for good",
    example: "active",
  }),
  disabled_reason: z.string().nullable().openapi({ example: null }),
  created_at: isoSchema,
  expires_at: expirySchema,
} as const;

export const webhookSecretSchema = z
  .string()
  .nullable()
  .openapi({ example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=" });
export const manageTokenSchema = z
  .string()
  .nullable()
  .openapi({ example: "amt_3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs" });

/** A subscription in the form of answers. */
export const subscriptionSchema = z.object(subscriptionShape).openapi("Subscription");

/** An event that waits to be delivered. */
export const queuedSchema = z
  .object({ subscription_id: z.uuid(), delivery_id: deliveryIdSchema, state: z.literal("pending") })
  .openapi("QueuedDelivery", { description: "delivery_id is the webhook-id of every attempt" });

/** Path parameters of the endpoints that manage a subscription. */
export const subscriptionParams = z.object({
  subscription_id: z.uuid().openapi({
    description: "As GET /alerts/subscribe/{address} answered it",
    example: "0b0f7b8e-6a0e-4a43-9f0a-0d5c2d3f7f11",
  }),
});

/** Problems of the endpoints that manage a subscription. */
export const MANAGE_PROBLEMS: readonly ProblemCode[] = ["not-found", "database-unavailable", "internal"];

/** Problems of the endpoints that act on a subscription. */
export const ACT_PROBLEMS: readonly ProblemCode[] = [...MANAGE_PROBLEMS, ...ACT_ONCE.problems];

/** The sentence on identity in the descriptions of these endpoints. */
export const WHO_MANAGES =
  "Requires the manage token as `Authorization: Bearer …`, the API key that bought it, or a SIGN-IN-WITH-X of the wallet that bought it.";

/** The caller: the owner, or the holder of the manage token. */
type Managed = { readonly subscription: StoredSubscription; readonly by: "owner" | "token" };

/** The subscription that a request may manage. Throws a 401 for an unproven caller and the same 404 for unknown and foreign ids. */
export async function requireSubscription(
  context: ApiContext,
  id: string,
  { owners, subscriptions }: SubscriptionNeeds,
): Promise<Managed> {
  const token = bearerOf(context.req.header("authorization"));
  if (token !== null) {
    const subscription = await subscriptions.find(id);
    const isHeld = isHashOf(token, subscription?.manageTokenHash ?? NO_HASH);
    if (subscription === null || !isHeld) throw unknownSubscription(id);
    await subscriptions.count(id);
    return { subscription, by: "token" };
  }
  const owner = ownerText(await owners.identify(callerRequest(context)));
  const subscription = await subscriptions.find(id);
  if (subscription === null || subscription.owner !== owner) throw unknownSubscription(id);
  return { subscription, by: "owner" };
}

/** As above, for a running subscription. Throws a 404 for one that ended or expired. */
async function requireRunning(
  context: ApiContext,
  id: string,
  work: CheckContext<SubscriptionNeeds>,
): Promise<Managed> {
  const managed = await requireSubscription(context, id, work.deps);
  const { endedAt, expiresAt } = managed.subscription;
  if (endedAt !== null)
    throw new Problem("not-found", `Subscription ${id} was ended at ${endedAt.toISOString()}.`);
  if (expiresAt <= work.now)
    throw new Problem(
      "not-found",
      `Subscription ${id} expired at ${expiresAt.toISOString()}; paying for the same wallet and URL again continues it.`,
    );
  return managed;
}

/** Acts on a running subscription, once for each Idempotency-Key of its owner or manage token. */
export async function actOnSubscription(
  context: ApiContext,
  work: CheckContext<ActingNeeds>,
  act: {
    readonly id: string;
    readonly endpoint: string;
    readonly input?: unknown;
    run(managed: Managed): ReturnType<Parameters<typeof actOnce>[2]["run"]>;
  },
): Promise<Response> {
  const managed = await requireRunning(context, act.id, work);
  return actOnce(context, work.deps.repeats, {
    scope: `subscription:${act.id}:${managed.by}`,
    endpoint: act.endpoint,
    input: { id: act.id, ...(act.input === undefined ? {} : { input: act.input }) },
    run: () => act.run(managed),
  });
}

/** Throws a 429 if the last attempt to deliver the event was too recent. */
export function refuseRecent(outcome: Replay): void {
  if (outcome !== "recent") return;
  const seconds = PAUSE_MS / 1_000;
  throw new Problem(
    "rate-limited",
    `This event was tried less than ${seconds} s ago; it can be asked for once in that time.`,
    { headers: { "retry-after": String(seconds) } },
  );
}

export function renderSubscription(
  subscription: StoredSubscription,
  now: Date,
): z.infer<typeof subscriptionSchema> {
  return {
    ...fieldsOf(subscriptionShape, subscription),
    subscription_id: subscription.id,
    address: toEip55(subscription.wallet),
    webhook_url: subscription.url,
    events: [...subscription.events],
    thresholds: [...thresholdsWithValues(subscription.thresholds, subscription.watched)],
    status: statusOf(subscription, now),
  };
}

function statusOf(subscription: StoredSubscription, now: Date): z.infer<typeof subscriptionSchema>["status"] {
  if (subscription.endedAt !== null) return "ended";
  if (subscription.expiresAt <= now) return "expired";
  if (subscription.disabledAt !== null) return "disabled";
  return subscription.verifiedAt === null ? "unverified" : "active";
}

function unknownSubscription(id: string): Problem {
  return new Problem("not-found", `The caller has no subscription ${id}.`);
}

/** A bearer token other than an API key. */
function bearerOf(header: string | undefined): string | null {
  return /^Bearer +(?!ahs_)(\S+) *$/i.exec(header ?? "")?.[1] ?? null;
}

/** A hash without a known preimage. */
const NO_HASH = "0".repeat(64);

function isHashOf(token: string, stored: string): boolean {
  return timingSafeEqual(Buffer.from(hashManageToken(token), "hex"), Buffer.from(stored, "hex"));
}
