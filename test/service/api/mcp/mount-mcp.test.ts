import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { fakeApp, KEY, WALLET_EIP55 } from "../fake-ports.ts";

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
    expect(route?.description).toContain("Costs 0.01 USD.");
    expect(route?.inputSchema).toMatchObject({ type: "object", required: ["address"] });
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

  it("explains a score line by line", async () => {
    const client = await connect(fakeApp(), { "x-api-key": KEY });
    const result = await client.callTool({ name: "explain_score", arguments: { address: WALLET_EIP55 } });
    expect(result.structuredContent).toMatchObject({ ahs_score: 84, features: [{ name: "success_rate" }] });
  });

  it("tells a refusal as the problem or the faults that the interface answers, uncharged", async () => {
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
});
