import type { Revert } from "../../chain/revert-reason.ts";
import { ranOutOfGas } from "../../model/features/adaptation.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { SentCall } from "./failed-calls.ts";

/** Why a transaction failed, as far as it can be told. */
export type FailureCause = {
  readonly kind: "out_of_gas" | "slippage" | "reverted";
  /** What the contract said when the call was made again on the state before its block; null where that is not known. */
  readonly reason: string | null;
};

/** The cause by the gas that it used, with the score's bound, then by what the contract said; `replay` is null where that is not known. */
export function causeOf(
  call: Pick<SentCall, "gasUsed" | "gasLimit">,
  replay: Revert | null,
  policy: Policy,
): FailureCause {
  const reason = replay === null ? null : replay.reason;
  if (ranOutOfGas(call, policy)) return { kind: "out_of_gas", reason };
  return { kind: replay?.isSlippage === true ? "slippage" : "reverted", reason };
}
