import { and, desc, eq, isNull, lte, sql } from "drizzle-orm";
import type { PoolClient } from "pg";
import type { Logger } from "pino";
import { type Address, zeroAddress } from "viem";
import { addressesIn, type Deployment } from "../../chain/deployments.ts";
import { lowerCase } from "../../db/columns.ts";
import { builderOn, type Database } from "../../db/database.ts";
import { hasTables, indexOf } from "../../db/index-tables.ts";
import { workThrough } from "../../db/quarantine.ts";
import { toQuery } from "../../db/statement.ts";
import { paidFeedback } from "../../db/tables/backing.ts";
import { enrichWallet } from "../../db/tables/enrich.ts";
import { readAsOf } from "../../ingest/read-as-of.ts";
import type { Payment } from "../../model/backing/cost-basis.ts";
import type { EndedJobs } from "../../model/backing/seller-profile.ts";
import { findOwners } from "../../model/features/find-owners.ts";
import type { AsOf } from "../../model/features/types.ts";
import { createContactCaches, loadFacts, loadMainFunders } from "../read/contact-graph.ts";
import { readTokenList } from "../read/read-rows.ts";
import type { BackingInputs } from "./compute-backing.ts";
import { endedJobs } from "./read-inputs.sql.ts";
import type { SpendingQuery, WalletReceipt } from "./read-spending.sql.ts";
import { isPriced, readSpending, type WalletSpending, windowOf } from "./read-spending.ts";

export type BackingContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly chain: Pick<Deployment, "market" | "accounts" | "reputationRegistry">;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** Wallets of one statement: few enough for its time limit. */
const BATCH = 200;
/** Pairs of payer and payee, and receipts by week, that one pass holds: some hundred MB of each. */
const MOST_PAIRS = 1_000_000;

export type ReadInputs = { readonly asOf: AsOf; readonly inputs: BackingInputs };

/**
 * Reads the inputs of all backing in the caller's snapshot; null while no block is both finalized and enriched, or the native coin has
 * no price. A wallet whose rows cannot be read is quarantined and left out: it passes nothing on.
 */
export async function readInputs(
  client: PoolClient,
  context: BackingContext,
  { signal, most = MOST_PAIRS }: { readonly signal: AbortSignal; readonly most?: number },
): Promise<ReadInputs | null> {
  const { chainId, chain } = context;
  const asOf = await readAsOf(client, chainId);
  if (asOf === null) return null;
  const tokens = await readTokenList(client, { chainId, market: chain.market, enriched: asOf });
  if (!isPriced(tokens)) return null;
  const hasBonds = await hasTables(builderOn(client), chainId, indexOf(chainId).bondChange);
  const query = { chainId, asOf, tokens, accounts: chain.accounts, hasBonds, most };
  const read = await readAll(client, context, { query, signal });
  const jobs = await readJobs(client, { chainId, asOf });
  const feedback = await readFeedback(client, context, asOf);
  const clusterOf = await readClusters(client, context, { ...read, jobs, feedback, asOf });
  return { asOf, inputs: { ...read, jobs, feedback, clusterOf } };
}

/** The spending of all followed wallets whose blocks are enriched, batch by batch. */
async function readAll(
  client: PoolClient,
  context: BackingContext,
  { query, signal }: { readonly query: SpendingQuery; readonly signal: AbortSignal },
) {
  const all: WalletSpending = { own: new Map(), payments: [], receipts: [], bonds: new Map(), leftOut: 0 };
  const wallets: Address[] = [];
  const attempt = async (batch: readonly string[]) => {
    const spending = await inSavepoint(client, () => readSpending(client, query, batch as Address[]));
    for (const [wallet, cost] of spending.own) all.own.set(wallet, cost);
    for (const [wallet, bond] of spending.bonds) all.bonds.set(wallet, bond);
    for (const payment of spending.payments) all.payments.push(payment);
    for (const receipt of spending.receipts) all.receipts.push(receipt);
    wallets.push(...(batch as Address[]));
    all.leftOut +=
      spending.leftOut + boundPayments(all.payments, query.most) + boundReceipts(all.receipts, query.most);
  };
  const control = async () => {
    await inSavepoint(client, () => readSpending(client, query, [zeroAddress]));
  };
  await workThrough(
    { ...context, kind: "backing" },
    { items: await readPayers(client, query), batchSize: BATCH, lanes: 1, attempt, control, signal },
  );
  return { ...all, wallets };
}

/** A failed statement ends a transaction, but for what was done before a savepoint. */
async function inSavepoint<Result>(client: PoolClient, read: () => Promise<Result>): Promise<Result> {
  await client.query("savepoint backing");
  try {
    const result = await read();
    await client.query("release savepoint backing");
    return result;
  } catch (error) {
    await client.query("rollback to savepoint backing");
    throw error;
  }
}

/** Followed wallets, all of whose blocks since then are enriched. */
async function readPayers(client: PoolClient, { chainId, asOf }: SpendingQuery): Promise<readonly Address[]> {
  const { wallet } = indexOf(chainId);
  const isEnriched = and(
    eq(enrichWallet.chainId, chainId),
    eq(enrichWallet.wallet, wallet.address),
    isNull(enrichWallet.pastNext),
    sql`${enrichWallet.fromBlock} <= ${wallet.followedBlock}`,
  );
  const rows = await builderOn(client)
    .select({ address: wallet.address })
    .from(wallet)
    .innerJoin(enrichWallet, isEnriched)
    .where(lte(wallet.followedBlock, BigInt(asOf.blockNumber)))
    .orderBy(wallet.address);
  return rows.map(({ address }) => address);
}

/**
 * Keeps the largest payments. The others of a payer become one to the zero address, so that its other payees gain nothing by them.
 * Returns how many those are.
 */
export function boundPayments(payments: Payment[], most: number): number {
  const named = payments.filter(({ payee }) => payee !== zeroAddress);
  if (named.length <= most) return 0;
  const rest = new Map<Address, bigint>();
  const fold = ({ payer, microUsd }: Payment) => rest.set(payer, (rest.get(payer) ?? 0n) + microUsd);
  for (const payment of payments) if (payment.payee === zeroAddress) fold(payment);
  named.sort(byWorth);
  for (const payment of named.slice(most)) fold(payment);
  payments.length = 0;
  for (const payment of named.slice(0, most)) payments.push(payment);
  for (const [payer, microUsd] of rest) payments.push({ payer, payee: zeroAddress, microUsd });
  return named.length - most;
}

function boundReceipts(receipts: WalletReceipt[], most: number): number {
  if (receipts.length <= most) return 0;
  receipts.sort(byWorth);
  return receipts.splice(most).length;
}

function byWorth(a: Pick<Payment, "microUsd">, b: Pick<Payment, "microUsd">): number {
  return a.microUsd === b.microUsd ? 0 : a.microUsd > b.microUsd ? -1 : 1;
}

/** Ended jobs of the window by provider. Jobs that no provider submitted for name none. */
async function readJobs(
  client: PoolClient,
  { chainId, asOf }: { readonly chainId: number; readonly asOf: AsOf },
): Promise<ReadonlyMap<Address, readonly EndedJobs[]>> {
  const { rows } = await client.query<EndedJobs & { readonly provider: Address }>(
    toQuery(endedJobs(chainId, { throughBlock: asOf.blockNumber, since: windowOf(asOf).since })),
  );
  return Map.groupBy(rows, ({ provider }) => provider);
}

/** Entries of feedback that one pass holds, those of the clients that paid most first. */
const MOST_FEEDBACK = 200_000;

async function readFeedback(
  client: PoolClient,
  { chainId, chain: { reputationRegistry } }: BackingContext,
  asOf: AsOf,
): Promise<BackingInputs["feedback"]> {
  if (reputationRegistry === null) return null;
  const { wallet, client: payer, block, feedbackIndex, value, tag, paid } = paidFeedback;
  const isRead = and(
    eq(paidFeedback.chainId, chainId),
    eq(paidFeedback.registry, lowerCase(reputationRegistry)),
    lte(block, asOf.blockNumber),
  );
  const rows = await builderOn(client)
    .select({ wallet, client: payer, block, feedbackIndex, value, tag })
    .from(paidFeedback)
    .where(isRead)
    .orderBy(desc(paid), wallet, payer)
    .limit(MOST_FEEDBACK);
  return Map.groupBy(rows, (row) => row.wallet);
}

/** Owner clusters among all who spent, paid or were paid, as scoring finds them. */
async function readClusters(
  client: PoolClient,
  { chainId, chain }: BackingContext,
  read: WalletSpending & Pick<BackingInputs, "wallets" | "jobs" | "feedback"> & { readonly asOf: AsOf },
): Promise<(account: Address) => string> {
  const publicFunders = addressesIn(chain.accounts.publicFunders);
  const accounts = new Set(read.wallets);
  for (const { payer, payee } of read.payments) accounts.add(payer).add(payee);
  for (const { payer } of read.receipts) accounts.add(payer);
  for (const { client: payer, endedBy } of [...read.jobs.values()].flat()) {
    if (payer !== null) accounts.add(payer);
    if (endedBy !== null) accounts.add(endedBy);
  }
  for (const { client: payer } of [...(read.feedback?.values() ?? [])].flat()) accounts.add(payer);
  accounts.delete(zeroAddress);
  const cache = createContactCaches()(read.asOf.blockHash);
  const reader = { client, chainId, cache };
  await loadFacts(reader, accounts, publicFunders);
  const owned = [...accounts].filter((account) => cache.facts.get(account)?.hasCode === false);
  await loadMainFunders(reader, owned);
  const mainFunderOf = new Map<Address, Address>();
  for (const account of owned) {
    const funder = cache.mainFunders.get(account);
    if (funder !== undefined && funder !== null) mainFunderOf.set(account, funder);
  }
  const { groups } = findOwners({
    // No one's account: clusters are asked for from no wallet's view.
    wallet: zeroAddress,
    addresses: [...accounts].sort(),
    graph: { mainFunderOf },
    facts: cache.facts,
    publicFunders,
    payersBack: new Set(),
  });
  return (account) => groups.get(account) ?? account;
}
