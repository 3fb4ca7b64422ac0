import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { Problem } from "../../../../service/access/problems.ts";
import { payingAccess } from "../../access/paying-access.ts";
import { fakeApp, fakeLedger, KEY, WALLET_EIP55 } from "../fake-ports.ts";
import { SUBSCRIPTION_ID } from "../routes/fake-alert-ports.ts";

const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** The public client on an app, with the headers that its user configures. */
async function connect({ app }: ReturnType<typeof fakeApp>, headers: Record<string, string>) {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL("https://health.example/mcp"), {
    fetch: async (url, init) => app.request(String(url), init),
    requestInit: { headers },
  });
  await client.connect(transport);
  clients.push(client);
  return client;
}

const ASK = { name: "route_payment", arguments: { address: WALLET_EIP55 } };

describe("/mcp", () => {
  it("offers the operations as tools that say what they cost", async () => {
    const client = await connect(fakeApp(), { "x-api-key": KEY });
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["score_wallet", "route_payment", "explain_score", "list_prices"]),
    );
    expect(new Set(names).size).toBe(names.length);
    const route = tools.find(({ name }) => name === "route_payment");
    expect(route).toMatchObject({
      description: expect.stringMatching(/^Decides how to pay a wallet now.* Costs 0\.01 USD\.$/),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      inputSchema: { type: "object", required: ["address"] },
      outputSchema: {
        type: "object",
        properties: { action: { enum: ["instant_settle", "escrow", "reject"] } },
      },
    });
    const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints.get("get_balance")).toMatchObject({ readOnlyHint: true, idempotentHint: true });
    expect(hints.get("end_subscription")).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(hints.get("subscribe_alerts")).toMatchObject({ readOnlyHint: false, openWorldHint: true });
    expect(JSON.stringify(tools).length).toBeLessThan(32_000);
    const words = tools.map(({ description }) => description).join(" ");
    expect(words).not.toMatch(/\b(GET|POST|PUT|HTTP|header)\b/);
  });

  it("finds an agent by name or number, and lists and ends subscriptions", async () => {
    const client = await connect(fakeApp(), { "x-api-key": KEY });
    const call = async (name: string, args: Record<string, unknown>) =>
      (await client.callTool({ name, arguments: args })).structuredContent;
    const found = { agents: [{ agent_id: "142", name: "keeper", address: WALLET_EIP55, grade: "B" }] };
    expect(await call("find_agent", { name: "keep" })).toMatchObject(found);
    expect(await call("find_agent", { agent_id: "142" })).toMatchObject(found);
    expect(await call("find_agent", { agent_id: "143" })).toEqual({ agents: [], is_cut: false });
    expect(await call("find_agent", {})).toMatchObject({ detail: [{ loc: ["query", "name"] }] });
    expect(await call("list_subscriptions", {})).toMatchObject({ subscriptions: [{ status: "active" }] });
    const subscription_id = SUBSCRIPTION_ID;
    expect(await call("end_subscription", { subscription_id })).toMatchObject({ status: "ended" });
  });

  it("reports charge and balance with a result", async () => {
    const client = await connect(fakeApp(), { "x-api-key": KEY });
    const { content, _meta } = await client.callTool(ASK);
    expect(_meta).toMatchObject({ "agent-health/charged-usd": "0.010", "agent-health/balance-usd": "4.990" });
    const text = "Charged 0.010 USD. Balance of the key: 4.990 USD.";
    expect(content).toEqual([expect.anything(), { type: "text", text }]);
  });

  it("refuses calls above the spending limit of a session, uncharged", async () => {
    const world = fakeApp();
    const limited = { "x-api-key": KEY, "x-spending-limit-usd": "0.025" };
    const client = await connect(world, limited);
    const faulty = { ...ASK, arguments: { address: "0x12" } };
    const refused = [];
    for (const ask of [faulty, ASK, ASK, ASK]) refused.push((await client.callTool(ask)).isError ?? false);
    expect(refused).toEqual([true, false, false, true]);
    expect(world.keys.balance()).toBe(5000 - 20);
    expect((await client.callTool({ name: "get_balance", arguments: {} })).isError).not.toBe(true);
    const other = await world.app.request("https://health.example/mcp", {
      method: "POST",
      headers: {
        ...{ ...limited, "mcp-session-id": "another", "content-type": "application/json" },
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: ASK }),
    });
    expect(await other.text()).toContain("Charged 0.010 USD.");
    expect(
      (await world.app.request("/mcp", { headers: limited })).headers.get("mcp-session-id"),
    ).not.toBeNull();
    await expect(connect(world, { ...limited, "x-spending-limit-usd": "5 USD" })).rejects.toThrow();
  });

  it("counts no unpaid call of a third party against the limit of a payer without a session", async () => {
    const { ports } = fakeApp();
    const { clock, logger } = ports;
    const { access } = payingAccess({ keys: fakeLedger().ledger, clock, logger });
    const unpaid = Promise.withResolvers<void>();
    const { app } = fakeApp({
      access: {
        ...access,
        async prove(caller, request) {
          if (caller.kind === "nobody") await unpaid.promise;
          return access.prove(caller, request);
        },
      },
    });
    const ask = async (limit: string, params: object) => {
      const response = await app.request("https://health.example/mcp", {
        method: "POST",
        headers: {
          "x-spending-limit-usd": limit,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      });
      return response.text();
    };
    const dear = { name: "score_wallets", arguments: { addresses: [WALLET_EIP55] } };
    const floods = Array.from({ length: 8 }, () => ask("9999999", dear));
    const paid = (number: number) => ({ ...ASK, _meta: { "x402/payment": { number } } });
    const answers = [];
    for (let number = 1; number <= 20; number += 1) answers.push(await ask("0.50", paid(number)));
    unpaid.resolve();
    expect(answers.filter((text) => !text.includes("instant_settle"))).toEqual([]);
    expect((await Promise.all(floods)).filter((text) => !text.includes("isError"))).toEqual([]);
  });

  it.each([
    ["X-API-Key", { "x-api-key": KEY }],
    ["a bearer token", { authorization: `Bearer ${KEY}` }],
  ])("answers like the HTTP interface, and charges the same, with a key as %s", async (_, headers) => {
    const world = fakeApp();
    const client = await connect(world, headers);
    const { structuredContent, isError } = await client.callTool(ASK);
    const direct = await world.app.request(`/ahs/route/${WALLET_EIP55}`, { headers: { "x-api-key": KEY } });
    expect(isError).not.toBe(true);
    expect(structuredContent).toEqual(await direct.json());
    expect(world.keys.balance()).toBe(5000 - 2 * 10);
  });

  it.each([30.5, "30.5"])("routes by the amount %j, as a number or a decimal string", async (amount) => {
    const client = await connect(fakeApp(), { "x-api-key": KEY });
    const route = async (amount_usd: number | string) => {
      const ask = { ...ASK, arguments: { ...ASK.arguments, amount_usd } };
      return (await client.callTool(ask)).structuredContent;
    };
    expect(await route(amount)).toMatchObject({ action: "instant_settle" });
    expect(await route(amount)).toMatchObject({ action: "escrow", reason: "above_safe_amount" });
  });

  it("explains a score line by line", async () => {
    const client = await connect(fakeApp(), { "x-api-key": KEY });
    const result = await client.callTool({ name: "explain_score", arguments: { address: WALLET_EIP55 } });
    expect(result.structuredContent).toMatchObject({ ahs_score: 84, features: [{ name: "success_rate" }] });
  });

  it("returns a refusal as the problem or the faults that the interface answers, uncharged", async () => {
    const world = fakeApp();
    const client = await connect(world, { "x-api-key": KEY });
    const faulty = await client.callTool({ name: "route_payment", arguments: { address: "0x12" } });
    expect(faulty.isError).toBe(true);
    expect(world.keys.balance()).toBe(5000);
  });

  it("lists prices without a key", async () => {
    const client = await connect(fakeApp(), {});
    const { structuredContent } = await client.callTool({ name: "list_prices", arguments: {} });
    expect(structuredContent).toMatchObject({
      prices: expect.arrayContaining([
        {
          endpoint: "GET /ahs/{address}",
          tool: "score_wallet",
          price_usd: "1.00",
          purpose: expect.any(String),
        },
      ]),
    });
  });

  it("refuses a priced tool without a key", async () => {
    const client = await connect(fakeApp(), {});
    const { isError } = await client.callTool(ASK);
    expect(isError).toBe(true);
  });

  it("answers the same call under one idempotency key once, and charges it once", async () => {
    const world = fakeApp();
    const client = await connect(world, { "x-api-key": KEY });
    const once = { ...ASK, _meta: { "agent-health/idempotency-key": "order 1" } };
    const first = await client.callTool(once);
    const again = await client.callTool(once);
    expect(again.structuredContent).toEqual(first.structuredContent);
    expect(world.keys.balance()).toBe(5000 - 10);
    const malformed = await client.callTool({ ...ASK, _meta: { "agent-health/idempotency-key": {} } });
    expect(malformed).toMatchObject({
      isError: true,
      structuredContent: { type: "/docs#problem-header-malformed" },
    });
  });

  it("returns the claim of an answer that is owed, and takes it back with the next call", async () => {
    const seen: (string | undefined)[] = [];
    const world = fakeApp();
    const access: typeof world.ports.access = {
      ...world.ports.access,
      async identify(request) {
        seen.push(request.header("x-payment-claim"));
        throw new Problem("settlement-pending", "Not settled yet.", { claim: "c1".repeat(32) });
      },
    };
    const client = await connect(fakeApp({ access }), {});
    const owed = await client.callTool(ASK);
    expect(owed).toMatchObject({ isError: true, structuredContent: { claim: "c1".repeat(32) } });
    await client.callTool({ ...ASK, _meta: { "agent-health/claim": "c1".repeat(32) } });
    expect(seen).toEqual([undefined, "c1".repeat(32)]);
  });

  it("says by which members of _meta a call is paid and repeated", async () => {
    const client = await connect(fakeApp(), {});
    const { structuredContent } = await client.callTool({ name: "list_prices", arguments: {} });
    expect(structuredContent).toMatchObject({
      meta: { "agent-health/idempotency-key": expect.any(String), "agent-health/claim": expect.any(String) },
    });
  });

  const call = (body: string, signal?: AbortSignal) =>
    new Request("https://health.example/mcp", {
      method: "POST",
      body,
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      ...(signal === undefined ? {} : { signal }),
    });

  it("ends the call of a client that is gone", async () => {
    const gone = new AbortController();
    const world = fakeApp();
    const heard = Promise.withResolvers<boolean>();
    const access: typeof world.ports.access = {
      ...world.ports.access,
      async identify(request) {
        request.signal.addEventListener("abort", () => heard.resolve(true));
        gone.abort();
        return world.ports.access.identify(request);
      },
    };
    const { app } = fakeApp({ access });
    const params = { jsonrpc: "2.0", id: 1, method: "tools/call", params: ASK };
    void Promise.resolve(app.request(call(JSON.stringify(params), gone.signal))).catch(() => undefined);
    expect(await heard.promise).toBe(true);
  });

  it("refuses a body beyond the limit as everything else does", async () => {
    const response = await fakeApp().app.request(call(`"${"x".repeat(2 * 1024 * 1024)}"`));
    expect([response.status, response.headers.get("content-type")]).toEqual([
      413,
      "application/problem+json",
    ]);
  });
});
