import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Address, type Hex, keccak256 } from "viem";
import { compareCalls, formatCall } from "../model/features/call-line.ts";
import type {
  AsOf,
  CounterpartyFact,
  Coverage,
  OpenApproval,
  OwnCall,
  TokenList,
  WalletRows,
} from "../model/features/types.ts";
import type { Policy } from "../model/score/policy-shape.ts";
import { sanctionsListFile } from "../sanctions/list-file.ts";
import type { SanctionsEntry } from "../sanctions/sanctions.ts";
import { digestText } from "./read/read-calls.ts";

/**
 * A file that a record was computed from: its RFC 8785 JSON and its hash. Inputs and policy, which contracts may hold to,
 * are named by keccak256; lists and counterparty files, large and made for every record, by SHA-256, a tenth of the work.
 */
export type InputFile = { readonly hash: Hex; readonly json: string };

/** The policy as a file; made once for each policy. */
export function policyFile(policy: Policy): InputFile {
  const known = POLICY_FILES.get(policy);
  if (known !== undefined) return known;
  const file = inputFile(canonicalJson(policy));
  POLICY_FILES.set(policy, file);
  return file;
}

/** A policy never changes, and the text of one takes as long as scoring a wallet. */
const POLICY_FILES = new WeakMap<Policy, InputFile>();

/** The sanctions lists of all sources, with the hash of each, as a file; entries in any order. */
export function sanctionsFile(entries: readonly SanctionsEntry[]): InputFile {
  return listFile(canonicalJson(sanctionsListFile(entries)));
}

/** The recognised tokens with their prices as a file. */
export function tokenListFile({ native, tokens }: TokenList): InputFile {
  // In the order of RFC 8785, and with integers alone, as below.
  return listFile(
    JSON.stringify({
      native: { decimals: native.decimals, prices: native.prices, symbol: native.symbol },
      tokens: tokens.map(({ address, decimals, prices, symbol }) => ({ address, decimals, prices, symbol })),
    }),
  );
}

/** The inputs of a record that a node alone cannot report again. */
export type FrozenFacts = Pick<
  WalletRows,
  "wallet" | "counterparties" | "approvals" | "delegation" | "servicesUpAt" | "chainStartTimestamp"
> & {
  /** Coverage of the rows; the record has its last block. */
  readonly coverage: Omit<Coverage, "toBlock">;
  /** Block of the first call whose receipt was read, which all later ones have; null where none has. */
  readonly receiptsFrom: number | null;
  /** Successful executions of which no trace was had, see `OwnCall.value`: those from one place to another, in order. */
  readonly untraced: readonly (readonly [first: Place, last: Place])[];
};

/** Block, transaction index and position of a call. */
type Place = readonly [number, number, number];

/** The facts that a record was frozen with, in any order, as its counterparty file; equal facts make one file. */
export function counterpartyFile(facts: WalletRows): InputFile {
  return listFile(JSON.stringify(frozenContent(facts)));
}

/** In the order of RFC 8785, and without numbers that are no integers: JSON.stringify makes the same text, sooner. */
function frozenContent(facts: WalletRows) {
  return {
    approvals: facts.approvals === null ? null : facts.approvals.map(approvalEntry).sort(byToken),
    chain_start: facts.chainStartTimestamp,
    counterparties: facts.counterparties.map(counterpartyEntry).sort(byAddress),
    covered: {
      complete: facts.coverage.complete,
      from_block: facts.coverage.fromBlock,
      from_timestamp: facts.coverage.fromTimestamp,
      sources: facts.coverage.sources,
    },
    delegation: facts.delegation === null ? null : { to: facts.delegation.to },
    receipts_from: firstReceipt(facts.calls),
    services_up_at: facts.servicesUpAt,
    untraced: untracedRuns(facts.calls),
    wallet: facts.wallet,
  };
}

/** The facts in the content of a counterparty file that `counterpartyFile` made. */
export function readCounterpartyFile(content: unknown): FrozenFacts {
  // The hash was checked before: this service wrote the file.
  const file = content as ReturnType<typeof frozenContent>;
  return {
    wallet: file.wallet,
    chainStartTimestamp: file.chain_start,
    servicesUpAt: file.services_up_at,
    delegation: file.delegation,
    coverage: {
      complete: file.covered.complete,
      fromBlock: file.covered.from_block,
      fromTimestamp: file.covered.from_timestamp,
      sources: file.covered.sources,
    },
    receiptsFrom: file.receipts_from,
    untraced: file.untraced,
    approvals:
      file.approvals?.map(([token, spender, kind, approvedAt]) => ({ token, spender, kind, approvedAt })) ??
      null,
    counterparties: file.counterparties.map(
      ([address, ownerLink, mergedWith, hasCode, existedAt, fundedFromOutside, firstContactAt, ...rest]) => {
        const [outsideUsers, flag] = rest;
        return {
          address,
          ownerLink,
          ...(mergedWith === null ? {} : { mergedWith }),
          hasCode,
          existedAt,
          fundedFromOutside,
          firstContactAt,
          outsideUsers,
          flag,
        };
      },
    ),
  };
}

/** Members in the order of `CounterpartyFact`, null for none. */
function counterpartyEntry(fact: CounterpartyFact) {
  return [
    fact.address,
    fact.ownerLink,
    fact.mergedWith ?? null,
    fact.hasCode,
    fact.existedAt,
    fact.fundedFromOutside,
    fact.firstContactAt,
    fact.outsideUsers,
    fact.flag,
  ] as const;
}

function firstReceipt(calls: WalletRows["calls"]): number | null {
  let first: number | null = null;
  for (const { receipt, blockNumber } of calls) {
    if (receipt !== null && (first === null || blockNumber < first)) first = blockNumber;
  }
  return first;
}

/** Runs among the successful executions, which most wallets have none of. */
function untracedRuns(calls: WalletRows["calls"]): FrozenFacts["untraced"] {
  const runs: [Place, Place][] = [];
  let isOpen = false;
  for (const call of calls.filter(({ position, ok }) => position > 0 && ok).toSorted(compareCalls)) {
    const place: Place = [call.blockNumber, call.transactionIndex, call.position];
    const run = isOpen ? runs.at(-1) : undefined;
    isOpen = call.value === null;
    if (!isOpen) continue;
    if (run === undefined) runs.push([place, place]);
    else run[1] = place;
  }
  return runs;
}

/** Whether runs hold the place of a call. */
export function isUntraced(
  untraced: FrozenFacts["untraced"],
  { blockNumber, transactionIndex, position }: Pick<OwnCall, "blockNumber" | "transactionIndex" | "position">,
): boolean {
  const place: Place = [blockNumber, transactionIndex, position];
  return untraced.some(
    ([first, last]) => comparePlaces(first, place) <= 0 && comparePlaces(place, last) <= 0,
  );
}

function comparePlaces(a: Place, b: Place): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function approvalEntry({ token, spender, kind, approvedAt }: OpenApproval) {
  return [token, spender, kind, approvedAt] as const;
}

function byAddress([a]: readonly [Address, ...unknown[]], [b]: readonly [Address, ...unknown[]]): number {
  return a < b ? -1 : 1;
}

function byToken(a: readonly unknown[], b: readonly unknown[]): number {
  return a.slice(0, 3).join() < b.slice(0, 3).join() ? -1 : 1;
}

/**
 * SHA-256 over the lines of a wallet's rows, each ended by a newline: one of chain, wallet, coverage and the chain's
 * start, then one per own call by (block, index, position).
 */
export function rowsDigest(rows: WalletRows): Hex {
  return digestText(rowsHead(rows), rows.calls.toSorted(compareCalls).map(formatCall).join("\n"));
}

/** The first line of a rows digest. */
export function rowsHead({ chainId, wallet, coverage, chainStartTimestamp }: WalletRows): string {
  const { fromBlock, fromTimestamp, toBlock, complete, sources } = coverage;
  const covered = [fromBlock, fromTimestamp, toBlock, complete ? 1 : 0, sources.join(",")];
  return [chainId, wallet, ...covered, chainStartTimestamp ?? "-"].join(" ");
}

/**
 * Everything that a record follows from, as a file: its hash is the record's inputs hash, its content names the other files
 * by theirs.
 */
export function inputsFile(inputs: {
  readonly policyHash: Hex;
  readonly tokenListHash: Hex;
  readonly sanctionsHash: Hex;
  readonly counterpartyHash: Hex;
  readonly rowsDigest: Hex;
  readonly asOf: AsOf;
}): InputFile {
  // In the order of RFC 8785.
  return inputFile(
    JSON.stringify({
      as_of_block_hash: inputs.asOf.blockHash,
      counterparty_file: inputs.counterpartyHash,
      policy: inputs.policyHash,
      rows: inputs.rowsDigest,
      sanctions_list: inputs.sanctionsHash,
      token_list: inputs.tokenListHash,
    }),
  );
}

/** Named by SHA-256. */
function listFile(json: string): InputFile {
  return { hash: `0x${createHash("sha256").update(json).digest("hex")}`, json };
}

/** Named by keccak256. */
function inputFile(json: string): InputFile {
  return { hash: keccak256(Buffer.from(json, "utf8")), json };
}

function canonicalJson(content: unknown): string {
  const json = canonicalize(content);
  if (json === undefined) throw new TypeError("only JSON has a canonical form");
  return json;
}
