import { randomUUID } from "node:crypto";
import { getAddress } from "viem";
import { trustGate } from "../../client/src/gate.ts";
import type { Faults } from "../faults.ts";
import type { Stand, StandKey } from "../stand/stand.ts";

const WALLETS = 40;
const SIGNATURES = 3;

type Payment = ReturnType<typeof paymentOf>;

/**
 * A seller behind the client's gate, with a key of little credit, that sells unchecked while the service is out of reach. Wallets that
 * are not known sign on and on: none of them passes because it used the key up. Returns the number of payments offered.
 */
export async function refuseStrangers(stand: Stand, key: StandKey, faults: Faults): Promise<number> {
  const [baseUrl] = stand.services.servers();
  if (baseUrl === undefined) throw new Error("no server runs");
  const gate = trustGate({
    baseUrl,
    apiKey: key.secret,
    onUnavailable: "allow",
    amountUsd: () => "0.01",
    log: ({ allowed, action, reason, error }) => {
      const isUsedUp = action !== null || /402|429/.test(error ?? "");
      if (allowed && isUsedUp) faults.note("the gate passes a stranger", `${action} ${reason} ${error}`);
    },
  });
  const hooks: ((payment: Payment) => Promise<unknown>)[] = [];
  gate.onServer({
    onAfterVerify: (hook: (payment: Payment) => Promise<unknown>) => hooks.push(hook),
    onBeforeSettle: () => undefined,
  });
  let offered = 0;
  for (let wallet = 0; wallet < WALLETS; wallet += 1) {
    const from = getAddress(`0x${randomUUID().replaceAll("-", "")}00000000`);
    for (let signature = 0; signature < SIGNATURES; signature += 1) {
      for (const hook of hooks) await hook(paymentOf(stand, from));
      offered += 1;
    }
  }
  return offered;
}

function paymentOf(stand: Stand, from: string) {
  const { usdc } = stand.chain().test.contracts;
  const authorization = { from, nonce: randomUUID(), value: "10000" };
  return {
    paymentPayload: { payload: { authorization } },
    requirements: { scheme: "exact", network: "eip155:31337", asset: usdc, amount: "10000", payTo: usdc },
    result: { isValid: true, payer: from },
  };
}
