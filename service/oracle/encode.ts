import { type Address, encodeFunctionData, getAddress, type Hex } from "viem";
import type { LocalAccount } from "viem/accounts";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import {
  type OracleOutcome,
  type OracleScore,
  oracleValiditySeconds,
  packScore,
  scoreMessage,
  scoreTypedData,
} from "../chain/oracle-codec.ts";
import type { BackedScore, ScoreRow } from "./publish-scores.ts";

/** A stored score in the oracle's terms; throws when the row is neither scored nor insufficient as a whole. */
export function oracleScoreOf({ score, safeMicroUsd }: BackedScore): OracleScore {
  return {
    wallet: score.wallet,
    outcome: outcomeOf(score),
    // The oracle stores basis points; rounding down never claims more confidence than there is.
    confidenceBps: Math.floor(score.confidenceMicros / 100),
    sanctioned: score.sanctioned,
    modelVersion: score.modelVersion,
    safeMicroUsd,
  };
}

/** Calldata of `publish` for scores of one as-of; throws when they are of several or one cannot be packed. */
export function encodePublish(backed: readonly BackedScore[]): Hex {
  const scores = backed.map(({ score }) => score);
  const [first] = scores;
  if (first === undefined) throw new Error("publish: expected at least one score");
  const stranger = scores.find((score) => score.asOfBlock !== first.asOfBlock);
  if (stranger !== undefined) {
    throw new Error(
      `publish: expected as-of ${first.asOfBlock} for all, ${stranger.wallet} has ${stranger.asOfBlock}`,
    );
  }
  const asOfTime = BigInt(Math.floor(first.asOfTime.getTime() / 1000));
  return encodeFunctionData({
    abi: agentHealthOracleAbi,
    functionName: "publish",
    args: [BigInt(first.asOfBlock), asOfTime, backed.map((score) => packScore(oracleScoreOf(score)))],
  });
}

function outcomeOf({ id, ahsScore, d1Score, d2Score }: ScoreRow): OracleOutcome {
  if (ahsScore === null && d1Score === null && d2Score === null) return { kind: "insufficient" };
  if (ahsScore !== null && d1Score !== null && d2Score !== null)
    return { kind: "scored", ahsScore, d1Score, d2Score };
  throw new Error(
    `score ${id}: expected all of ahs, d1 and d2 or none, got ${ahsScore}, ${d1Score}, ${d2Score}`,
  );
}

/** Signs a stored score for one oracle, as EIP-712 data that publishSigned accepts from anyone for 48 hours from its as-of time. */
export async function attestScore(
  backed: BackedScore,
  oracle: { readonly chainId: number; readonly address: Address },
  signer: LocalAccount,
) {
  const row = backed.score;
  const asOfTime = BigInt(Math.floor(row.asOfTime.getTime() / 1000));
  const times = { asOf: BigInt(row.asOfBlock), asOfTime, validUntil: asOfTime + oracleValiditySeconds };
  const message = scoreMessage(oracleScoreOf(backed), times);
  const typedData = scoreTypedData(oracle, message);
  return {
    typedData,
    message,
    signer: getAddress(signer.address),
    signature: await signer.signTypedData(typedData),
  };
}
