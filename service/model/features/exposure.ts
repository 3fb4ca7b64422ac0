import type { Address } from "viem";
import { roundMicro } from "../score/fixed-point.ts";
import type { Market } from "./market.ts";
import type { OwnCall, WalletRows } from "./types.ts";
import type { WeighedHistory } from "./weigh-calls.ts";

/**
 * Share, 0 to 1, of what own calls tried to send that was for sanctioned or mixer accounts: called, paid, or paid through the
 * called account. Of those, failed calls count as well, by their value and calldata; of all others only what succeeded, left the
 * owner's accounts and was not undone, so that volume without risk dilutes nothing. Where a call to a listed account has no
 * known price, it is at least the share of such calls.
 */
export function exposedShare(
  { calls, outside }: Pick<WeighedHistory, "calls" | "outside">,
  { counterparties }: Pick<WalletRows, "counterparties">,
  market: Market,
): number {
  const flagged = new Set<Address>();
  for (const { address, flag } of counterparties) if (flag !== null) flagged.add(address);
  if (flagged.size === 0 || calls.length === 0) return 0;

  let exposedVolume = 0;
  let unpriced = 0;
  for (const call of calls) {
    const sent = sentWorth(call, market);
    if (!reaches(call, flagged, { sent, market })) continue;
    exposedVolume += sent;
    if (sent === 0) unpriced += 1;
  }
  let volume = exposedVolume;
  for (const { call, trivial } of outside) {
    const sent = call.ok && !trivial ? sentWorth(call, market) : 0;
    if (sent > 0 && !reaches(call, flagged, { sent, market })) volume += sent;
  }
  const byVolume = volume > 0 ? exposedVolume / volume : 0;
  return roundMicro(Math.max(byVolume, unpriced / calls.length));
}

function reaches(
  call: OwnCall,
  flagged: ReadonlySet<Address>,
  { sent, market }: { /** In millionths of a US dollar. */ readonly sent: number; readonly market: Market },
): boolean {
  const { to, recipient } = call;
  if ((to !== null && flagged.has(to)) || (recipient !== null && flagged.has(recipient))) return true;
  return sent > 0 && paysThrough(call, flagged, market);
}

/**
 * True if the logs show that the called account passed the sent value on to listed accounts: nothing came back, and
 * only recognised tokens logged besides.
 * Any contract on the way, such as a hook of a pool, can make a mixer log within a call of another party.
 */
function paysThrough(
  { to, receipt }: OwnCall,
  flagged: ReadonlySet<Address>,
  market: Pick<Market, "isListed">,
): boolean {
  if (receipt === null || receipt.moves.some(({ amount }) => amount > 0n)) return false;
  const isOnWay = (emitter: Address) => flagged.has(emitter) || emitter === to || market.isListed(emitter);
  return receipt.emitters.some((emitter) => flagged.has(emitter)) && receipt.emitters.every(isOnWay);
}

/** Worth that a call sends or tries to send: its value, and priced tokens by its calldata or else by its logs. */
function sentWorth({ to, value, recipient, amount, receipt, timestamp }: OwnCall, market: Market): number {
  const coin = value === null || value === 0n ? null : market.nativeWorth(value, timestamp);
  let sum = coin === null ? 0 : coin;
  if (recipient !== null && to !== null && amount !== null) {
    const worth = market.tokenWorth(to, amount, timestamp);
    return worth === null ? sum : sum + worth;
  }
  if (receipt === null) return sum;
  for (const { token, amount: moved } of receipt.moves) {
    const worth = moved < 0n ? market.tokenWorth(token, -moved, timestamp) : null;
    if (worth !== null) sum += worth;
  }
  return sum;
}
