import { type Address, formatEther } from "viem";
import type { Fees } from "../../sender/send-policy.ts";
import { mayBeSame } from "./call-intent.ts";
import type { TokenSpend } from "./read-swap.ts";
import type { HoldingQuery } from "./recovery-node.ts";
import type { Candidate, Refused } from "./sort-failures.ts";
import { gasLimitOf, highestCost, type UnsignedTransaction } from "./unsigned-transaction.ts";

/** A candidate that passed its simulation. */
export type PassingCall = Candidate & { readonly gas: bigint; readonly l1Fee: bigint };

export type RetryPlanInput = {
  /** Newest first. */
  readonly passing: readonly PassingCall[];
  /** Wei. */
  readonly balance: bigint;
  /** Smallest units by `holdingKey`; absent ones are unknown and left to the simulation. */
  readonly holdings: ReadonlyMap<string, bigint>;
  readonly fees: Fees;
  readonly chainId: number;
  readonly firstNonce: number;
  readonly blockGasLimit: bigint;
  /** Spenders whose approvals the plan revokes first; lower-case. */
  readonly revoked: ReadonlySet<Address>;
};

/** `maxCost` is in wei. */
export type RetryOffer = PassingCall & {
  readonly transaction: UnsignedTransaction;
  readonly maxCost: bigint;
};

/**
 * Chooses the retries to offer together, within the wallet's funds. Of calls that have or may have the same effect,
 * only the newest affordable one is offered. Values are those of the originals. Nonces are consecutive, in the order of
 * the original failures.
 */
export function planRetries(input: RetryPlanInput): {
  offers: readonly RetryOffer[];
  refused: readonly Refused[];
} {
  const chosen: Omit<RetryOffer, "transaction">[] = [];
  const refused: Refused[] = [];
  const ledger = { balance: input.balance, holdings: new Map(input.holdings) };
  for (const candidate of input.passing) {
    const { call, intent, gas, l1Fee } = candidate;
    const twin = chosen.find((other) => mayBeSame(other.intent, intent));
    if (twin !== undefined) {
      const { hash } = twin.call;
      const detail = `Transaction ${hash} did the same, or may have, and is offered instead.`;
      refused.push({ call, code: "duplicate", detail, by: hash });
      continue;
    }
    const limit = gasLimitOf(gas, input.blockGasLimit);
    const maxCost = highestCost(
      { value: call.value, gas: limit, maxFeePerGas: input.fees.maxFeePerGas },
      l1Fee,
    );
    const shortage = revocationOf(candidate, input.revoked) ?? shortageOf(intent.spends, maxCost, ledger);
    if (shortage !== null) {
      refused.push({ call, ...shortage, by: null });
      continue;
    }
    spend(intent.spends, maxCost, ledger);
    chosen.push({ ...candidate, maxCost });
  }
  return { offers: numbered(chosen, input), refused };
}

/** The key of a balance or an allowance in `holdings`. */
export function holdingKey({ token, spender }: HoldingQuery): string {
  return spender === null ? token : `${token}:${spender}`;
}

function numbered(
  chosen: readonly Omit<RetryOffer, "transaction">[],
  { fees, chainId, firstNonce, blockGasLimit }: RetryPlanInput,
): readonly RetryOffer[] {
  return chosen.toReversed().map((offer, place) => ({
    ...offer,
    transaction: {
      type: "eip1559",
      chainId,
      nonce: firstNonce + place,
      to: offer.call.to,
      data: offer.call.input,
      value: offer.call.value,
      gas: gasLimitOf(offer.gas, blockGasLimit),
      ...fees,
    },
  }));
}

type Ledger = { balance: bigint; readonly holdings: Map<string, bigint> };

/** It would use the approval, or give it anew. */
function revocationOf(
  { intent }: Candidate,
  revoked: ReadonlySet<Address>,
): Pick<Refused, "code" | "detail"> | null {
  const spenders = intent.spends.flatMap(({ spender }) => (spender === null ? [] : [spender]));
  const found = [...intent.parties, ...spenders].find((party) => revoked.has(party));
  if (found === undefined) return null;
  return {
    code: "approval_revoked",
    detail: `An earlier transaction of the plan revokes the approval for ${found}.`,
  };
}

function shortageOf(
  spends: readonly TokenSpend[],
  maxCost: bigint,
  { balance, holdings }: Ledger,
): Pick<Refused, "code" | "detail"> | null {
  for (const { token, spender, amount } of spends) {
    const allowed = spender === null ? undefined : holdings.get(holdingKey({ token, spender }));
    if (allowed !== undefined && allowed < amount) {
      const detail = `It needs an allowance of ${amount} units of token ${token} for ${spender}; ${allowed} are left.`;
      return { code: "insufficient_allowance", detail };
    }
    const held = holdings.get(holdingKey({ token, spender: null }));
    if (held !== undefined && held < amount) {
      const detail = `It needs ${amount} units of token ${token}; ${held} are left.`;
      return { code: "insufficient_tokens", detail };
    }
  }
  if (maxCost <= balance) return null;
  const detail = `Its highest cost with its value is ${formatEther(maxCost)} of the native coin, of which ${formatEther(balance)} are left after the other offers.`;
  return { code: "insufficient_balance", detail };
}

function spend(spends: readonly TokenSpend[], maxCost: bigint, ledger: Ledger): void {
  ledger.balance -= maxCost;
  for (const { token, spender, amount } of spends) {
    const keys = [holdingKey({ token, spender: null })];
    if (spender !== null) keys.push(holdingKey({ token, spender }));
    for (const key of keys) {
      const held = ledger.holdings.get(key);
      if (held !== undefined) ledger.holdings.set(key, held - amount);
    }
  }
}
