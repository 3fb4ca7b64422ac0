import { z } from "@hono/zod-openapi";
import { ACT_ONCE } from "../act-once.ts";
import { answerJson } from "../answer.ts";
import { defineFree } from "../endpoint.ts";
import { isoSchema } from "../scores/ahs-record-schema.ts";
import type { SubscriptionPorts } from "./alerts-ports.ts";
import {
  ACT_PROBLEMS,
  actOnSubscription,
  MANAGE_PROBLEMS,
  QUEUED_EXAMPLE,
  queuedSchema,
  refuseRecent,
  renderSubscription,
  requireSubscription,
  SUBSCRIPTION_EXAMPLE,
  subscriptionParams,
  subscriptionSchema,
  WHO_MANAGES,
} from "./alerts-subscription.ts";

type Work = { readonly deps: SubscriptionPorts; readonly now: Date };

const request = { params: subscriptionParams, query: z.object({}), body: null };
const NO_STORE = { headers: { "cache-control": "private, no-store" } } as const;

/** GET /alerts/{subscription_id}. */
export const getAlert = defineFree({
  method: "get",
  path: "/alerts/{subscription_id}",
  tag: "Alerts",
  summary: "A subscription",
  description: `What it is told of, how long it runs and whether its endpoint answers. ${WHO_MANAGES}`,
  request,
  answer: { schema: subscriptionSchema, example: SUBSCRIPTION_EXAMPLE, description: "The subscription" },
  identity: "subscription",
  problems: MANAGE_PROBLEMS,
  async respond(context, { params }, { deps, now }: Work) {
    const { subscription } = await requireSubscription(context, params.subscription_id, deps);
    return answerJson(context, renderSubscription(subscription, now), NO_STORE);
  },
});

/** DELETE /alerts/{subscription_id}. */
export const deleteAlert = defineFree({
  method: "delete",
  path: "/alerts/{subscription_id}",
  tag: "Alerts",
  summary: "End a subscription",
  description: `Ends it for good; what was still to be delivered is dropped, and nothing is paid back. Ending it again answers the same. ${WHO_MANAGES}`,
  request,
  answer: {
    schema: subscriptionSchema,
    example: { ...SUBSCRIPTION_EXAMPLE, status: "ended" },
    description: "The subscription, ended",
  },
  identity: "subscription",
  problems: MANAGE_PROBLEMS,
  async respond(context, { params }, { deps, now }: Work) {
    const { subscription } = await requireSubscription(context, params.subscription_id, deps);
    await deps.subscriptions.end(subscription.id);
    const endedAt = subscription.endedAt ?? now;
    return answerJson(context, renderSubscription({ ...subscription, endedAt }, now), NO_STORE);
  },
});

/** POST /alerts/{subscription_id}/test. */
export const postAlertTest = defineFree({
  method: "post",
  path: "/alerts/{subscription_id}/test",
  tag: "Alerts",
  summary: "Send a test event",
  description: `Queues a \`subscription.test\` for delivery at once; those asked for within a minute are one: the same while it waits, and 429 once it was tried. An endpoint that was given up is delivered to again from then on. ${WHO_MANAGES}`,
  request,
  answer: { schema: queuedSchema, example: QUEUED_EXAMPLE, description: "The queued event" },
  identity: "subscription",
  headers: ACT_ONCE.headers,
  problems: ACT_PROBLEMS,
  respond(context, { params: { subscription_id } }, work: Work) {
    return actOnSubscription(context, work, {
      id: subscription_id,
      endpoint: "POST /alerts/{subscription_id}/test",
      async run({ subscription }) {
        const { id, outcome } = await work.deps.subscriptions.test(subscription);
        refuseRecent(outcome);
        const answer = { subscription_id, delivery_id: id, state: "pending" };
        return { answer, kept: answer };
      },
    });
  },
});

const rotatedSchema = z
  .object({
    subscription_id: z.uuid(),
    secret: z.string().nullable().openapi({ description: "Shown once: a repeat of the request shows null" }),
    previous_valid_until: isoSchema.openapi({
      description: "Until then, or until the next rotation, the secret before it signs as well",
    }),
    older_secret_ended: z.boolean().openapi({
      description:
        "Whether a still older secret signed as well until now: it does so no more, whatever the answer before said. Receivers that know it alone have to be given this one now",
    }),
    manage_token: z.string().nullable().openapi({
      description: "A new one, shown once, where the owner asked; null where the manage token itself did",
    }),
  })
  .openapi("RotatedSecret");

/** POST /alerts/{subscription_id}/rotate. */
export const postAlertRotate = defineFree({
  method: "post",
  path: "/alerts/{subscription_id}/rotate",
  tag: "Alerts",
  summary: "Rotate the secret",
  description: `Makes a new secret; for 24 hours every delivery is signed by both, and by no third one: a second rotation within that time is done at once too, since a secret may have leaked, and ends the oldest, which \`older_secret_ended\` says. Asked for by the owner's key or wallet, it makes a new manage token too, and the old one ends: so whoever lost the first answer has lost nothing. Under one \`Idempotency-Key\` it is rotated once, and a repeat answers without the secrets. ${WHO_MANAGES}`,
  request,
  answer: {
    schema: rotatedSchema,
    example: {
      subscription_id: SUBSCRIPTION_EXAMPLE.subscription_id,
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
      previous_valid_until: "2026-11-21T10:00:00.000Z",
      older_secret_ended: false,
      manage_token: "amt_3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs",
    },
    description: "The new secret",
  },
  identity: "subscription",
  headers: ACT_ONCE.headers,
  problems: ACT_PROBLEMS,
  respond(context, { params: { subscription_id } }, work: Work) {
    return actOnSubscription(context, work, {
      id: subscription_id,
      endpoint: "POST /alerts/{subscription_id}/rotate",
      async run({ subscription, by }) {
        const tokens = by === "owner" ? "new-token" : "keep-token";
        const rotated = await work.deps.subscriptions.rotate(subscription, tokens);
        const answer = {
          subscription_id,
          secret: rotated.secret,
          previous_valid_until: rotated.previousValidUntil.toISOString(),
          older_secret_ended: rotated.olderSecretEnded,
          manage_token: rotated.manageToken,
        };
        return { answer, kept: { ...answer, secret: null, manage_token: null } };
      },
    });
  },
});
