import { randomInt } from "node:crypto";
import fc from "fast-check";
import { getAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { servesFreshData } from "../../devnet/demo/await-ready.ts";
import { idempotencyKeyOf } from "../../service/access/idempotent-answers.ts";

import {
  type ApiDocument,
  type DocumentedOperation,
  operationsOf,
} from "../../service/api/kit/openapi-document.ts";
import type { TestServer } from "../support/anvil-testkit/services.ts";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { createAnswerCheck, saysFree } from "../support/openapi-fuzz/check-answer.ts";
import { type FuzzRequest, requestFrom } from "../support/openapi-fuzz/request-from-operation.ts";
import { createSender } from "../support/openapi-fuzz/send-request.ts";
import { createTestKey } from "../support/test-keys.ts";
import { until } from "../support/until.ts";

/** FUZZ_SEED repeats a run, FUZZ_SECONDS prolongs it. */
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 45);
const AT_ONCE = 8;
const PER_ROUND = 25;
const LEAST_PER_OPERATION = 50;
const BALANCE = 1_000_000_000;
/** Of a wallet in a batch. */
const WALLET_UNITS = 1_000;
const FAULTS_SHOWN = 10;
const FAULT_SHOWN = 600;
const KIND_SHOWN = 160;

const SOUND = getAddress("0x00000000000000000000000000000000000a9e01");
const FAILING = getAddress("0x00000000000000000000000000000000000a9e02");
const SANCTIONED = getAddress("0x00000000000000000000000000000000000a9e03");
const KNOWN = [SOUND, FAILING.toLowerCase(), SANCTIONED, getAddress(`0x${"ab".repeat(20)}`)];

const kit = useTestkit({ ageSeconds: 2 * 86_400 });
let server: TestServer;

beforeAll(async () => {
  for (const agent of [SOUND, FAILING, SANCTIONED]) await kit.chain.register(agent);
  await kit.chain.sanction([SANCTIONED]);
  for (let call = 0; call < 12; call += 1) {
    await kit.chain.moveTime(3_600);
    await kit.chain.succeed(SOUND);
    await kit.chain.revert(FAILING);
  }
  await kit.chain.toWallClock();
  await kit.chain.mine(40, 0);
  await kit.startIndexer();
  kit.startWorker();
  server = await kit.startServer({
    // Nothing asks the model here; without one every output would be refused alike.
    env: { HISTORY_SOURCE: "none", PANEL_BASE_URL: "http://127.0.0.1:9/v1", PANEL_MODEL: "none" },
  });
  kit.startMining(1_000);
  await until({ what: "the service is ready" }, async () =>
    (await servesFreshData(server.baseUrl)) ? true : null,
  );
});

test("no request that the OpenAPI document lets one think of brings a 500, a hang, an undocumented answer or a wrong charge", async () => {
  process.stdout.write(`fuzz: seed ${SEED}\n`);
  const targets = (await Promise.all(["/openapi.json", "/v1/openapi.json"].map(targetsOf))).flat();
  const sender = createSender(server.baseUrl);
  const faults = new Map<string, string>();
  const ask = createAsking({ send: sender.send, faults });

  const endsAt = performance.now() + SECONDS * 1_000;
  const isDone = () =>
    performance.now() >= endsAt && targets.every(({ sent }) => sent >= LEAST_PER_OPERATION);
  for (let round = 0; !isDone(); round += 1) {
    for (const target of targets) {
      const drawn = fc.sample(requestFrom(target.operation, target.document, KNOWN), {
        seed: SEED + round,
        numRuns: PER_ROUND,
      });
      for (let first = 0; first < drawn.length; first += AT_ONCE) {
        await Promise.all(drawn.slice(first, first + AT_ONCE).map((request) => ask(target, request)));
      }
    }
  }
  sender.close();

  process.stdout.write(summaryOf(targets));
  const shown = [...faults.values()].slice(0, FAULTS_SHOWN);
  expect([...shown, ...unexpectedErrors()], `FUZZ_SEED=${SEED} repeats it`).toEqual([]);
  for (const target of targets) expect(await chargedTo(target)).toEqual(expectedOf(target));
}, 240_000);

type Asking = {
  readonly send: ReturnType<typeof createSender>["send"];
  /** One request for each kind of fault. */
  readonly faults: Map<string, string>;
};

function createAsking({ send, faults }: Asking) {
  return async (target: Target, drawn: FuzzRequest): Promise<void> => {
    const request = withCredentials(target, drawn);
    target.sent += 1;
    const { fault, status, body } = await send(request).then(
      (answer) => ({ ...answer, fault: target.check(target.operation, answer) }),
      (error: unknown) => ({ fault: `no answer: ${String(error)}`, status: 0, body: "" }),
    );
    if (status === 200 && !saysFree(body)) noteCharge(target, request, body);
    target.statuses.set(status, (target.statuses.get(status) ?? 0) + 1);
    if (fault === null) return;
    const kind = fault.replaceAll(/0x[0-9a-f]+|[0-9a-f-]{36}|\d+/gi, "#").slice(0, KIND_SHOWN);
    const asked = `${request.method} ${request.target} ${JSON.stringify(request.headers)} ${request.body}`;
    faults.set(
      `${target.operation.path} ${kind}`,
      `${fault.slice(0, FAULT_SHOWN)}\n  of ${asked.slice(0, FAULT_SHOWN)}`,
    );
  };
}

/** Errors that the server itself called unexpected, each once. */
function unexpectedErrors(): readonly string[] {
  const lines = server
    .log()
    .split("\n")
    .filter((line) => line.includes('"unexpected error"'));
  const stacks = lines.map((line) => String(JSON.parse(line).err?.stack).slice(0, FAULT_SHOWN));
  return [...new Set(stacks)].slice(0, FAULTS_SHOWN);
}

function summaryOf(targets: readonly Target[]): string {
  const all = targets.reduce((sum, { sent }) => sum + sent, 0);
  const lines = targets.map(({ operation: { method, path }, statuses }) => {
    const sorted = [...statuses]
      .toSorted(([a], [b]) => a - b)
      .map(([status, times]) => `${status} × ${times}`);
    return `  ${method} ${path}: ${sorted.join(", ")}`;
  });
  return `fuzz: ${all} requests to ${targets.length} operations\n${lines.join("\n")}\n`;
}

type Target = {
  readonly operation: DocumentedOperation;
  readonly document: ApiDocument;
  readonly check: ReturnType<typeof createAnswerCheck>;
  /** A metered key that nothing but this operation is called with. */
  readonly key: { readonly id: string; readonly secret: string };
  readonly statuses: Map<number, number>;
  /** Idempotency-Keys of charged answers: once each is charged. */
  readonly answered: Set<string>;
  sent: number;
  /** Sum of the charges to expect. */
  units: number;
};

async function targetsOf(path: string): Promise<Target[]> {
  const document = (await (await fetch(server.baseUrl + path)).json()) as ApiDocument;
  const check = createAnswerCheck(document);
  return Promise.all(operationsOf(document).map((operation) => createTarget({ operation, document, check })));
}

async function createTarget(described: Pick<Target, "operation" | "document" | "check">): Promise<Target> {
  const key = await createTestKey(kit.db, BALANCE);
  await kit.db.$client.query("update ahs.api_key set rate_per_minute = 1000000 where id = $1", [key.id]);
  return { ...described, key, statuses: new Map(), answered: new Set(), sent: 0, units: 0 };
}

/** Nine of ten requests come with the operation's key, unless a stray header took its place. */
function withCredentials({ key, sent }: Target, request: FuzzRequest): FuzzRequest {
  if (sent % 10 === 9) return request;
  return { ...request, headers: { "x-api-key": key.secret, ...request.headers } };
}

function noteCharge(target: Target, { headers }: FuzzRequest, body: string): void {
  const { priceUnits } = target.operation;
  if (priceUnits === null || headers["x-api-key"] !== target.key.secret) return;
  const key = idempotencyKeyOf({ header: (name) => headers[name] });
  if (key !== null && target.answered.has(key)) return;
  if (key !== null) target.answered.add(key);
  target.units += target.operation.path === "/ahs/batch" ? batchUnits(body, priceUnits) : priceUnits;
}

/** The price of a batch grows with its wallets, up to the price that the document names. */
function batchUnits(body: string, most: number): number {
  const { results, errors } = JSON.parse(body) as { results: unknown[]; errors: unknown[] };
  return Math.min(most, WALLET_UNITS * (results.length + errors.length));
}

function expectedOf({ operation, units }: Target) {
  return { path: operation.path, held: 0, captured: units, balance: BALANCE - units };
}

async function chargedTo({ key, operation }: Target) {
  const { rows } = await kit.db.$client.query<{ held: string; captured: string; balance: string }>(
    `select coalesce(sum(units) filter (where state = 'held'), 0) as held,
            coalesce(sum(units) filter (where state = 'kept'), 0) as captured,
            (select balance_units from ahs.api_key where id = $1) as balance
     from ahs.key_debit where key_id = $1`,
    [key.id],
  );
  return {
    path: operation.path,
    held: Number(rows[0]?.held),
    captured: Number(rows[0]?.captured),
    balance: Number(rows[0]?.balance),
  };
}
