import { pino } from "pino";
import type { Address } from "viem";
import type { Services } from "../../../../service/api/services.ts";
import { payingAccess } from "../../access/paying-access.ts";
import { signInHeader, signInInfo } from "../../access/signed-in.ts";
import { fakeApp, fakeBacking, fakeLedger, KEY, NOW, walletSnapshot } from "../fake-ports.ts";
import { fakePolicies } from "./fake-key-ports.ts";
import { signInOwners } from "./keys-app.ts";

/** Headers of the fake key. */
export const BY_KEY = { "X-API-Key": KEY };

/** Headers of a wallet that signs in, fresh for each request. */
export async function bySignIn(): Promise<{ readonly "SIGN-IN-WITH-X": string }> {
  return { "SIGN-IN-WITH-X": await signInHeader(signInInfo(NOW)) };
}

type Changes = {
  /** Wallets that are the caller's own. */
  readonly own?: readonly Address[];
  readonly snapshot?: Parameters<typeof walletSnapshot>[0];
  readonly backing?: Services["backing"];
};

/** An app whose callers, by key, by payment or by sign-in, have policies in memory. */
export function policyApp({ own = [], snapshot: known = {}, backing = fakeBacking().ledger }: Changes = {}) {
  const { ledger } = fakeLedger();
  const deps = { keys: ledger, clock: { now: () => NOW }, logger: pino({ level: "silent" }) };
  const { access, taken } = payingAccess(deps);
  const { app } = fakeApp({
    access,
    backing,
    owners: signInOwners({ ledger }),
    policies: fakePolicies(own),
    scores: { snapshot: async () => walletSnapshot(known) },
  });
  type Headers = Readonly<Record<string, string>>;
  return {
    taken,
    get: async (headers: Headers) => app.request("/ahs/route/policy", { headers }),
    put: async (body: unknown, headers: Headers = BY_KEY) =>
      app.request("/ahs/route/policy", {
        method: "PUT",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    /** With the query, if any, behind the wallet. */
    route: async (wallet: Address | `${Address}?${string}`, headers: Headers = BY_KEY) =>
      app.request(`/ahs/route/${wallet}`, { headers }),
  };
}
