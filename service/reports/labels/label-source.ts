import type { Address } from "viem";
import type { ProvidedLabel } from "../../db/tables/wallet-label.ts";

/**
 * unconnected: it could not be reached, or the connection broke. unavailable: it says that it cannot answer now. refused: it
 * will not, for its key or otherwise. broken: not asked, for it failed several times in a row.
 */
type LabelFailureReason =
  | "timeout"
  | "unconnected"
  | "unavailable"
  | "rate_limited"
  | "refused"
  | "malformed"
  | "broken";

export type LabelFailure = {
  readonly kind: "failed";
  readonly reason: LabelFailureReason;
  /** For the operator; it holds neither key nor URL. */
  readonly detail: string;
};

export type FoundLabels = { readonly kind: "labels"; readonly labels: readonly ProvidedLabel[] };

/** A third party that knows accounts by name; every failure of it is a value. */
export type LabelSource = {
  /** As answers name it, and as its answers are kept. */
  readonly provider: string;
  /** Labels of an account, lower-case. */
  read(address: Address): Promise<FoundLabels | LabelFailure>;
};

/** A failure of a provider. */
export function labelFailure(reason: LabelFailureReason, detail: string): LabelFailure {
  return { kind: "failed", reason, detail };
}
