import { PERMIT2_ADDRESS, x402ExactPermit2ProxyABI, x402UptoPermit2ProxyABI } from "@x402/evm";
import {
  type Address,
  getAbiItem,
  type Hex,
  isAddressEqual,
  type Log,
  maxUint256,
  type PublicClient,
  parseAbi,
  TransactionReceiptNotFoundError,
  toFunctionSelector,
} from "viem";
import { decodeEvent, decodeParameters } from "../../chain/bounded-abi.ts";
import type { PaymentScheme } from "../../db/tables/payment.ts";
import type { PresentedPayment } from "../access.ts";
import { CAPTURE_COLLECTOR } from "../schemes/auth-capture/auth-capture.ts";
import { PERMIT2_SPENDERS } from "../schemes/permit2/permit2-header.ts";

/** An authorization to look up on chain; by scheme `upto` it pays only if it moves that amount or more. */
export type Authorization = Pick<
  PresentedPayment,
  "scheme" | "asset" | "payer" | "nonce" | "payTo" | "amount"
>;

export type PaymentChain = ReturnType<typeof createPaymentChain>;

const TOKEN = parseAbi([
  "function balanceOf(address account) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
const USED = getAbiItem({ abi: TOKEN, name: "AuthorizationUsed" });
const TRANSFER = getAbiItem({ abi: TOKEN, name: "Transfer" });
const PERMIT2 = parseAbi(["function nonceBitmap(address owner, uint256 word) view returns (uint256)"]);
/** Most transactions of a payer that are compared with an authorization by Permit2, the newest. A payer can make any number. */
const MOST_TRANSACTIONS = 200;
/** Blocks per eth_getLogs, within the limits of public nodes. */
const SPAN = 5_000n;
const FIRST_STEP = 256n;

/** Reads authorizations on chain. Every call throws a viem error if the node fails. */
export function createPaymentChain(client: PublicClient, finalityBlocks: number) {
  return {
    /** Returns whether the nonce is used or withdrawn at a block, the pending block or the newest one. */
    isUsed: (authorization: Authorization, block?: bigint | "pending") =>
      isUsed(client, authorization, block),
    /** The payer's balance and how much of it the scheme may move, in the token's smallest unit. */
    async fundsOf({ scheme, asset, payer }: Authorization) {
      const token = { address: asset, abi: TOKEN } as const;
      const [balance, approved] = await Promise.all([
        client.readContract({ ...token, functionName: "balanceOf", args: [payer] }),
        !isByPermit2(scheme)
          ? maxUint256
          : client.readContract({ ...token, functionName: "allowance", args: [payer, PERMIT2_ADDRESS] }),
      ]);
      return { balance, approved };
    },
    /** The transaction since that time that used the authorization and paid us by it; null without one. */
    findTransfer: (authorization: Authorization, since: Date) => findPayment(client, authorization, since),
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

function isByPermit2(scheme: PaymentScheme): scheme is keyof typeof PERMIT2_SPENDERS {
  return scheme === "exact-permit2" || scheme === "upto";
}

function findPayment(client: PublicClient, authorization: Authorization, since: Date): Promise<Hex | null> {
  const { scheme } = authorization;
  if (isByPermit2(scheme)) return findPermit2Transfer(client, { ...authorization, scheme }, since);
  // The money goes to the escrow by its collector.
  const payTo = scheme === "auth-capture" ? CAPTURE_COLLECTOR : authorization.payTo;
  return findTransfer(client, { ...authorization, payTo }, since);
}

async function isUsed(
  client: PublicClient,
  { scheme, asset, payer, nonce }: Authorization,
  block: bigint | "pending" | undefined,
): Promise<boolean> {
  const at = {
    ...(block === "pending" ? { blockTag: block } : {}),
    ...(typeof block === "bigint" ? { blockNumber: block } : {}),
  };
  if (!isByPermit2(scheme)) {
    const args = [payer, nonce] as const;
    return client.readContract({
      ...{ address: asset, abi: TOKEN, functionName: "authorizationState", args },
      ...at,
    });
  }
  const number = BigInt(nonce);
  const bits = await client.readContract({
    ...{ address: PERMIT2_ADDRESS, abi: PERMIT2, functionName: "nonceBitmap", args: [payer, number >> 8n] },
    ...at,
  });
  return ((bits >> (number & 0xffn)) & 1n) === 1n;
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
  const { asset, payer, nonce } = authorization;
  for await (const range of rangesSince(client, since)) {
    const [use] = await client.getLogs({
      address: asset,
      event: USED,
      args: { authorizer: payer, nonce },
      ...range,
    });
    if (use === undefined) continue;
    const { logs } = await client.getTransactionReceipt({ hash: use.transactionHash });
    return paysBy(logs, use.logIndex, authorization) ? use.transactionHash : null;
  }
  return null;
}

/**
 * Permit2 has no event for a used nonce: transfers from the payer to us are compared by the calls that made them. Only calls of
 * the scheme's own contract are recognised, since only their data proves which authorization paid.
 */
async function findPermit2Transfer(
  client: PublicClient,
  authorization: Permit2Authorization,
  since: Date,
): Promise<Hex | null> {
  const { scheme, asset, payer, payTo, amount } = authorization;
  const compared = new Set<Hex>();
  for await (const range of rangesSince(client, since)) {
    const transfers = await client.getLogs({
      address: asset,
      event: TRANSFER,
      args: { from: payer, to: payTo },
      ...range,
    });
    for (const { args, transactionHash } of transfers.toReversed()) {
      const { value = 0n } = args;
      if (scheme === "exact-permit2" ? value !== amount : value < amount) continue;
      if (compared.has(transactionHash)) continue;
      if (compared.size === MOST_TRANSACTIONS) return null;
      compared.add(transactionHash);
      const transaction = await client.getTransaction({ hash: transactionHash });
      if (carriesOut(transaction, authorization)) return transactionHash;
    }
  }
  return null;
}

type Permit2Authorization = Authorization & { readonly scheme: keyof typeof PERMIT2_SPENDERS };

const SETTLE = {
  "exact-permit2": getAbiItem({ abi: x402ExactPermit2ProxyABI, name: "settle" }),
  upto: getAbiItem({ abi: x402UptoPermit2ProxyABI, name: "settle" }),
} as const;
const SELECTOR_CHARACTERS = 10;

/** Returns whether a transaction is the call of the scheme's contract that carries out the authorization. */
function carriesOut(
  { to, input }: { readonly to: Address | null; readonly input: Hex },
  { scheme, asset, payer, payTo, nonce }: Permit2Authorization,
): boolean {
  if (to === null || !isAddressEqual(to, PERMIT2_SPENDERS[scheme])) return false;
  if (!input.startsWith(toFunctionSelector(SETTLE[scheme]))) return false;
  const settled = settleOf(scheme, `0x${input.slice(SELECTOR_CHARACTERS)}`);
  if (settled === null) return false;
  const { permit, owner, witness } = settled;
  return (
    permit.nonce === BigInt(nonce) &&
    isAddressEqual(permit.permitted.token, asset) &&
    isAddressEqual(owner, payer) &&
    isAddressEqual(witness.to, payTo)
  );
}

function settleOf(scheme: Permit2Authorization["scheme"], data: Hex) {
  if (scheme === "upto") {
    const decoded = decodeParameters(SETTLE.upto.inputs, data);
    if (decoded === null) return null;
    const [permit, , owner, witness] = decoded;
    return { permit, owner, witness };
  }
  const decoded = decodeParameters(SETTLE[scheme].inputs, data);
  if (decoded === null) return null;
  const [permit, owner, witness] = decoded;
  return { permit, owner, witness };
}

/** Ranges of blocks since that time, newest first. */
async function* rangesSince(client: PublicClient, since: Date) {
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
