import type { Address } from "viem";
import { NodeFailure } from "../../chain/node/failure.ts";
import {
  AUTHORIZATION_USED,
  addressOf,
  logAnswer,
  type RawLog,
  type RawReceipt,
  topicWord,
} from "../../chain/node/rpc-answers.ts";
import { signedPaymentCalldata } from "../../chain/token-payment.ts";
import { decodeLog } from "./decode-log.ts";
import { receiptLogs } from "./executions.ts";
import { type Followed, isFollowed } from "./log-rows.ts";
import type { MinedCall } from "./own-call.ts";

/** A token payment by an authorization that its payer signed (EIP-3009); any account can send the transaction. */
export type SignedPayment = {
  readonly payer: Address;
  readonly payee: Address;
  readonly token: Address;
  /** In the token's smallest unit, above 0. */
  readonly amount: bigint;
  /** The token's AuthorizationUsed, and its Transfer. */
  readonly logs: readonly [RawLog, RawLog];
};

/**
 * Signed payments in logs of one transaction, in order. Trusted tokens (lower-case) log AuthorizationUsed and directly after it the
 * Transfer, with no call of other code between; so each transfer is of one authorization at most. A transfer of zero is no payment.
 */
export function findSignedPayments(
  logs: readonly RawLog[],
  tokens: ReadonlySet<Address>,
): readonly SignedPayment[] {
  return logs.flatMap((used, place) => {
    const payer = signerOf(used, tokens);
    const moved = logs[place + 1];
    if (payer === null || moved?.address !== used.address || moved.logIndex !== used.logIndex + 1) return [];
    const decoded = decodeLog(moved);
    const [movement] = decoded?.event === "transfer" ? decoded.movements : [];
    if (movement?.standard !== "erc20" || movement.from !== payer) return [];
    const { to: payee, amount } = movement;
    if (amount === null || amount === 0n) return [];
    return [{ payer, payee, token: used.address, amount, logs: [used, moved] as const }];
  });
}

/** Returns who signed the authorization that a trusted token logged; null for any other log. */
function signerOf(log: RawLog, tokens: ReadonlySet<Address>): Address | null {
  const [event, signer, , ...more] = log.topics;
  if (event !== AUTHORIZATION_USED || log.topics.length < 3 || more.length > 0) return null;
  if (log.data !== "0x" || !tokens.has(log.address)) return null;
  return addressOf(topicWord(signer));
}

/** The logs of trusted tokens by which followed wallets are known to have signed what was carried out. */
export function findAuthorizations(
  logs: readonly RawLog[],
  { followed, tokens }: { readonly followed: Followed; readonly tokens: ReadonlySet<Address> },
): readonly RawLog[] {
  return logs.filter((log) => {
    const signer = signerOf(log, tokens);
    return signer !== null && isFollowed(followed, signer, log.blockNumber);
  });
}

/**
 * The own calls that signed payments of a transaction are, with their logs; the time is the block's. One that its payer itself sent
 * to the token is no further call. `known` are AuthorizationUsed logs of the transaction by topic. Throws a NodeFailure if the
 * receipt lacks one of them.
 */
export function describeSignedPayments(
  receipt: RawReceipt,
  {
    known,
    tokens,
    timestamp,
  }: {
    readonly known: readonly RawLog[];
    readonly tokens: ReadonlySet<Address>;
    readonly timestamp: number;
  },
): readonly { readonly call: MinedCall; readonly logs: readonly RawLog[] }[] {
  const logs = receiptLogs(receipt);
  const wanted = new Set(known.map(({ logIndex }) => logIndex));
  const found = logs.filter((log) => wanted.has(log.logIndex) && signerOf(log, tokens) !== null);
  if (found.length < wanted.size)
    throw new NodeFailure("inconsistent", `a log of ${receipt.transactionHash} is not in its receipt`);
  return findSignedPayments(logs, tokens)
    .filter((payment) => wanted.has(payment.logs[0].logIndex) && !isSentByPayer(payment, receipt))
    .map((payment) => {
      const { payer, payee, token, amount } = payment;
      return {
        call: {
          hash: receipt.transactionHash,
          block: receipt.blockNumber,
          transactionIndex: receipt.transactionIndex,
          position: payment.logs[0].logIndex + 1,
          timestamp,
          wallet: payer,
          to: token,
          input: signedPaymentCalldata(payer, payee, amount),
          value: 0n,
          ok: true,
          // Another account chose and paid the gas.
          gasLimit: 0n,
          gasUsed: 0n,
          gasPrice: 0n,
          fee: 0n,
        },
        logs: payment.logs,
      };
    });
}

/** True if the payer itself sent the transaction to the token: it is an own call already, with the payment in its calldata. */
export function isSentByPayer({ payer, token }: SignedPayment, { from, to }: RawReceipt): boolean {
  return from === payer && to === token;
}

/** All signed payments of a receipt; malformed logs show none. */
export function readSignedPayments(
  receipt: RawReceipt,
  tokens: ReadonlySet<Address>,
): readonly SignedPayment[] {
  // Most receipts hold none, and to parse all logs of a block takes long.
  const near = receipt.logs.filter((log, place) => isUse(log) || isUse(receipt.logs[place - 1]));
  const logs = near.flatMap((log) => {
    const parsed = logAnswer.safeParse(log);
    return parsed.success ? [parsed.data] : [];
  });
  return findSignedPayments(logs, tokens);
}

function isUse(log: unknown): boolean {
  if (typeof log !== "object" || log === null || !("topics" in log) || !Array.isArray(log.topics))
    return false;
  const [event]: readonly unknown[] = log.topics;
  return typeof event === "string" && event.toLowerCase() === AUTHORIZATION_USED;
}
