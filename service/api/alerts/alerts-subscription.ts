import { timingSafeEqual } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { ownerText } from "../../access/access.ts";
import { Problem, type ProblemCode } from "../../access/problems.ts";
import type { StoredSubscription } from "../../alerts/alert-subscriptions.ts";
import { ALERT_EVENTS } from "../../alerts/plan-events.ts";
import { hashManageToken, PAUSE_MS, type Replay } from "../../alerts/subscriptions.ts";
import { standingOfThresholds } from "../../alerts/thresholds.ts";
import { ACT_ONCE, type Act, actOnce } from "../act-once.ts";
import { eip55Schema, toEip55 } from "../address-schema.ts";
import type { ApiContext } from "../api-env.ts";
import { isoSchema } from "../scores/ahs-record-schema.ts";
import type { SubscriptionPorts } from "./alerts-ports.ts";
import { watchedSchema } from "./alerts-thresholds.ts";

/** Members of a subscription, without its secrets. */
export const subscriptionShape = {
  subscription_id: z.uuid(),
  address: eip55Schema,
  chain_id: z.int(),
  webhook_url: z.string(),
  events: z.array(z.string()),
  thresholds: z.array(watchedSchema).openapi({ description: "What `ahs.threshold_breached` is told of" }),
  status: z.enum(["unverified", "active", "disabled", "expired", "ended"]).openapi({
    description:
      "unverified: no delivery was answered with a 2xx yet. disabled: the endpoint was given up, until a test or a replay is asked for. expired: what happened before is still delivered, and paying again continues it. ended: by its owner, for good",
  }),
  disabled_reason: z.string().nullable(),
  created_at: isoSchema,
  expires_at: isoSchema,
} as const;

const subscriptionFields = z.object(subscriptionShape);

/** A subscription as its owner sees it. */
export const subscriptionSchema = subscriptionFields.openapi("Subscription");

export type SubscriptionAnswer = z.infer<typeof subscriptionFields>;

export const SUBSCRIPTION_EXAMPLE: SubscriptionAnswer = {
  subscription_id: "0b0f7b8e-6a0e-4a43-9f0a-0d5c2d3f7f11",
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  chain_id: 31337,
  webhook_url: "https://hooks.example.com/agent-health",
  events: [...ALERT_EVENTS],
  thresholds: [{ value: "ahs_score", below: 70, current: 78 }],
  status: "unverified",
  disabled_reason: null,
  created_at: "2026-11-20T10:00:00.000Z",
  expires_at: "2026-12-20T10:00:00.000Z",
};

/** An event that waits to be delivered. */
export const queuedSchema = z
  .object({ subscription_id: z.uuid(), delivery_id: z.string(), state: z.literal("pending") })
  .openapi("QueuedDelivery", { description: "delivery_id is the webhook-id of every attempt" });

export const QUEUED_EXAMPLE: z.infer<typeof queuedSchema> = {
  subscription_id: SUBSCRIPTION_EXAMPLE.subscription_id,
  delivery_id: "msg_5f2d8a41c7e9b03d6a18f4c2e7b95d10",
  state: "pending",
};

/** The path of everything that manages one subscription. */
export const subscriptionParams = z.object({
  subscription_id: z.uuid().openapi({
    param: { name: "subscription_id", in: "path" },
    description: "As GET /alerts/subscribe/{address} answered it",
    example: SUBSCRIPTION_EXAMPLE.subscription_id,
  }),
});

/** Refusals of everything that manages one subscription. */
export const MANAGE_PROBLEMS: readonly ProblemCode[] = ["not-found", "database-unavailable", "internal"];

/** The same of what acts on one. */
export const ACT_PROBLEMS: readonly ProblemCode[] = [...MANAGE_PROBLEMS, ...ACT_ONCE.problems];

/** How the callers of these endpoints prove themselves, for their descriptions. */
export const WHO_MANAGES =
  "For whoever sends the manage token as `Authorization: Bearer …`, the API key that bought it, or a SIGN-IN-WITH-X of the wallet that did.";

/** Who asks: its owner, or whoever has its manage token. */
export type Managed = { readonly subscription: StoredSubscription; readonly by: "owner" | "token" };

/** The subscription that a request may manage; throws the 401 of a caller unproven, and one 404 for unknown and foreign ids. */
export async function requireSubscription(
  { req }: ApiContext,
  id: string,
  { owners, subscriptions }: SubscriptionPorts,
): Promise<Managed> {
  const token = bearerOf(req.header("authorization"));
  if (token !== null) {
    const subscription = await subscriptions.find(id);
    const isHeld = isHashOf(token, subscription?.manageTokenHash ?? NO_HASH);
    if (subscription === null || !isHeld) throw unknownSubscription(id);
    await subscriptions.count(id);
    return { subscription, by: "token" };
  }
  const owner = ownerText(await owners.identify(req));
  const subscription = await subscriptions.find(id);
  if (subscription === null || subscription.owner !== owner) throw unknownSubscription(id);
  return { subscription, by: "owner" };
}

/** The same for what only a subscription that runs can do; throws a 404 for one that ended or expired. */
async function requireRunning(
  context: ApiContext,
  id: string,
  work: { readonly deps: SubscriptionPorts; readonly now: Date },
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

/** Acts on a subscription that runs, once under one Idempotency-Key of its owner, or of its manage token. */
export async function actOnSubscription(
  context: ApiContext,
  work: { readonly deps: SubscriptionPorts; readonly now: Date },
  act: {
    readonly id: string;
    readonly endpoint: string;
    readonly input?: unknown;
    run(managed: Managed): ReturnType<Act["run"]>;
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

/** Throws the 429 of an event that was tried too short a while ago to be asked for again. */
export function refuseRecent(outcome: Replay): void {
  if (outcome !== "recent") return;
  const seconds = PAUSE_MS / 1_000;
  throw new Problem(
    "rate-limited",
    `This event was tried less than ${seconds} s ago; it can be asked for once in that time.`,
    { headers: { "retry-after": String(seconds) } },
  );
}

/** A subscription as answers show it. */
export function renderSubscription(subscription: StoredSubscription, now: Date): SubscriptionAnswer {
  return {
    subscription_id: subscription.id,
    address: toEip55(subscription.wallet),
    chain_id: subscription.chainId,
    webhook_url: subscription.url,
    events: [...subscription.events],
    thresholds: [...standingOfThresholds(subscription.thresholds, subscription.watched)],
    status: statusOf(subscription, now),
    disabled_reason: subscription.disabledReason,
    created_at: subscription.createdAt.toISOString(),
    expires_at: subscription.expiresAt.toISOString(),
  };
}

function statusOf(subscription: StoredSubscription, now: Date): SubscriptionAnswer["status"] {
  if (subscription.endedAt !== null) return "ended";
  if (subscription.expiresAt <= now) return "expired";
  if (subscription.disabledAt !== null) return "disabled";
  return subscription.verifiedAt === null ? "unverified" : "active";
}

function unknownSubscription(id: string): Problem {
  return new Problem("not-found", `The caller has no subscription ${id}.`);
}

function bearerOf(header: string | undefined): string | null {
  return /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1] ?? null;
}

/** The hash of nothing that anybody knows. */
const NO_HASH = "0".repeat(64);

function isHashOf(token: string, stored: string): boolean {
  return timingSafeEqual(Buffer.from(hashManageToken(token), "hex"), Buffer.from(stored, "hex"));
}
