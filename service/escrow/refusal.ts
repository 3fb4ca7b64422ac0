import { isHex } from "viem";
import { verdictEvaluatorAbi } from "../chain/abi/verdict-evaluator.ts";
import { decodeError } from "../chain/bounded-abi.ts";
import type { SettlementCarrier } from "../store/settlements.ts";

/** Errors of the evaluator that no waiting changes: what was signed is not what it takes. */
const FOR_GOOD: ReadonlySet<string> = new Set([
  "OtherEvaluator",
  "OtherJob",
  "WrongDecision",
  "DeadlineTooLate",
  "JobOver",
  "HoldNotNewer",
]);

/** Why a transaction of a signed verdict came to nothing. */
export type Refusal = { readonly cause: string; readonly isForGood: boolean };

/** Reads why a transaction failed or reverted: by the evaluator's error where it gave one, else by the sender's words. */
export function readRefusal(
  carrier: Pick<SettlementCarrier, "state" | "failure" | "error" | "revertData">,
): Refusal {
  if (carrier.state === "reverted")
    return { cause: "its transaction was mined and reverted", isForGood: false };
  const error = isHex(carrier.revertData) ? decodeError(verdictEvaluatorAbi, carrier.revertData) : null;
  // Any other error is the escrow's, a token's or a hook's, which may pass.
  const name = error === null ? null : error.errorName;
  if (name !== null) return { cause: `the evaluator refuses it: ${name}`, isForGood: FOR_GOOD.has(name) };
  return { cause: carrier.error ?? carrier.failure ?? "its transaction failed", isForGood: false };
}
