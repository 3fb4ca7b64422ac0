import type { Address } from "viem";
import { logAnswer, type RawReceipt } from "../../chain/node/rpc-answers.ts";
import { decodeLog } from "./decode-log.ts";

/**
 * Whom a transaction dealt with by its receipt alone: the recipient where its only log is a Transfer of the called token from
 * the sender, else the called account; null for a creation.
 */
export function payeeOf(receipt: Pick<RawReceipt, "from" | "to" | "logs">): Address | null {
  const called = receipt.to ?? null;
  const [only, ...others] = receipt.logs;
  if (called === null || only === undefined || others.length > 0) return called;
  const log = logAnswer.safeParse(only);
  if (!log.success || log.data.address !== called) return called;
  const decoded = decodeLog(log.data);
  const [movement] = decoded?.event === "transfer" ? decoded.movements : [];
  const isPayment = movement?.standard === "erc20" && movement.from === receipt.from;
  return isPayment ? movement.to : called;
}
