import { describe, expect, it } from "vitest";
import { SCORING_ENDPOINTS } from "../../../../service/api/create-app.ts";
import type { Endpoint } from "../../../../service/api/kit/endpoint.ts";
import { memberOf } from "../../../../service/api/kit/openapi-document.ts";
import {
  bodyOf,
  fakeApp,
  fakeLedger,
  NOW,
  REGISTRY,
  WALLET,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";

type Changes = Parameters<typeof fakeApp>[0];

/** Codes of the problems that an endpoint documents. */
function problemsOf({ operation }: Pick<Endpoint, "operation">): readonly string[] {
  return Object.values(operation.responses).flatMap((response) =>
    Object.keys(
      memberOf(memberOf(memberOf(response, "content"), "application/problem+json"), "examples") ?? {},
    ),
  );
}

const aged = (seconds: number) => ({
  snapshot: async () =>
    walletSnapshot({ head: { blockNumber: 5, timestamp: NOW.getTime() / 1000 - seconds } }),
});
const REFUSALS: readonly (readonly [state: string, code: string, Changes])[] = [
  [
    "holds no block",
    "index-unavailable",
    { scores: { snapshot: async () => walletSnapshot({ head: null }) } },
  ],
  ["is too old", "index-behind", { scores: aged(121) }],
  ["is dated in the future", "index-behind", { scores: aged(-3_599) }],
  [
    "holds no final block",
    "scoring-unavailable",
    {
      readWallet: async () => null,
      readDealings: async () => ({ kind: "not-ready" }),
      scoreNow: async () => ({ kind: "unavailable", detail: "Not yet.", retryAfterSeconds: 10 }),
    },
  ],
];
const CASES = SCORING_ENDPOINTS.filter(({ price }) => price !== null).flatMap((endpoint) =>
  REFUSALS.filter(([, code]) => problemsOf(endpoint).includes(code))
    // A risk is answered from stored data.
    .filter(([, code]) => code !== "scoring-unavailable" || endpoint.path !== "/risk/{address}")
    .map(([state, code, changes]) => [endpoint.path, state, { endpoint, code, changes }] as const),
);

/** Price of a request about one wallet; a batch is priced by its wallets. */
function priceOfOne({ path, price }: (typeof SCORING_ENDPOINTS)[number]): number {
  return path === "/ahs/batch" ? 1_000 : (price ?? 0);
}

function ask(endpoint: (typeof SCORING_ENDPOINTS)[number], changes: Changes, short = 0) {
  const { method, path } = endpoint;
  const fake = fakeApp(changes, fakeLedger({ balanceUnits: priceOfOne(endpoint) - short }));
  const place = { address: WALLET, registry: REGISTRY, agent_id: "142" };
  const filled = path.replaceAll(/\{(.+?)\}/g, (_, name) => Reflect.get(place, name));
  const url = `${filled}?webhook_url=https://hooks.example.com/`;
  const request = {
    method,
    headers: { ...WITH_KEY.headers, "content-type": "application/json" },
    ...(path === "/ahs/batch" ? { body: JSON.stringify({ addresses: [WALLET] }) } : {}),
  };
  return { ...fake, response: fake.app.request(url, request) };
}

describe("a priced endpoint", () => {
  it.each(CASES)(
    "%s charges nothing while the index %s",
    async (_path, _state, { endpoint, code, changes }) => {
      const { response, keys, read } = ask(endpoint, changes);
      const { status, headers } = await response;
      expect([status, (await bodyOf(await response)).type]).toEqual([503, `/docs#problem-${code}`]);
      expect(headers.get("retry-after")).toMatch(/^\d+$/);
      expect([keys.balance(), keys.states().includes("kept"), read]).toEqual([
        priceOfOne(endpoint),
        false,
        [],
      ]);
    },
  );

  it.each(SCORING_ENDPOINTS.filter(({ price, paidBy }) => price !== null && paidBy === "anyone"))(
    "$path is sold to a key that has its price, and to none that lacks a unit of it",
    async (endpoint) => {
      const paid = ask(endpoint, {});
      expect([(await paid.response).status, paid.keys.balance()]).toEqual([200, 0]);
      const poor = ask(endpoint, {}, 1);
      expect([(await poor.response).status, poor.keys.states(), poor.read]).toEqual([402, [], []]);
    },
  );
});
