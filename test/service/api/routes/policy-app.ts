import { pino } from "pino";
import type { Address } from "viem";
import { createApiKeyAccess } from "../../../../service/access/api-key-access.ts";
import { createOwnerAccess } from "../../../../service/access/sign-in.ts";
import { memoryGate } from "../../access/memory-gate.ts";
import { payingAccess } from "../../access/paying-access.ts";
import { CHAIN_ID, ORIGIN, signInHeader, signInInfo } from "../../access/signed-in.ts";
import { fakeApp, fakeLedger, KEY, NOW, standing } from "../fake-ports.ts";
import { fakePolicies } from "./fake-key-ports.ts";
import { memorySignIn } from "./keys-app.ts";

/** Headers of the fake key. */
export const BY_KEY = { "X-API-Key": KEY };

/** Headers of a wallet that signs in, fresh for each request. */
export async function bySignIn(): Promise<{ readonly "SIGN-IN-WITH-X": string }> {
  return { "SIGN-IN-WITH-X": await signInHeader(signInInfo(NOW)) };
}

type Changes = {
  /** Wallets that are the caller's own. */
  readonly own?: readonly Address[];
  readonly standing?: Parameters<typeof standing>[0];
};

/** An app whose callers, by key, by payment or by sign-in, have policies in memory. */
export function policyApp({ own = [], standing: known = {} }: Changes = {}) {
  const { ledger } = fakeLedger();
  const deps = { keys: ledger, clock: { now: () => NOW }, logger: pino({ level: "silent" }) };
  const audience = { origin: ORIGIN, chainId: CHAIN_ID };
  const { app } = fakeApp({
    access: payingAccess(deps).access,
    owners: createOwnerAccess({
      ...memoryGate(),
      payerRatePerMinute: 600,
      keys: createApiKeyAccess(deps),
      signIn: memorySignIn(),
      audience,
    }),
    policies: fakePolicies(own),
    scores: { standing: async () => standing(known) },
  });
  type Headers = Readonly<Record<string, string>>;
  return {
    get: async (headers: Headers) => app.request("/ahs/route/policy", { headers }),
    put: async (body: unknown, headers: Headers = BY_KEY) =>
      app.request("/ahs/route/policy", {
        method: "PUT",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    route: async (wallet: Address, headers: Headers = BY_KEY) =>
      app.request(`/ahs/route/${wallet}`, { headers }),
  };
}
