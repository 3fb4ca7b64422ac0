import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { SamplingRule } from "../../chain/deployments.ts";
import type { Database } from "../../db/database.ts";
import { addContacts, type ContactIncrement, dropPayers } from "./contact-rows.ts";
import {
  type CountedCall,
  dealingsOfCalls,
  dealingsOfTransfers,
  dealingsThrough,
  sumDealings,
} from "./contacts.ts";
import type { Market } from "./context.ts";
import { storeApprovals } from "./enrich-approvals.ts";
import type { Creation } from "./enrich-reads.ts";
import {
  type Advance,
  advanceTo,
  type EnrichRows,
  itself,
  type NewRows,
  storeRows,
  takeRange,
} from "./enrich-writes.ts";
import { type WantedFact, wantFacts } from "./pending-facts.ts";
import { createPriceBook, type FeedPriceRow, readFeedPrices, storeFeedPrices } from "./prices.ts";
import { storeSampled } from "./sampled-blocks.ts";
import type { SampledBlock } from "./sampling.ts";

/** Rows of one range, and the stretch that it finishes. */
export type Commit = {
  readonly chainId: number;
  /** Generation of the chain's mark under which the range was read. */
  readonly generation: string;
  readonly advance: Advance;
  readonly market: Market;
  readonly rows: EnrichRows;
  /** By own calls, up to the end of the range. */
  readonly creations: readonly Creation[];
  /** Those of them of which later calls to what they created may be stored already. */
  readonly late: readonly Creation[];
  readonly rule: SamplingRule;
  readonly sampled: readonly SampledBlock[];
  readonly prices: readonly FeedPriceRow[];
};

/**
 * Stores a range and what it finishes in one transaction; contacts are counted from rows that were not there before, so storing
 * it again adds nothing. Returns the rows written and how many were left out; null, with nothing stored, if the chain's data was
 * cleared, or another process moved on, since the range was read.
 */
export async function commitRange(db: Database, commit: Commit) {
  const { chainId, advance } = commit;
  return db.transaction(async (tx) => {
    if (!(await takeRange(tx, commit))) return null;
    const prices = await storeFeedPrices(tx, chainId, commit.prices);
    const { added, counts } = await storeRows(tx, commit.rows);
    const sampled = await storeSampled(tx, commit, commit.sampled);
    await advanceTo(tx, chainId, advance);
    const pastOf = advance.of === "chain" ? [] : [...advance.wallets.keys()];
    const approvals = await storeApprovals(tx, chainId, { rows: commit.rows.approvals, pastOf });
    const { contacts, payersLeftOut } = await storeContacts(tx, commit, added);
    const account = await wantFacts(tx, chainId, [...wantedBy(commit), ...wantedOf(contacts, added)]);
    return {
      rows: { ...counts, ...sampled, approvals: approvals.count, prices },
      leftOut: { approval: approvals.leftOut, account, payer: payersLeftOut },
    };
  });
}

/** The wallets that join, and who may spend for one by an approval that it gave itself. */
function wantedBy({ advance, rows }: Commit): readonly WantedFact[] {
  const joined = advance.of === "chain" ? advance.joined.map(({ wallet }) => itself(wallet)) : [];
  const given = rows.approvals.filter(({ own, approved }) => own && approved);
  return [
    ...joined,
    ...given.map((row) => ({ address: row.spender, wallet: row.owner, since: row.timestamp, own: true })),
  ];
}

/** Counterparties: own are those that an own call went to or paid; others are named by logs alone. */
function wantedOf(contacts: readonly ContactIncrement[], { calls, transfers }: NewRows) {
  const called = calls.map(({ wallet, recipient, to }) => `${wallet} ${recipient ?? to}`);
  const own = new Set(calls.map(({ wallet, hash }) => `${wallet} ${hash}`));
  const paid = transfers.filter(({ from, transactionHash }) => own.has(`${from} ${transactionHash}`));
  const named = new Set([...called, ...paid.map(({ from, to }) => `${from} ${to}`)]);
  return contacts.map(({ counterparty, account, firstTime }) => ({
    address: counterparty,
    wallet: account,
    since: firstTime,
    own: named.has(`${account} ${counterparty}`),
  }));
}

async function storeContacts(
  tx: NodePgDatabase,
  { chainId, market, creations, late }: Pick<Commit, "chainId" | "market" | "creations" | "late">,
  added: NewRows,
) {
  const funds =
    added.transfers.length === 0
      ? []
      : dealingsOfTransfers(added.transfers, market, createPriceBook(await readFeedPrices(tx, chainId)));
  const placeOf = (call: CountedCall) =>
    [call.wallet, call.block, call.transactionIndex, call.position].join();
  const counted = new Set(added.calls.map(placeOf));
  const later = (await readLaterCalls(tx, chainId, late)).filter((call) => !counted.has(placeOf(call)));
  const contacts = sumDealings([
    ...dealingsOfCalls(added.calls, creations),
    ...dealingsThrough(later, creations),
    ...funds,
  ]);
  await addContacts(tx, chainId, contacts);
  return { contacts, payersLeftOut: await dropPayers(tx, chainId, sumDealings(funds)) };
}

/** Calls of creators to what they created, those of this range among them. */
async function readLaterCalls(tx: NodePgDatabase, chainId: number, late: readonly Creation[]) {
  if (late.length === 0) return [];
  const wallets = sql.param(late.map(({ wallet }) => wallet));
  const contracts = sql.param(late.map(({ contract }) => contract));
  const { rows } = await tx.execute<Omit<CountedCall, "value"> & { readonly value: string | null }>(sql`
    select o.wallet, o.block::float8 as block, o.transaction_index as "transactionIndex", o.position,
      o.timestamp::float8 as timestamp, o.ok, o.recipient, o."to", o.emitters, o.value::text as value
    from unnest(${wallets}::text[], ${contracts}::text[]) as created (wallet, contract)
    join ahs.own_call o on o.chain_id = ${chainId} and o.wallet = created.wallet and o."to" = created.contract
      and o.source = 'enrich'`);
  return rows.map((row) => ({ ...row, value: row.value === null ? null : BigInt(row.value) }));
}
