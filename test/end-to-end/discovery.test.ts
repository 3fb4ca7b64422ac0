import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch";
import { createPublicClient, getAddress, http, parseAbi } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentHealth } from "../../client/src/agent-health.ts";
import { roleAccounts } from "../../devnet/accounts.ts";
import type { PaymentManifest } from "../../service/api/kit/discovery.ts";
import { until } from "../support/anvil-testkit/script.ts";
import { startServer, type TestServer } from "../support/anvil-testkit/services.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e02");
const BLOCK_MS = 300;
const TOKEN = parseAbi(["function balanceOf(address) view returns (uint256)"]);
const { payer, payee } = roleAccounts();

let kit: Testkit;
let server: TestServer;
let mining: NodeJS.Timeout;
let manifest: PaymentManifest;
const buyer = new x402Client().register("eip155:31337", new ExactEvmScheme(payer)).setSpendControls(false);

beforeAll(async () => {
  kit = await bootTestkit({ ageSeconds: 86_400 });
  await kit.chain.register(AGENT);
  for (let call = 0; call < 12; call += 1) {
    await kit.chain.moveTime(3_600);
    await kit.chain.succeed(AGENT);
  }
  await kit.chain.toWallClock();
  await kit.chain.mine(40, 0);
  const indexer = await kit.startIndexer();
  await indexer.reach(await kit.chain.head());
  kit.startWorker();
  server = await startServer({
    ...kit,
    rpcUrl: kit.chain.rpcUrl,
    // Outputs are sold wherever a model is configured; nothing asks it here.
    env: {
      HISTORY_SOURCE: "none",
      PROBE_LOOPBACK: "1",
      PANEL_BASE_URL: "http://127.0.0.1:9/v1",
      PANEL_MODEL: "none",
    },
  });
  kit.onClose(() => server.stop());
  mining = setInterval(() => void kit.chain.tick(), BLOCK_MS);
  await until({ what: "the wallet is answered for", timeoutMs: 170_000 }, async () => {
    const unpaid = await fetch(`${server.baseUrl}/ahs/${AGENT}`);
    return unpaid.status === 402 ? true : null;
  });
  manifest = (await (await fetch(`${server.baseUrl}/.well-known/x402`)).json()) as PaymentManifest;
});

afterAll(async () => {
  clearInterval(mining);
  await kit.close();
});

describe("every price that the manifest states", () => {
  test("is the one of the live 402, scheme, network, asset, amount and payee", async () => {
    expect(manifest.resources.length).toBeGreaterThanOrEqual(14);
    for (const resource of manifest.resources) {
      const response = await fetch(resource.url, await requestOf(resource));
      const { accepts } = (await response.json()) as { accepts: unknown };
      expect([resource.url, response.status, accepts]).toEqual([resource.url, 402, resource.accepts]);
    }
  });

  test("is paid by the official client, which gets its answer, and the money arrives", async () => {
    const pay = wrapFetchWithPayment(fetch, buyer);
    for (const resource of manifest.resources) {
      if (resource.url_template.endsWith("/keys/topup")) continue;
      const before = await received();
      const response = await pay(resource.url, await requestOf(resource));
      expect([resource.url, response.status]).toEqual([resource.url, 200]);
      await response.arrayBuffer();
      expect([resource.url, (await received()) - before]).toEqual([
        resource.url,
        BigInt(resource.accepts[0]?.amount ?? 0),
      ]);
    }
  }, 240_000);
});

test("our client pays by its payer and gets a decision", async () => {
  const x402 = new x402HTTPClient(buyer);
  const health = new AgentHealth(null, {
    baseUrl: server.baseUrl,
    payer: async (terms) => {
      // The terms are the body of a 402, which is what the library reads.
      const payment = await x402.createPaymentPayload(
        terms as Parameters<typeof x402.createPaymentPayload>[0],
      );
      return x402.encodePaymentSignatureHeader(payment)["PAYMENT-SIGNATURE"] ?? "";
    },
  });
  const before = await received();
  expect(await health.route(AGENT)).toMatchObject({ address: AGENT, action: "escrow" });
  expect((await received()) - before).toBe(10_000n);
});

test("a priced MCP tool without a key answers its terms, and its result once they are paid", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.baseUrl}/mcp`)));
  const call = { name: "route_payment", arguments: { address: AGENT } };
  const unpaid = await client.callTool(call);
  expect(unpaid).toMatchObject({
    isError: true,
    structuredContent: {
      x402Version: 2,
      http: { method: "GET", url: `${server.baseUrl}/ahs/route/${AGENT}` },
    },
  });
  const payment = await buyer.createPaymentPayload(
    unpaid.structuredContent as Parameters<typeof buyer.createPaymentPayload>[0],
  );
  const paid = await client.callTool({ ...call, _meta: { "x402/payment": payment } });
  expect(paid).toMatchObject({
    structuredContent: { address: AGENT },
    _meta: { "x402/payment-response": { success: true } },
  });
  await client.close();
});

async function requestOf({ method, body }: PaymentManifest["resources"][number]): Promise<RequestInit> {
  if (body === null) return { method };
  const sent = JSON.stringify(await withOwnSpec(body));
  return { method, body: sent, headers: { "content-type": "application/json" } };
}

/** Outputs name a specification: nobody's is anyone's example, so the buyer registers one. */
async function withOwnSpec(body: unknown): Promise<unknown> {
  if (typeof body !== "object" || body === null || !("spec_id" in body)) return body;
  const health = new AgentHealth(null, { baseUrl: server.baseUrl });
  const { spec_id } = await health.registerSpec({ client_addr: payer.address, spec_text: "Count to three." });
  return { ...body, spec_id };
}

async function received(): Promise<bigint> {
  const client = createPublicClient({ transport: http(kit.chain.rpcUrl) });
  return client.readContract({
    address: kit.chain.contracts.usdc,
    abi: TOKEN,
    functionName: "balanceOf",
    args: [payee.address],
  });
}
