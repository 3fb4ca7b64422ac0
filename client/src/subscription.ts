import type { Answer } from "./api-types.ts";
import { segment } from "./request-path.ts";
import type { Call } from "./send.ts";

/** What can be done with monitoring that was bought. */
export type Subscription = {
  read(): Promise<Answer<"/alerts/{subscription_id}", "get">>;
  end(): Promise<Answer<"/alerts/{subscription_id}", "delete">>;
  /** Sends `subscription.test`. */
  test(): Promise<Answer<"/alerts/{subscription_id}/test", "post">>;
  /** A new secret; the old one signs as well for a day. */
  rotate(): Promise<Answer<"/alerts/{subscription_id}/rotate", "post">>;
  deliveries(): Promise<Answer<"/alerts/{subscription_id}/deliveries", "get">>;
  replay(
    deliveryId: string,
  ): Promise<Answer<"/alerts/{subscription_id}/deliveries/{delivery_id}/replay", "post">>;
};

/** Sends a call and answers its JSON. */
type Send = <Result>(call: Call) => Promise<Result>;

/** Monitoring that was bought, by the key that did or by its manage token. */
export function subscriptionOf(send: Send, id: string, manageToken: string | undefined): Subscription {
  const path = `/alerts/${segment(id)}`;
  const headers = manageToken === undefined ? {} : { Authorization: `Bearer ${manageToken}` };
  const call = <Result>(method: Call["method"], rest = ""): Promise<Result> =>
    send({ method, path: path + rest, headers });
  return {
    read: () => call("GET"),
    end: () => call("DELETE"),
    test: () => call("POST", "/test"),
    rotate: () => call("POST", "/rotate"),
    deliveries: () => call("GET", "/deliveries"),
    replay: (deliveryId) => call("POST", `/deliveries/${segment(deliveryId)}/replay`),
  };
}
