import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Address, type Hex, keccak256, stringToHex } from "viem";
import type { Policy } from "../score/policy-shape.ts";
import { formatCall } from "./call-line.ts";
import type { AsOf, SanctionsFlag, WalletRows } from "./types.ts";
import { sortCalls } from "./weigh-calls.ts";

/** Calls hashed at once: a long history is never one string. */
const PIECE = 256;

/** A file that a record was computed from, under the keccak256 of its RFC 8785 JSON. */
export type InputFile = { readonly hash: Hex; readonly content: unknown };

export type SanctionsEntry = SanctionsFlag & { readonly address: Address };

/** The policy as a file. */
export function policyFile(policy: Policy): InputFile {
  return inputFile(policy);
}

/** The whole sanctions list as a file; entries in any order. */
export function sanctionsFile(entries: readonly SanctionsEntry[]): InputFile {
  return inputFile(entries.toSorted((a, b) => (a.address < b.address ? -1 : 1)));
}

/**
 * SHA-256 over the lines of a wallet's rows, each ended by a newline: one of chain, wallet and coverage, then one per own
 * call by (block, index).
 */
export function rowsDigest(rows: WalletRows): Hex {
  const hash = createHash("sha256");
  hash.update(headLine(rows), "latin1");
  const calls = sortCalls(rows.calls);
  for (let start = 0; start < calls.length; start += PIECE) {
    const lines = calls.slice(start, start + PIECE).map(formatCall);
    hash.update(`${lines.join("\n")}\n`, "latin1");
  }
  return `0x${hash.digest("hex")}`;
}

/**
 * Everything that a record follows from, as a file: its hash is the record's inputs hash, its content names the other files
 * by theirs. Inputs that this model does not read are null.
 */
export function inputsFile(inputs: {
  readonly policyHash: Hex;
  readonly sanctionsHash: Hex;
  readonly rowsDigest: Hex;
  readonly asOf: AsOf;
}): InputFile {
  return inputFile({
    policy: inputs.policyHash,
    token_list: null,
    sanctions_list: inputs.sanctionsHash,
    counterparty_file: null,
    rows: inputs.rowsDigest,
    as_of_block_hash: inputs.asOf.blockHash,
  });
}

function headLine({ chainId, wallet, coverage, chainStartTimestamp }: WalletRows): string {
  const { fromBlock, fromTimestamp, complete, sources } = coverage;
  const fields = [chainId, wallet, fromBlock, fromTimestamp, complete ? 1 : 0, sources.join(",")];
  return `${fields.join(" ")} ${chainStartTimestamp ?? "-"}\n`;
}

function inputFile(content: unknown): InputFile {
  return { hash: hashJson(content), content };
}

function hashJson(content: unknown): Hex {
  const json = canonicalize(content);
  if (json === undefined) throw new TypeError("only JSON has a canonical form");
  return keccak256(stringToHex(json));
}
