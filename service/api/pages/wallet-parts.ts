import type { Address } from "viem";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import type { PublishedScore, ScoreReference, Standing } from "../../scores/scores.ts";
import type { PageChain, ReportState } from "./page-ports.ts";
/** What everybody may see of a wallet. */
export type WalletView = {
  /** Lower-case. */
  readonly address: Address;
  readonly chain: PageChain;
  readonly standing: Standing;
  readonly published: PublishedScore | null;
  /** Null for a wallet that was never scored. */
  readonly reference: ScoreReference | null;
  readonly agents: readonly RegisteredAgent[];
  /** Null without a score. */
  readonly rank: number | null;
  /** Wallets with a score. */
  readonly scored: number;
  /** The newest published Merkle epoch; null before the first. */
  readonly epoch: number | null;
  /** Scheme, host and port under which the service is reached. */
  readonly origin: string;
  readonly now: Date;
};

/** locked: nobody is signed in. */
export type WalletPaidPart = { readonly kind: "locked" } | ReportState;
