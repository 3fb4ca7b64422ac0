import { randomUUID } from "node:crypto";
import type { PaymentRequired } from "@x402/core/types";
import { BATCH_SETTLEMENT_ADDRESS, createPermit2ApprovalTx } from "@x402/evm";
import { x402HTTPClient } from "@x402/fetch";
import type { Hono } from "hono";
import type { PoolClient } from "pg";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type Address, createPublicClient, encodeFunctionData, getAddress, http, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../bin/config.ts";
import { historyReaderFromConfig } from "../../bin/from-config.ts";
import { MACHINE_CLOCK } from "../../bin/process.ts";
import { createServices } from "../../bin/serve/create-services.ts";
import { privateKeyOf, roleAccounts } from "../../devnet/accounts.ts";
import { returnExpiredHolds } from "../../service/access/key-debits.ts";
import { createPaymentMetrics } from "../../service/access/payments/metrics.ts";
import { createPaymentChain } from "../../service/access/payments/payment-chain.ts";
import { reconcilePayments } from "../../service/access/payments/run-reconciliation.ts";
import { SCHEMES } from "../../service/access/schemes/schemes.ts";
import { SCORING_ENDPOINTS, SCORING_INTERFACE } from "../../service/api/create-app.ts";
import { createInterfaceApp, type ServedParts } from "../../service/api/create-interface.ts";
import { VERIFICATION_ENDPOINTS, VERIFICATION_INTERFACE } from "../../service/api/create-verification-app.ts";
import type { ApiEnv } from "../../service/api/kit/api-env.ts";
import { createServerLife } from "../../service/api/kit/server-life.ts";
import type { Services } from "../../service/api/services.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import { NodeFailure } from "../../service/chain/node/failure.ts";
import type { Database } from "../../service/db/database.ts";
import { openDatabaseClock } from "../../service/db/database-clock.ts";
import type { HistoryReader } from "../../service/ingest/history/history-reader.ts";
import { insertSpec } from "../../service/verification/verdicts/specs.ts";
import { enrichThrough } from "../support/anvil-testkit/enrich-final.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { openMigrated } from "../support/test-database.ts";
import { createTestKey, readBalance } from "../support/test-keys.ts";
import { sendUntil } from "../support/usdc-chain.ts";
import { buyer, createChannelBuyer, escrowBuyer, payer, permit2Buyers } from "./shop.ts";

const { payee, facilitator, deployer, signer } = roleAccounts();
const ORIGIN = "http://127.0.0.1:4020";
const BLOCK_MS = 200;
const wallet = (number: number) => getAddress(numberToHex(0xa9e00 + number, { size: 20 }));
/** Scored at the newest final block; its agent is number 0. */
const KNOWN = wallet(1);
/** The same, and set aside by the worker. */
const QUARANTINED = wallet(2);
/** Registered after the newest final and enriched block. */
const NEWEST = wallet(3);
const STRANGER = wallet(9);
const BALANCE = 10_000_000;
/** Past finality, and fewer than the states that the node keeps. */
const FINAL_BLOCKS = 40;
/** Wallets outside the index, each with one transaction of its own. */
const FRESH = Array.from({ length: 10 }, (_, index) => wallet(100 + index));

const kit = useTestkit({ ageSeconds: 86_400 });
let parts: ServedParts<Services>;
/** The service as it is without a fault. */
let app: Hono<ApiEnv>;
let key: { readonly id: string; readonly secret: string };
let payable: readonly Payable[];

beforeAll(async () => {
  for (const agent of [KNOWN, QUARANTINED]) await kit.chain.register(agent);
  for (let call = 0; call < 12; call += 1) {
    await kit.chain.moveTime(3_600);
    for (const agent of [KNOWN, QUARANTINED])
      await (call % 3 === 2 ? kit.chain.revert(agent) : kit.chain.succeedInCrowd(agent));
  }
  for (const fresh of FRESH) {
    await kit.chain.rpc.request("anvil_setBalance", fresh, numberToHex(10n ** 18n));
    await kit.chain.succeed(fresh);
  }
  await kit.chain.send({ from: payer.address, ...createPermit2ApprovalTx(kit.chain.contracts.usdc) });
  await mint(10n ** 12n);
  await kit.chain.toWallClock();
  await kit.chain.mine(FINAL_BLOCKS, 0);
  const indexer = await kit.startIndexer();
  await enrichThrough(kit.db, kit.chain, (await kit.chain.head()) - FINAL_BLOCKS);
  await kit.chain.register(NEWEST);
  await indexer.reach(await kit.chain.head());
  kit.startMining(BLOCK_MS);
  const sending = new AbortController();
  const sent = sendUntil(kit.chain, kit.databaseUrl, sending.signal);
  kit.onClose(async () => {
    sending.abort();
    await sent;
  });
  await kit.db.$client.query(
    `insert into ahs.quarantine (chain_id, kind, subject, error, failures, first_failed_at, next_try_at)
     values (31337, 'score', $1, 'broken', 1, now(), now() + interval '1 day')`,
    [QUARANTINED.toLowerCase()],
  );
  await insertSpec(kit.db, SPEC);
  parts = await serviceOn(kit.db);
  app = appOf(parts);
  key = await createTestKey(kit.db, BALANCE);
  payable = await readPayable();
}, 420_000);

/** An endpoint as callers ask it, with the terms that it showed. */
type Payable = {
  /** Method and path template. */
  readonly name: string;
  readonly terms: PaymentRequired;
  readonly payers: readonly Payer[];
  request(about: Address): Promise<{ readonly url: string; readonly init: RequestInit }>;
};

const CLIENTS = {
  exact: buyer,
  "exact-permit2": permit2Buyers.exact,
  upto: permit2Buyers.upto,
  "auth-capture": escrowBuyer,
  "batch-settlement": createChannelBuyer(),
};
type Payer = keyof typeof CLIENTS | "key";

const ENDPOINTS = [...SCORING_ENDPOINTS, ...VERIFICATION_ENDPOINTS].filter(({ price }) => price !== null);
const query = (text: string, values: unknown[] = []) => kit.db.$client.query(text, values);

describe("ten wallets outside the index, each with a transaction", () => {
  const enrolments = async () => (await query("select from ahs.enrolment")).rowCount;
  const histories = async () => (await query("select from ahs.stored_history")).rowCount;
  let served: ServedParts<Services>;
  beforeAll(async () => {
    served = await serviceOn(kit.db, "otterscan");
  });
  const batch = async (wallets: readonly Address[], by: Payer) => {
    const url = `${ORIGIN}/ahs/batch`;
    const init = { method: "POST", body: JSON.stringify({ addresses: wallets }) };
    // The price depends on the wallets.
    const unpaid = await appOf(served).request(url, {
      ...init,
      headers: { "content-type": "application/json" },
    });
    const terms = (await unpaid.json()) as PaymentRequired;
    return signed({ ...payableAs("POST /ahs/batch"), terms }, by, { url, init });
  };

  it("are not read and not followed for a payment of scheme upto, and nothing is spent", async () => {
    expect(await outcomeOf(await batch(FRESH, "upto"), appOf(served))).toMatchObject({
      status: 404,
      units: 0,
    });
    const mixed = await batch([KNOWN, ...FRESH.slice(1)], "upto");
    expect(await outcomeOf(mixed, appOf(served))).toMatchObject({ status: 200, units: expect.any(Number) });
    expect([await enrolments(), await histories()]).toEqual([0, 0]);
  });

  it("are not followed where the connection is cut during the work, and nothing is spent", async () => {
    for (const by of ["upto", "exact", "exact-permit2"] as const) {
      const { url, init, ...rest } = await batch([QUARANTINED, ...FRESH.slice(1)], by);
      const cut = new AbortController();
      const cutting = appOf({
        ...served,
        access: {
          ...served.access,
          async take(...given) {
            cut.abort();
            return served.access.take(...given);
          },
        },
      });
      const sent = { ...rest, url, init: { ...init, signal: cut.signal } };
      expect(await outcomeOf(sent, cutting)).toMatchObject({ status: 402, units: 0 });
    }
    const read = await query("select from ahs.wallet_interest where wallet = $1", [
      QUARANTINED.toLowerCase(),
    ]);
    expect([await enrolments(), await histories(), read.rowCount]).toEqual([0, 0, 0]);
  });

  it("are not followed for a key whose answer fails", async () => {
    const one = payableAs("GET /ahs/{address}");
    const { url, init } = await one.request(FRESH[0] ?? KNOWN);
    const broken = appOf({ ...served, attest: () => Promise.reject(new Error("broken")) });
    const sent = await signed(one, "key", { url: `${url}?include=attestation`, init });
    expect(await outcomeOf(sent, broken)).toMatchObject({ status: 500, units: 0 });
    expect(await enrolments()).toBe(0);
  });

  it("are read and followed for a payment that is settled first", async () => {
    const sent = await batch(FRESH, "exact");
    expect(await outcomeOf(sent, appOf(served))).toMatchObject({ status: 200, units: 10_000 });
    expect([await enrolments(), await histories()]).toEqual([FRESH.length, FRESH.length]);
  });
});

/** Circumstances that an answer depends on beside its request. */
type World = {
  readonly name: string;
  readonly about: Address;
  /** The service in that world. */
  readonly served: () => Promise<Hono<ApiEnv>>;
  readonly leave?: () => Promise<unknown>;
  /** Statuses that no payer of these endpoints gets, where they are sold in the other worlds. */
  readonly refuses: RegExp;
};

/** Paths of endpoints that score a wallet or report on it. */
const OF_ROWS =
  /\/(ahs\/(agent\/|\{)|ahs\/batch|report-card|risk\/premium|health|wash|optimize|retry|agent\/protect|counterparties|network-map)/;
const OF_THE_FOLLOWED = new RegExp(`${OF_ROWS.source}|alerts`);
const OF_THE_INDEX =
  /\/(ahs|report-card|risk|health|wash|optimize|retry|agent|counterparties|network-map|alerts)/;
const WORLDS: readonly World[] = [
  { name: "of a wallet that is known", about: KNOWN, served: async () => app, refuses: /^none$/ },
  { name: "of a wallet in quarantine", about: QUARANTINED, served: async () => app, refuses: /^none$/ },
  {
    name: "of a wallet that registered in the newest block",
    ...{ about: NEWEST, served: async () => app, refuses: OF_ROWS },
  },
  {
    name: "of a wallet that was never seen",
    ...{ about: STRANGER, served: async () => app, refuses: OF_THE_FOLLOWED },
  },
  {
    name: "while no block is both final and enriched",
    about: KNOWN,
    async served() {
      await query("update ahs.enrich_cursor set chain_id = 1");
      return app;
    },
    leave: () => query("update ahs.enrich_cursor set chain_id = 31337"),
    refuses: OF_ROWS,
  },
  {
    name: "while the index is behind",
    about: KNOWN,
    served: async () => appOf({ ...parts, maxIndexAgeSeconds: -1_000_000 }),
    refuses: OF_THE_INDEX,
  },
  {
    name: "while the node is behind the index",
    about: KNOWN,
    served: async () => appOf({ ...parts, recovery: { ...parts.recovery, openNode: () => nodeBehind() } }),
    refuses: /\/(retry|agent\/protect)/,
  },
];

describe("money moves only before an answer, or before a 503 with a claim that brings it", () => {
  it.each(WORLDS)("$name", { timeout: 900_000 }, async ({ about, served, leave, refuses }) => {
    const service = await served();
    const outcomes: {
      readonly name: string;
      readonly by: Payer;
      readonly status: number;
      readonly units: number;
    }[] = [];
    try {
      for (const one of payable) {
        for (const by of one.payers) {
          const sent = await signed(one, by, await one.request(about));
          outcomes.push({ name: one.name, by, ...(await outcomeOf(sent, service)) });
        }
      }
    } finally {
      await leave?.();
    }
    // Everything fails uncharged here, by any scheme: what was known before needs no claim.
    expect(outcomes.filter(({ status, units }) => status !== 200 && units !== 0)).toEqual([]);
    const refused = outcomes.filter(({ name }) => refuses.test(name));
    expect(refused.filter(({ status }) => ![404, 503].includes(status))).toEqual([]);
    const sold = outcomes.filter(({ name }) => !refuses.test(name));
    expect(sold.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it.each([
    ["GET /ahs/{address}", "key"],
    ["GET /report-card/{address}", "exact"],
    ["GET /counterparties/{address}", "exact-permit2"],
    ["GET /ahs/route/{address}", "batch-settlement"],
    ["POST /ahs/batch", "upto"],
    ["POST /v1/outputs", "auth-capture"],
    ["POST /keys", "exact"],
  ] as const)(
    "of %s by %s, whatever statement the database fails at",
    { timeout: 900_000 },
    async (name, by) => {
      const failing = await failingDatabase();
      const service = appOf(await serviceOn(failing.db));
      const one = payableAs(name);
      const attempt = async (place: number | null) => {
        const sent = await signed(one, by, await one.request(KNOWN));
        failing.failFrom(place);
        return outcomeOf(sent, service, failing.heal);
      };
      expect((await attempt(null)).status).toBe(200);
      const statements = failing.count();
      expect(statements).toBeGreaterThan(3);
      for (let place = 1; place <= statements; place += Math.ceil(statements / PLACES)) await attempt(place);
    },
  );

  it.each(["exact", "exact-permit2"] as const)(
    "by %s, where a wallet that was known is gone after the settlement",
    async (by) => {
      const one = payableAs("GET /report-card/{address}");
      const service = appOf({ ...parts, scoreNow: async () => ({ kind: "not-indexed" }) });
      const sent = await signed(one, by, await one.request(KNOWN));
      expect(await outcomeOf(sent, service)).toMatchObject({ status: 503, units: 2_000 });
    },
  );
});

/** Statements, evenly spread over a request, that fail in turn. */
const PLACES = 6;

/** A request with what pays for it. */
type Sent = {
  readonly by: Payer;
  readonly url: string;
  readonly init: RequestInit & { readonly headers: Record<string, string> };
  /** The client's own record of the answer. */
  readonly note: (response: Response) => Promise<unknown>;
};

async function signed(
  { terms, name }: Payable,
  by: Payer,
  { url, init }: { readonly url: string; readonly init: RequestInit },
): Promise<Sent> {
  const json = { "content-type": "application/json" };
  const byKey = { ...json, "x-api-key": key.secret };
  if (by === "key") return { by, url, init: { ...init, headers: byKey }, note: async () => undefined };
  const client = new x402HTTPClient(CLIENTS[by]);
  const payload = await CLIENTS[by].createPaymentPayload(terms);
  // Terms of another wallet have the same price.
  const paying = client.encodePaymentSignatureHeader({ ...payload, resource: { url } });
  return {
    by,
    url,
    init: { ...init, headers: { ...(name === "POST /keys/topup" ? byKey : json), ...paying } },
    note: (response) =>
      client.processPaymentResult(payload, (header) => response.headers.get(header), response.status),
  };
}

/**
 * Sends a request and lets everything come to its end. Returns its status and the thousandths of a US dollar that its caller has paid,
 * which has to be for an answer, now or by the claim.
 */
async function outcomeOf(sent: Sent, service: Hono<ApiEnv>, heal: () => void = () => undefined) {
  const before = await paidBy(sent.by);
  const response = await service.request(sent.url, sent.init);
  heal();
  const { status, headers } = response;
  await sent.note(response);
  if (status !== 200) await settleAll();
  const units = (await paidBy(sent.by)) - before;
  const answered = { url: sent.url, by: sent.by, status, body: await response.clone().text() };
  if (status === 200) {
    expect({ ...answered, charged: headers.get("x-charged-usd") ?? "0.000" }).toMatchObject({
      charged: (units / 1_000).toFixed(3),
    });
  } else if (units !== 0) {
    const { claim, type } = JSON.parse(answered.body);
    expect(answered).toMatchObject({ status: 503, by: expect.not.stringMatching(/^key$/) });
    expect([headers.get("retry-after"), claim]).toEqual([expect.any(String), expect.any(String)]);
    if (!type.endsWith("settlement-pending")) expect(headers.get("payment-response")).not.toBeNull();
    const { "PAYMENT-SIGNATURE": _, ...unpaid } = sent.init.headers;
    const claimed = await app.request(sent.url, {
      ...sent.init,
      headers: { ...unpaid, "x-payment-claim": claim },
    });
    expect({ ...answered, claimed: claimed.status, answer: await claimed.text() }).toMatchObject({
      claimed: 200,
    });
    expect((await paidBy(sent.by)) - before).toBe(units);
  }
  return { status, units };
}

/** Units that the key, or the wallet, has paid: to the payee, into the escrow, or by vouchers that were charged. */
async function paidBy(by: Payer): Promise<number> {
  if (by === "key") return BALANCE - (await readBalance(kit.db, key.id));
  const [own, deposited] = await Promise.all([payer.address, BATCH_SETTLEMENT_ADDRESS].map(balanceOf));
  const { rows } = await query("select coalesce(sum(charged), 0)::text as charged from ahs.payment_channel");
  return Number((BigInt(rows[0].charged) - (own ?? 0n) - (deposited ?? 0n)) / 1_000n);
}

/** Leaves no payment reserved and no debit held, as the time would. */
async function settleAll(): Promise<void> {
  const later = (ms: number) => new Date(Date.now() + ms);
  await returnExpiredHolds(kit.db, later(121_000));
  const client = createPublicClient({ transport: http(kit.rpcUrl) });
  const deps = {
    ...{ db: kit.db, chainId: 31_337, ownSender: true, logger: pino({ level: "silent" }) },
    schemes: SCHEMES,
    chain: createPaymentChain(client, {
      finalityBlocks: kit.chain.deployment.finalityBlocks,
      schemes: SCHEMES,
    }),
    metrics: createPaymentMetrics(new Registry()),
    now: () => later(61_000),
  };
  const due =
    "update ahs.payment set deadline = now() - interval '1 second' where state in ('reserved', 'settled')";
  await expect
    .poll(async () => {
      await query(due);
      await reconcilePayments(deps);
      return (await query("select from ahs.payment where state = 'reserved'")).rowCount;
    })
    .toBe(0);
  await query(due);
}

function balanceOf(account: Address): Promise<bigint> {
  return createPublicClient({ transport: http(kit.rpcUrl) }).readContract({
    ...{ address: kit.chain.contracts.usdc, abi: usdCoinAbi, functionName: "balanceOf", args: [account] },
  });
}

async function mint(amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [payer.address, amount] });
  await kit.chain.send({ from: deployer.address, to: kit.chain.contracts.usdc, data });
}

/** Every priced endpoint, with the request that the service's own manifest shows for it. */
async function readPayable(): Promise<readonly Payable[]> {
  const manifest = await app.request(`${ORIGIN}/.well-known/x402`);
  const { resources } = (await manifest.json()) as { resources: readonly Resource[] };
  const appeal = {
    method: "POST",
    url: "",
    url_template: `${ORIGIN}/v1/verdicts/{verdict_id}/appeal`,
    body: null,
  };
  const all = await Promise.all([...resources, appeal].map(payableOf));
  expect(all.map(({ name }) => name).toSorted()).toEqual(
    ENDPOINTS.map(({ method, path }) => `${method.toUpperCase()} ${path}`).toSorted(),
  );
  return all;
}

type Resource = {
  readonly method: string;
  readonly url: string;
  readonly url_template: string;
  readonly body: unknown;
};

async function payableOf(resource: Resource): Promise<Payable> {
  const name = `${resource.method} ${resource.url_template.slice(ORIGIN.length)}`;
  const request = (about: Address) => requestOf(resource, about);
  const { url, init } = await request(KNOWN);
  const unpaid = await app.request(url, { ...init, headers: { "content-type": "application/json" } });
  expect([name, unpaid.status]).toEqual([name, 402]);
  const terms = (await unpaid.json()) as PaymentRequired;
  const schemes = terms.accepts.map(({ scheme, extra }) =>
    scheme === "exact" && extra.assetTransferMethod === "permit2" ? "exact-permit2" : scheme,
  ) as (keyof typeof CLIENTS)[];
  const endpoint = ENDPOINTS.find((one) => `${one.method.toUpperCase()} ${one.path}` === name);
  return { name, terms, request, payers: endpoint?.paidBy === "payment" ? schemes : [...schemes, "key"] };
}

function payableAs(name: string): Payable {
  const found = payable.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${name} is not sold`);
  return found;
}

/** The manifest's request about a wallet. */
async function requestOf({ method, url, url_template, body }: Resource, about: Address) {
  const { rows } = await query("select agent_id from chain_31337.agent where wallet = $1", [
    about.toLowerCase(),
  ]);
  // No panel decides here, and outputs of one owner that wait are bounded.
  await query("update ahs.verdict set owner = 'key:none' where status = 'pending'");
  const filled = url_template.endsWith("/appeal")
    ? url_template.replace("{verdict_id}", await insertAppealable())
    : url
        .replace(/(\/ahs\/agent\/[^/]+\/)\d+/, `$1${rows[0]?.agent_id ?? 999}`)
        .replace(/(?<=\/)0x[0-9a-fA-F]{40}$|(?<=\/)0x[0-9a-fA-F]{40}(?=\?)/, about)
        .replace(/webhook_url=[^&]+/, `webhook_url=${encodeURIComponent("http://127.0.0.1:9/hook")}`);
  const sent = url.endsWith("/ahs/batch") ? { addresses: [about] } : body;
  const own = url.endsWith("/v1/outputs")
    ? { ...(body as object), spec_id: SPEC.id, output_text: randomUUID(), webhook_url: null }
    : sent;
  return { url: filled, init: { method, ...(own === null ? {} : { body: JSON.stringify(own) }) } };
}

const SPEC: Parameters<typeof insertSpec>[1] = {
  id: randomUUID(),
  clientAddr: "0x00000000000000000000000000000000000000c1",
  providerAddr: null,
  specText: "Count to three",
  acceptanceCriteria: null,
  domain: "default",
  specHash: `0x${"11".repeat(32)}`,
  job: null,
  clientSignature: null,
  registeredBlock: null,
  createdAt: new Date(),
};

/** A verdict in its time to appeal, which the key and the paying wallet may appeal. */
async function insertAppealable(): Promise<string> {
  const id = randomUUID();
  await query(
    `insert into ahs.verdict (id, spec_id, slot, output_hash, submitted_by, submitter_addr, provider_addr, owner, units, status,
       not_before, cause, runs, final_verdict, job_chain_id, job_escrow, job_id, created_at, updated_at)
     values ($1, $2, $5, '0x', 'agent', $3, $3, $4, 500, 'completed', now(), 'submitted', 1, 'REJECT', 31337, '0xe5', 7, now(), now())`,
    [id, SPEC.id, payer.address.toLowerCase(), `key:${key.id}`, id],
  );
  await query(
    `insert into ahs.appeal (verdict_id, chain_id, run, appeal_by, decide_by, units, state, created_at, updated_at)
     values ($1, 31337, 1, now() + interval '1 hour', now() + interval '2 hours', 500, 'window', now(), now())`,
    [id],
  );
  return id;
}

/** The services of `ahs serve` on a database of the chain. */
async function serviceOn(db: Database, historySource = "none"): Promise<ServedParts<Services>> {
  const config = parseConfig({
    DATABASE_URL: "postgres://unused/unused",
    RPC_URL: kit.rpcUrl,
    AHS_DEPLOYMENT: kit.deploymentFile,
    PUBLIC_URL: ORIGIN,
    X402_PAY_TO: payee.address,
    X402_FACILITATOR_ADDRESS: facilitator.address,
    HISTORY_SOURCE: historySource,
    PROBE_LOOPBACK: "1",
    RECEIPT_PRIVATE_KEY: `0x${"5e".repeat(32)}`,
    ...{ PANEL_BASE_URL: "http://127.0.0.1:9", PANEL_MODEL: "a", APPEAL_WINDOW_SECONDS: "600" },
    // None of the outputs is ever judged.
    PANEL_TOKENS_PER_DAY: "1000000000000",
    ...{ PANEL_APPEAL_BASE_URL: "http://127.0.0.1:9", PANEL_APPEAL_MODEL: "b" },
  });
  const logger = pino({ level: "silent" });
  const history: HistoryReader | null = historyReaderFromConfig(config, 31_337);
  if (history !== null) kit.onClose(history.close);
  const services = await createServices(config, {
    ...{ db, replica: null, logger, history, life: createServerLife() },
    clock: await openDatabaseClock(kit.db, MACHINE_CLOCK),
    signer: privateKeyToAccount(privateKeyOf(signer)),
    signal: new AbortController().signal,
  });
  // Requests of this test come over no socket.
  return { ...services, socketAddress: () => null };
}

function appOf(services: ServedParts<Services>): Hono<ApiEnv> {
  // The metrics of a second app over the same services have the same names.
  return createInterfaceApp({ ...services, registry: new Registry() }, [
    SCORING_INTERFACE,
    VERIFICATION_INTERFACE,
  ]);
}

function nodeBehind(): never {
  throw new NodeFailure("node_behind", "no such block");
}

/** Connections of the server that PostgreSQL ends before a statement, and before all after it. */
async function failingDatabase() {
  const db = openMigrated(kit.databaseUrl);
  let [statements, from]: [number, number | null] = [0, null];
  const end = (client: PoolClient) =>
    query("select pg_terminate_backend($1)", [Reflect.get(client, "processID")]);
  db.$client.on("connect", (client: PoolClient) => {
    const ask: (...given: unknown[]) => unknown = client.query.bind(client);
    const asked = (...given: unknown[]) => {
      statements += 1;
      if (from === null || statements < from) return ask(...given);
      const ended = end(client);
      if (typeof given.at(-1) !== "function") return ended.then(() => ask(...given));
      return void ended.then(() => ask(...given));
    };
    client.query = asked as typeof client.query;
  });
  kit.onClose(() => db.$client.end());
  return {
    db,
    count: () => statements,
    /** Counts anew. */
    failFrom: (place: number | null): void => {
      [statements, from] = [0, place];
    },
    heal: (): void => {
      from = null;
    },
  };
}
