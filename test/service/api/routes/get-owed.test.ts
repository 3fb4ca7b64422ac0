import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { SIGNER } from "../../access/signed-in.ts";
import { bodyOf, fakeApp, WITH_KEY } from "../fake-ports.ts";
import { fakePolicies } from "./fake-key-ports.ts";
import { signInOwners } from "./keys-app.ts";
import { bySignIn } from "./policy-app.ts";

const PAYER = SIGNER.address.toLowerCase() as Address;
const SHOWN = {
  endpoint: "GET /ahs/{address}",
  resource: "/ahs/0x1",
  payer: SIGNER.address,
  amount_usd: 1.5,
  scheme: "exact",
  transaction_hash: `0x${"ab".repeat(32)}`,
  settled_at: "2026-11-20T09:00:00.000Z",
};

function app(own: readonly Address[] = []) {
  return fakeApp({
    owners: signInOwners(),
    policies: fakePolicies(own),
    owed: async (payers) =>
      payers.map((payer) => ({
        ...{ endpoint: SHOWN.endpoint, resource: SHOWN.resource, payer, scheme: "exact" as const },
        amount: 1_500_000n,
        transactionHash: `0x${"ab".repeat(32)}` as const,
        settledAt: new Date(SHOWN.settled_at),
      })),
  }).app;
}

describe("GET /owed", () => {
  it("lists what is owed to the wallet that signed in, uncached", async () => {
    const response = await app([PAYER]).request("/owed", { headers: await bySignIn() });
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
    expect(await bodyOf(response)).toEqual({ owed: [SHOWN] });
  });

  it("lists for a key what is owed to the wallet that bought it, and nothing for another key", async () => {
    const bought = await app([PAYER]).request("/owed", WITH_KEY);
    expect([bought.status, await bodyOf(bought)]).toEqual([200, { owed: [SHOWN] }]);
    const issued = await app([]).request("/owed", WITH_KEY);
    expect([issued.status, await bodyOf(issued)]).toEqual([200, { owed: [] }]);
  });

  it("is refused to callers who prove neither", async () => {
    const response = await app().request("/owed");
    expect([response.status, (await bodyOf(response)).type]).toEqual([401, "/docs#problem-identity-missing"]);
  });
});
