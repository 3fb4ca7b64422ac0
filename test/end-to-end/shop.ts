import type { PaymentRequired } from "@x402/core/types";
import { AuthCaptureEvmScheme } from "@x402/evm/auth-capture/client";
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client";
import { createPermit2ApprovalTx, ExactEvmScheme } from "@x402/evm/exact/client";
import { UptoEvmScheme } from "@x402/evm/upto/client";
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch";
import { getAddress } from "viem";
import { beforeAll } from "vitest";
import { roleAccounts } from "../../devnet/accounts.ts";
import type { Script } from "../support/anvil-testkit/script.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { type Testkit, useTestkit } from "../support/anvil-testkit/testkit.ts";
import { until } from "../support/until.ts";

/** The wallet that the service knows. */
export const AGENT = getAddress("0x00000000000000000000000000000000000a9e02");
export const UNKNOWN = getAddress("0x00000000000000000000000000000000000a9e99");
export const { payer, payee } = roleAccounts();
export const buyer = new x402Client()
  .register("eip155:31337", new ExactEvmScheme(payer))
  .setSpendControls(false);
export const payFetch = wrapFetchWithPayment(fetch, buyer);
/** An official client that lets its money wait in the escrow. */
export const escrowBuyer = new x402Client()
  .register("eip155:31337", new AuthCaptureEvmScheme(payer))
  .setSpendControls(false);
/** An official client that deposits once on its chain, and signs vouchers. It remembers its channels. */
export const createChannelBuyer = (): x402Client =>
  new x402Client().register("eip155:31337", new BatchSettlementEvmScheme(payer)).setSpendControls(false);
/** Official clients that pay by Permit2 alone. */
export const permit2Buyers = {
  exact: buyerByPermit2("exact"),
  upto: buyerByPermit2("upto"),
} as const;

function buyerByPermit2(scheme: "exact" | "upto"): x402Client {
  return new x402Client()
    .register("eip155:31337", new ExactEvmScheme(payer))
    .register("eip155:31337", new UptoEvmScheme(payer))
    .registerPolicy((_version, offers) =>
      offers.filter((offer) => offer.scheme === scheme && offer.extra.assetTransferMethod === "permit2"),
    )
    .setSpendControls(false);
}

const BLOCK_MS = 300;
/** Outputs are sold where a model is configured; nothing asks this one. */
const ENV = {
  HISTORY_SOURCE: "none",
  PROBE_LOOPBACK: "1",
  PANEL_BASE_URL: "http://127.0.0.1:9/v1",
  PANEL_MODEL: "none",
  RECEIPT_PRIVATE_KEY: `0x${"5e".repeat(32)}`,
};

export type Shop = ReturnType<typeof useShop>;

/** A service that sells everything to the buyer, on a chain that mines by itself. */
export function useShop() {
  const kit = useTestkit({ ageSeconds: 86_400 });
  let server: TestServer;
  let worker: Script;
  const url = (path: string) => `${server.baseUrl}${path}`;
  beforeAll(async () => {
    ({ worker } = await prepareShop(kit));
    server = await kit.startServer({ env: ENV });
    await untilAnswersFor(url(`/ahs/${AGENT}`));
  });
  const untilRow = (what: string, query: string) =>
    until({ what }, async () => ((await kit.db.$client.query(query)).rowCount === 0 ? null : true));
  return {
    kit,
    url,
    baseUrl: () => server.baseUrl,
    pay: (path: string, init: RequestInit = {}, client: x402Client = buyer) =>
      paymentFor(url(path), init, client),
    /** Asks, and kills the server once its settlement is broadcast, while no block is mined. */
    killWhileSettling: async (path: string, init: RequestInit): Promise<void> => {
      kit.stopMining();
      const lost = fetch(url(path), init).catch(() => null);
      await untilRow(
        "the settlement is under way",
        "select 1 from ahs.sender_transaction where purpose = 'x402' and state = 'broadcast'",
      );
      await server.kill();
      await lost;
    },
    /** Asks, and kills the server when it has charged a voucher and not yet answered. */
    killCharged: async (path: string, init: RequestInit): Promise<void> => {
      const [charging, keeping] = [await kit.db.$client.connect(), await kit.db.$client.connect()];
      try {
        await charging.query("begin; lock table ahs.payment_channel in exclusive mode");
        const lost = fetch(url(path), init).catch(() => null);
        await untilRow(
          "the charge waits",
          "select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())",
        );
        await keeping.query("begin; lock table ahs.idempotent_answer in exclusive mode");
        await charging.query("rollback");
        await untilRow(
          "the voucher is charged",
          "select 1 from (select state from ahs.payment order by created_at desc limit 1) p where state = 'answered'",
        );
        await server.kill();
        await lost;
      } finally {
        for (const client of [charging, keeping]) {
          await client.query("rollback");
          client.release();
        }
      }
    },
    /** Mines again, and starts a server where the killed one was. */
    reopen: async (): Promise<void> => {
      kit.startMining(BLOCK_MS);
      server = await kit.startServer({ env: ENV }, Number(new URL(server.baseUrl).port));
    },
    stopWorker: () => worker.stop(),
    startWorker: () => {
      worker = kit.startWorker();
    },
  };
}

/** Makes the wallet that the service knows, and starts an indexer and a worker on its chain, which mines by itself from then on. */
export async function prepareShop(kit: Testkit, workerEnv: Readonly<Record<string, string>> = {}) {
  await kit.chain.register(AGENT);
  const approval = createPermit2ApprovalTx(kit.chain.contracts.usdc);
  await kit.chain.send({ from: payer.address, ...approval });
  for (let call = 0; call < 12; call += 1) {
    await kit.chain.moveTime(3_600);
    await kit.chain.succeed(AGENT);
  }
  await kit.chain.toWallClock();
  await kit.chain.mine(40, 0);
  const indexer = await kit.startIndexer();
  kit.startMining(BLOCK_MS);
  return { indexer, worker: kit.startWorker({ env: workerEnv }) };
}

/** Waits until an unpaid request for the wallet's data is answered with its price. */
export async function untilAnswersFor(url: string): Promise<void> {
  await until({ what: "the wallet is answered for" }, async () =>
    (await fetch(url)).status === 402 ? true : null,
  );
}

/** The headers of a payment for what the request is answered with 402. */
export async function paymentFor(
  url: string,
  init: RequestInit = {},
  client: x402Client = buyer,
): Promise<Record<string, string>> {
  const unpaid = (await (await fetch(url, init)).json()) as PaymentRequired;
  return new x402HTTPClient(client).encodePaymentSignatureHeader(await client.createPaymentPayload(unpaid));
}

/** A request with a body of JSON. */
export function jsonRequest(method: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}
