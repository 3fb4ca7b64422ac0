import type { Address, Hex } from "viem";
import { NodeFailure } from "../../chain/node/failure.ts";
import { readSnapshot } from "../../db/index-snapshot.ts";
import type { EnrichContext } from "../enrich/context.ts";
import { storeFound } from "../enrich/enrich-range.ts";
import { type Creation, type IndexedCall, readKnownCreations } from "../enrich/enrich-reads.ts";
import type { Followed } from "../enrich/log-rows.ts";
import type { BlockRange, WalletsBlock } from "../history/batch-source.ts";

/**
 * Decodes blocks of a batch source as enrichment decodes those of the index, and stores them; false if the chain's data was cleared
 * since the generation. Throws a NodeFailure where the rows contradict each other.
 */
export async function storeBlocks(
  context: EnrichContext,
  batch: BlockRange & {
    readonly generation: string;
    readonly blocks: readonly WalletsBlock[];
    readonly wallets: readonly Address[];
    /** Every followed wallet with the block in which the index began to follow it. */
    readonly followed: Followed;
  },
): Promise<boolean> {
  const { from, to, generation, blocks, followed } = batch;
  const wallets: Followed = new Map(batch.wallets.map((wallet) => [wallet, from]));
  const calls = blocks.flatMap((block) => callsIn(block, wallets));
  const creations = blocks.flatMap((block) => creationsIn(block, wallets));
  const known = await readSnapshot(context.db, (client) =>
    readKnownCreations(client, { chainId: context.chainId, wallets: calls.map(({ wallet }) => wallet) }),
  );
  return storeFound(withBatch(context, blocks), {
    of: "past" as const,
    from,
    to,
    wallets,
    generation,
    calls,
    advance: { of: "warm", wallets },
    creations: [...known, ...creations],
    late: creations.filter(({ contract }) => !known.some((one) => one.contract === contract)),
    // Those of followed wallets are among the calls of these.
    payments: blocks.flatMap(({ payments }) => payments.filter((payment) => !followed.has(payment.from))),
    logs: blocks.flatMap(({ logs }) => logs),
    blocks: new Map(
      blocks.map(({ header: { number, hash, timestamp, baseFeePerGas = null } }) => [
        number,
        { hash, timestamp, baseFeeWei: baseFeePerGas },
      ]),
    ),
    senders: new Map(
      blocks.flatMap(({ transactions }) =>
        transactions
          .filter(({ transaction: { from: sender } }) => followed.has(sender))
          .map(({ transaction: { hash, from: sender } }) => [hash, sender] as const),
      ),
    ),
    unread: new Set(),
    isOversized: async () => false,
    prices: [],
    delegations: [],
  });
}

function callsIn({ header, transactions }: WalletsBlock, wallets: Followed): readonly IndexedCall[] {
  return transactions
    .filter(({ transaction: { from } }) => wallets.has(from))
    .map(({ transaction, receipt }) => ({
      hash: transaction.hash,
      block: header.number,
      transactionIndex: transaction.transactionIndex,
      timestamp: header.timestamp,
      value: transaction.value,
      wallet: transaction.from,
      to: transaction.to ?? null,
      input: transaction.input,
      ok: receipt.status === "0x1",
      gasLimit: transaction.gas,
      gasUsed: receipt.gasUsed,
      gasPrice: receipt.effectiveGasPrice,
    }));
}

function creationsIn({ header, transactions }: WalletsBlock, wallets: Followed): readonly Creation[] {
  return transactions.flatMap(({ transaction: { from, transactionIndex }, receipt: { contractAddress } }) =>
    contractAddress === null || !wallets.has(from)
      ? []
      : [
          {
            contract: contractAddress,
            wallet: from,
            block: header.number,
            timestamp: header.timestamp,
            transactionIndex,
          },
        ],
  );
}

/** Reads transactions and receipts of the batch from it, and everything else from the node. */
function withBatch(context: EnrichContext, blocks: readonly WalletsBlock[]): EnrichContext {
  const all = blocks.flatMap(({ transactions }) => transactions);
  const byHash = new Map(all.map((one) => [one.transaction.hash, one]));
  const receiptOf = (hash: Hex) => {
    const known = byHash.get(hash);
    if (known !== undefined) return known.receipt;
    throw new NodeFailure("inconsistent", `the batch source gave a log of ${hash}, and not the transaction`);
  };
  return {
    ...context,
    client: {
      ...context.client,
      transaction: async (hash) => byHash.get(hash)?.transaction ?? context.client.transaction(hash),
    },
    readReceipts: async (wanted, isOversized) => {
      if (wanted.isSampled) return context.readReceipts(wanted, isOversized);
      return { receipts: new Map(wanted.calls.map((hash) => [hash, receiptOf(hash)])), sampled: null };
    },
    // The blocks are there already.
    limits: { ...context.limits, maxCallBlocks: Number.POSITIVE_INFINITY },
  };
}
