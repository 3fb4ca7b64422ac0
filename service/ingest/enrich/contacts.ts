import { type Address, zeroAddress as NOBODY } from "viem";
import type { ContactIncrement } from "./contact-rows.ts";
import type { Market } from "./context.ts";
import type { Creation } from "./enrich-reads.ts";
import type { EnrichRows } from "./enrich-writes.ts";
import type { OwnCallRow } from "./own-call.ts";
import type { ValueOf } from "./prices.ts";
import type { SampledBlock } from "./sampling.ts";

/** Calls or funds from an account to a counterparty, at one moment. */
export type Dealing = Pick<ContactIncrement, "counterparty" | "account" | "calls" | "sentMicroUsd"> & {
  readonly block: number;
  readonly timestamp: number;
};

/** The members of a call that decide its counterparties. */
export type CountedCall = Pick<
  OwnCallRow,
  | ("wallet" | "block" | "transactionIndex" | "position" | "timestamp" | "ok")
  | ("value" | "to" | "recipient" | "emitters")
>;

/** Most payees of one sender in one transaction: the facts of each are requested. */
const MAX_PAYEES = 32;

/**
 * Senders of one counterparty that a sample adds at most. Scores count 30 users, which four samples show; a token that all
 * of Base uses gets at most 5,760 rows in 180 days.
 */
const SENDERS_PER_SAMPLE = 8;

/** Counterparties of own calls; of a call to a contract that the wallet created also the outside contracts that logged. */
export function dealingsOfCalls(calls: readonly CountedCall[], creations: readonly Creation[]) {
  const created = new Map(creations.map((creation) => [creation.contract, creation]));
  return calls.flatMap((call) => {
    const { wallet: account, block, timestamp } = call;
    const isOwn = (address: Address) => isCreatedBefore(created.get(address), call);
    return contactedBy(call, isOwn)
      .filter((counterparty) => counterparty !== account)
      .map((counterparty) => ({ counterparty, account, calls: 1, sentMicroUsd: 0n, block, timestamp }));
  });
}

/** Those of calls that are counted already, now that what they called is known as the wallet's own: the outside contracts that logged. */
export function dealingsThrough(
  calls: readonly CountedCall[],
  creations: readonly Creation[],
): readonly Dealing[] {
  return calls.flatMap((call) =>
    dealingsOfCalls([call], creations).filter(({ counterparty }) => counterparty !== call.to),
  );
}

/** Payments in recognised tokens and native coin that have a price. Of the payees of one sender in one transaction the first 32 count. */
export function dealingsOfTransfers(
  transfers: readonly EnrichRows["transfers"][number][],
  market: Market,
  value: ValueOf,
): readonly Dealing[] {
  const payees = new Map<string, Set<string>>();
  return transfers.flatMap(({ standard, token, from, to, amount, block, timestamp, transactionHash }) => {
    const priced = standard === "native" ? market.native : (market.tokens.get(token) ?? null);
    if (priced === null || standard === "erc721" || standard === "erc1155") return [];
    // A transferFrom of zero needs no allowance, so any account can send it in the name of another.
    if (amount === null || amount === undefined || amount === 0n) return [];
    if (from === to || from === NOBODY || to === NOBODY) return [];
    const sentMicroUsd = value(priced, amount, timestamp);
    if (sentMicroUsd === null) return [];
    const key = `${from} ${transactionHash}`;
    const known = payees.get(key) ?? new Set();
    if (!known.has(to) && known.size === MAX_PAYEES) return [];
    payees.set(key, known.add(to));
    return [{ counterparty: to, account: from, calls: 0, sentMicroUsd, block, timestamp }];
  });
}

/** Calls of a stretch's sampled blocks to each counterparty: all that its first 8 senders made. Blocks in any order. */
export function dealingsOfSample(blocks: readonly SampledBlock[]): readonly Dealing[] {
  const senders = new Map<Address, Set<Address>>();
  return blocks
    .toSorted((a, b) => a.number - b.number)
    .flatMap(({ number: block, timestamp, seen }) =>
      seen.flatMap(({ from: account, counterparty }) => {
        if (counterparty === null || counterparty === account) return [];
        const known = senders.get(counterparty) ?? new Set();
        if (!known.has(account) && known.size === SENDERS_PER_SAMPLE) return [];
        senders.set(counterparty, known.add(account));
        return [{ counterparty, account, calls: 1, sentMicroUsd: 0n, block, timestamp }];
      }),
    );
}

/** Dealings summed up by counterparty and account. */
export function sumDealings(dealings: readonly Dealing[]): readonly ContactIncrement[] {
  const sums = new Map<string, ContactIncrement>();
  for (const { block, timestamp, ...dealing } of dealings) {
    const key = `${dealing.counterparty} ${dealing.account}`;
    const sum = sums.get(key);
    sums.set(key, {
      ...dealing,
      calls: dealing.calls + (sum?.calls ?? 0),
      sentMicroUsd: dealing.sentMicroUsd + (sum?.sentMicroUsd ?? 0n),
      firstBlock: Math.min(block, sum?.firstBlock ?? block),
      firstTime: Math.min(timestamp, sum?.firstTime ?? timestamp),
      lastBlock: Math.max(block, sum?.lastBlock ?? block),
      lastTime: Math.max(timestamp, sum?.lastTime ?? timestamp),
    });
  }
  return [...sums.values()];
}

/** More than the counterparty that the score uses: which accounts are own is not known yet. */
function contactedBy(call: CountedCall, isOwn: (account: Address) => boolean): readonly Address[] {
  const direct = call.recipient ?? call.to ?? null;
  if (direct === null || !isShown(call)) return [];
  if (direct !== call.to || !isOwn(direct)) return [direct];
  const outside = (call.emitters ?? []).filter((emitter) => emitter !== direct && !isOwn(emitter));
  return [direct, ...outside];
}

/** An account's own code may ignore the calldata of an execution; its recipient is set only if the token logged it, its value if a trace shows it. */
function isShown({ position, ok, value, recipient = null, to, emitters }: CountedCall): boolean {
  if (position === 0 || (value ?? 0n) > 0n) return true;
  return ok && (recipient !== null || (to !== null && to !== undefined && emitters?.includes(to) === true));
}

function isCreatedBefore(creation: Creation | undefined, call: CountedCall): boolean {
  if (creation === undefined || creation.wallet !== call.wallet) return false;
  return (
    creation.block < call.block ||
    (creation.block === call.block && creation.transactionIndex <= call.transactionIndex)
  );
}
