import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { pino } from "pino";
import { type Address, encodeAbiParameters, type Hex, numberToHex, pad, slice, toEventSelector } from "viem";
import type { RegistryEntry } from "../../../../service/chain/deployments.ts";
import type { LogFilter } from "../../../../service/chain/node/chain-reader.ts";
import type { RawHeader, RawLog, RawReceipt } from "../../../../service/chain/node/rpc-answers.ts";
import type { Database } from "../../../../service/db/database.ts";
import { enrolment } from "../../../../service/db/tables/history.ts";
import { registryAgent, type ScanReport } from "../../../../service/db/tables/scan.ts";
import type { Grade } from "../../../../service/model/score/record.ts";
import { type ScanOnceDeps, scanOnce } from "../../../../service/registries/nightly/scan-once.ts";
import { beginScan } from "../../../../service/registries/nightly/scan-runs.ts";
import { insertCurrentScore } from "../../../support/score-rows.ts";
import { openTestDatabase } from "../../../support/test-database.ts";

export const CHAIN = 31337;
export const FINAL = 1_000;
const FINALITY = 10;
export const OLAS: RegistryEntry = {
  name: "olas",
  kind: "olas-service-registry-l2",
  address: "0x3C1fF68f5aa342D296d4DEe4Bb1cACCA912D95fE",
  startBlock: 1,
};
export const CELO: RegistryEntry = {
  name: "another",
  kind: "erc8004",
  address: "0x8004A818BFB912233c491871b3d84c89A494BD9e",
  startBlock: 1,
};
const IDENTITY: Address = "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";
const ROOT: ScanReport["root"] = { epoch: 20_777, root: `0x${"33".repeat(32)}`, leaves: 3 };
const HASH = numberToHex(1, { size: 32 });
const CREATE = toEventSelector("CreateService(uint256,bytes32)");
const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
const REGISTERED = toEventSelector("Registered(uint256,string,address)");
const SAFE_SETUP = toEventSelector("SafeSetup(address,address[],uint256,address,address)");
const DEPLOY = toEventSelector("CreateMultisigWithAgents(uint256,address)");

export type ReportWorld = Awaited<ReturnType<typeof createReportWorld>>;

/** A database with the index that a scan reads, final up to block 1,000, and scans without a node on demand. */
export async function createReportWorld() {
  const { db, close } = await openTestDatabase();
  await createIndex(db);
  const clock = { ms: Date.parse("2026-11-20T02:10:00Z") };
  const deps: ScanOnceDeps = {
    db,
    deployment: {
      chainId: CHAIN,
      finalityBlocks: FINALITY,
      identityRegistry: { address: IDENTITY, startBlock: 0 },
      registries: [],
    },
    steps: { scoreAll: async () => 0, publishRoot: async () => ({ root: ROOT, noRoot: null }) },
    openReader: () => nodeWith([]),
    mostWaiting: 100,
    logger: pino({ level: "silent" }),
    now: () => new Date(clock.ms),
    monotonicMs: () => performance.now(),
    limits: {
      registries: { maxBlocks: 500, maxLogs: 20_000, maxRequests: 100, maxMs: 60_000 },
      documents: { maxMs: 0, stallMs: 0, pollMs: 0 },
    },
  };
  const begin = async (cause: "nightly" | "hand" = "hand", night = "2026-11-20") =>
    beginScan(db, { chainId: CHAIN, night, cause, id: randomUUID(), now: deps.now() });
  return {
    db,
    deps,
    clock,
    close,
    begin,
    /** A whole scan, a second after the one before. */
    scan: async (changes: Partial<ScanOnceDeps> = {}): Promise<ScanReport> => {
      clock.ms += 1_000;
      const attempt = await begin();
      if (attempt === null) throw new Error("a scan by hand always begins");
      return scanOnce({ ...deps, ...changes }, attempt, new AbortController().signal);
    },
    /** A scan of these registries alone. */
    withRegistries: (registries: readonly RegistryEntry[]) => ({
      deployment: { ...deps.deployment, registries: [...registries] },
    }),
    clear: () =>
      db.$client.query(
        `truncate ahs.scan_run, ahs.scan_grade, ahs.registry_agent, ahs.registry_cursor, ahs.enrolment, ahs.agent_document,
         ahs.probe, ahs.probe_schedule, ahs.current_score, ahs.score, chain_31337.agent, chain_31337.wallet cascade`,
      ),
    grade: (wallet: Address, grade: Grade | null, sanctioned = false) =>
      insertCurrentScore(db, {
        ...{ wallet, grade, sanctioned },
        ahsScore: grade === null ? null : 95 - 10 * "ABCDEF".indexOf(grade),
      }),
    document: (agentId: number, contentHash: string | null, state = "current") =>
      db.$client.query(
        `insert into ahs.agent_document (chain_id, agent_id, uri, state, content_hash, services, attempts)
         values (${CHAIN}, $1, 'https://a.example', $3, $2, '[]', 0)
         on conflict (chain_id, agent_id) do update set content_hash = $2, state = $3`,
        [agentId, contentHash, state],
      ),
    watchDocuments: () => watchDocuments(db),
    agent: (agentId: number, block: number) =>
      db.$client.query("insert into chain_31337.agent values ($1, $2)", [agentId, block]),
    follow: (wallet: Address) => db.$client.query("insert into chain_31337.wallet values ($1)", [wallet]),
    /** Has the index be final up to this block instead. */
    finalize: (block: number) =>
      db.$client.query(`insert into chain_31337.block values (${block}, '0xbb', 1), (${block + FINALITY}, '0xcc', 1)
          on conflict do nothing;
        update chain_31337._ponder_checkpoint
        set finalized_checkpoint = repeat('0', 26) || lpad('${block}', 16, '0') || repeat('0', 33)`),
    agents: () =>
      db
        .select({
          id: sql<number>`agent_id::int`,
          wallet: registryAgent.wallet,
          name: registryAgent.name,
          block: registryAgent.registeredBlock,
        })
        .from(registryAgent)
        .orderBy(registryAgent.registry, registryAgent.agentId),
    enrolments: () =>
      db
        .select({ wallet: enrolment.wallet, cause: enrolment.cause })
        .from(enrolment)
        .orderBy(enrolment.wallet),
  };
}

/** An address that ends with a number. */
export function walletOf(number: number): Address {
  return numberToHex(number + 1, { size: 20 });
}

/** A service of Olas, created in a block and deployed with the wallet of its number in the same. */
export function olasService(id: number, block: number): readonly RawLog[] {
  const at = { block, registry: OLAS };
  return [
    logOf({ ...at, logIndex: 2 * id, topics: [CREATE, numberToHex(id, { size: 32 })], data: pad("0x01") }),
    logOf({
      ...{ ...at, logIndex: 2 * id + 1, data: "0x" },
      topics: [DEPLOY, numberToHex(id, { size: 32 }), pad(walletOf(id))],
    }),
  ];
}

/** An agent of an ERC-8004 registry, minted to a wallet in a block. */
export function erc8004Agent(
  { id, block, wallet, uri }: { id: number; block: number; wallet: Address; uri: string },
  registry = CELO,
): readonly RawLog[] {
  const topics = [numberToHex(id, { size: 32 }), pad(wallet)] as const;
  return [
    logOf({
      block,
      registry,
      logIndex: 2 * id,
      topics: [TRANSFER, pad("0x"), pad(wallet), topics[0]],
      data: "0x",
    }),
    logOf({
      ...{ block, registry, logIndex: 2 * id + 1, topics: [REGISTERED, ...topics] },
      data: encodeAbiParameters([{ type: "string" }], [uri]),
    }),
  ];
}

type LogLine = Pick<RawLog, "topics" | "data" | "logIndex"> & {
  readonly block: number;
  readonly registry: RegistryEntry;
};

function logOf({ block, registry, ...line }: LogLine): RawLog {
  const hash = numberToHex(block, { size: 32 });
  const address = registry.address.toLowerCase() as Address;
  return { ...line, address, blockNumber: block, blockHash: hash, transactionHash: hash };
}

/** A node with these logs, and every filter that it was asked for. */
export function nodeWith(logs: readonly RawLog[]) {
  const asked: LogFilter[] = [];
  return {
    asked,
    logs: async (filter: LogFilter): Promise<readonly RawLog[]> => {
      asked.push(filter);
      return logs.filter(
        ({ address, blockNumber }) =>
          filter.addresses?.includes(address) && blockNumber >= filter.from && blockNumber <= filter.to,
      );
    },
    blockReceipts: async (block: number): Promise<readonly RawReceipt[]> =>
      logs.filter(({ blockNumber }) => blockNumber === block).map(receiptOf),
    /** Of a transaction that makes every multisig that it names. */
    receipt: async (hash: Hex): Promise<RawReceipt | null> => {
      const [first, ...rest] = logs.filter(({ transactionHash }) => transactionHash === hash);
      if (first === undefined) return null;
      const made = [first, ...rest].flatMap(({ topics: [topic, , multisig], ...log }) =>
        topic === DEPLOY && multisig !== undefined
          ? [{ ...log, topics: [SAFE_SETUP], address: slice(multisig, 12) }]
          : [],
      );
      return { ...receiptOf(first), logs: made.flatMap((log) => receiptOf(log).logs) };
    },
    header: async (number: number): Promise<RawHeader> => ({ number, hash: HASH, timestamp: 1 }),
  };
}

/** A transaction that logged this alone. */
function receiptOf(log: RawLog): RawReceipt {
  const { blockHash, blockNumber, transactionHash, logIndex } = log;
  return {
    ...{ blockHash, blockNumber, transactionHash, transactionIndex: logIndex, from: IDENTITY, status: "0x1" },
    ...{ gasUsed: 21_000n, effectiveGasPrice: 1n },
    logs: [{ ...log, blockNumber: numberToHex(blockNumber), logIndex: numberToHex(logIndex) }],
  };
}

/**
 * Records how many documents each later statement updates.
 * The returned function ends the record, and returns the maximum and the sum.
 */
async function watchDocuments({ $client }: Database) {
  await $client.query(`
    create table chain_31337.touched (rows bigint);
    create function chain_31337.note_touched() returns trigger language plpgsql as
      'begin insert into chain_31337.touched select count(*) from changed; return null; end';
    create trigger note_touched after update on ahs.agent_document
      referencing new table as changed for each statement execute function chain_31337.note_touched()`);
  return async () => {
    const { rows } = await $client.query<{ most: number; all: number }>(
      `select max(rows)::int as most, sum(rows)::int as "all" from chain_31337.touched`,
    );
    await $client.query("drop function chain_31337.note_touched cascade; drop table chain_31337.touched");
    return rows[0];
  };
}

async function createIndex(db: Database): Promise<void> {
  await db.$client.query(`
    create schema chain_31337;
    create table chain_31337.block (number numeric(78) primary key, hash text, timestamp numeric(78));
    create table chain_31337._ponder_checkpoint (finalized_checkpoint text);
    create table chain_31337.agent (agent_id numeric(78) primary key, registered_block numeric(78));
    create table chain_31337.wallet (address text primary key, followed_block numeric(78) not null default 1);
    insert into chain_31337.block values (${FINAL}, '0xaa', 1), (${FINAL + FINALITY}, '0xac', 1);
    insert into chain_31337._ponder_checkpoint values (repeat('0', 26) || lpad('${FINAL}', 16, '0') || repeat('0', 33));
    insert into ahs.chain_mark (chain_id, block_number, block_hash, generation)
      values (${CHAIN}, 1, '0xaa', '00000000-0000-0000-0000-000000000001');`);
}
