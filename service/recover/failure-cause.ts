import type { SentCall } from "../store/failed-calls.ts";
import type { Revert } from "./revert-reason.ts";

/** Why a transaction failed, as far as it can be told. */
export type FailureCause = {
  readonly kind: "out_of_gas" | "slippage" | "reverted";
  /** What the contract said when the call was made again on the state before its block; null where that is not known. */
  readonly reason: string | null;
};

/** A call that fails inside another leaves that one a 64th of the gas (EIP-150), and it may spend most of it on failing. */
const OUT_OF_GAS_PERCENT = 95n;

/** The cause by the gas that it used, then by what the contract said; `replay` is null where that is not known. */
export function causeOf(call: Pick<SentCall, "gasUsed" | "gasLimit">, replay: Revert | null): FailureCause {
  const reason = replay === null ? null : replay.reason;
  if (call.gasUsed * 100n >= call.gasLimit * OUT_OF_GAS_PERCENT) return { kind: "out_of_gas", reason };
  return { kind: replay?.isSlippage === true ? "slippage" : "reverted", reason };
}
