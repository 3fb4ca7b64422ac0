import { isHex } from "viem";
import { readRevert } from "../chain/revert-reason.ts";
import type { SenderTransaction } from "./sender-transactions.ts";

/** Fate of a queued call, by its row alone. */
export type CallFate =
  /** It is under way, or in a block that is not final. */
  | { readonly kind: "open" }
  /** It is in a final block, and did not revert. */
  | { readonly kind: "mined" }
  /** The called contract reverts it, by a final block or by two simulations, or the sender must not send it. */
  | { readonly kind: "refused"; readonly cause: string }
  /** It was not sent for another reason: the same call may succeed later. */
  | { readonly kind: "undone"; readonly cause: string };

/** Failures by which a call is refused. All other failures say nothing about the call. */
const REFUSALS: ReadonlySet<string | null> = new Set(["reverted_in_simulation", "refused", "forbidden"]);

/**
 * The one judgement of a call that the sender has done with. `refused` ends an order only where the order's own rules name the cause;
 * every other order is tried again until its deadline.
 */
export function fateOfCall({
  state,
  final,
  failure,
  revertData,
}: Pick<SenderTransaction, "state" | "final" | "failure" | "revertData">): CallFate {
  switch (state) {
    case "queued":
    case "prepared":
    case "broadcast":
      return { kind: "open" };
    case "mined":
      return { kind: final ? "mined" : "open" };
    case "reverted":
      return final ? { kind: "refused", cause: "reverted in a block" } : { kind: "open" };
    case "failed": {
      const { reason } = readRevert(isHex(revertData) ? revertData : null);
      const cause = reason ?? failure ?? "unknown";
      return { kind: REFUSALS.has(failure) ? "refused" : "undone", cause };
    }
  }
}
