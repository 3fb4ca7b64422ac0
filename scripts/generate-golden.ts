import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  domainSeparator,
  getAddress,
  getContractAddress,
  type Hex,
  hashTypedData,
  keccak256,
  numberToHex,
  slice,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import {
  decodeSafeAmount,
  gradeOf,
  type OracleScore,
  type OracleTimes,
  packRecord,
  packScore,
  scoreMessage,
  scoreTypedData,
} from "../service/chain/oracle-codec.ts";
import { merkleLeaf, merkleProof, merkleTree } from "../service/chain/oracle-merkle.ts";
import { bondRecords } from "./golden/bond-records.ts";
import { verdictVectors } from "./golden/verdict-eip712.ts";
import { verificationHashes } from "./golden/verification-hashes.ts";

/**
 * Writes test/golden/*.json: what TypeScript and Solidity must compute alike. `--check` writes nothing and
 * exits 1 when a file differs from what it would write. Integers are JSON numbers, or strings where they may exceed 2^53.
 */

const folder = join(import.meta.dirname, "../test/golden");
/** The oracle, or the evaluator, that the vectors are for: the first contract of this account on this chain. */
const deployer = "0x00000000000000000000000000000000000D3910";
const chainId = 31_337;
const signerKey: Hex = numberToHex(0x51, { size: 32 });
const gradeCodes = { A: 1, B: 2, C: 3, D: 4, E: 5, F: 6 } as const;

const times: OracleTimes = { asOf: 44_999_970n, asOfTime: 1_789_999_940n, validUntil: 1_790_172_740n };
const cases: readonly { name: string; score: OracleScore; times: OracleTimes }[] = [
  { name: "an ordinary score", score: { ...scored(1, [88, 91, 87]), safeMicroUsd: 1_234_560_000n }, times },
  {
    name: "every field at its upper limit",
    score: { ...scored(2, [100, 100, 100]), confidenceBps: 10_000, safeMicroUsd: decodeSafeAmount(0xffff) },
    times,
  },
  { name: "every field at its lower limit", score: { ...scored(3, [0, 0, 0]), confidenceBps: 0 }, times },
  { name: "sanctioned", score: { ...scored(4, [0, 0, 93]), confidenceBps: 10_000, sanctioned: true }, times },
  { name: "insufficient", score: { ...scored(5, [0, 0, 0]), outcome: { kind: "insufficient" } }, times },
  {
    name: "insufficient with a safe amount",
    score: { ...scored(8, [0, 0, 0]), outcome: { kind: "insufficient" }, safeMicroUsd: 420_000n },
    times,
  },
  { name: "no safe amount", score: scored(9, [91, 91, 91]), times },
  {
    name: "the next model version",
    score: { ...scored(6, [59, 60, 61]), modelVersion: "AHS-2026.2" },
    times,
  },
  {
    name: "the first block",
    score: scored(7, [20, 20, 20]),
    times: { asOf: 1n, asOfTime: 1n, validUntil: 172_801n },
  },
];

/** At both ends of each exponent, and the least of all. */
const safeCodes = [
  ...[0, 1, 1_023, 1_024, 2_047],
  ...Array.from({ length: 31 }, (_, index) => index + 1).flatMap((exponent) =>
    [1_024, 1_025, 2_047].map((mantissa) => (exponent << 11) | mantissa),
  ),
];

const files = {
  "bond-records.json": bondRecords(),
  "oracle-packing.json": packing(),
  "oracle-eip712.json": await eip712(),
  "oracle-merkle.json": merkle(),
  "verdict-eip712.json": await verdictVectors({ deployer, chainId, signerKey }),
  "verification-hashes.json": verificationHashes(),
};
const drifted = Object.entries(files).filter(([name, content]) => !emit(join(folder, name), content));
if (drifted.length > 0) {
  const names = drifted.map(([name]) => name).join(", ");
  process.stderr.write(`Out of date in test/golden: ${names}. Run: node scripts/generate-golden.ts\n`);
  process.exitCode = 1;
}

function packing(): object {
  return {
    cases: cases.map(({ name, score, times }) => ({
      name,
      ...scoreMessage(score, times),
      safeMicroUsd: `${decodeSafeAmount(scoreMessage(score, times).safe)}`,
      word: packScore(score),
      record: packRecord({ ...score, ...times }),
      grade: score.outcome.kind === "scored" ? gradeCodes[gradeOf(score.outcome.ahsScore)] : 0,
    })),
    /** The grade of every score from 0 to 100. */
    grades: Array.from({ length: 101 }, (_, score) => gradeCodes[gradeOf(score)]),
    /** Codes of safe amounts, at both ends of each exponent, with what they stand for. */
    safeAmounts: safeCodes.map((code) => ({ code, microUsd: `${decodeSafeAmount(code)}` })),
  };
}

async function eip712(): Promise<object> {
  const verifyingContract = getContractAddress({ from: deployer, nonce: 0n });
  const signer = privateKeyToAccount(signerKey);
  const oracle = { chainId, address: verifyingContract };
  const signed = cases.map(async ({ name, score, times }) => {
    const typed = scoreTypedData(oracle, scoreMessage(score, times));
    return {
      name,
      ...typed.message,
      digest: hashTypedData(typed),
      signature: await signer.signTypedData(typed),
    };
  });
  const { domain } = scoreTypedData(oracle, scoreMessage(scored(1, [0, 0, 0]), times));
  return {
    deployer,
    chainId,
    verifyingContract,
    signer: signer.address,
    domainSeparator: domainSeparator({ domain }),
    cases: await Promise.all(signed),
  };
}

function merkle(): object {
  return {
    trees: [1, 2, 3, 5, 8, 21].map((size) => {
      const leaves = Array.from({ length: size }, (_, index) => {
        const points = [index % 101, (3 * index) % 101, (7 * index) % 101] as const;
        const score = { ...scored(100 + index, points), safeMicroUsd: 7_770_000n * BigInt(index) };
        return { wallet: score.wallet, record: packRecord({ ...score, ...times }) };
      });
      const tree = merkleTree(leaves);
      return {
        size,
        root: tree.root,
        leaves: leaves.map((leaf) => ({ ...leaf, hash: merkleLeaf(leaf), proof: merkleProof(tree, leaf) })),
      };
    }),
  };
}

/** A scored wallet whose address comes from a number; confidence 93.21 %. */
function scored(seed: number, [ahsScore, d1Score, d2Score]: readonly [number, number, number]): OracleScore {
  const wallet = getAddress(slice(keccak256(numberToHex(seed, { size: 32 })), 12));
  const outcome = { kind: "scored", ahsScore, d1Score, d2Score } as const;
  return {
    wallet,
    outcome,
    confidenceBps: 9321,
    sanctioned: false,
    modelVersion: "AHS-2026.0",
    safeMicroUsd: 0n,
  };
}

/** Writes the file, or under --check only compares it; false when it differs. */
function emit(path: string, content: object): boolean {
  const text = `${JSON.stringify(content, (_, value) => (typeof value === "bigint" ? Number(value) : value), 2)}\n`;
  if (process.argv.includes("--check")) return existsSync(path) && readFileSync(path, "utf8") === text;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, text);
  return true;
}
