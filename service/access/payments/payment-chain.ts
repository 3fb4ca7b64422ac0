import {
  type Address,
  getAbiItem,
  type Hex,
  isAddressEqual,
  type Log,
  type PublicClient,
  parseAbi,
  TransactionReceiptNotFoundError,
} from "viem";
import { decodeEvent } from "../../chain/bounded-abi.ts";

/** What the chain is asked about an authorization; addresses and nonce lower-case. */
export type Authorization = {
  readonly asset: Address;
  readonly payer: Address;
  readonly nonce: Hex;
  readonly payTo: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
};

/** The chain as it tells of authorizations; every call throws a viem error when the node does not answer. */
export type PaymentChain = {
  /** Whether the nonce is used or withdrawn, as of a block, the pending one or the newest one. */
  isUsed(authorization: Authorization, block?: bigint | "pending"): Promise<boolean>;
  /** What the payer has, in the token's smallest unit. */
  balanceOf(authorization: Authorization): Promise<bigint>;
  /** The transaction that spent it and paid us by it, from that moment on; null when there is none. */
  findTransfer(authorization: Authorization, since: Date): Promise<Hex | null>;
  /** The block that holds a transaction which did what it was to do; null when none does. */
  minedIn(transaction: Hex): Promise<bigint | null>;
  /** The newest block that cannot be reorged. */
  finalBlock(): Promise<FinalBlock>;
};

/** Its time is in Unix seconds. */
export type FinalBlock = { readonly number: bigint; readonly timestamp: bigint };

const TOKEN = parseAbi([
  "function balanceOf(address account) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
const USED = getAbiItem({ abi: TOKEN, name: "AuthorizationUsed" });
/** Blocks of one eth_getLogs, within what public nodes allow. */
const SPAN = 5_000n;
const FIRST_STEP = 256n;

/** Asks a node. */
export function createPaymentChain(client: PublicClient, finalityBlocks: number): PaymentChain {
  return {
    isUsed: ({ asset, payer, nonce }, block) =>
      client.readContract({
        address: asset,
        abi: TOKEN,
        functionName: "authorizationState",
        args: [payer, nonce],
        ...(block === "pending" ? { blockTag: block } : {}),
        ...(typeof block === "bigint" ? { blockNumber: block } : {}),
      }),
    balanceOf: ({ asset, payer }) =>
      client.readContract({ address: asset, abi: TOKEN, functionName: "balanceOf", args: [payer] }),
    findTransfer: (authorization, since) => findTransfer(client, authorization, since),
    minedIn: (transaction) => minedIn(client, transaction),
    async finalBlock() {
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

/** A block at or before that time, in doubling steps back from the head. */
async function blockBefore(client: PublicClient, head: bigint, time: bigint): Promise<bigint> {
  for (let step = FIRST_STEP; step < head; step *= 2n) {
    const { timestamp } = await client.getBlock({ blockNumber: head - step });
    if (timestamp <= time) return head - step;
  }
  return 0n;
}

/**
 * Whether the token's next log after the use of an authorization is our payment. Next, because a payer can sign one nonce
 * twice and one transaction can hold many transfers: any other one may have paid for something else.
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
