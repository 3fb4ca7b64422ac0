import type { Address } from "viem";
import { isFailure } from "../history/ask-json.ts";
import type { HistoryFailure } from "../history/history-source.ts";
import {
  type AccountFactRow,
  type FirstSeen,
  readFirstSeen,
  readPendingAccounts,
  storeAccountFacts,
} from "../store/account-facts.ts";
import { readChainMark } from "../store/chain-mark.ts";
import { readEnrichCursor } from "../store/enrich-reads.ts";
import type { AccountFactSource, SourcedFacts } from "./account-fact-source.ts";
import type { EnrichContext } from "./context.ts";
import { mapLimited } from "./map-limited.ts";
import { readCode } from "./read-code.ts";
import { delegateOf } from "./read-delegations.ts";

export type FactsContext = EnrichContext & {
  /** Null where there is none: then only code is read, and what contacts show. */
  readonly source: AccountFactSource | null;
  /** Milliseconds of any clock that never goes back. */
  readonly now: () => number;
  /** Accounts that the source gave no sense of, and until when they are left alone. */
  readonly refused: Map<Address, number>;
  readonly signal: AbortSignal;
};

/** more: whether others are waiting that can be asked for at once. failure: why the pass was broken off. */
export type FactsPass = { readonly more: boolean; readonly failure: HistoryFailure | null };

/** Accounts of one pass. */
const PASS = 32;
/** Most accounts that are asked for at once. */
const CONCURRENCY = 4;
const LEFT_ALONE_MS = 600_000;
/** Reasons that say nothing of the account: the source must be waited for. */
const OF_THE_SOURCE = new Set(["unavailable", "timeout", "rate_limited", "busy", "behind"]);

/**
 * Reads and stores facts of some accounts that have none: each once, also where no source knows any. An account that the source
 * answers nonsense for is left alone for ten minutes; trouble of the source itself ends the pass. Throws an EnrichFailure when the
 * node does not give code.
 */
export async function readAccountFacts(context: FactsContext): Promise<FactsPass> {
  const { db, chainId, refused } = context;
  const generation = (await readChainMark(db, chainId))?.generation;
  const cursor = await readEnrichCursor(db, chainId);
  if (generation === undefined || cursor === null) return { more: false, failure: null };
  for (const [account, until] of refused) if (until <= context.now()) refused.delete(account);
  const pending = await readPendingAccounts(db, { chainId, limit: PASS, leaveOut: [...refused.keys()] });
  if (pending.length === 0) return { more: false, failure: null };
  const coded = await mapLimited(pending, CONCURRENCY, async (address) => ({
    address,
    hasCode: isContract(await readCode(context.client, address, cursor.block)),
  }));
  const contracts = coded.filter(({ hasCode }) => hasCode).map(({ address }) => address);
  const seen = await readFirstSeen(db, { chainId, accounts: pending, contracts });
  const { told, failure } = await askSource(context, coded);
  const rows = told.map(({ facts, ...account }) => ({
    ...account,
    ...factsOf(facts, seen.get(account.address) ?? null),
    chainId,
    source: context.source === null ? "index" : context.source.name,
    readBlock: cursor.block,
  }));
  const stored = await storeAccountFacts(db, { chainId, generation, rows });
  context.metrics.rows.inc({ table: "accountFacts" }, stored);
  return { more: failure === null, failure };
}

type Coded = { readonly address: Address; readonly hasCode: boolean };
type Told = Coded & { readonly facts: SourcedFacts | null };

async function askSource(
  context: FactsContext,
  accounts: readonly Coded[],
): Promise<{ readonly told: readonly Told[]; readonly failure: HistoryFailure | null }> {
  const { source, signal, refused, logger } = context;
  if (source === null)
    return { told: accounts.map((account) => ({ ...account, facts: null })), failure: null };
  const told: Told[] = [];
  let failure: HistoryFailure | null = null;
  await mapLimited(accounts, CONCURRENCY, async (account) => {
    if (failure !== null) return;
    const facts = await source.read(account, signal);
    signal.throwIfAborted();
    if (!isFailure(facts)) {
      told.push({ ...account, facts });
      return;
    }
    context.metrics.factFailures.inc({ reason: facts.reason });
    if (OF_THE_SOURCE.has(facts.reason)) {
      failure = facts;
      return;
    }
    logger.warn({ account: account.address, failure: facts }, "no facts of an account; trying again later");
    refused.set(account.address, context.now() + LEFT_ALONE_MS);
  });
  return { told, failure };
}

/** An account that runs another's code by EIP-7702 has none of its own. */
function isContract(code: `0x${string}`): boolean {
  return code !== "0x" && delegateOf(code) === null;
}

/** The earlier of what the source and what contacts tell. */
function factsOf(
  facts: SourcedFacts | null,
  seen: FirstSeen | null,
): Pick<AccountFactRow, "creator" | "firstFunder" | "existedBlock" | "existedAt"> {
  const existed = facts === null ? null : facts.existed;
  const first = existed === null || (seen !== null && seen.block < existed.block) ? seen : existed;
  return {
    creator: facts === null ? null : facts.creator,
    firstFunder: facts === null ? null : facts.firstFunder,
    existedBlock: first === null ? null : first.block,
    existedAt: first === null ? null : first.timestamp,
  };
}
