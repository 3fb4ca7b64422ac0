import { paidBy } from "../access/paying-access.ts";
import { fakeApp, KEY } from "./fake-ports.ts";
import { keysApp } from "./routes/keys-app.ts";
import { BY_KEY, bySignIn, policyApp } from "./routes/policy-app.ts";
import { actingRefusals, bodyRefusals } from "./shared-refusals.ts";

type Reach = () => Response | Promise<Response>;
type Reached = Readonly<Record<number, Reach>>;

const CREDITS = { credits_usd: 5 };
const POLICY = { instant_grades: ["A"], escrow_grades: ["B"] };
const UNKNOWN = { "X-API-Key": "ahs_unknown" };
const UUID = "00000000-0000-4000-8000-000000000001";
const BOTH = { ...paidBy(1), "X-API-Key": KEY };

/** None of these reads further than the body. */
function refusedBodies(path: string, method = "POST"): Reached {
  return bodyRefusals((request) => fakeApp().app.request(path, { method, ...request }));
}

function sold(path: string): Reached {
  return {
    ...refusedBodies(path),
    200: () => keysApp().post(path, CREDITS, BOTH),
    401: () => fakeApp().app.request(path, jsonRequest(CREDITS)),
    402: () => keysApp().post(path, CREDITS),
    422: () => keysApp().post(path, {}, BOTH),
  };
}

const rotated: Reached = {
  ...refusedBodies("/keys/rotate"),
  ...actingRefusals("/keys/rotate", { headers: BY_KEY }),
  200: () => keysApp().post("/keys/rotate", {}, BY_KEY),
  401: () => keysApp().post("/keys/rotate", {}),
  404: async () => keysApp({ rotate: async () => null }).post("/keys/rotate", {}, await bySignIn()),
  422: () => keysApp().post("/keys/rotate", { key_id: UUID }, BY_KEY),
};

const read: Reached = {
  200: () => policyApp().get(BY_KEY),
  304: () => policyApp().get({ ...BY_KEY, "If-None-Match": "*" }),
  401: () => policyApp().get({}),
};

const written: Reached = {
  ...refusedBodies("/ahs/route/policy", "PUT"),
  200: () => policyApp().put(POLICY),
  400: () => policyApp().put(POLICY, { ...BY_KEY, "If-Match": "x" }),
  401: () => policyApp().put(POLICY, UNKNOWN),
  412: () => policyApp().put(POLICY, { ...BY_KEY, "If-Match": '"x"' }),
  422: () => policyApp().put({}),
};

/** Requests that bring each endpoint of keys and policies to each status it can give. */
export const KEYS_REACHED: Readonly<Record<string, Reached>> = {
  "GET /ahs/route/policy": read,
  "PUT /ahs/route/policy": written,
  "/keys": sold("/keys"),
  "/keys/topup": sold("/keys/topup"),
  "/keys/rotate": rotated,
  "/keys/self": {
    200: () => keysApp().app.request("/keys/self", { headers: BY_KEY }),
    401: () => keysApp().app.request("/keys/self"),
  },
};

function jsonRequest(body: unknown) {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}
