import { type Hex, maxUint256, type PublicClient, parseAbi, TransactionReceiptNotFoundError } from "viem";
import { type Authorization, type BlockRange, type PaymentScheme, schemeNamed } from "../schemes/scheme.ts";

export type PaymentChain = ReturnType<typeof createPaymentChain>;

const TOKEN = parseAbi(["function balanceOf(address account) view returns (uint256)"]);
/** Blocks per eth_getLogs, within the limits of public nodes. */
const SPAN = 5_000n;
const FIRST_STEP = 256n;

/** Reads authorizations on chain. Every call throws a viem error if the node fails. */
export function createPaymentChain(
  client: PublicClient,
  {
    finalityBlocks,
    schemes,
  }: { readonly finalityBlocks: number; readonly schemes: readonly PaymentScheme[] },
) {
  const transferBy = ({ scheme }: Authorization) => schemeNamed(schemes, scheme).transfer;
  return {
    /** Returns whether the nonce is used or withdrawn at a block, the pending block or the newest one. */
    async isUsed(authorization: Authorization, block?: bigint | "pending"): Promise<boolean> {
      const at = {
        ...(block === "pending" ? { blockTag: block } : {}),
        ...(typeof block === "bigint" ? { blockNumber: block } : {}),
      };
      return transferBy(authorization).isUsed(client, authorization, at);
    },
    /** The payer's balance and how much of it the scheme may move, in the token's smallest unit. */
    async fundsOf(authorization: Authorization) {
      const { asset: address, payer } = authorization;
      const [balance, approved = maxUint256] = await Promise.all([
        client.readContract({ address, abi: TOKEN, functionName: "balanceOf", args: [payer] }),
        transferBy(authorization).approved?.(client, authorization),
      ]);
      return { balance, approved };
    },
    /** The transaction since that time that used the authorization and paid us by it; null without one. */
    findTransfer: async (authorization: Authorization, since: Date): Promise<Hex | null> =>
      transferBy(authorization).find(client, authorization, rangesSince(client, since)),
    /** The block of a successful transaction; null if it is in no block. */
    minedIn: (transaction: Hex) => minedIn(client, transaction),
    /** The newest block that cannot be reorganised; its time is in Unix seconds. */
    async finalBlock(): Promise<{ readonly number: bigint; readonly timestamp: bigint }> {
      const head = await client.getBlockNumber({ cacheTime: 0 });
      const depth = BigInt(finalityBlocks);
      const { number, timestamp } = await client.getBlock({ blockNumber: head > depth ? head - depth : 0n });
      return { number, timestamp };
    },
  };
}

async function minedIn(client: PublicClient, hash: Hex): Promise<bigint | null> {
  try {
    const { status, blockNumber } = await client.getTransactionReceipt({ hash });
    return status === "success" ? blockNumber : null;
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return null;
    throw error;
  }
}

/** Ranges of blocks since that time, newest first. */
async function* rangesSince(client: PublicClient, since: Date): AsyncGenerator<BlockRange> {
  const head = await client.getBlockNumber({ cacheTime: 0 });
  const oldest = await blockBefore(client, head, BigInt(Math.floor(since.getTime() / 1000)));
  for (let to = head; to >= oldest; to -= SPAN) {
    yield { fromBlock: to - SPAN + 1n > oldest ? to - SPAN + 1n : oldest, toBlock: to };
  }
}

/** A block at or before that time, found by doubling steps back from the head. */
async function blockBefore(client: PublicClient, head: bigint, time: bigint): Promise<bigint> {
  for (let step = FIRST_STEP; step < head; step *= 2n) {
    const { timestamp } = await client.getBlock({ blockNumber: head - step });
    if (timestamp <= time) return head - step;
  }
  return 0n;
}
