import type { Address, Hex } from "viem";
import { readState } from "../../chain/node/chain-reader.ts";
import { mapLimited } from "../../net/map-limited.ts";
import type { Followed } from "../enrich/log-rows.ts";
import { isFailure } from "../history/ask-source.ts";
import type { BlockRange, WalletsBlock } from "../history/batch-source.ts";
import { historyFailure } from "../history/history.ts";
import { compareWithNode, createNonceCheck } from "./check-rows.ts";
import { storeBlocks } from "./store-blocks.ts";
import { headerOf, SourceFailure, type WarmContext } from "./warm-context.ts";
import { ENOUGH_CALLS, type WarmWallet } from "./warm-state.sql.ts";
import { type Covered, noteSlice, readFirstNonces, type WarmGroup } from "./warm-state.ts";

/** Transactions and logs that are decoded and stored at once: what a kill can cost, and what memory holds. */
const AT_ONCE = 4_000;

/** A slice that was read to its end. */
type WarmedSlice = {
  readonly kind: "read";
  /** Wallets whose rows have gaps, or contradict what follows them: nothing is noted of these. */
  readonly doubtful: readonly Address[];
  readonly covered: readonly Address[];
  readonly transactions: number;
};

/** `outdated`: the chain's data was cleared meanwhile. `dense`: a wallet has too many calls in it; `blocks` is a length with enough of them. */
type SliceOutcome =
  | WarmedSlice
  | { readonly kind: "outdated" }
  | { readonly kind: "dense"; readonly blocks: number };

/**
 * Reads one slice of a group and notes it if it was read to its end. Throws a SourceFailure or a NodeFailure,
 * also where the two contradict each other: then the slice is not noted, and is read again.
 */
export async function warmSlice(
  context: WarmContext,
  slice: {
    readonly group: WarmGroup;
    readonly range: BlockRange;
    /** Of the chain's mark. */
    readonly generation: string;
    readonly isLast: boolean;
    readonly followed: Followed;
  },
): Promise<SliceOutcome> {
  const { enrich, source } = context;
  const { group, range, generation } = slice;
  const expected = await readExpected(context, group);
  const nonces = createNonceCheck(group.wallets);
  const wallets = group.wallets.map(({ wallet }) => wallet);
  const isOwn = new Set(wallets);
  const calls = new Map<Address, number>();
  let [transactions, most] = [0, 0];
  for await (const batch of batchesOf(context, group.wallets, range)) {
    const fault = await compareWithNode(enrich.client, batch.blocks, context.random);
    if (fault !== null) throw new SourceFailure(fault);
    for (const { transactions: sent } of batch.blocks)
      for (const { transaction } of sent) {
        nonces.add(transaction);
        const count = (calls.get(transaction.from) ?? 0) + 1;
        calls.set(transaction.from, count);
        if (isOwn.has(transaction.from) && count > most) most = count;
      }
    if (most > context.mostCalls && range.from < range.to)
      return { kind: "dense", blocks: shorten(range, { readTo: batch.to, calls: most }) };
    await enrich.crashes.begin("warm", batch);
    const isStored = await storeBlocks(enrich, { ...batch, generation, wallets, followed: slice.followed });
    if (!isStored) return { kind: "outdated" };
    transactions += batch.blocks.reduce((sum, block) => sum + block.transactions.length, 0);
  }
  const hashOf = rememberHashes(context);
  const followed = await mapLimited(group.wallets, enrich.limits.concurrency, async (one) => ({
    ...one,
    followedHash: await hashOf(one.followedBlock),
  }));
  const covered: Covered[] = [];
  const doubtful: Address[] = [];
  for (const one of followed) {
    const after = expected.get(one.wallet) ?? null;
    const fromNonce = after === null ? null : nonces.before(one.wallet, after);
    // The nonces of an account with code count creations as well.
    const isDoubtful = after !== null && fromNonce === null && !(await hasCode(context, one.wallet));
    if (isDoubtful) doubtful.push(one.wallet);
    else covered.push({ ...one, fromNonce });
  }
  const fromTimestamp = (await headerOf(context, range.from)).timestamp;
  const noted = { chainId: enrich.chainId, generation, source: source.name, range, fromTimestamp };
  const isNoted = await noteSlice(enrich.db, {
    ...noted,
    isLast: slice.isLast,
    wallets: covered,
    now: context.now(),
  });
  return isNoted
    ? { kind: "read", doubtful, covered: covered.map(({ wallet }) => wallet), transactions }
    : { kind: "outdated" };
}

/** Blocks with ENOUGH_CALLS of the busiest wallet at the pace of those that were read, at most half of the slice. */
function shorten(range: BlockRange, { readTo, calls }: { readTo: number; calls: number }): number {
  const atPace = Math.ceil(((readTo - range.from + 1) * ENOUGH_CALLS) / calls);
  return Math.max(1, Math.min(atPace, Math.floor((range.to - range.from + 1) / 2)));
}

type Batch = BlockRange & { readonly blocks: readonly WalletsBlock[] };

/** Parts of a range, each with about as much as is stored at once. */
async function* batchesOf(
  { enrich, source, signal }: WarmContext,
  wallets: readonly WarmWallet[],
  range: BlockRange,
): AsyncGenerator<Batch> {
  const { market, entryPoints } = enrich;
  const parties = { wallets: wallets.map(({ wallet }) => wallet), tokens: [...market.listed] };
  const request = { ...range, ...parties, entryPoints: [...entryPoints] };
  let { from } = range;
  let held: WalletsBlock[] = [];
  let size = 0;
  for await (const answer of source.readWallets(request, signal)) {
    signal.throwIfAborted();
    if (isFailure(answer)) throw new SourceFailure(answer);
    for (const block of answer.blocks) {
      held.push(block);
      size += block.transactions.length + block.logs.length + block.payments.length;
      if (size < AT_ONCE) continue;
      yield { from, to: block.header.number, blocks: held };
      from = block.header.number + 1;
      held = [];
      size = 0;
    }
    if (answer.to === range.to && from <= range.to) {
      if (held.length > 0) yield { from, to: range.to, blocks: held };
      from = range.to + 1;
    }
  }
  if (from <= range.to)
    throw new SourceFailure(
      historyFailure(
        "inconsistent",
        `the batch source ended before block ${range.to}, the last one asked for`,
      ),
    );
}

/** Transactions that each wallet had sent by the end of the blocks that are still to be read; null where that is not known. */
async function readExpected(
  { enrich }: WarmContext,
  { wallets, coveredFrom }: WarmGroup,
): Promise<ReadonlyMap<Address, number | null>> {
  if (coveredFrom !== null) return new Map(wallets.map(({ wallet, fromNonce }) => [wallet, fromNonce]));
  const { client, db, limits } = enrich;
  const inIndex = await readFirstNonces(db, enrich.chainId, wallets);
  const entries = await mapLimited(wallets, limits.concurrency, async ({ wallet, followedBlock }) => {
    const known = inIndex.get(wallet);
    if (known !== undefined) return [wallet, known] as const;
    // The newest state holds as well while the index has no later transaction.
    const state = { block: followedBlock, newest: "finalized" } as const;
    const { answer: sent } = await readState((at) => client.transactionCount(wallet, at), state);
    return [wallet, sent] as const;
  });
  return new Map(entries);
}

/** Gives the hashes of blocks, each of which the node is asked for once. */
function rememberHashes(context: WarmContext): (block: number) => Promise<Hex> {
  const known = new Map<number, Promise<Hex>>();
  return (block) => {
    const hash = known.get(block) ?? headerOf(context, block).then((header) => header.hash);
    known.set(block, hash);
    return hash;
  };
}

async function hasCode({ enrich: { client } }: WarmContext, wallet: Address): Promise<boolean> {
  return (await client.code(wallet, "latest")) !== "0x";
}
