import type { Address } from "viem";
import { type AskContext, askAbout } from "./ask-contract.ts";

/** Nothing is said of a wallet while it is not known whether the contract lists it. */
export type NotAsked = {
  readonly kind: "unavailable";
  readonly detail: string;
  readonly retryAfterSeconds: number;
};

const NOT_ASKED: NotAsked = {
  kind: "unavailable",
  detail: "The sanctions contract was never asked about this wallet, and does not answer.",
  retryAfterSeconds: 10,
};

/** Answers about a wallet, lower-case, only once the contract has been asked about it. */
export function askingFirst<Outcome>(
  context: Omit<AskContext, "metrics">,
  answer: (wallet: Address) => Promise<Outcome>,
): (wallet: Address) => Promise<Outcome | NotAsked> {
  return async (wallet) => ((await askAbout(context, wallet)) ? answer(wallet) : NOT_ASKED);
}
