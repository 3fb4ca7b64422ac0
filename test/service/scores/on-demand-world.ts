import { randomBytes, randomUUID } from "node:crypto";
import pino from "pino";
import { createWalletReader } from "../../../bin/serve/reports.ts";
import { ownerOf, ownerText } from "../../../service/access/access.ts";
import { apiKeyFinder, createApiKey } from "../../../service/access/api-keys.ts";
import { createKeyDebits, keepDebit } from "../../../service/access/key-debits.ts";
import { createApp } from "../../../service/api/create-app.ts";
import type { HistorySource } from "../../../service/ingest/history/history.ts";
import {
  createHistoryReader,
  HISTORY_LIMITS,
  type HistoryLimits,
} from "../../../service/ingest/history/history-reader.ts";
import { requestEnrolments } from "../../../service/oracle/enrolments.ts";
import { createInfrastructureReader } from "../../../service/registries/probes/probes-of-wallet.ts";
import { createTransferReader } from "../../../service/reports/profit-and-loss/wallet-transfers.ts";
import { createContactCaches } from "../../../service/scores/read/contact-graph.ts";
import { scoreNow, scoreOnDemand } from "../../../service/scores/score-on-demand.ts";
import { createScoreReader } from "../../../service/scores/scores.ts";
import { createWalletLifeReader } from "../../../service/scores/wallet-reads.ts";
import { keyOnlyAccess } from "../access/key-only-access.ts";
import { fakePorts } from "../api/fake-ports.ts";
import { blockHash } from "../model/features/index-tables.ts";
import { createRecordWorld, FINALIZED, NEWEST } from "./record-world.ts";

/** Time of block 0 in a record world. */
const GENESIS = 1_790_000_000;

export type OnDemandWorld = Awaited<ReturnType<typeof createOnDemandWorld>>;

/** A record world behind the HTTP interface, with a key that has 10 USD, and with history sources as tests name them. */
export async function createOnDemandWorld() {
  const world = await createRecordWorld();
  const { db, context } = world;
  await db.$client.query("insert into ahs.enrich_cursor values ($1, $2, $3) on conflict do nothing", [
    context.chainId,
    FINALIZED,
    blockHash(FINALIZED),
  ]);
  const now = () => new Date((GENESIS + NEWEST) * 1000);
  const logger = pino({ level: "silent" });
  const clock = { now, monotonicMs: () => performance.now() };
  const keys = { find: apiKeyFinder(db), ...createKeyDebits({ db, now, randomUuid: () => randomUUID() }) };
  const wanted = { name: "n", partner: false, balanceUnits: 10_000, expiresAt: null };
  const { key, secret } = await createApiKey(db, wanted, { randomBytes, randomUuid: () => randomUUID() });
  const closing: (() => Promise<void>)[] = [];

  /** The app of a deployment with this source; null is a deployment without a source. */
  const appWith = (source: HistorySource | null, limits: Partial<HistoryLimits> = {}) => {
    const history =
      source === null
        ? null
        : createHistoryReader({
            source,
            now: () => performance.now(),
            limits: { ...HISTORY_LIMITS, ...limits },
          });
    if (history !== null) closing.push(history.close);
    const app = createApp({
      ...fakePorts().ports,
      readWallet: createWalletReader({ ...context, contacts: createContactCaches() }).readWallet,
      walletLife: createWalletLifeReader(db, context.chainId),
      walletTransfers: createTransferReader(db, context.chainId),
      access: keyOnlyAccess({ keys, clock, logger }),
      clock,
      logger,
      randomId: () => randomUUID(),
      scores: { ...createScoreReader(db, context.chainId), published: async () => null },
      scoreNow: (address) => scoreNow(context, address),
      scoreOnDemand:
        history === null
          ? null
          : (address) => scoreOnDemand({ ...context, history, logger }, address, "key:1"),
      enrol: (wallets, { caller, debitId }) =>
        db.transaction(async (tx) => {
          await keepDebit(tx, debitId);
          const requestedBy = ownerText(ownerOf(caller));
          await requestEnrolments(tx, { chainId: context.chainId, wallets, requestedBy, now: now() });
        }),
      policy: context.policy,
      infrastructure: {
        ...createInfrastructureReader(db, { chainId: context.chainId, registries: [] }),
        agents: async () => [],
        refusal: async () => null,
        reserve: () => null,
      },
    });
    return async (path: string, posted: unknown = null) => {
      const headers = { "X-API-Key": secret, "content-type": "application/json" };
      const body = posted === null ? {} : { method: "POST", body: JSON.stringify(posted) };
      const response = await app.request(path, { headers, ...body });
      const retryAfter = response.headers.get("retry-after");
      return {
        status: response.status,
        retryAfter,
        body: (await response.json()) as Record<string, unknown>,
      };
    };
  };

  const countOf = async (table: string): Promise<number> => {
    const { rows } = await db.$client.query(`select count(*)::int as count from ahs.${table}`);
    return rows[0].count;
  };
  return {
    ...world,
    appWith,
    /** Everything that a paid answer leaves behind, and what the key has left. */
    traces: async () => ({
      scores: await countOf("score"),
      histories: await countOf("stored_history"),
      calls: await countOf("own_call"),
      enrolments: await countOf("enrolment"),
      balance: Number(
        (await db.$client.query("select balance_units from ahs.api_key where id = $1", [key.id])).rows[0]
          .balance_units,
      ),
    }),
    closeReaders: async () => {
      await Promise.all(closing.splice(0).map((close) => close()));
    },
  };
}
