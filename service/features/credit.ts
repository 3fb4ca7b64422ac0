import type { Address } from "viem";
import { MICRO } from "../score/fixed-point.ts";
import type { OwnCall } from "./types.ts";

/**
 * Credit q of a call's counterparty in millionths. Inside the wallet's owner cluster, which is the wallet itself and
 * the contract that a creation makes, it is 0; every other counterparty is credited in full.
 */
export function creditMicros(call: OwnCall, wallet: Address): number {
  if (call.to === null || call.to === wallet) return 0;
  return MICRO;
}
