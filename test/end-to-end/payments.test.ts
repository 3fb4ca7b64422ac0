import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch";
import { createPublicClient, getAddress, http, parseAbi } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import { type Script, until } from "../support/anvil-testkit/script.ts";
import { startServer, type TestServer } from "../support/anvil-testkit/services.ts";
import { bootTestkit, type Testkit } from "../support/anvil-testkit/testkit.ts";

const AGENT = getAddress("0x00000000000000000000000000000000000a9e01");
const UNKNOWN = getAddress("0x00000000000000000000000000000000000a9e99");
const BLOCK_MS = 500;
const TOKEN = parseAbi(["function balanceOf(address) view returns (uint256)"]);
const { payer, payee } = roleAccounts();

let kit: Testkit;
let server: TestServer;
let worker: Script;
let mining: NodeJS.Timeout;
const buyer = new x402Client().register("eip155:31337", new ExactEvmScheme(payer)).setSpendControls(false);
const payFetch = wrapFetchWithPayment(fetch, buyer);

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
  worker = kit.startWorker();
  server = await serve();
  kit.onClose(() => server.stop());
  startMining();
  await until({ what: "the wallet is answered for", timeoutMs: 170_000 }, async () => {
    const unpaid = await fetch(`${server.baseUrl}/ahs/${AGENT}`);
    return unpaid.status === 402 ? true : null;
  });
});

afterAll(async () => {
  clearInterval(mining);
  await kit.close();
});

describe("a wallet without a key pays per call", () => {
  test.each([
    ["/ahs/route", `/ahs/route/${AGENT}`, {}, 10_000n],
    ["/ahs", `/ahs/${AGENT}`, {}, 1_000_000n],
    [
      "/ahs/batch, settled first",
      "/ahs/batch",
      {
        method: "POST",
        body: JSON.stringify({ addresses: [AGENT] }),
        headers: { "content-type": "application/json" },
      },
      10_000_000n,
    ],
  ])(
    "%s: the official client gets its answer and the money arrives",
    async (_name, path, init, price) => {
      const before = await received();
      const response = await payFetch(`${server.baseUrl}${path}`, init);
      const report = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
      expect([response.status, report]).toMatchObject([200, { success: true, network: "eip155:31337" }]);
      expect((await received()) - before).toBe(price);
    },
    40_000,
  );

  test("twenty requests with one authorization make one charge", async () => {
    const before = await received();
    const path = `/ahs/route/${AGENT}`;
    const headers = await signFor(path);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fetch(`${server.baseUrl}${path}`, { headers })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(
      statuses.filter((status) => status !== 200).every((status) => status === 409 || status === 402),
    ).toBe(true);
    expect((await received()) - before).toBe(10_000n);
  });

  test("nothing is charged for what is refused", async () => {
    const before = await received();
    const unknown = await fetch(`${server.baseUrl}/ahs/${UNKNOWN}`, {
      headers: await signFor(`/ahs/${AGENT}`, UNKNOWN),
    });
    const malformed = await fetch(`${server.baseUrl}/ahs/0x12`, { headers: await signFor(`/ahs/${AGENT}`) });
    expect([unknown.status, malformed.status]).toEqual([404, 422]);
    expect(await received()).toBe(before);
  });

  test("a server killed in the middle of a settlement costs one charge, and the payer gets its answer", async () => {
    const before = await received();
    const path = `/ahs/route/${AGENT}`;
    const headers = { ...(await signFor(path)), "idempotency-key": "crash-0123456789abcdef" };
    clearInterval(mining);
    const lost = fetch(`${server.baseUrl}${path}`, { headers }).catch(() => null);
    await until({ what: "the settlement is under way", timeoutMs: 170_000 }, async () => {
      const { rows } = await kit.db.$client.query(
        "select 1 from ahs.sender_transaction where purpose = 'x402' and state = 'broadcast'",
      );
      return rows.length > 0 ? true : null;
    });
    await server.kill();
    await lost;
    startMining();
    server = await serve(Number(new URL(server.baseUrl).port));
    // The slot of a request that died is free after two minutes, which the test does not wait for.
    await kit.db.$client.query("delete from ahs.idempotent_answer where state = 'running'");
    const answer = await until({ what: "the repeat is answered", timeoutMs: 170_000 }, async () => {
      const repeated = await fetch(`${server.baseUrl}${path}`, { headers });
      return repeated.status === 200 ? repeated.json() : null;
    });
    expect(answer).toMatchObject({ address: AGENT });
    expect((await received()) - before).toBe(10_000n);
  });

  test("a settlement that takes too long is a 503 with a claim, which then gets the answer", async () => {
    const before = await received();
    const path = `/ahs/route/${AGENT}`;
    const headers = await signFor(path);
    await worker.stop();
    const pending = await fetch(`${server.baseUrl}${path}`, { headers });
    const { claim } = (await pending.json()) as { claim: string };
    expect([pending.status, claim]).toEqual([503, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    worker = kit.startWorker();
    const answer = await until({ what: "the claim is answered", timeoutMs: 170_000 }, async () => {
      const repeated = await fetch(`${server.baseUrl}${path}`, { headers: { "x-payment-claim": claim } });
      return repeated.status === 200 ? repeated.json() : null;
    });
    expect(answer).toMatchObject({ address: AGENT });
    expect((await received()) - before).toBe(10_000n);
  });

  test("every announced price is that of the live 402", async () => {
    const manifest = (await (await fetch(`${server.baseUrl}/.well-known/x402`)).json()) as Manifest;
    expect(manifest.resources.length).toBeGreaterThan(5);
    for (const { url, method, body, accepts } of manifest.resources) {
      const init = body === null ? {} : { body: JSON.stringify(body), headers: JSON_BODY };
      const response = await fetch(url, { method, ...init });
      const terms = (await response.json()) as PaymentRequired;
      // A wallet that is not followed is refused before anybody is told a price.
      if (response.status === 404) continue;
      expect([url, response.status, terms.accepts]).toEqual([url, 402, accepts]);
    }
  });

  test("outcomes are counted", async () => {
    expect(await metricOf("ahs_payments_total")).toMatch(/outcome="pending"} 1/);
  });
});

function serve(port?: number): Promise<TestServer> {
  return startServer(
    { ...kit, rpcUrl: kit.chain.rpcUrl, env: { HISTORY_SOURCE: "none", PROBE_LOOPBACK: "1" } },
    port,
  );
}

const JSON_BODY = { "content-type": "application/json" };
type Manifest = {
  readonly resources: readonly {
    readonly url: string;
    readonly method: string;
    readonly body: unknown;
    readonly accepts: readonly unknown[];
  }[];
};

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

/** Headers with a payment for a resource, or for another one of its price that the payer names. */
async function signFor(path: string, wallet?: string): Promise<Record<string, string>> {
  const unpaid = await fetch(`${server.baseUrl}${path}`);
  const payload = await buyer.createPaymentPayload((await unpaid.json()) as PaymentRequired);
  const named: PaymentPayload =
    wallet === undefined
      ? payload
      : { ...payload, resource: { url: `${server.baseUrl}${path.replace(AGENT, wallet)}` } };
  return new x402HTTPClient(buyer).encodePaymentSignatureHeader(named);
}

async function metricOf(name: string): Promise<string> {
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
  return text
    .split("\n")
    .filter((line) => line.startsWith(name))
    .join("\n");
}
