import { Webhook } from "standardwebhooks";

/** What of an event is signed, and with what. */
export type Signable = {
  readonly id: string;
  readonly body: string;
  readonly secret: string;
  /** Signs as well; null where no rotation is so recent. */
  readonly previousSecret: string | null;
};

/** The headers of one attempt by Standard Webhooks 1.0.0: id, time of the attempt, and a signature by each secret. */
export function signDelivery(
  { id, body, secret, previousSecret }: Signable,
  at: Date,
): Record<string, string> {
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": secrets.map((one) => new Webhook(one).sign(id, at, body)).join(" "),
  };
}
