import { describe, expect, it } from "vitest";
import type { PayerCaller } from "../../../../service/access/access.ts";
import { purchaseBy, refuseWebhookUrl } from "../../../../service/api/schemas/alert-subscription.ts";
import { payingAccess } from "../../access/paying-access.ts";
import { fakeApp, fakeLedger, fakePorts, WALLET_EIP55, WITH_KEY } from "../fake-ports.ts";
import { fakeAlertPorts, SUBSCRIPTION_ID, storedSubscription } from "../routes/fake-alert-ports.ts";

const PAYER = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

function payerWith(nonce: `0x${string}`): PayerCaller {
  const requirements = {
    scheme: "exact",
    network: "eip155:31337",
    asset: "0xaa",
    amount: "2000000",
    payTo: "0xbb",
    maxTimeoutSeconds: 60,
    extra: {},
  } as const;
  const payment = {
    scheme: "exact",
    payer: PAYER,
    asset: "0xaa",
    payTo: "0xbb",
    nonce,
    amount: 2_000_000n,
    validAfter: 0n,
    validBefore: 1n,
    payload: { x402Version: 2, accepted: requirements, payload: {} },
    requirements,
  } as const;
  return { kind: "payer", address: PAYER, payment };
}

describe("a purchase of monitoring", () => {
  it("belongs to the wallet that pays, and is named by its payment", () => {
    const bought = purchaseBy(payerWith("0x01"), null);
    const purchase = `eip155:31337 0xaa ${PAYER} 0x01`;
    expect(bought).toEqual({ owner: `wallet:${PAYER}`, purchase, debitId: null });
    expect(purchaseBy(payerWith("0x02"), null).purchase).not.toBe(bought.purchase);
  });

  it("belongs to the key that pays, and is named by its debit where there is one", () => {
    const caller = { kind: "key", keyId: "key-1", balanceUnits: 5000, ratePerMinute: 600 } as const;
    expect(purchaseBy(caller, null)).toEqual({ owner: "key:key-1", purchase: null, debitId: null });
    expect(purchaseBy(caller, "7")).toEqual({ owner: "key:key-1", purchase: "debit 7", debitId: "7" });
  });
});

it("a webhook_url is checked in the spelling in which it will be asked", async () => {
  const checked: string[] = [];
  const { ports } = fakePorts();
  const refusal = async (url: string) => {
    checked.push(url);
    return null;
  };
  const guarded = { ...ports, infrastructure: { ...ports.infrastructure, refusal } };
  for (const url of ["https://HOOKS.example.com/ä", "no url"]) await refuseWebhookUrl(url, guarded);
  expect(checked).toEqual(["https://hooks.example.com/%C3%A4", "no url"]);
});

it("a subscription is managed by a sign-in of the wallet that paid, and of no other", async () => {
  const ports = fakeAlertPorts(fakeLedger().ledger);
  const find = async () => storedSubscription({ owner: `wallet:${PAYER}` });
  const statusFor = async (address: `0x${string}`) => {
    const owners = { identify: async () => ({ kind: "wallet", address }) as const };
    const { app } = fakeApp({ owners, subscriptions: { ...ports.subscriptions, find } });
    return (await app.request(`/alerts/${SUBSCRIPTION_ID}`)).status;
  };
  expect([await statusFor(PAYER), await statusFor("0x90f79bf6eb2c4f870365e785982e1f101e93b906")]).toEqual([
    200, 404,
  ]);
});

it.each([
  [`/alerts/subscribe/${WALLET_EIP55}`, "webhook_url"],
  [`/agent/protect/${WALLET_EIP55}`, "webhook_url"],
  [`/ahs/${WALLET_EIP55}`, "agent_url"],
])("%s resolves a name for callers with key or payment, and refuses it uncharged", async (place, name) => {
  const input = "https://inside.example/";
  const path = `${place}?${name}=${input}`;
  const resolved: string[] = [];
  const { ports } = fakePorts();
  const refusal = async (url: string) => {
    resolved.push(url);
    return { kind: "refused", error: "the host is private" } as const;
  };
  const reserve = () => ({ visit: () => Promise.reject(new Error("no visit")), release: () => undefined });
  const { ledger, states } = fakeLedger({ balanceUnits: 25_000 });
  const { access } = payingAccess({ keys: ledger, clock: ports.clock, logger: ports.logger });
  const { app } = fakeApp({ access, infrastructure: { refusal, reserve } });
  expect([(await app.request(path)).status, resolved]).toEqual([402, []]);
  const response = await app.request(path, WITH_KEY);
  const fault = { type: "value_error", loc: ["query", name], msg: "Value error, the host is private", input };
  expect([response.status, await response.json()]).toEqual([
    422,
    { detail: [{ ...fault, ctx: { error: "the host is private" } }] },
  ]);
  expect([resolved, states()]).toEqual([[input], []]);
});
