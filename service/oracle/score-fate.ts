import { type Address, isHex, toHex } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { decodeError } from "../chain/bounded-abi.ts";
import { fateOfAttempt } from "../sender/orders/fate.ts";
import type { Evidence, Failure, OrderKind, OrderTransaction } from "../sender/orders/order-kind.ts";
import type { OnChain, Published } from "./plan.ts";
import type { IntentRow } from "./publish-intents.ts";
import { type PublishPolicy, pausesAfter } from "./publish-policy.ts";
import type { OracleState } from "./publish-records.ts";
import type { BackedScore } from "./publish-scores.ts";

export type SentScore = BackedScore & { readonly transaction: OrderTransaction };

/** The oracle takes no score twice. */
const SCORES = { done: "indexed event", isRepeatable: true } as const;

/** Sent scores: done once the oracle's events show the score or a newer one. */
export function intentKind(
  policy: Pick<PublishPolicy, "refusedRetryMs" | "revertedRetryMs">,
  oracle: ReadonlyMap<string, OracleState>,
): OrderKind<Pick<IntentRow, "score" | "attempts" | "state"> & Pick<Evidence, "transaction">> {
  return {
    ...SCORES,
    // The contract names one malformed word of a batch: the other scores are sent again at once.
    isForGood: (failure, { score }) => readRefusal(failure).malformedWallet === score.wallet,
    retryMs: (failure) => {
      if (readRefusal(failure).malformedWallet !== null) return { first: 0, longest: 0 };
      return pausesAfter(failure, policy);
    },
    look: ({ score, transaction, attempts, state }) => ({
      transaction,
      failures: attempts,
      shown: isShown(oracle.get(score.wallet), score) ? "done" : null,
      isDone: state === "confirmed",
    }),
  };
}

function isShown(oracle: OracleState | undefined, { asOfBlock }: BackedScore["score"]): boolean {
  return oracle !== undefined && oracle.asOf >= asOfBlock;
}

/** Returns the score to compare a new one with: a score under way counts as published, else the oracle's record does. */
export function onChainOf(
  {
    oracle,
    indexedBlock,
  }: {
    /** Undefined for a wallet without a record. */
    readonly oracle: OracleState | undefined;
    readonly indexedBlock: number;
  },
  last: SentScore | null,
): OnChain {
  const isUnderWay =
    last !== null &&
    !isShown(oracle, last.score) &&
    fateOfAttempt(SCORES, last.transaction, indexedBlock) === "open";
  if (isUnderWay) return { kind: "record", record: publishedOf(last) };
  if (oracle === undefined) return { kind: "none" };
  if (!oracle.present) return { kind: "cleared", asOfFloor: oracle.asOf };
  const { sanctioned, safeMicroUsd, asOf, asOfTime } = oracle;
  const ahsScore = oracle.insufficient ? null : oracle.ahsScore;
  return { kind: "record", record: { ahsScore, sanctioned, safeMicroUsd, asOf, asOfTime } };
}

export function publishedOf({ score, safeMicroUsd }: BackedScore): Published {
  const { ahsScore, sanctioned, asOfBlock, asOfTime } = score;
  return { ahsScore, sanctioned, safeMicroUsd, asOf: asOfBlock, asOfTime };
}

/**
 * Reads the revert of a refused publication: the name of the oracle's error, else the kind of the sender's failure, and the one wallet
 * (lower-case) whose word the contract can never take, or null. Paused, wrong role or clock pass with time, a malformed word never does.
 */
export function readRefusal({ kind, revertData }: Omit<Failure, "cause">): {
  cause: string;
  malformedWallet: Address | null;
} {
  const unread = { cause: kind, malformedWallet: null };
  if (!isHex(revertData) || revertData === "0x") return unread;
  const error = decodeError(agentHealthOracleAbi, revertData);
  // Not one of the oracle's errors: the caller goes by the sender's own classification.
  if (error === null) return unread;
  if (error.errorName !== "MalformedRecord") return { cause: error.errorName, malformedWallet: null };
  const [, word] = error.args;
  return { cause: error.errorName, malformedWallet: toHex(BigInt(word) >> 96n, { size: 20 }) };
}
