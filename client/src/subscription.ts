import type { Answer, Query } from "./api-types.ts";
import { queryText, segment } from "./request-path.ts";
import type { Call } from "./send.ts";

/** Operations on bought monitoring. */
export type Subscription = {
  read(): Promise<Answer<"/alerts/{subscription_id}", "get">>;
  end(): Promise<Answer<"/alerts/{subscription_id}", "delete">>;
  /** Sends `subscription.test`. */
  test(): Promise<Answer<"/alerts/{subscription_id}/test", "post">>;
  /** A new secret; the old one signs as well for a day. */
  rotate(): Promise<Answer<"/alerts/{subscription_id}/rotate", "post">>;
  deliveries(
    query?: Query<"/alerts/{subscription_id}/deliveries", "get">,
  ): Promise<Answer<"/alerts/{subscription_id}/deliveries", "get">>;
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
  const call = <Result>(method: Call["method"], rest = "", query: Call["query"] = {}): Promise<Result> =>
    send({ method, path: path + rest, query, headers });
  return {
    read: () => call("GET"),
    end: () => call("DELETE"),
    test: () => call("POST", "/test"),
    rotate: () => call("POST", "/rotate"),
    deliveries: ({ limit, cursor } = {}) =>
      call("GET", "/deliveries", { limit: queryText(limit), cursor: queryText(cursor) }),
    replay: (deliveryId) => call("POST", `/deliveries/${segment(deliveryId)}/replay`),
  };
}
