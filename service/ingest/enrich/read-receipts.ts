import type { Address, Hex } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import type { RawBlock, RawReceipt } from "../../chain/node/rpc-answers.ts";
import type { enrichBlock } from "../../db/tables/enrich.ts";
import { isSentByPayer, readSignedPayments } from "./authorizations.ts";
import { payeeOf } from "./own-call.ts";

/** A block with own calls: their receipts, and the gas prices that all its transactions paid. */
export type CallBlock = {
  readonly number: number;
  /** By transaction; null for one that no answer has room for. */
  readonly receipts: ReadonlyMap<Hex, RawReceipt | null>;
  /** Wei per gas; null where no answer has room for the block's transactions. */
  readonly gasPrices: readonly bigint[] | null;
  /** All its transactions and signed payments, from anyone; none where the node does not give the receipts of the whole block. */
  readonly seen: readonly SeenCall[];
  readonly source: (typeof enrichBlock.$inferSelect)["source"];
};

type SeenCall = {
  readonly transactionIndex: number;
  /** The sender, or who signed the payment. */
  readonly from: Address;
  /** The called account, or the payee of a lone token transfer or signed payment; null for a creation. */
  readonly counterparty: Address | null;
};

/** A block to read: as the index knows it, with the own calls in it. */
type WantedBlock = { number: number; hash: Hex; baseFeeWei: bigint | null; calls: readonly Hex[] };

/**
 * Reads blocks whole by eth_getBlockReceipts. A node without that method (`onFallback`), and any for a block that does not fit,
 * is asked for the transactions and each own call's receipt. Throws a NodeFailure if a call is missing or the block is another.
 */
export function createReceiptReader(
  client: ChainReader,
  /** Whose logs of signed payments are believed, lower-case. */
  tokens: ReadonlySet<Address>,
  onFallback: (cause: NodeFailure) => void,
): (wanted: WantedBlock, isOversized: IsOversized) => Promise<CallBlock> {
  let hasBlockReceipts = true;
  return async (wanted, isOversized) => {
    if (hasBlockReceipts) {
      try {
        const whole = await orOversized(isOversized, () => readWholeBlock(client, wanted, tokens));
        if (whole !== null) return whole;
      } catch (error) {
        if (!(error instanceof NodeFailure) || error.kind !== "method_missing") throw error;
        if (hasBlockReceipts) onFallback(error);
        hasBlockReceipts = false;
      }
    }
    return await readEachCall(client, wanted, isOversized);
  };
}

async function readWholeBlock(
  client: ChainReader,
  wanted: WantedBlock,
  tokens: ReadonlySet<Address>,
): Promise<CallBlock> {
  const all = await client.blockReceipts(wanted.number);
  if (all === null) throw new NodeFailure("node_behind", `no receipts of block ${wanted.number}`);
  const byHash = new Map(all.map((receipt) => [receipt.transactionHash, receipt]));
  for (const receipt of all) expectReceipt(wanted, receipt.transactionHash, receipt);
  return {
    number: wanted.number,
    receipts: new Map(
      wanted.calls.map((hash) => [hash, expectReceipt(wanted, hash, byHash.get(hash) ?? null)]),
    ),
    gasPrices: all.map((receipt) => receipt.effectiveGasPrice),
    seen: all.flatMap((receipt) => callsIn(receipt, tokens)),
    source: "block_receipts",
  };
}

/** A signed payment is a call of its payer; a transaction that the payer itself sent is one call, and not two. */
function callsIn(receipt: RawReceipt, tokens: ReadonlySet<Address>): readonly SeenCall[] {
  const { transactionIndex, from } = receipt;
  const payments = readSignedPayments(receipt, tokens);
  const own = payments.find((payment) => isSentByPayer(payment, receipt));
  return [
    { transactionIndex, from, counterparty: own === undefined ? payeeOf(receipt) : own.payee },
    ...payments
      .filter((payment) => payment !== own)
      .map(({ payer, payee }) => ({ transactionIndex, from: payer, counterparty: payee })),
  ];
}

async function readEachCall(
  client: ChainReader,
  wanted: WantedBlock,
  isOversized: IsOversized,
): Promise<CallBlock> {
  const gasPrices = await orOversized(isOversized, () => readGasPrices(client, wanted));
  const receipts = new Map<Hex, RawReceipt | null>();
  for (const hash of wanted.calls) {
    const receipt = await orOversized(isOversized, async () =>
      expectReceipt(wanted, hash, await client.receipt(hash)),
    );
    receipts.set(hash, receipt);
  }
  return { number: wanted.number, receipts, gasPrices, seen: [], source: "transactions" };
}

async function readGasPrices(client: ChainReader, wanted: WantedBlock): Promise<readonly bigint[]> {
  const block = await client.blockWithTransactions(wanted.number);
  if (block === null) throw new NodeFailure("node_behind", `no block ${wanted.number}`);
  expectHash(wanted, block.hash);
  const prices = block.transactions.map((sent) => paidPrice(sent, wanted.baseFeeWei));
  return prices.filter((price) => price !== null);
}

function expectReceipt(wanted: WantedBlock, hash: Hex, receipt: RawReceipt | null): RawReceipt {
  if (receipt === null || receipt.blockNumber !== wanted.number || receipt.transactionHash !== hash) {
    throw new NodeFailure(
      "inconsistent",
      `the index has ${hash} in block ${wanted.number}, the node does not`,
    );
  }
  expectHash(wanted, receipt.blockHash);
  return receipt;
}

function expectHash(wanted: WantedBlock, hash: Hex): void {
  if (hash === wanted.hash) return;
  throw new NodeFailure(
    "other_chain",
    `block ${wanted.number} is ${wanted.hash} in the index and ${hash} at the node`,
  );
}

/** EIP-1559: base fee and tip, at most the maximum; a transaction of an older kind pays its gas price. */
function paidPrice(sent: RawBlock["transactions"][number], baseFeeWei: bigint | null): bigint | null {
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice } = sent;
  if (typeof maxFeePerGas === "bigint" && typeof maxPriorityFeePerGas === "bigint" && baseFeeWei !== null) {
    const offered = baseFeeWei + maxPriorityFeePerGas;
    if (offered < maxFeePerGas) return offered;
    return maxFeePerGas;
  }
  return gasPrice ?? null;
}

/** Whether a request failed since no answer has room for what it asks: it is to be asked for in parts, or left out. */
export type IsOversized = (error: unknown) => Promise<boolean>;

/**
 * Distinguishes answers that are too large from trouble of the node. A timeout counts only in a stuck range. Either counts only
 * while the node gives a header, since rate limits have the same texts; throws a NodeFailure when it does not.
 */
export function createOversizeTest(
  client: Pick<ChainReader, "header">,
  { block, isStuck }: { readonly block: number; readonly isStuck: boolean },
): IsOversized {
  return async (error) => {
    if (!(error instanceof NodeFailure)) return false;
    if (error.kind !== "too_many_results" && !(error.kind === "timeout" && isStuck)) return false;
    await client.header(block);
    return true;
  };
}

/** The result of a request; null if it is too large for an answer. */
export async function orOversized<Answer>(
  isOversized: IsOversized,
  ask: () => Promise<Answer>,
): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (await isOversized(error)) return null;
    throw error;
  }
}
