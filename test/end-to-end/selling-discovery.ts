import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { x402HTTPClient } from "@x402/fetch";
import { beforeAll, expect, test } from "vitest";
import { AgentHealth } from "../../client/src/agent-health.ts";
import type { PaymentManifest } from "../../service/api/kit/discovery.ts";
import { saysFree } from "../support/openapi-fuzz/check-answer.ts";
import { AGENT, buyer, jsonRequest, payer, payFetch, type Shop } from "./shop.ts";

type Terms = Parameters<typeof buyer.createPaymentPayload>[0];

/** Declares tests of our client and of MCP, which pay by the terms in a 402. */
export function describeClients({ kit, baseUrl }: Shop): void {
  test("our client pays by its payer and gets a decision", async () => {
    const health = new AgentHealth(null, {
      baseUrl: baseUrl(),
      payer: async (terms) => {
        // The terms are the body of a 402, which is what the library reads.
        const payment = await buyer.createPaymentPayload(terms as Terms);
        return new x402HTTPClient(buyer).encodePaymentSignatureHeader(payment)["PAYMENT-SIGNATURE"] ?? "";
      },
    });
    const before = await kit.received();
    expect(await health.route(AGENT)).toMatchObject({ address: AGENT, action: "escrow" });
    expect((await kit.received()) - before).toBe(10_000n);
  });

  test("a priced MCP tool without a key answers its terms, and its result once they are paid", async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${baseUrl()}/mcp`)));
    const call = { name: "route_payment", arguments: { address: AGENT } };
    const unpaid = await client.callTool(call);
    expect(unpaid).toMatchObject({
      isError: true,
      structuredContent: {
        x402Version: 2,
        http: { method: "GET", url: `${baseUrl()}/ahs/route/${AGENT}` },
      },
    });
    const payment = await buyer.createPaymentPayload(unpaid.structuredContent as Terms);
    const paid = await client.callTool({ ...call, _meta: { "x402/payment": payment } });
    expect(paid).toMatchObject({
      structuredContent: { address: AGENT },
      _meta: { "x402/payment-response": { success: true } },
    });
    await client.close();
  });
}

/** Declares tests of /.well-known/x402. */
export function describeManifest({ kit, url, baseUrl }: Shop): void {
  let manifest: PaymentManifest;
  beforeAll(async () => {
    manifest = (await (await fetch(url("/.well-known/x402"))).json()) as PaymentManifest;
  });

  test("is the one of the live 402, scheme, network, asset, amount and payee", async () => {
    expect(manifest.resources.length).toBeGreaterThanOrEqual(14);
    for (const resource of manifest.resources) {
      const response = await fetch(resource.url, await requestOf(resource));
      const { accepts } = (await response.json()) as { accepts: unknown };
      expect([resource.url, response.status, accepts]).toEqual([resource.url, 402, resource.accepts]);
    }
  });

  test("is paid by the official client, which gets its answer, and the money arrives", async () => {
    for (const resource of manifest.resources) {
      if (resource.url_template.endsWith("/keys/topup")) continue;
      const before = await kit.received();
      const response = await payFetch(resource.url, await requestOf(resource));
      expect([resource.url, response.status]).toEqual([resource.url, 200]);
      const isFree = saysFree(await response.text());
      const price = isFree ? 0n : BigInt(resource.accepts[0]?.amount ?? 0);
      expect([resource.url, (await kit.received()) - before]).toEqual([resource.url, price]);
    }
  }, 240_000);

  async function requestOf({ method, body }: PaymentManifest["resources"][number]): Promise<RequestInit> {
    return body === null ? { method } : jsonRequest(method, await withOwnSpec(body));
  }

  /** An output names a specification, which no example has: the buyer registers one. */
  async function withOwnSpec(body: unknown): Promise<unknown> {
    if (typeof body !== "object" || body === null || !("spec_id" in body)) return body;
    const health = new AgentHealth(null, { baseUrl: baseUrl() });
    const spec = { client_addr: payer.address, spec_text: "Count to three." };
    return { ...body, spec_id: (await health.registerSpec(spec)).spec_id };
  }
}
