import { randomUUID } from "node:crypto";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch";
import { createPublicClient, http, parseAbi } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import { until } from "../support/anvil-testkit/script.ts";
import { startServer, type TestServer } from "../support/anvil-testkit/services.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";

const BLOCK_MS = 500;
const PRICE = 500_000n;
const TOKEN = parseAbi(["function balanceOf(address) view returns (uint256)"]);
const { payer, payee } = roleAccounts();

let kit: Testkit;
let server: TestServer;
let mining: NodeJS.Timeout;
const buyer = new x402Client().register("eip155:31337", new ExactEvmScheme(payer)).setSpendControls(false);

beforeAll(async () => {
  kit = await bootTestkit({ ageSeconds: 86_400 });
  await kit.chain.toWallClock();
  await kit.chain.mine(40, 0);
  kit.startWorker();
  server = await serve();
  kit.onClose(() => server.stop());
  startMining();
});

afterAll(async () => {
  clearInterval(mining);
  await kit.close();
});

describe("an output that a wallet pays for", () => {
  test("is queued for half a dollar, by the official client, and answered again for nothing", async () => {
    const before = await received();
    const output = await anOutput();
    const response = await wrapFetchWithPayment(fetch, buyer)(`${server.baseUrl}/v1/outputs`, post(output));
    const report = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
    const first = await response.json();
    expect([response.status, report, first]).toMatchObject([200, { success: true }, { status: "pending" }]);
    const again = await fetch(`${server.baseUrl}/v1/outputs`, post(output, await signFor(output)));
    expect([again.status, await again.json()]).toEqual([200, first]);
    expect((await received()) - before).toBe(PRICE);
  });

  test("twenty payments for one output at once make one verdict and one charge", async () => {
    const before = await received();
    const output = await anOutput();
    const headers = await Promise.all(Array.from({ length: 20 }, () => signFor(output)));
    const answers = await Promise.all(
      headers.map((own) => fetch(`${server.baseUrl}/v1/outputs`, post(output, own))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const bodies = await Promise.all(answers.map(async (answer) => (await answer.json()) as Submitted));
    expect(new Set(bodies.map(({ verdict_id }) => verdict_id)).size).toBe(1);
    expect((await received()) - before).toBe(PRICE);
    expect(await verdictsOf(output)).toHaveLength(1);
  });

  test("survives a server killed in the middle of its settlement: one charge, and the repeat gets its one verdict", async () => {
    const before = await received();
    const output = await anOutput();
    const headers = { ...(await signFor(output)), "idempotency-key": "killed-0123456789abcdef" };
    await killWhileSettling(output, headers);
    const [noted] = await verdictsOf(output);
    expect(noted).toMatchObject({ status: "unsettled" });
    startMining();
    server = await serve(Number(new URL(server.baseUrl).port));
    // The slot of a request that died is free after two minutes, which the test does not wait for.
    await kit.db.$client.query("delete from ahs.idempotent_answer where state = 'running'");
    const answer = await until({ what: "the repeat is answered", timeoutMs: 170_000 }, async () => {
      const repeated = await fetch(`${server.baseUrl}/v1/outputs`, post(output, headers));
      return repeated.status === 200 ? ((await repeated.json()) as Submitted) : null;
    });
    expect(answer.verdict_id).toBe(noted?.id);
    expect(await verdictsOf(output)).toHaveLength(1);
    expect((await received()) - before).toBe(PRICE);
  });

  test("is queued by a worker where nobody asks again after the server was killed", async () => {
    const before = await received();
    const output = await anOutput();
    await killWhileSettling(output, await signFor(output));
    startMining();
    server = await serve(Number(new URL(server.baseUrl).port));
    // As if the time of the request were over.
    await kit.db.$client.query("update ahs.verdict set lease_until = now() where status = 'unsettled'");
    await until({ what: "a worker queues it", timeoutMs: 170_000 }, async () => {
      const [row] = await verdictsOf(output);
      return row !== undefined && row.status !== "unsettled" ? true : null;
    });
    expect((await received()) - before).toBe(PRICE);
  });
});

type Submitted = { readonly verdict_id: string; readonly status: string };
type Output = Awaited<ReturnType<typeof anOutput>>;

function serve(port?: number): Promise<TestServer> {
  const env = { HISTORY_SOURCE: "none", PANEL_BASE_URL: "http://127.0.0.1:9/v1", PANEL_MODEL: "none" };
  return startServer({ ...kit, rpcUrl: kit.chain.rpcUrl, env }, port);
}

async function anOutput() {
  const spec = { client_addr: payer.address, spec_text: "Count to 3." };
  const registered = await fetch(`${server.baseUrl}/v1/specs`, post(spec));
  const { spec_id } = (await registered.json()) as { spec_id: string };
  return {
    spec_id,
    output_text: `1, 2, 3 ${randomUUID()}`,
    submitter_addr: payer.address,
    provider_addr: payee.address,
  };
}

function post(body: object, headers: Record<string, string> = {}) {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

async function signFor(output: Output): Promise<Record<string, string>> {
  const unpaid = await fetch(`${server.baseUrl}/v1/outputs`, post(output));
  const payload = await buyer.createPaymentPayload((await unpaid.json()) as PaymentRequired);
  return new x402HTTPClient(buyer).encodePaymentSignatureHeader(payload);
}

/** Submits, and kills the server once its settlement is on its way to a block that nobody mines. */
async function killWhileSettling(output: Output, headers: Record<string, string>): Promise<void> {
  clearInterval(mining);
  const lost = fetch(`${server.baseUrl}/v1/outputs`, post(output, headers)).catch(() => null);
  await until({ what: "the settlement is under way", timeoutMs: 170_000 }, async () => {
    const { rows } = await kit.db.$client.query(
      "select 1 from ahs.sender_transaction where purpose = 'x402' and state = 'broadcast'",
    );
    return rows.length > 0 ? true : null;
  });
  await server.kill();
  await lost;
}

async function verdictsOf(output: Output) {
  const { rows } = await kit.db.$client.query<{ readonly id: string; readonly status: string }>(
    "select id, status from ahs.verdict where spec_id = $1",
    [output.spec_id],
  );
  return rows;
}

function startMining(): void {
  mining = setInterval(() => void kit.chain.tick(), BLOCK_MS);
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
