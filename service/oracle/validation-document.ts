import { type Address, encodeFunctionData, getAddress, type Hex, keccak256, numberToHex, toHex } from "viem";
import { validationRegistryAbi } from "../chain/abi/validation-registry.ts";
import { SCORE_TAG, VERDICT_TAG } from "./check-validation-request.ts";
import { agentIdOf, type FeedbackScore, recordOf } from "./feedback-document.ts";

/** Newest decision on an output, as answers give it: without the verdict's id, with which its findings can be read. */
export type DecidedVerdict = {
  readonly kind: "decided";
  readonly decision: "ALLOW" | "HOLD" | "REJECT";
  /** Null if a reviewer decided and the panel gave none. */
  readonly score: number | null;
  readonly confidence: number | null;
  readonly panelVersion: string | null;
  readonly isReviewed: boolean;
  readonly evidenceHash: Hex;
  readonly evaluatedAt: Date;
  /** The bound job, whose hashes are on chain; null without one. */
  readonly job: {
    readonly chainId: number;
    readonly escrow: Address;
    readonly jobId: bigint;
    readonly specHash: Hex;
    readonly outputHash: Hex;
  } | null;
};

export type ValidationAnswer =
  | { readonly kind: "score"; readonly score: FeedbackScore }
  | { readonly kind: "verdict"; readonly verdict: DecidedVerdict };

/** Response to a decision without a score, of 0 to 100. */
const RESPONSES = { ALLOW: 100, HOLD: 50, REJECT: 0 } as const;

/** The document behind one answer and the call that gives it; the registry holds the keccak256 of its bytes. */
export function composeValidation(
  asked: { requestHash: Hex; agentId: bigint; answer: ValidationAnswer; createdAt: Date },
  place: {
    readonly chainId: number;
    readonly identityRegistry: Address;
    readonly validator: Address;
    /** Origin of the service, without a slash at its end. */
    readonly origin: string;
  },
) {
  const { requestHash, agentId, answer, createdAt } = asked;
  const { chainId, origin } = place;
  const caip10 = (address: Address) => `eip155:${chainId}:${getAddress(address)}`;
  const { response, tag, ...subject } = answerParts(answer, origin);
  const document = JSON.stringify({
    agentRegistry: caip10(place.identityRegistry),
    agentId: agentIdOf(agentId),
    validatorAddress: caip10(place.validator),
    requestHash,
    createdAt: createdAt.toISOString(),
    response,
    tag,
    ...subject,
  });
  const documentHash = keccak256(toHex(document));
  const uri = `${origin}/evidence/validation/${documentHash}`;
  const data = encodeFunctionData({
    abi: validationRegistryAbi,
    functionName: "validationResponse",
    args: [requestHash, response, uri, documentHash, tag],
  });
  return { response, document, documentHash, data };
}

function answerParts(answer: ValidationAnswer, origin: string) {
  if (answer.kind === "score") {
    const { score } = answer;
    return { response: score.ahsScore, tag: SCORE_TAG, record: recordOf(score, origin) };
  }
  const { decision, score, job, ...verdict } = answer.verdict;
  return {
    response: score ?? RESPONSES[decision],
    tag: `${VERDICT_TAG}:${decision.toLowerCase()}`,
    verdict: {
      final_verdict: decision,
      final_score: score,
      confidence: verdict.confidence,
      is_reviewed: verdict.isReviewed,
      panel_version: verdict.panelVersion,
      evaluated_at: verdict.evaluatedAt.toISOString(),
      evidence_hash: verdict.evidenceHash,
      job: job && {
        chain_id: job.chainId,
        escrow: getAddress(job.escrow),
        job_id: numberToHex(job.jobId),
        spec_hash: job.specHash,
        output_hash: job.outputHash,
      },
    },
  };
}
