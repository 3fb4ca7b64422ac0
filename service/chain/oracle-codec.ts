import {
  type Address,
  getAddress,
  type Hex,
  isAddress,
  isHex,
  type ReadContractReturnType,
  size,
  type TypedDataDefinition,
} from "viem";
import type { agentHealthOracleAbi } from "./abi/agent-health-oracle.ts";

/** Most seconds from a score's as-of time to the last moment at which it may be relayed. */
export const oracleValiditySeconds = 172_800n;

const microUsdPerCent = 10_000n;
const sanctionedFlag = 1;
const insufficientFlag = 2;
const gradeCodes: Record<OracleGrade, number> = { A: 1, B: 2, C: 3, D: 4, E: 5, F: 6 };
/** The grade table of the specification: lowest score of each letter, best first. */
export const gradeFloors: readonly (readonly [OracleGrade, number])[] = [
  ["A", 90],
  ["B", 75],
  ["C", 60],
  ["D", 40],
  ["E", 20],
  ["F", 0],
];

/** The letter of an integer score from 0 to 100; throws outside that range. */
export function gradeOf(score: number): OracleGrade {
  const points = bounded("score", score, 100);
  const found = gradeFloors.find(([, floor]) => points >= floor);
  if (found === undefined) throw new Error(`no grade for score ${score}`);
  return found[0];
}

/** AHS-2026.2 → 20262: four digits of year and one of revision; throws on any other form or above 65535. */
export function modelVersionCode(version: string): number {
  const match = /^AHS-(\d{4})\.(\d)$/.exec(version);
  if (match === null) throw new Error(`model version: expected the form AHS-2026.0, got ${version}`);
  return bounded("model version", Number(`${match[1]}${match[2]}`), 0xffff);
}

/** 20262 → AHS-2026.2; throws on a number that no such version has. */
export function modelVersionName(code: number): string {
  const digits = String(bounded("model version", code, 0xffff)).padStart(5, "0");
  return `AHS-${digits.slice(0, 4)}.${digits.slice(4)}`;
}

/**
 * The code of a safe amount: exponent e in the high 5 of 16 bits, mantissa m in the low 11, for m << e US cents.
 * It never stands for more than the amount. Amounts above 2047 << 31 cents have the greatest code; throws on a negative one.
 */
export function encodeSafeAmount(microUsd: bigint): number {
  if (microUsd < 0n) throw new Error(`safe amount: expected zero or more, got ${microUsd}`);
  const cents = microUsd / microUsdPerCent;
  const exponent = Math.max(cents.toString(2).length - 11, 0);
  return exponent > 31 ? 0xffff : (exponent << 11) | Number(cents >> BigInt(exponent));
}

/** The amount of a code, in millionths of a US dollar; throws on a code that is not the one of its amount. */
export function decodeSafeAmount(code: number): bigint {
  const [exponent, mantissa] = [bounded("safe", code, 0xffff) >> 11, code & 0x7ff];
  if (exponent > 0 && mantissa < 1024)
    throw new Error(`safe ${code}: expected a mantissa of 1024 or more, got ${mantissa}`);
  return (BigInt(mantissa) << BigInt(exponent)) * microUsdPerCent;
}

/** One word of `publish`: wallet 160 bits, score, d1, d2 8 each, confidence 16, flags 8, model version 16, safe amount 16, zero 16; throws on a value out of range. */
export function packScore(score: OracleScore): Hex {
  const wallet = BigInt(checkedWallet(score.wallet));
  return toWord((wallet << 96n) | (packFields(score) << 32n) | (BigInt(safeCodeOf(score)) << 16n));
}

/** Reads one word of `publish`; throws on a word that the contract would refuse. */
export function unpackScore(word: Hex): OracleScore {
  const bits = fromWord(word);
  if (bits & 0xffffn) throw new Error(`packed score ${word}: the last 16 bits must be zero`);
  const wallet = getAddress(toHexOf(bits >> 96n, 20));
  const fields = unpackFields((bits >> 32n) & 0xffffffffffffffffn, Number((bits >> 16n) & 0xffffn));
  return { wallet: checkedWallet(wallet), ...fields };
}

/** A record as the contract stores it: fields 64 bits, safe amount 16, grade 8, zero 24, asOf, asOfTime and validUntil 48 each; throws on a value out of range. */
export function packRecord(record: Omit<OracleRecord, "grade">): Hex {
  const grade = record.outcome.kind === "scored" ? gradeCodes[gradeOf(record.outcome.ahsScore)] : 0;
  const times =
    (seconds48("asOf", record.asOf) << 96n) |
    (seconds48("asOfTime", record.asOfTime) << 48n) |
    seconds48("validUntil", record.validUntil);
  const safe = BigInt(safeCodeOf(record)) << 176n;
  return toWord((packFields(record) << 192n) | (BigInt(grade) << 168n) | safe | times);
}

/** Reads a stored record or a leaf's record; null for an empty one (as-of time zero). Throws on one that the contract cannot store. */
export function unpackRecord(word: Hex): OracleRecord | null {
  const bits = fromWord(word);
  const times = { asOf: bitsAt(bits, 96n), asOfTime: bitsAt(bits, 48n), validUntil: bitsAt(bits, 0n) };
  if (times.asOfTime === 0n) return null;
  const fields = unpackFields(bits >> 192n, Number((bits >> 176n) & 0xffffn));
  const record = { ...fields, ...times, grade: outcomeGrade(fields.outcome) };
  if (packRecord(record) !== word.toLowerCase())
    throw new Error(`record ${word}: the grade or the padding is wrong`);
  return record;
}

/** Reads the struct that scoreOf returns, as the ABI decodes it, as a record; null if it holds no record. */
export function decodeView(
  view: ReadContractReturnType<typeof agentHealthOracleAbi, "scoreOf">,
): OracleRecord | null {
  if (!view.exists) return null;
  const outcome = outcomeOf(view.insufficient, view.score, view.d1, view.d2);
  return {
    outcome,
    grade: outcomeGrade(outcome),
    confidenceBps: view.confidence,
    sanctioned: view.sanctioned,
    safeMicroUsd: view.safeAmount,
    modelVersion: modelVersionName(view.modelVersion),
    asOf: view.asOf,
    asOfTime: view.asOfTime,
    validUntil: view.validUntil,
  };
}

/** The message that a signer signs and anyone relays; throws on a value out of range or a validity above 48 hours. */
export function scoreMessage(score: OracleScore, times: OracleTimes): OracleMessage {
  const fields = packFields(score);
  if (times.validUntil > times.asOfTime + oracleValiditySeconds) {
    throw new Error(
      `validUntil ${times.validUntil}: at most ${times.asOfTime + oracleValiditySeconds}, 48 hours on`,
    );
  }
  return {
    wallet: checkedWallet(score.wallet),
    score: byteAt(fields, 56n),
    d1: byteAt(fields, 48n),
    d2: byteAt(fields, 40n),
    confidence: score.confidenceBps,
    flags: byteAt(fields, 16n),
    modelVersion: modelVersionCode(score.modelVersion),
    asOf: seconds48("asOf", times.asOf),
    asOfTime: seconds48("asOfTime", times.asOfTime),
    validUntil: seconds48("validUntil", times.validUntil),
    safe: safeCodeOf(score),
  };
}

/** EIP-712 domain of an oracle; its version changes with the layout of words and messages. */
export function scoreDomain({ chainId, address }: { readonly chainId: number; readonly address: Address }) {
  return { name: "AgentHealthScore", version: "2", chainId, verifyingContract: address } as const;
}

/** EIP-712 typed data of a score for one oracle on one chain, as viem's signTypedData and hashTypedData take it. */
export function scoreTypedData(oracle: { chainId: number; address: Address }, message: OracleMessage) {
  return {
    domain: scoreDomain(oracle),
    types: scoreTypes,
    primaryType: "Score",
    message,
  } as const;
}

const scoreTypes = {
  Score: [
    { name: "wallet", type: "address" },
    { name: "score", type: "uint8" },
    { name: "d1", type: "uint8" },
    { name: "d2", type: "uint8" },
    { name: "confidence", type: "uint16" },
    { name: "flags", type: "uint8" },
    { name: "modelVersion", type: "uint16" },
    { name: "asOf", type: "uint64" },
    { name: "asOfTime", type: "uint64" },
    { name: "validUntil", type: "uint64" },
    { name: "safe", type: "uint16" },
  ],
} as const;

/** The 64 bits that words and records share, from score down to model version. */
function packFields(score: Omit<OracleScore, "wallet">): bigint {
  const insufficient = score.outcome.kind === "insufficient";
  if (insufficient && score.sanctioned) throw new Error("a sanctioned wallet is never insufficient");
  const { ahsScore, d1Score, d2Score } = insufficient ? emptyScores : score.outcome;
  const flags = (score.sanctioned ? sanctionedFlag : 0) + (insufficient ? insufficientFlag : 0);
  return (
    (BigInt(bounded("ahsScore", ahsScore, 100)) << 56n) |
    (BigInt(bounded("d1Score", d1Score, 100)) << 48n) |
    (BigInt(bounded("d2Score", d2Score, 100)) << 40n) |
    (BigInt(bounded("confidenceBps", score.confidenceBps, 10_000)) << 24n) |
    (BigInt(flags) << 16n) |
    BigInt(modelVersionCode(score.modelVersion))
  );
}

function safeCodeOf({ sanctioned, safeMicroUsd }: Pick<OracleScore, "sanctioned" | "safeMicroUsd">): number {
  if (sanctioned && safeMicroUsd !== 0n)
    throw new Error(`safe amount of a sanctioned wallet: expected 0, got ${safeMicroUsd}`);
  return encodeSafeAmount(safeMicroUsd);
}

/** Scores of an insufficient record. */
const emptyScores = { ahsScore: 0, d1Score: 0, d2Score: 0 };

function unpackFields(fields: bigint, safe: number): Omit<OracleScore, "wallet"> {
  const flags = byteAt(fields, 16n);
  if (flags > insufficientFlag)
    throw new Error(`flags ${flags}: expected 0, 1 (sanctioned) or 2 (insufficient)`);
  const sanctioned = flags === sanctionedFlag;
  if (sanctioned && safe !== 0) throw new Error(`safe of a sanctioned wallet: expected 0, got ${safe}`);
  return {
    outcome: outcomeOf(
      flags === insufficientFlag,
      byteAt(fields, 56n),
      byteAt(fields, 48n),
      byteAt(fields, 40n),
    ),
    confidenceBps: bounded("confidenceBps", Number((fields >> 24n) & 0xffffn), 10_000),
    sanctioned,
    modelVersion: modelVersionName(Number(fields & 0xffffn)),
    safeMicroUsd: decodeSafeAmount(safe),
  };
}

function outcomeOf(insufficient: boolean, ahsScore: number, d1Score: number, d2Score: number): OracleOutcome {
  if (!insufficient) {
    bounded("d1Score", d1Score, 100);
    bounded("d2Score", d2Score, 100);
    return { kind: "scored", ahsScore: bounded("ahsScore", ahsScore, 100), d1Score, d2Score };
  }
  if (ahsScore + d1Score + d2Score > 0) throw new Error("an insufficient record must not carry a score");
  return { kind: "insufficient" };
}

function outcomeGrade(outcome: OracleOutcome): OracleGrade | null {
  return outcome.kind === "scored" ? gradeOf(outcome.ahsScore) : null;
}

function bounded(name: string, value: number, most: number): number {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw new Error(`${name}: expected an integer from 0 to ${most}, got ${value}`);
  }
  return value;
}

function seconds48(name: string, value: bigint): bigint {
  if (value < 1n || value >= 1n << 48n) throw new Error(`${name}: expected 1 to 2^48 - 1, got ${value}`);
  return value;
}

function checkedWallet(wallet: Address): Address {
  if (!isAddress(wallet)) throw new Error(`wallet: expected an address, got ${wallet}`);
  if (BigInt(wallet) === 0n) throw new Error("wallet: the zero address has no score");
  return getAddress(wallet);
}

function byteAt(bits: bigint, shift: bigint): number {
  return Number((bits >> shift) & 0xffn);
}

function bitsAt(bits: bigint, shift: bigint): bigint {
  return (bits >> shift) & 0xffffffffffffn;
}

function fromWord(word: Hex): bigint {
  if (!isHex(word) || size(word) !== 32 || word.length !== 66)
    throw new Error(`expected 32 bytes of hex, got ${word}`);
  return BigInt(word);
}

function toWord(bits: bigint): Hex {
  return toHexOf(bits, 32);
}

function toHexOf(bits: bigint, bytes: number): Hex {
  return `0x${bits.toString(16).padStart(2 * bytes, "0")}`;
}

type OracleGrade = "A" | "B" | "C" | "D" | "E" | "F";

/** Score of one wallet, which one word of a publication encodes. */
export type OracleScore = {
  readonly wallet: Address;
  readonly outcome: OracleOutcome;
  /** Basis points, 0 to 10,000. */
  readonly confidenceBps: number;
  readonly sanctioned: boolean;
  /** As in the score record, for example AHS-2026.2. */
  readonly modelVersion: string;
  /** Millionths of a US dollar; zero where unknown or sanctioned. Encoding rounds it down, by less than 1/1024 above 10.24 USD. */
  readonly safeMicroUsd: bigint;
};

export type OracleOutcome =
  | { kind: "scored"; ahsScore: number; d1Score: number; d2Score: number }
  | { readonly kind: "insufficient" };

/** When a score was taken and how long it may be relayed; seconds, but for the block number asOf. */
export type OracleTimes = { readonly asOf: bigint; readonly asOfTime: bigint; readonly validUntil: bigint };

/** A stored record: a publication with its times, the grade derived from the score (null when insufficient). */
type OracleRecord = Omit<OracleScore, "wallet"> & OracleTimes & { readonly grade: OracleGrade | null };

/** A leaf of an epoch's Merkle list; record is the stored form. */
export type OracleLeaf = { readonly wallet: Address; readonly record: Hex };

/** The EIP-712 message `Score` as viem signs it and as the contract takes it. */
export type OracleMessage = TypedDataDefinition<typeof scoreTypes, "Score">["message"];
