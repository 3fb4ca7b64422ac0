import { x402HTTPResourceServer, x402ResourceServer } from "@x402/core/server";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddlewareFromHTTPServer } from "@x402/hono";
import { Hono } from "hono";
import { beforeEach, describe, expect, it } from "vitest";
import { useDatabase } from "../../support/test-database.ts";
import {
  CHAIN_ID,
  ORIGIN,
  PAYEE,
  type PaymentWorld,
  paid,
  paymentWorld,
  SETTLED,
  USDC,
} from "./payment-world.ts";

/** Compares the unmodified @x402/hono with our server. Each hole is shown first, so that a fix of the package fails a test. */
const db = useDatabase();
let world: PaymentWorld;
let bare: ReturnType<typeof bareShop>;

beforeEach(() => {
  world = paymentWorld(db);
  bare = bareShop();
});

const CHEAP = "/cheap/1";

describe("three requests at once with one authorization", () => {
  it("are all worked for by the bare package", async () => {
    const header = paid(await bare.sign(CHEAP));
    await Promise.all([1, 2, 3].map(() => bare.request(CHEAP, header)));
    expect(bare.works.done).toBe(3);
  });

  it("are worked for once by us", async () => {
    const header = paid(await world.sign(CHEAP));
    const answers = await Promise.all([1, 2, 3].map(() => world.request(CHEAP, header)));
    const statuses = answers.map(({ status }) => status);
    expect([world.works.done, statuses.filter((status) => status === 200)]).toEqual([1, [200]]);
    // In flight, or used where it comes after the answer.
    expect(statuses.every((status) => [200, 402, 409].includes(status))).toBe(true);
  });
});

describe("a request that finds nothing to sell", () => {
  it.each(["/cheap/nothing", "/dear/nothing"])("of %s is answered, and settles no payment", async (path) => {
    const before = await world.rows();
    const response = await world.request(path, paid(await world.sign(path)));
    expect([response.status, response.headers.get("payment-response")]).toEqual([200, null]);
    expect([world.works.done, world.desk.settled, await world.rows()]).toEqual([0, [], before]);
  });

  it("is worked for where its payment was carried out meanwhile", async () => {
    const header = paid(await world.sign("/dear/nothing"));
    world.desk.meanwhile.verify = () => {
      world.chain.used = true;
      world.chain.transfer = SETTLED;
      world.desk.answers.verify = { kind: "invalid", reason: "nonce_already_used" };
    };
    expect(await (await world.request("/dear/nothing", header)).json()).toEqual({ id: "nothing", number: 1 });
  });
});

describe("HEAD", () => {
  it("is answered unpaid by the bare package", async () => {
    const response = await bare.app.request(`${ORIGIN}${CHEAP}`, { method: "HEAD" });
    expect([response.status, bare.works.done]).toEqual([200, 1]);
  });

  it("is refused by us", async () => {
    const response = await world.app.request(`${ORIGIN}${CHEAP}`, { method: "HEAD" });
    expect([response.status, world.works.done]).toEqual([405, 0]);
  });
});

describe("a payment made for another resource of the same price", () => {
  it("is taken by the bare package", async () => {
    const header = paid(await bare.sign(CHEAP));
    expect((await bare.request("/cheap/2", header)).status).toBe(200);
  });

  it("is refused by us", async () => {
    const header = paid(await world.sign(CHEAP));
    expect((await world.request("/cheap/2", header)).status).toBe(402);
  });
});

describe("a malformed header", () => {
  it("is a 402 without a word by the bare package", async () => {
    const response = await bare.request(CHEAP, { "payment-signature": "{}" });
    expect([response.status, await response.text()]).toEqual([402, "{}"]);
  });

  it("is a 400 with its reason by us", async () => {
    const response = await world.request(CHEAP, { "payment-signature": "{}" });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("base64")]);
  });
});

/** The shop of the tests behind the package's own middleware, with a facilitator that settles each authorization once. */
function bareShop() {
  const network = `eip155:${CHAIN_ID}` as const;
  const works = { done: 0 };
  const used = new Set<string>();
  const facilitator = {
    verify: async () => ({ isValid: true }),
    settle: async (payload: object) => {
      const name = JSON.stringify(payload);
      const success = !used.has(name);
      used.add(name);
      return {
        success,
        transaction: success ? SETTLED : "",
        network,
        ...(success ? {} : { errorReason: "used" }),
      };
    },
    getSupported: async () => ({
      kinds: [{ x402Version: 2, scheme: "exact", network }],
      extensions: [],
      signers: {},
    }),
  };
  const scheme = new ExactEvmScheme().registerMoneyParser(async (usd) => ({
    asset: USDC,
    amount: String(Math.round(Number(usd) * 1e6)),
    extra: { name: "USD Coin", version: "2" },
  }));
  const server = new x402ResourceServer(facilitator).register(network, scheme);
  const routes = { "GET /cheap/*": { accepts: { scheme: "exact", price: "$0.01", network, payTo: PAYEE } } };
  const app = new Hono();
  app.use(paymentMiddlewareFromHTTPServer(new x402HTTPResourceServer(server, routes)));
  app.get("/cheap/:id", async (context) => {
    works.done += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
    return context.json({ id: context.req.param("id") });
  });
  const request = async (path: string, headers: Record<string, string> = {}) =>
    app.request(`${ORIGIN}${path}`, { headers });
  return {
    app,
    works,
    request,
    sign: async (path: string) => {
      const header = (await request(path)).headers.get("payment-required") ?? "";
      return world.signTerms(JSON.parse(Buffer.from(header, "base64").toString()) as PaymentRequired);
    },
  };
}
