import { type Address, encodeFunctionData, getAddress, type Hex, keccak256, toHex } from "viem";
import { reputationRegistryAbi } from "../chain/abi/reputation-registry.ts";

/** tag1 of our feedback. */
const FEEDBACK_TAG = "ahs";

/** A score as feedback states it. */
export type FeedbackScore = {
  readonly wallet: Address;
  readonly ahsScore: number;
  readonly d1Score: number | null;
  readonly d2Score: number | null;
  readonly grade: string | null;
  readonly confidenceLevel: string;
  readonly sanctioned: boolean;
  readonly modelVersion: string;
  readonly asOfBlock: number;
  readonly asOfHash: Hex;
  readonly asOfTime: Date;
  readonly inputsHash: Hex;
};

export type FeedbackPlace = {
  readonly chainId: number;
  readonly identityRegistry: Address;
  /** The key that leaves it. */
  readonly client: Address;
  /** Origin of the service, without a slash at its end. */
  readonly origin: string;
};

/**
 * The document behind one feedback and the call that leaves it: a feedback file of ERC-8004 (section "Off-Chain Feedback File
 * Structure") with the record that its value is from. The registry holds the keccak256 of its bytes.
 */
export function composeFeedback(
  { agentId, score, createdAt }: { agentId: bigint; score: FeedbackScore; createdAt: Date },
  { chainId, identityRegistry, client, origin }: FeedbackPlace,
): { readonly document: string; readonly documentHash: Hex; readonly data: Hex } {
  const caip10 = (address: Address) => `eip155:${chainId}:${getAddress(address)}`;
  const document = JSON.stringify({
    agentRegistry: caip10(identityRegistry),
    agentId: agentIdOf(agentId),
    clientAddress: caip10(client),
    createdAt: createdAt.toISOString(),
    value: score.ahsScore,
    valueDecimals: 0,
    tag1: FEEDBACK_TAG,
    tag2: score.modelVersion,
    record: recordOf(score, origin),
  });
  const documentHash = keccak256(toHex(document));
  const uri = `${origin}/evidence/feedback/${documentHash}`;
  const data = encodeFunctionData({
    abi: reputationRegistryAbi,
    functionName: "giveFeedback",
    args: [agentId, BigInt(score.ahsScore), 0, FEEDBACK_TAG, score.modelVersion, "", uri, documentHash],
  });
  return { document, documentHash, data };
}

/** A number as the standard's documents have it; text where JSON's numbers are not exact. */
export function agentIdOf(agentId: bigint): number | string {
  return agentId <= Number.MAX_SAFE_INTEGER ? Number(agentId) : agentId.toString();
}

/** The record that a value is from, as documents on chain name it. */
export function recordOf(score: FeedbackScore, origin: string) {
  return {
    wallet: getAddress(score.wallet),
    ahs_score: score.ahsScore,
    d1_score: score.d1Score,
    d2_score: score.d2Score,
    grade: score.grade,
    confidence_level: score.confidenceLevel,
    sanctioned: score.sanctioned,
    model_version: score.modelVersion,
    as_of_block: score.asOfBlock,
    as_of_block_hash: score.asOfHash,
    as_of_time: score.asOfTime.toISOString(),
    inputs_hash: score.inputsHash,
    inputs: `${origin}/inputs/${score.inputsHash}`,
  };
}
