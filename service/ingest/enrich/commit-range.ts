import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../../db/database.ts";
import {
  addContacts,
  type ContactIncrement,
  dropPayers,
  forgetStrangerCalls,
  readKnownCounterparties,
  readStrangers,
  storeStrangerCalls,
} from "./contact-rows.ts";
import { dealingsOfCalls, dealingsOfTransfers, sumDealings } from "./contacts.ts";
import type { Market } from "./context.ts";
import { storeApprovals } from "./enrich-approvals.ts";
import type { Creation } from "./enrich-reads.ts";
import {
  type Advance,
  advanceTo,
  type EnrichRows,
  itself,
  type NewRows,
  type RowCounts,
  storeRows,
  takeRange,
} from "./enrich-writes.ts";
import { type WantedFact, wantFacts } from "./pending-facts.ts";
import { createPriceBook, type FeedPriceRow, readFeedPrices, storeFeedPrices } from "./prices.ts";
import { type BlockCall, countStrangers } from "./strangers.ts";

/** Everything that one range says. */
export type RangeFacts = {
  readonly rows: EnrichRows;
  /** By own calls, up to the end of the range. */
  readonly creations: readonly Creation[];
  /** Transactions of the read blocks that followed wallets did not send. */
  readonly blockCalls: readonly BlockCall[];
  readonly prices: readonly FeedPriceRow[];
};

export type Commit = {
  readonly chainId: number;
  /** Generation of the chain's mark under which the range was read. */
  readonly generation: string;
  readonly advance: Advance;
  readonly market: Market;
  readonly facts: RangeFacts;
};

/** outdated: the chain's data was cleared, or another process moved on, since the range was read; nothing is stored. */
export type CommitResult =
  | {
      readonly stored: true;
      readonly rows: RowCounts & { readonly approvals: number; readonly prices: number };
      /** Approvals of wallets that have more than are kept. */
      readonly approvalsLeftOut: number;
      /** Accounts whose facts are not asked for, since too many wait for their wallet. */
      readonly accountsLeftOut: number;
      /** Payers of wallets that have more than are kept. */
      readonly payersLeftOut: number;
    }
  | { readonly stored: false };

/**
 * Stores a range and what it finishes in one transaction. Storing the same range again adds nothing: contacts are counted
 * from rows that were not there before.
 */
export async function commitRange(db: Database, commit: Commit): Promise<CommitResult> {
  const { chainId, advance, facts } = commit;
  return db.transaction(async (tx): Promise<CommitResult> => {
    if (!(await takeRange(tx, commit))) return { stored: false };
    const prices = await storeFeedPrices(tx, chainId, facts.prices);
    const { added, counts } = await storeRows(tx, facts.rows);
    await advanceTo(tx, chainId, advance);
    const pastOf = advance.of === "past" ? [...advance.wallets.keys()] : [];
    const approvals = await storeApprovals(tx, chainId, { rows: facts.rows.approvals, pastOf });
    const { contacts, payersLeftOut } = await storeContacts(tx, commit, added);
    const accountsLeftOut = await wantFacts(tx, chainId, [...wantedBy(commit), ...wantedOf(contacts, added)]);
    const rows = { ...counts, approvals: approvals.count, prices };
    return { stored: true, rows, approvalsLeftOut: approvals.leftOut, accountsLeftOut, payersLeftOut };
  });
}

/** The wallets that join, and who may spend for one by an approval that it gave itself. */
function wantedBy({ advance, facts }: Commit): readonly WantedFact[] {
  const joined = advance.of === "chain" ? advance.joined.map(({ wallet }) => itself(wallet)) : [];
  const given = facts.rows.approvals.filter(({ own, approved }) => own && approved);
  const spenders = given.map(({ spender, owner, timestamp }) => ({
    address: spender,
    wallet: owner,
    since: timestamp,
    own: true,
  }));
  return [...joined, ...spenders];
}

/** Counterparties: own are those that an own call went to or paid; others are named by logs alone. */
function wantedOf(
  contacts: readonly ContactIncrement[],
  { calls, transfers }: NewRows,
): readonly WantedFact[] {
  const called = calls.map(({ wallet, recipient, to }) => `${wallet} ${recipient ?? to}`);
  const own = new Set(calls.map(({ wallet, hash }) => `${wallet} ${hash}`));
  const paid = transfers.filter(({ from, transactionHash }) => own.has(`${from} ${transactionHash}`));
  const named = new Set([...called, ...paid.map(({ from, to }) => `${from} ${to}`)]);
  return contacts.map(({ counterparty, account, firstTime }) => ({
    ...{ address: counterparty, wallet: account, since: firstTime },
    own: named.has(`${account} ${counterparty}`),
  }));
}

/**
 * Answers the contacts of followed wallets, and of those that sent them something. Strangers come after the followed wallets,
 * which decide whose strangers are counted.
 */
async function storeContacts(
  tx: NodePgDatabase,
  commit: Commit,
  added: NewRows,
): Promise<{ readonly contacts: readonly ContactIncrement[]; readonly payersLeftOut: number }> {
  const { chainId, market, facts } = commit;
  const funds =
    added.transfers.length === 0
      ? []
      : dealingsOfTransfers(added.transfers, market, createPriceBook(await readFeedPrices(tx, chainId)));
  const own = sumDealings([...dealingsOfCalls(added.calls, facts.creations), ...funds]);
  await addContacts(tx, chainId, own);
  const read = new Set(added.blocks.map(({ block }) => block));
  const calls = facts.blockCalls.filter(({ block }) => read.has(block));
  if (calls.length > 0) await storeStrangers(tx, chainId, calls);
  return { contacts: own, payersLeftOut: await dropPayers(tx, chainId, sumDealings(funds)) };
}

async function storeStrangers(
  tx: NodePgDatabase,
  chainId: number,
  calls: readonly BlockCall[],
): Promise<void> {
  const called = new Set(calls.flatMap(({ counterparty }) => counterparty ?? []));
  const counterparties = await readKnownCounterparties(tx, chainId, [...called]);
  const involved = new Set(calls.map(({ from }) => from));
  for (const { strangers } of counterparties.values())
    for (const account of strangers.keys()) involved.add(account);
  const strangers = await readStrangers(tx, chainId, [...involved]);
  const counted = countStrangers(calls, { counterparties, strangers });
  await forgetStrangerCalls(tx, chainId, counted.left);
  await addContacts(tx, chainId, sumDealings(counted.dealings));
  await storeStrangerCalls(tx, chainId, counted.calls);
}
