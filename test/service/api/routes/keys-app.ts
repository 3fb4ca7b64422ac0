import { pino } from "pino";
import { createApiKeyAccess } from "../../../../service/access/api-key-access.ts";
import { createOwnerAccess, createSignIn, type SignIn } from "../../../../service/access/sign-in.ts";
import type { Services } from "../../../../service/api/services.ts";
import { memoryGate } from "../../access/memory-gate.ts";
import { payingAccess } from "../../access/paying-access.ts";
import { CHAIN_ID, ORIGIN, SIGNER } from "../../access/signed-in.ts";
import { fakeApp, fakeLedger, NOW } from "../fake-ports.ts";
import { fakeKeyPorts, KEY_ID } from "./fake-key-ports.ts";

/** The fake key as answers show it. */
export const SHOWN = {
  key_id: KEY_ID,
  key_prefix: "ahs_nnnnnnnn",
  name: SIGNER.address,
  balance_usd: 25,
  rate_per_minute: 600,
  expires_at: null,
};

/** A call of a port: its name and its first argument. */
type Asked = { readonly port: "buy" | "topUp" | "rotate" | "spending"; readonly given: unknown };

/** An app that sells keys to payers and wallets that sign in, and what it asked of its ports. */
export function keysApp(changes: Partial<Services["keys"]> = {}, ledger = fakeLedger({ id: KEY_ID })) {
  const asked: Asked[] = [];
  const deps = { keys: ledger.ledger, clock: { now: () => NOW }, logger: pino({ level: "silent" }) };
  const { keys } = fakeKeyPorts(ledger.ledger, deps, changes);
  const { access, taken } = payingAccess(deps);
  const { app } = fakeApp({
    access,
    owners: signInOwners(ledger),
    keys: noting(keys, asked),
  });
  async function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return app.request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...sent,
    });
  }
  return { app, asked, taken, post };
}

/** Owners by the keys of a ledger, or signed in. */
export function signInOwners({ ledger }: Pick<ReturnType<typeof fakeLedger>, "ledger"> = fakeLedger()) {
  return createOwnerAccess({
    ...memoryGate(),
    payerRatePerMinute: 600,
    keys: createApiKeyAccess({ keys: ledger, clock: { now: () => NOW }, logger: pino({ level: "silent" }) }),
    signIn: memorySignIn(),
    audience: { origin: ORIGIN, chainId: CHAIN_ID },
  });
}

/** Sign-in with the nonces of one process. */
function memorySignIn(): SignIn {
  const nonces = new Set<string>();
  return createSignIn({
    origin: ORIGIN,
    chainId: CHAIN_ID,
    clock: { now: () => NOW },
    takeNonce: async ({ nonce }) => !nonces.has(nonce) && nonces.add(nonce).has(nonce),
    contractSignatures: null,
  });
}

function noting(keys: Services["keys"], asked: Asked[]): Services["keys"] {
  const note = (port: Asked["port"], given: unknown) => asked.push({ port, given });
  return {
    ...keys,
    async buy(purchase) {
      note("buy", purchase);
      return keys.buy(purchase);
    },
    async topUp(topUp) {
      note("topUp", topUp);
      return keys.topUp(topUp);
    },
    async rotate(right, now) {
      note("rotate", right);
      return keys.rotate(right, now);
    },
    async spending(keyId, since) {
      note("spending", { keyId, since });
      return keys.spending(keyId, since);
    },
  };
}
