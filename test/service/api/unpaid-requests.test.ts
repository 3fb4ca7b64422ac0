import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { x402Client, x402HTTPClient } from "@x402/core/client";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import {
  type DiscoveryExtension,
  extractDiscoveryInfo,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from "@x402/extensions/bazaar";
import { decodeSignedOffers, extractOffersFromPaymentRequired } from "@x402/extensions/offer-receipt";
import type { Hono } from "hono";
import type { PoolClient } from "pg";
import { pino } from "pino";
import { type Address, getAddress, numberToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseConfig } from "../../../bin/config.ts";
import { MACHINE_CLOCK } from "../../../bin/process.ts";
import { createServices } from "../../../bin/serve/create-services.ts";
import { createApiKey } from "../../../service/access/api-keys.ts";
import { SCORING_ENDPOINTS, SCORING_INTERFACE } from "../../../service/api/create-app.ts";
import { createInterfaceApp } from "../../../service/api/create-interface.ts";
import {
  VERIFICATION_ENDPOINTS,
  VERIFICATION_INTERFACE,
} from "../../../service/api/create-verification-app.ts";
import type { ApiEnv } from "../../../service/api/kit/api-env.ts";
import { createServerLife } from "../../../service/api/kit/server-life.ts";
import { writeDeployment } from "../../../service/chain/deployments.ts";
import { openDatabaseClock } from "../../../service/db/database-clock.ts";
import { insertSpec } from "../../../service/verification/verdicts/specs.ts";
import { startCountingNode } from "../../support/counting-node.ts";
import { useFolder } from "../../support/use-folder.ts";
import { blockHash, enrichTo, finalize, followEnriched } from "../model/features/index-tables.ts";
import { AGENT, blockAt, SCHEMA, useRowsWorld } from "../scores/read/rows-world.ts";

const place = (number: number) => ({ address: getAddress(numberToHex(number, { size: 20 })), startBlock: 0 });
const SPEC_ID = randomUUID();
/** A verdict of a job in its time to appeal. */
const VERDICT_ID = randomUUID();
const CHAIN_ID = 31_337;
const HEAD = 400;

type Priced = {
  readonly method: string;
  readonly url: string;
  readonly url_template: string;
  readonly body: unknown;
};

const world = useRowsWorld();
let node: Awaited<ReturnType<typeof startCountingNode>>;
let app: Hono<ApiEnv>;
const folder = useFolder();
/** Names of the statements that were sent, or their texts. */
const statements: string[] = [];

beforeAll(async () => {
  node = await startCountingNode();
  world.db.$client.on("connect", recordStatements);
  app = await serveOn(join(folder, "deployment.json"));
});
afterAll(() => {
  node.close();
});
beforeEach(async () => {
  await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 1 });
  await enrichTo(world.client, SCHEMA, HEAD);
  await finalize(world.client, SCHEMA, blockAt(HEAD));
  await insertFailure();
  await world.client.query(`
    create table ${SCHEMA}.agent (agent_id numeric(78) primary key, wallet text);
    insert into ${SCHEMA}.agent values (1, '${AGENT}');`);
  await world.client.query("truncate ahs.job_spec cascade");
  await insertSpec(world.db, SPEC);
  await insertAppealable();
  // Whatever is asked once in the life of a server.
  await priced();
  statements.length = 0;
  node.calls.length = 0;
});

/** All that a caller who shows nothing has read for them. */
const CHEAP = {
  stored: [`wallet_snapshots_${CHAIN_ID}`],
  wallet: [`wallet_snapshots_${CHAIN_ID}`, `wallet_at_final_${CHAIN_ID}`],
  agent: [`indexed_agent_${CHAIN_ID}`, `wallet_snapshots_${CHAIN_ID}`, `wallet_at_final_${CHAIN_ID}`],
  keys: [],
  outputs: [expect.stringContaining("job_spec")],
  appeal: [expect.stringContaining('"ahs"."appeal"')],
};

function cheapFor(url: string): readonly unknown[] {
  if (url.includes("/v1/outputs")) return CHEAP.outputs;
  if (url.endsWith("/appeal")) return CHEAP.appeal;
  if (url.includes("/ahs/agent/")) return CHEAP.agent;
  if (url.includes("/keys")) return CHEAP.keys;
  return /\/(ahs\/route|risk|alerts\/subscribe)\/0x/.test(url) ? CHEAP.stored : CHEAP.wallet;
}

describe("a priced request", () => {
  it("without a credential costs no node call and no statement but reads by primary key, at every endpoint", async () => {
    const requests = await priced();
    const endpoints = [...SCORING_ENDPOINTS, ...VERIFICATION_ENDPOINTS].filter(({ price }) => price !== null);
    expect(requests).toHaveLength(endpoints.length);
    for (const request of requests) {
      statements.length = 0;
      const { status } = await ask(request);
      expect([request.url, status, statements, node.calls]).toEqual([
        request.url,
        402,
        cheapFor(request.url),
        [],
      ]);
    }
  });

  it("with a key whose balance does not cover it costs no more than to read the key, but for what may have been bought", async () => {
    const key = await newKey(0);
    for (const request of await priced()) {
      if (request.url.includes("/keys") || request.url.includes("/v1/outputs")) continue;
      statements.length = 0;
      const { status } = await ask(request, { "x-api-key": key });
      expect([request.url, status, node.calls]).toEqual([request.url, 402, []]);
      expect(statements).toEqual(["api_key_find", expect.stringMatching(/bucket/), ...cheapFor(request.url)]);
    }
  });

  it("with the signature of an account without money costs the verification, and nothing of the wallet's history", async () => {
    for (const request of await priced()) {
      const terms = (await (await ask(request)).json()) as PaymentRequired;
      const payload = await pauper().createPaymentPayload(terms);
      statements.length = 0;
      const { status } = await ask(
        request,
        new x402HTTPClient(new x402Client()).encodePaymentSignatureHeader(payload),
      );
      expect([request.url, status]).toEqual([request.url, 402]);
      expect(statements.filter((text) => /\.transaction|own_call|spec_text/.test(text))).toEqual([]);
    }
  });

  it("is listed by the official bazaar extension, in headers that fit, at every endpoint", async () => {
    for (const request of await priced()) {
      const response = await ask(request);
      const terms = (await response.json()) as PaymentRequired;
      const payload = await pauper().createPaymentPayload(terms);
      const template = terms.extensions?.bazaar as DiscoveryExtension;
      expect([request.url, validateDiscoveryExtension(template)]).toEqual([request.url, { valid: true }]);
      expect(validateDiscoveryExtensionSpec({ ...template })).toEqual({ valid: true });
      const listed = extractDiscoveryInfo(payload, payload.accepted);
      expect(listed).toMatchObject({
        ...{ resourceUrl: templateOf(request), method: request.method, serviceName: "Agent Health" },
        discoveryInfo: {
          input: request.method === "GET" ? { type: "http" } : { body: expect.any(Object) },
          output: { type: "json", example: expect.any(Object) },
        },
      });
      expect(Object.keys(listed?.discoveryInfo.output?.example ?? {}).length).toBeGreaterThan(0);
      const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(terms));
      expect(offer).toMatchObject({ resourceUrl: request.url, amount: terms.accepts[0]?.amount });
      expect(bytesOf(response.headers)).toBeLessThan(8_192);
      const sent = new x402HTTPClient(new x402Client()).encodePaymentSignatureHeader(payload);
      expect(sent["PAYMENT-SIGNATURE"]?.length).toBeLessThan(8_192);
    }
  });

  it("with a long URL leaves out what would not fit into a header", async () => {
    const hook = `https://hooks.example.com/${"x".repeat(2_000)}`;
    const url = `http://127.0.0.1:4020/alerts/subscribe/${AGENT}?webhook_url=${hook}`;
    const response = await ask({ method: "GET", url, url_template: "", body: null });
    const terms = (await response.json()) as PaymentRequired;
    expect([response.status, terms.extensions?.["offer-receipt"]]).toEqual([402, undefined]);
    expect(bytesOf(response.headers)).toBeLessThan(8_192);
    const payload = await pauper().createPaymentPayload(terms);
    const sent = new x402HTTPClient(new x402Client()).encodePaymentSignatureHeader(payload);
    expect(sent["PAYMENT-SIGNATURE"]?.length).toBeLessThan(8_192);
  });

  it("costs as little by a tool of MCP", async () => {
    const response = await app.request("http://127.0.0.1:4020/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "score_wallet", arguments: { address: AGENT } },
      }),
    });
    const text = await response.text();
    expect(text).toContain("x402Version");
    expect(text).not.toContain("routeTemplate");
    expect([statements, node.calls]).toEqual([CHEAP.wallet, []]);
  });
});

/** Every priced operation with a request that it answers, as the server's own manifest lists them. */
async function priced(): Promise<readonly Priced[]> {
  const manifest = await app.request("http://127.0.0.1:4020/.well-known/x402");
  if (manifest.status !== 200) throw new Error(`${manifest.status}: ${await manifest.text()}`);
  const { resources } = (await manifest.json()) as { resources: readonly Priced[] };
  const listed = resources.map((resource) => {
    const { url, body } = resource;
    return url.endsWith("/v1/outputs")
      ? { ...resource, body: { ...(body as object), spec_id: SPEC_ID } }
      : resource;
  });
  const template = "http://127.0.0.1:4020/v1/verdicts/{verdict_id}/appeal";
  const url = template.replace("{verdict_id}", VERDICT_ID);
  return [...listed, { method: "POST", url, url_template: template, body: null }];
}

function ask({ method, url, body }: Priced, headers: Readonly<Record<string, string>> = {}) {
  const sent = body === null ? {} : { body: JSON.stringify(body) };
  return app.request(url, { method, headers: { "content-type": "application/json", ...headers }, ...sent });
}

/** The URL under which catalogs list a request. */
function templateOf({ url_template }: Priced): string {
  return url_template.replaceAll(/\{(.+?)\}/g, ":$1");
}

function bytesOf(headers: Headers): number {
  return [...headers].flat().join(": \r\n").length;
}

function pauper() {
  return new x402Client()
    .register(`eip155:${CHAIN_ID}`, new ExactEvmScheme(privateKeyToAccount(generatePrivateKey())))
    .setSpendControls(false);
}

async function newKey(balanceUnits: number): Promise<string> {
  const wanted = { name: "poor", partner: false, balanceUnits, expiresAt: null };
  return (await createApiKey(world.db, wanted, { randomBytes, randomUuid: randomUUID })).secret;
}

function recordStatements(client: PoolClient): void {
  const query: (...given: unknown[]) => unknown = client.query.bind(client);
  const recorded = (...given: unknown[]) => {
    const asked = given[0] as string | { readonly name?: string; readonly text: string };
    statements.push(typeof asked === "string" ? asked : (asked.name ?? asked.text));
    return query(...given);
  };
  client.query = recorded as typeof client.query;
}

const SPEC: Parameters<typeof insertSpec>[1] = {
  id: SPEC_ID,
  clientAddr: AGENT,
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

async function insertAppealable(): Promise<void> {
  await world.client.query(
    `insert into ahs.verdict (id, spec_id, slot, output_hash, submitted_by, submitter_addr, provider_addr, owner, units, status,
       not_before, cause, runs, final_verdict, job_chain_id, job_escrow, job_id, created_at, updated_at)
     values ($1, $2, 's', '0x', 'agent', $3, $3, 'key:none', 500, 'completed', now(), 'submitted', 1, 'REJECT', $4, '0xe5', 7,
       now(), now())`,
    [VERDICT_ID, SPEC_ID, AGENT, CHAIN_ID],
  );
  await world.client.query(
    `insert into ahs.appeal (verdict_id, chain_id, run, appeal_by, decide_by, units, state, created_at, updated_at)
     values ($1, $2, 1, now() + interval '1 hour', now() + interval '2 hours', 500, 'window', now(), now())`,
    [VERDICT_ID, CHAIN_ID],
  );
}

/** A failure whose calldata a router would have, in a block of now. */
async function insertFailure(): Promise<void> {
  const now = Math.floor(Date.now() / 1_000);
  await world.client.query(`update ${SCHEMA}.block set timestamp = $1 where number = $2`, [now, HEAD]);
  await world.client.query(
    `insert into ${SCHEMA}.transaction values
     ($1, $2, 0, $3, $4, $5, 0, 0, $6, '0xac9650d8', 90000, 24000, 1000000000, 7, false, null, true)`,
    [blockHash(1), HEAD, now, AGENT, numberToHex(0xd1, { size: 20 }), `0xac9650d8${"00".repeat(64)}`],
  );
}

/** The service as `ahs serve` makes it, on the test's database and node. */
async function serveOn(deploymentFile: string): Promise<Hono<ApiEnv>> {
  writeDeployment(deploymentFile, DEPLOYMENT);
  const config = parseConfig({
    DATABASE_URL: "postgres://unused/unused",
    RPC_URL: node.url,
    AHS_DEPLOYMENT: deploymentFile,
    X402_PAY_TO: place(0xb1).address,
    X402_FACILITATOR_ADDRESS: place(0xb2).address,
    HISTORY_SOURCE: "none",
    RECEIPT_PRIVATE_KEY: `0x${"5e".repeat(32)}`,
    ...{
      PANEL_BASE_URL: "http://127.0.0.1:9",
      PANEL_MODEL: "a",
      PANEL_APPEAL_BASE_URL: "http://127.0.0.1:9",
    },
    ...{ PANEL_APPEAL_MODEL: "b", APPEAL_WINDOW_SECONDS: "600" },
  });
  const logger = pino({ level: "silent" });
  const clock = await openDatabaseClock(world.db, MACHINE_CLOCK);
  const parts = {
    ...{ clock, db: world.db, replica: null, logger, history: null, life: createServerLife(), signer: null },
    signal: new AbortController().signal,
  };
  // Requests of this test come over no socket.
  const services = { ...(await createServices(config, parts)), socketAddress: () => null };
  return createInterfaceApp(services, [SCORING_INTERFACE, VERIFICATION_INTERFACE]);
}

const usdc: Address = place(0xa4).address;
const feed: Address = place(0xa5).address;
const DEPLOYMENT: Parameters<typeof writeDeployment>[1] = {
  chainId: CHAIN_ID,
  name: "unpaid",
  startBlock: 0,
  finalityBlocks: 1,
  identityRegistry: place(0xa1),
  sanctionsList: place(0xa2),
  oracle: place(0xa3),
  verdictEvaluator: null,
  assuranceAccounts: null,
  escrows: [],
  registries: [],
  reputationRegistry: null,
  validationRegistry: null,
  usdc,
  market: {
    native: { symbol: "ETH", decimals: 18, feed },
    wrappedNative: null,
    tokens: [{ address: usdc, symbol: "USDC", decimals: 6, feed }],
  },
  accounts: { entryPoints: [], publicFunders: [], mixers: [], venues: [], vettedServices: [] },
  staticWallets: [],
};
