import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { SCORING_ENDPOINTS } from "../../../../service/api/create-app.ts";
import { bodyOf, fakeApp, NOW, REGISTRY, WALLET, WALLET_EIP55 } from "../fake-ports.ts";

const ORIGIN = "https://health.example";

/** An app that takes payments; its terms contain only the price. */
function payableApp() {
  return fakeApp({
    discovery: {
      origin: ORIGIN,
      paymentTerms: ({ units }) => [
        {
          scheme: "exact",
          network: "eip155:31337",
          amount: String(units * 1000),
          asset: WALLET_EIP55,
          payTo: WALLET_EIP55,
          maxTimeoutSeconds: 60,
          extra: {},
        },
      ],
      sampleWallet: async () => WALLET,
      sampleAgent: async () => ({ registry: REGISTRY, agentId: 142n }),
      evaluation: null,
      registration: null,
      contracts: { oracle: null },
      securityContact: "mailto:security@health.example",
    },
  }).app;
}

type Manifest = {
  readonly x402Version: number;
  readonly resources: readonly {
    readonly url: string;
    readonly method: string;
    readonly price_usd: number;
    readonly accepts: readonly { readonly amount: string }[];
  }[];
};

describe("/.well-known/x402", () => {
  it("lists every priced endpoint once, each with a URL that can be called and the amount of its price", async () => {
    const manifest = await bodyOf<Manifest>(await payableApp().request("/.well-known/x402"));
    const priced = SCORING_ENDPOINTS.filter(({ price }) => price !== null);
    expect(manifest.x402Version).toBe(2);
    expect(manifest.resources).toHaveLength(priced.length);
    for (const { url, price_usd, accepts } of manifest.resources) {
      expect(new URL(url).origin).toBe(ORIGIN);
      expect(url).not.toMatch(/[{}*]/);
      expect(accepts.map(({ amount }) => Number(amount))).toEqual([Math.round(price_usd * 1_000_000)]);
    }
  });

  it("is not there where no payments are taken", async () => {
    expect((await fakeApp().app.request("/.well-known/x402")).status).toBe(404);
  });
});

describe("/llms.txt", () => {
  it("names every documented endpoint with its price and how it is paid", async () => {
    const text = await (await payableApp().request("/llms.txt")).text();
    for (const { method, path, price } of SCORING_ENDPOINTS) {
      expect(text).toContain(`[${method.toUpperCase()} ${path}]`);
      if (price !== null) expect(text).toContain(`(${(price / 1000).toFixed(3).replace(/0$/, "")} USD)`);
    }
    expect(text).toContain("x402");
    expect(await (await fakeApp().app.request("/llms.txt")).text()).not.toContain("pay per call by x402");
  });
});

describe("/.well-known/agent-registration.json", () => {
  it("is an ERC-8004 registration file whose endpoints lie on this host", async () => {
    const response = await payableApp().request("/.well-known/agent-registration.json");
    const file = await bodyOf<{ services: { endpoint: string }[] } & Record<string, unknown>>(response);
    expect(file).toMatchObject({
      type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
      x402Support: true,
      active: true,
    });
    for (const { endpoint } of file.services) expect(endpoint.startsWith(`${ORIGIN}/`)).toBe(true);
  });

  const registration = { agentId: 22, agentRegistry: `eip155:8453:${WALLET_EIP55}` };
  it.each<[typeof registration | null, Address | null, object[], string[]]>([
    [null, WALLET_EIP55, [], []],
    [registration, null, [registration], []],
    [registration, WALLET_EIP55, [registration], ["reputation"]],
  ])(
    "claims reputation where it is registered and feedback has a registry: %o, %s",
    async (own, registry, registrations, supportedTrust) => {
      const { app } = fakeApp({
        discovery: {
          ...{ origin: ORIGIN, paymentTerms: null, evaluation: null },
          ...{
            sampleWallet: async () => WALLET,
            sampleAgent: async () => ({ registry: REGISTRY, agentId: 142n }),
          },
          registration: own,
          contracts: { reputation_registry: registry },
          securityContact: null,
        },
      });
      const file = await bodyOf(await app.request("/.well-known/agent-registration.json"));
      expect(file).toMatchObject({
        registrations,
        supportedTrust,
        contracts: { reputation_registry: registry },
      });
    },
  );
});

describe("/.well-known/security.txt", () => {
  it("names the contact and a date at which it expires", async () => {
    const text = await (await payableApp().request("/.well-known/security.txt")).text();
    expect(text).toContain("Contact: mailto:security@health.example\n");
    const expires = /^Expires: (.+)$/m.exec(text)?.[1] ?? "";
    expect(Date.parse(expires)).toBeGreaterThan(NOW.getTime());
  });

  it("is omitted if no contact is set", async () => {
    expect((await fakeApp().app.request("/.well-known/security.txt")).status).toBe(404);
  });
});
