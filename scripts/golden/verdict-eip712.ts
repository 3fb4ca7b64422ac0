import {
  type Address,
  domainSeparator,
  getAddress,
  getContractAddress,
  type Hex,
  keccak256,
  numberToHex,
  slice,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import {
  type VerdictMessage,
  verdictDigest,
  verdictLifeSeconds,
  verdictMessage,
  verdictTypedData,
} from "../../service/chain/verdict-codec.ts";

const verdict: VerdictMessage = {
  escrow: "0x52908400098527886E0F7030069857D2E4169EE7",
  jobId: 42n,
  deliverable: keccak256(numberToHex(1)),
  specHash: keccak256(numberToHex(2)),
  decision: 1,
  score: 84,
  confidenceBps: 8_600,
  evidenceHash: keccak256(numberToHex(3)),
  issuedAt: 1_790_000_000n,
  deadline: 1_790_000_000n + verdictLifeSeconds,
};

const cases: readonly { readonly name: string; readonly verdict: VerdictMessage }[] = [
  { name: "ALLOW", verdict },
  { name: "REJECT", verdict: { ...verdict, jobId: 43n, decision: 2, score: 12 } },
  { name: "HOLD", verdict: { ...verdict, jobId: 44n, decision: 3, deadline: verdict.issuedAt + 3_600n } },
  { name: "every field at its upper limit", verdict: upperLimits() },
  {
    name: "every field at its lower limit",
    verdict: { ...verdict, jobId: 0n, score: 0, confidenceBps: 0, issuedAt: 1n, deadline: 1n },
  },
];

type Signing = { readonly deployer: Address; readonly chainId: number; readonly signerKey: Hex };

/** Verdicts with their digests and signatures for the evaluator that is the deployer's first contract; what may exceed 2^53 is a string. */
export async function verdictVectors({ deployer, chainId, signerKey }: Signing): Promise<object> {
  const evaluator = { chainId, address: getContractAddress({ from: deployer, nonce: 0n }) };
  const signer = privateKeyToAccount(signerKey);
  const signed = cases.map(async ({ name, verdict }) => {
    const typed = verdictTypedData(evaluator, verdictMessage(verdict));
    const { jobId, issuedAt, deadline } = typed.message;
    return {
      name,
      ...typed.message,
      jobId: String(jobId),
      issuedAt: String(issuedAt),
      deadline: String(deadline),
      digest: verdictDigest(evaluator, typed.message),
      signature: await signer.signTypedData(typed),
    };
  });
  return {
    deployer,
    chainId,
    verifyingContract: evaluator.address,
    signer: signer.address,
    domainSeparator: domainSeparator({ domain: verdictTypedData(evaluator, verdict).domain }),
    cases: await Promise.all(signed),
  };
}

function upperLimits(): VerdictMessage {
  const full = numberToHex(2n ** 256n - 1n);
  const issuedAt = 2n ** 64n - 1n - verdictLifeSeconds;
  return {
    escrow: getAddress(slice(full, 12)),
    jobId: 2n ** 256n - 1n,
    deliverable: full,
    specHash: full,
    decision: 3,
    score: 100,
    confidenceBps: 10_000,
    evidenceHash: full,
    issuedAt,
    deadline: issuedAt + verdictLifeSeconds,
  };
}
