import type { Logger } from "pino";
import type { Address } from "viem";
import { unavailable } from "../access/problems.ts";
import type { Standing } from "../scores/scores.ts";

/** What every endpoint about a wallet needs. */
export type WalletPorts = {
  readonly logger: Logger;
  readonly scores: { standing(address: Address): Promise<Standing> };
  /** Notes that the wallet was read, for its heartbeat on chain. */
  readonly recordInterest: (address: Address) => Promise<void>;
  /** Seconds after which the newest indexed block counts as too old to answer from. */
  readonly maxIndexAgeSeconds: number;
};

const RETRY_AFTER_SECONDS = 10;

/** A wallet's standing by a fresh index; throws a 503 problem when the index is empty or too old. */
export async function freshStanding(address: Address, ports: WalletPorts, now: Date): Promise<Standing> {
  const standing = await ports.scores.standing(address);
  const { head } = standing;
  const options = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (head === null) throw unavailable("index-unavailable", "The index holds no block yet.", options);
  const ageSeconds = Math.floor(now.getTime() / 1000) - head.timestamp;
  if (ageSeconds > ports.maxIndexAgeSeconds) {
    const detail = `The newest indexed block, ${head.blockNumber}, is ${ageSeconds} s old; at most ${ports.maxIndexAgeSeconds} s are allowed.`;
    throw unavailable("index-behind", detail, options);
  }
  return standing;
}

/** Records interest behind the answer's back: a heartbeat less is no reason to fail it. */
export function noteInterest(address: Address, ports: WalletPorts): void {
  ports.recordInterest(address).catch((error: unknown) => {
    ports.logger.warn({ err: error, wallet: address }, "interest not recorded");
  });
}
