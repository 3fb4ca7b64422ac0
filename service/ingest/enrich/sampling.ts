import type { Address, Hex } from "viem";
import type { SamplingRule } from "../../chain/deployments.ts";
import type { RawReceipt } from "../../chain/node/rpc-answers.ts";
import type { enrichBlock } from "../../db/tables/enrich.ts";
import { isSentByPayer, readSignedPayments } from "./authorizations.ts";
import { medianTip, payeeOf } from "./own-call.ts";
import { stretchStart } from "./stretches.ts";

/** A block without its transactions. */
export type BlockHead = {
  readonly number: number;
  readonly hash: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly baseFeeWei: bigint | null;
};

/** A block that the rule names, read whole: its tips, and the caller and recipient of each transaction. */
export type SampledBlock = BlockHead & {
  /** Wei per gas; null where no answer has room for the block's transactions. */
  readonly gasPrices: readonly bigint[] | null;
  /** All transactions and signed payments, in order; none where the receipts are not known. */
  readonly seen: readonly SeenCall[];
  readonly source: (typeof enrichBlock.$inferSelect)["source"];
};

type SeenCall = {
  /** The sender, or who signed the payment. */
  readonly from: Address;
  /** The called account, or the payee of a lone token transfer or signed payment; null for a creation. */
  readonly counterparty: Address | null;
};

/** A sampled block by the receipts of all its transactions. `tokens` are trusted to log signed payments, lower-case. */
export function sampledBlockOf(
  head: BlockHead,
  receipts: readonly RawReceipt[],
  tokens: ReadonlySet<Address>,
): SampledBlock {
  return {
    ...head,
    gasPrices: receipts.map(({ effectiveGasPrice }) => effectiveGasPrice),
    seen: receipts
      .toSorted((a, b) => a.transactionIndex - b.transactionIndex)
      .flatMap((receipt) => callsIn(receipt, tokens)),
    source: "block_receipts",
  };
}

/** A signed payment is a call of its payer; a transaction that the payer itself sent is one call, and not two. */
function callsIn(receipt: RawReceipt, tokens: ReadonlySet<Address>): readonly SeenCall[] {
  const payments = readSignedPayments(receipt, tokens);
  const own = payments.find((payment) => isSentByPayer(payment, receipt));
  return [
    { from: receipt.from, counterparty: own === undefined ? payeeOf(receipt) : own.payee },
    ...payments
      .filter((payment) => payment !== own)
      .map(({ payer, payee }) => ({ from: payer, counterparty: payee })),
  ];
}

/** Median tip of a block in wei per gas; null if it has none, or if its transactions are not known. */
export function tipOf({ gasPrices, baseFeeWei }: SampledBlock): bigint | null {
  return gasPrices === null || baseFeeWei === null ? null : medianTip(gasPrices, baseFeeWei);
}

/** Median tips in wei per gas by the start of the stretch that they hold for; null where it is unknown. */
export type Tips = ReadonlyMap<number, bigint | null>;

/** Base fee of a call's block and tip of its stretch, in wei per gas; null where one is unknown. */
export function marketPriceOf(
  rule: SamplingRule,
  tips: Tips,
  { number, baseFeeWei }: Pick<BlockHead, "number" | "baseFeeWei">,
): bigint | null {
  const tip = tips.get(stretchStart(rule, number)) ?? null;
  return baseFeeWei === null || tip === null ? null : baseFeeWei + tip;
}
