import type { Address, Hex } from "viem";
import { recoverAuthorizationAddress } from "viem/utils";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import { logAnswer, type RawBlock, type RawLog, type RawReceipt } from "../../chain/node/rpc-answers.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { chooseLogs, type Parties } from "../history/batch-select.ts";
import type { BlockRange } from "../history/batch-source.ts";
import type { EnrichLimits } from "./context.ts";
import { TOPIC_REQUESTS } from "./read-logs.ts";
import { readBlockReceipts } from "./read-receipts.ts";

/** Blocks of one range that are read whole, and that are held: a block of Base takes some 5 MB of memory. */
export const WHOLE_BLOCKS = 16;
/** Authorizations of EIP-7702 whose signers are recovered in one range: each takes about a millisecond. */
const MAX_AUTHORIZATIONS = 2_000;
/** EIP-7702. */
const SET_CODE_TYPE = 4;

/**
 * Whether a range costs less by the receipts of its blocks than by the logs of so many wallets. Those of one filter are always read by
 * topic, which takes a hundredth of the bytes.
 */
export function readsWhole(
  { maxWallets, receiptsPercent }: Pick<EnrichLimits, "maxWallets" | "receiptsPercent">,
  { wallets, blocks }: { readonly wallets: number; readonly blocks: number },
): boolean {
  const filters = Math.ceil(wallets / maxWallets);
  return filters > 1 && blocks * receiptsPercent < 100 * TOPIC_REQUESTS * filters;
}

/** A reader of a node that asks for the receipts of a block once, and holds those of the newest blocks that were read. */
export function createWholeBlocks(client: ChainReader) {
  const held = new Map<number, Promise<readonly RawReceipt[] | null>>();
  return {
    client: {
      ...client,
      blockReceipts: (block: number) => {
        const known = held.get(block);
        if (known !== undefined) return known;
        const read = client.blockReceipts(block);
        read.catch(() => held.delete(block));
        for (const oldest of held.keys()) {
          if (held.size < WHOLE_BLOCKS) break;
          held.delete(oldest);
        }
        held.set(block, read);
        return read;
      },
    },
    isHeld: (block: number): boolean => held.has(block),
  };
}

export type WholeRange = {
  /** In the order of the chain. */
  readonly logs: readonly RawLog[];
  /** Followed wallets that signed where their account's code is to be; null if not all signers were looked at. */
  readonly signers: ReadonlySet<Address> | null;
};

/**
 * Reads every block of a range whole, and what in it names a wallet. Throws a NodeFailure, of kind method_missing for a node without
 * eth_getBlockReceipts.
 */
export async function readWholeBlocks(
  client: ChainReader,
  { from, to, ...parties }: BlockRange & Parties,
  limits: Pick<EnrichLimits, "concurrency">,
): Promise<WholeRange> {
  const numbers = Array.from({ length: to - from + 1 }, (_, place) => from + place);
  const choose = chooseLogs(parties);
  const setCode: number[] = [];
  const logs = await mapLimited(numbers, limits.concurrency, async (number) => {
    const receipts = await readBlockReceipts(client, number);
    if (receipts === null) throw new NodeFailure("node_behind", `no receipts of block ${number}`);
    requireWhole(receipts, number);
    if (receipts.some(({ type }) => type === SET_CODE_TYPE)) setCode.push(number);
    return receipts.flatMap((receipt) => logsOf(receipt).filter((log) => choose(log) !== null));
  });
  return { logs: logs.flat(), signers: await readSigners(client, setCode, parties.wallets) };
}

/** A node that leaves a receipt out must not hide what is in it. */
function requireWhole(receipts: readonly RawReceipt[], number: number): void {
  const [first] = receipts;
  const isWhole = receipts.every(
    ({ transactionIndex, blockNumber, blockHash }, place) =>
      transactionIndex === place && blockNumber === number && blockHash === first?.blockHash,
  );
  if (!isWhole) throw new NodeFailure("inconsistent", `the receipts of block ${number} are not whole`);
}

/** Malformed logs say nothing. */
function logsOf({ logs }: RawReceipt): readonly RawLog[] {
  return logs.flatMap((log) => {
    const parsed = logAnswer.safeParse(log);
    return parsed.success ? [parsed.data] : [];
  });
}

async function readSigners(
  client: ChainReader,
  blocks: readonly number[],
  wallets: Parties["wallets"],
): Promise<ReadonlySet<Address> | null> {
  const signers = new Set<Address>();
  let left = MAX_AUTHORIZATIONS;
  for (const number of blocks) {
    const block = await client.blockWithTransactions(number);
    if (block === null) throw new NodeFailure("node_behind", `no block ${number}`);
    for (const authorization of block.transactions.flatMap((sent) => sent.authorizationList ?? [])) {
      if (left === 0) return null;
      left -= 1;
      const signer = await signerOf(authorization);
      if (signer !== null && wallets.has(signer)) signers.add(signer);
    }
  }
  return signers;
}

type Authorization = NonNullable<RawBlock["transactions"][number]["authorizationList"]>[number];

/** Null for an invalid signature, which the chain passes over. */
async function signerOf({ address, chainId, nonce, r, s, yParity }: Authorization): Promise<Address | null> {
  const sized = (word: bigint): Hex => `0x${word.toString(16).padStart(64, "0")}`;
  const authorization = { address, chainId, nonce, r: sized(r), s: sized(s), yParity };
  try {
    return (await recoverAuthorizationAddress({ authorization })).toLowerCase() as Address;
  } catch {
    return null;
  }
}
