import { z } from "@hono/zod-openapi";
import { ACT_ONCE } from "../kit/act-once.ts";
import { defineFree } from "../kit/endpoint.ts";
import type { ActingNeeds } from "../schemas/alert-subscription.ts";
import {
  ACT_PROBLEMS,
  actOnSubscription,
  manageTokenSchema,
  subscriptionParams,
  WHO_MANAGES,
  webhookSecretSchema,
} from "../schemas/alert-subscription.ts";
import { flag, isoSchema } from "../schemas/values.ts";

const rotatedSchema = z
  .object({
    subscription_id: z.uuid(),
    secret: webhookSecretSchema.openapi({ description: "Shown once: a repeat of the request shows null" }),
    previous_valid_until: isoSchema.openapi({
      example: "2026-11-21T09:58:00.000Z",
      description: "Until then, or until the next rotation, the secret before it signs as well",
    }),
    older_secret_ended: flag(
      "Whether a still older secret signed as well until now: it does so no more, whatever the answer before said. Receivers that know it alone have to be given this one now",
    ),
    manage_token: manageTokenSchema.openapi({
      description: "A new one, shown once, where the owner asked; null where the manage token itself did",
    }),
  })
  .openapi("RotatedSecret");

/** POST /alerts/{subscription_id}/rotate. */
export const postAlertRotate = defineFree<ActingNeeds>()({
  method: "post",
  path: "/alerts/{subscription_id}/rotate",
  operationId: "rotate_webhook_secret",
  tag: "Alerts",
  summary: "Rotate the secret",
  description: `Makes a new secret; for 24 hours every delivery is signed by both, and by no third one: a second rotation within that time is done at once too, since a secret may have leaked, and ends the oldest, which \`older_secret_ended\` says. Asked for by the owner's key or wallet, it also makes a new manage token, and the old one ends, so a lost first answer is no loss. Under one \`Idempotency-Key\` it is rotated once, and a repeat answers without the secrets. ${WHO_MANAGES}`,
  request: { params: subscriptionParams, query: z.object({}), body: null },
  answer: { schema: rotatedSchema, description: "The new secret" },
  identity: "subscription",
  headers: ACT_ONCE.headers,
  problems: ACT_PROBLEMS,
  respond(context, { params: { subscription_id } }, work) {
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
        return { answer, stored: { ...answer, secret: null, manage_token: null } };
      },
    });
  },
});
