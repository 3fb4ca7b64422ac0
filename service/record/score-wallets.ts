import type { Address, Hex } from "viem";
import {
  type InputFile,
  inputsFile,
  policyFile,
  rowsDigest,
  type SanctionsEntry,
  sanctionsFile,
} from "../features/inputs-hash.ts";
import { readAsOf, readSanctionsList, readWalletRows, type Snapshot } from "../features/read-rows.ts";
import { scoreWallet } from "../features/score-wallet.ts";
import type { AsOf, WalletRows } from "../features/types.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { ScoreRecord } from "../score/record.ts";
import type { Database } from "../store/database.ts";
import { readSnapshot } from "../store/index-snapshot.ts";

export type ScoringContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly policy: Policy;
};

/** A record, and the file of all that it follows from. */
export type InputRecord = { readonly record: ScoreRecord; readonly inputs: InputFile };

export type ScoredWallets = {
  readonly asOf: AsOf;
  /** Of wallets that are followed or sanctioned. */
  readonly records: readonly InputRecord[];
  /** Of all others: that nothing is known of them, for whoever has an earlier score of one. */
  readonly strangers: readonly InputRecord[];
  readonly files: readonly InputFile[];
};

type ReadBlock = (client: Snapshot, schema: string) => Promise<AsOf | null>;

/** Scores wallets (lower-case) at the newest finalized block of the index; null while there is none. */
export function scoreAtFinalized(
  context: ScoringContext,
  wallets: readonly Address[],
): Promise<ScoredWallets | null> {
  return scoreAt(context, wallets, readAsOf);
}

/** Scores wallets (lower-case) at the newest indexed block, which a reorg can still take out; null while there is none. */
export function scoreAtNewest(
  context: ScoringContext,
  wallets: readonly Address[],
): Promise<ScoredWallets | null> {
  return scoreAt(context, wallets, readNewestBlock);
}

async function scoreAt(
  { db, chainId, policy }: ScoringContext,
  wallets: readonly Address[],
  readBlock: ReadBlock,
): Promise<ScoredWallets | null> {
  const schema = `chain_${chainId}`;
  return readSnapshot(db, async (client) => {
    const asOf = await readBlock(client, schema);
    if (asOf === null) return null;
    const sanctions = await readSanctionsList(client, { schema, asOf });
    const followed = await readWalletRows(client, { schema, chainId, asOf, wallets, policy });
    const others = unfollowedRows(wallets, { followed, sanctions, asOf, chainId });
    const files = { policy: policyFile(policy), sanctions: sanctionsFile(sanctions) };
    const toRecord = (rows: WalletRows): InputRecord => ({
      record: scoreWallet({ rows, asOf, policy }),
      inputs: inputsFile({
        policyHash: files.policy.hash,
        sanctionsHash: files.sanctions.hash,
        rowsDigest: rowsDigest(rows),
        asOf,
      }),
    });
    return {
      asOf,
      records: [...followed, ...others.filter(isListed)].map(toRecord),
      strangers: others.filter((rows) => !isListed(rows)).map(toRecord),
      files: [files.policy, files.sanctions],
    };
  });
}

function isListed({ sanctions }: WalletRows): boolean {
  return sanctions.length > 0;
}

/** Rows of the wallets that nobody follows: whether they are listed, and nothing else. */
function unfollowedRows(
  wallets: readonly Address[],
  known: {
    readonly followed: readonly WalletRows[];
    readonly sanctions: readonly SanctionsEntry[];
    readonly asOf: AsOf;
    readonly chainId: number;
  },
): WalletRows[] {
  const { followed, sanctions, asOf, chainId } = known;
  const isFollowed = new Set(followed.map((rows) => rows.wallet));
  const listed = new Map(sanctions.map(({ address, ...flag }) => [address, flag]));
  return wallets
    .filter((wallet) => !isFollowed.has(wallet))
    .map((wallet) => {
      const flag = listed.get(wallet);
      return {
        chainId,
        wallet,
        calls: [],
        sanctions: flag === undefined ? [] : [flag],
        coverage: {
          fromBlock: asOf.blockNumber,
          fromTimestamp: asOf.timestamp,
          toBlock: asOf.blockNumber,
          complete: false,
          sources: ["index"],
        },
        chainStartTimestamp: null,
      };
    });
}

const readNewestBlock: ReadBlock = async (client, schema) => {
  if ((await readAsOf(client, schema)) === null) return null;
  const { rows } = await client.query({
    text: `select number::int8::float8, hash, timestamp::int8::float8 from "${schema}".block order by number desc limit 1`,
    rowMode: "array",
  });
  const [row] = rows as [number, Hex, number][];
  return row === undefined ? null : { blockNumber: row[0], blockHash: row[1], timestamp: row[2] };
};
