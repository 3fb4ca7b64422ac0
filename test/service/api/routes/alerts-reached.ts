import { fakeApp, fakeLedger, KEY, standing, WALLET, WITH_KEY } from "../fake-ports.ts";
import { actingRefusals, busyLedger } from "../shared-refusals.ts";
import { DELIVERY_ID, fakeAlertPorts, MANAGE_TOKEN, SUBSCRIPTION_ID } from "./fake-alert-ports.ts";

type Reach = () => Response | Promise<Response>;
type Reached = Readonly<Record<number, Reach>>;

const SUBSCRIBE = `/alerts/subscribe/${WALLET}?webhook_url=https://hooks.example.com/`;

const broken = async (): Promise<never> => {
  throw new Error("broken");
};
const unreachable = async (): Promise<never> => {
  throw new Error("timeout exceeded when trying to connect");
};

const subscribed: Reached = {
  200: () => fakeApp().app.request(SUBSCRIBE, WITH_KEY),
  400: () => fakeApp().app.request(SUBSCRIBE, { headers: { "X-API-Key": KEY, "Idempotency-Key": "" } }),
  401: () => fakeApp().app.request(SUBSCRIBE),
  402: () => fakeApp({}, fakeLedger({ balanceUnits: 0 })).app.request(SUBSCRIBE, WITH_KEY),
  404: () =>
    fakeApp({ scores: { standing: async () => standing({ followed: false }) } }).app.request(
      SUBSCRIBE,
      WITH_KEY,
    ),
  409: () =>
    fakeApp({}, busyLedger()).app.request(SUBSCRIBE, {
      headers: { "X-API-Key": KEY, "Idempotency-Key": `"the first"` },
    }),
  422: () => fakeApp().app.request(`/alerts/subscribe/${WALLET}`),
  500: () => fakeApp({ subscribe: broken }).app.request(SUBSCRIBE, WITH_KEY),
  503: () => fakeApp({ subscribe: unreachable }).app.request(SUBSCRIBE, WITH_KEY),
};

function managed(method: string, rest: string): Reached {
  const request = { method, headers: { authorization: `Bearer ${MANAGE_TOKEN}` } };
  const path = `/alerts/${SUBSCRIPTION_ID}${rest}`;
  const failing = (find: () => Promise<never>) => {
    const { subscriptions } = fakeAlertPorts(fakeLedger().ledger);
    return fakeApp({ subscriptions: { ...subscriptions, find } }).app.request(path, request);
  };
  return {
    ...(method === "POST" ? actingRefusals(path, request) : {}),
    200: () => fakeApp().app.request(path, request),
    401: () => fakeApp().app.request(path, { method }),
    404: () => fakeApp().app.request(path, { method, headers: { authorization: "Bearer another" } }),
    422: () => fakeApp().app.request(`/alerts/x${rest}`, request),
    500: () => failing(broken),
    503: () => failing(unreachable),
  };
}

/** Requests that bring each endpoint of alerts to each status it can give. */
export const ALERTS_REACHED: Readonly<Record<string, Reached>> = {
  "/alerts/subscribe/{address}": subscribed,
  "GET /alerts/{subscription_id}": managed("GET", ""),
  "DELETE /alerts/{subscription_id}": managed("DELETE", ""),
  "/alerts/{subscription_id}/test": managed("POST", "/test"),
  "/alerts/{subscription_id}/rotate": managed("POST", "/rotate"),
  "/alerts/{subscription_id}/deliveries": managed("GET", "/deliveries"),
  "/alerts/{subscription_id}/deliveries/{delivery_id}/replay": managed(
    "POST",
    `/deliveries/${DELIVERY_ID}/replay`,
  ),
};
