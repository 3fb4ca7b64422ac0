import type { Address } from "viem";
import type { KeyStanding } from "../../access/api-keys.ts";
import type { KeptPurchase, PurchaseQuery } from "../../access/idempotent-answers.ts";
import type { IpLimit } from "../../access/rate-limits.ts";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import type { ScanNight } from "../../registries/nightly/service-records.ts";
import type { Ecosystem, GradeChange, ScoreDistribution } from "../../scores/ecosystem.ts";
import type { LeaderboardReader } from "../../scores/leaderboard.ts";
import type { PublishedScore, ScoreReference, WalletSnapshot } from "../../scores/scores.ts";

import type { ApiContext } from "../kit/api-env.ts";
import type { AhsRecord } from "../schemas/ahs-record.ts";
import type { VerdictPorts } from "../verification/verdict-ports.ts";
import type { LoadedAssets } from "./assets.ts";
import type { StatusReading } from "./status-reading.ts";

/** before: bought earlier and shown again until then. Otherwise charged now, with the remaining balance. */
export type Paid = Funds | { readonly kind: "before"; readonly until: Date };

/** Balance of a key; unknown if it could not be read. */
export type Funds =
  | { readonly kind: "left"; readonly usd: number }
  | { readonly kind: "unlimited" }
  | { readonly kind: "unknown" };

/** State of the paid report for a signed-in visitor. */
export type ReportState =
  /** The visitor can buy it by a form with the offer. */
  | { readonly kind: "offer"; readonly offer: string; readonly funds: Funds }
  | {
      readonly kind: "bought";
      readonly record: AhsRecord;
      readonly paid: Paid;
    }
  | {
      /** Nothing was charged. */
      readonly kind: "refused";
      readonly status: number;
      readonly reason: string;
      readonly offer: string;
    }
  | {
      /** A charge may still happen, once; the same form fetches the answer. */
      readonly kind: "pending";
      readonly status: number;
      readonly reason: string;
      readonly offer: string;
    };

/** Public data of a wallet page. */
export type WalletPagePorts = BuyReportPorts & {
  readonly chain: PageChain;
  readonly wallets: {
    standing(address: Address): Promise<WalletSnapshot>;
    published(address: Address): Promise<PublishedScore | null>;
    /** The inputs of a stored score, by the id of its row. */
    reference(scoreId: number): Promise<ScoreReference | null>;
  };
  readonly ecosystem: () => Promise<Ecosystem>;
  readonly distribution: () => Promise<ScoreDistribution>;
  readonly agentNames: (
    wallets: readonly Address[],
  ) => Promise<ReadonlyMap<Address, readonly RegisteredAgent[]>>;
};

export type BuyReportPorts = {
  /** The purchase of an API key under any of these Idempotency-Keys. */
  readonly keptPurchase: (query: PurchaseQuery) => Promise<KeptPurchase>;
};

/** Reads of the verdict page, open to every holder of the id. */
export type VerdictPagePorts = VerdictPorts;

export type StatusPagePorts = {
  /** State of the service; never throws, and is cached for a few seconds. */
  readonly status: () => Promise<StatusReading>;
  /** URL of the same state for programs. */
  readonly machineStatus: "/readyz" | "/health";
};

/** Ports of the leaderboard. */
export type LeaderboardPorts = {
  readonly leaderboard: LeaderboardReader;
  readonly distribution: () => Promise<ScoreDistribution>;
  /** The first agents of each wallet, by name. */
  readonly agentNames: (
    wallets: readonly Address[],
  ) => Promise<ReadonlyMap<Address, readonly RegisteredAgent[]>>;
  /** The wallets that are sanctioned at the newest indexed block. */
  readonly sanctionedAmong: (wallets: readonly Address[]) => Promise<ReadonlySet<Address>>;
};

export type AccountPagePorts = {
  readonly account: {
    /** Whether the deployment sells keys. */
    readonly sellsKeys: boolean;
    /** Limit of sign-in attempts by address, in addition to the general limit. */
    readonly signInLimit: IpLimit;
    readonly socketAddress: (context: ApiContext) => string | null;
    /** Null if the key does not exist. */
    readonly standing: (keyId: string) => Promise<KeyStanding | null>;
    /** A new id for each form that must take effect once. */
    readonly randomId: () => string;
  };
};

/** The scored chain and its oracle contract. */
export type PageChain = { readonly chainId: number; readonly name: string; readonly oracle: Address };

/** Ports of the dashboard; each caches its result for a while. */
export type DashboardPorts = {
  readonly chain: PageChain;
  readonly ecosystem: () => Promise<Ecosystem>;
  readonly distribution: () => Promise<ScoreDistribution>;
  readonly gradeChanges: () => Promise<readonly GradeChange[]>;
  readonly nights: () => Promise<readonly ScanNight[]>;
};

/** Ports of the pages. Priced data comes through the interface itself. */
export type PagePorts = AccountPagePorts &
  DashboardPorts &
  LeaderboardPorts &
  StatusPagePorts &
  VerdictPagePorts &
  WalletPagePorts &
  LoadedAssets;
