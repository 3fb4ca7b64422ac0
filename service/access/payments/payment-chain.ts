import {
  getAbiItem,
  type Hex,
  isAddressEqual,
  type Log,
  type PublicClient,
  parseAbi,
  TransactionReceiptNotFoundError,
} from "viem";
import { decodeEvent } from "../../chain/bounded-abi.ts";
import type { PresentedPayment } from "../access.ts";

/** An authorization to look up on chain. */
export type Authorization = Pick<PresentedPayment, "asset" | "payer" | "nonce" | "payTo" | "amount">;

export type PaymentChain = ReturnType<typeof createPaymentChain>;

const TOKEN = parseAbi([
  "function balanceOf(address account) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
const USED = getAbiItem({ abi: TOKEN, name: "AuthorizationUsed" });
/** Blocks per eth_getLogs, within the limits of public nodes. */
const SPAN = 5_000n;
const FIRST_STEP = 256n;

/** Reads authorizations on chain. Every call throws a viem error if the node fails. */
export function createPaymentChain(client: PublicClient, finalityBlocks: number) {
  return {
    /** Returns whether the nonce is used or withdrawn at a block, the pending block or the newest one. */
    isUsed: ({ asset, payer, nonce }: Authorization, block?: bigint | "pending"): Promise<boolean> =>
      client.readContract({
        address: asset,
        abi: TOKEN,
        functionName: "authorizationState",
        args: [payer, nonce],
        ...(block === "pending" ? { blockTag: block } : {}),
        ...(typeof block === "bigint" ? { blockNumber: block } : {}),
      }),
    /** The payer's balance, in the token's smallest unit. */
    balanceOf: ({ asset, payer }: Authorization): Promise<bigint> =>
      client.readContract({ address: asset, abi: TOKEN, functionName: "balanceOf", args: [payer] }),
    /** The transaction since that time that used the authorization and paid us by it; null without one. */
    findTransfer: (authorization: Authorization, since: Date) => findTransfer(client, authorization, since),
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

async function findTransfer(
  client: PublicClient,
  authorization: Authorization,
  since: Date,
): Promise<Hex | null> {
  const head = await client.getBlockNumber({ cacheTime: 0 });
  const oldest = await blockBefore(client, head, BigInt(Math.floor(since.getTime() / 1000)));
  const { asset, payer, nonce } = authorization;
  for (let to = head; to >= oldest; to -= SPAN) {
    const from = to - SPAN + 1n > oldest ? to - SPAN + 1n : oldest;
    const [use] = await client.getLogs({
      address: asset,
      event: USED,
      args: { authorizer: payer, nonce },
      fromBlock: from,
      toBlock: to,
    });
    if (use === undefined) continue;
    const { logs } = await client.getTransactionReceipt({ hash: use.transactionHash });
    return paysBy(logs, use.logIndex, authorization) ? use.transactionHash : null;
  }
  return null;
}

/** A block at or before that time, found by doubling steps back from the head. */
async function blockBefore(client: PublicClient, head: bigint, time: bigint): Promise<bigint> {
  for (let step = FIRST_STEP; step < head; step *= 2n) {
    const { timestamp } = await client.getBlock({ blockNumber: head - step });
    if (timestamp <= time) return head - step;
  }
  return 0n;
}

/**
 * Returns whether the token's next log after the use is our payment. It must be the next one: a payer can sign one
 * nonce twice, and one transaction can hold many transfers.
 */
function paysBy(
  logs: readonly Log[],
  useIndex: number,
  { asset, payer, payTo, amount }: Authorization,
): boolean {
  const [next] = logs
    .filter((log) => isAddressEqual(log.address, asset) && (log.logIndex ?? -1) > useIndex)
    .toSorted((one, other) => (one.logIndex ?? 0) - (other.logIndex ?? 0));
  const event = next === undefined ? null : decodeEvent(TOKEN, next);
  if (event?.eventName !== "Transfer") return false;
  const { from, to, value } = event.args;
  return isAddressEqual(from, payer) && isAddressEqual(to, payTo) && value === amount;
}
