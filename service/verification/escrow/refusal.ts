import { isHex } from "viem";
import { verdictEvaluatorAbi } from "../../chain/abi/verdict-evaluator.ts";
import { decodeError } from "../../chain/bounded-abi.ts";
import { readRevert } from "../../chain/revert-reason.ts";
import type { SettlementCarrier } from "./settlements.ts";

/** Errors of the evaluator that no waiting changes: what was signed is not what it takes. */
const FOR_GOOD: ReadonlySet<string> = new Set([
  "OtherEvaluator",
  "OtherJob",
  "WrongDecision",
  "DeadlineTooLate",
  "JobOver",
  "HoldNotNewer",
]);

const OF_EVALUATOR: ReadonlySet<string> = new Set(
  verdictEvaluatorAbi.flatMap((item) => (item.type === "error" ? [item.name] : [])),
);

/** Why a transaction of a signed verdict came to nothing. */
export type Refusal = { readonly cause: string; readonly isForGood: boolean };

/** Reads why a transaction failed or reverted: by the error that the call reverted with, else by the sender's words. */
export function readRefusal(
  carrier: Pick<SettlementCarrier, "state" | "failure" | "error" | "revertData">,
): Refusal {
  if (carrier.state === "reverted")
    return { cause: "its transaction was mined and reverted", isForGood: false };
  const cause = carrier.error ?? carrier.failure ?? "its transaction failed";
  if (!isHex(carrier.revertData)) return { cause, isForGood: false };
  const name = decodeError(verdictEvaluatorAbi, carrier.revertData)?.errorName;
  if (name !== undefined && OF_EVALUATOR.has(name))
    return { cause: `the evaluator refuses it: ${name}`, isForGood: FOR_GOOD.has(name) };
  // Any other error is the escrow's, a token's or a hook's, which may pass.
  const { reason } = readRevert(carrier.revertData);
  return { cause: reason === null ? cause : `the escrow refuses it: ${reason}`, isForGood: false };
}
