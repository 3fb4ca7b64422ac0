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

/** before: bought earlier, and shown again until then; else charged now, with what is left afterwards. */
export type Paid = Funds | { readonly kind: "before"; readonly until: Date };

/** What there is on a key; unknown: it could not be asked about. */
export type Funds =
  | { readonly kind: "left"; readonly usd: number }
  | { readonly kind: "unlimited" }
  | { readonly kind: "unknown" };

/** What somebody who is signed in has of the report behind a score. */
export type ReportState =
  /** May buy it by a form that carries the offer. */
  | { readonly kind: "offer"; readonly offer: string; readonly funds: Funds }
  | {
      readonly kind: "bought";
      readonly record: AhsRecord;
      readonly paid: Paid;
    }
  | {
      /** Nothing was charged: the status says so. */
      readonly kind: "refused";
      readonly status: number;
      readonly reason: string;
      readonly offer: string;
    }
  | {
      /** It may be charged yet, once; the same form asks for the answer. */
      readonly kind: "pending";
      readonly status: number;
      readonly reason: string;
      readonly offer: string;
    };

/** What the page of a wallet shows to everybody. */
export type WalletPagePorts = BuyReportPorts & {
  readonly chain: PageChain;
  readonly wallets: {
    standing(address: Address): Promise<WalletSnapshot>;
    published(address: Address): Promise<PublishedScore | null>;
    /** How a stored score was made, by the id of its row. */
    reference(scoreId: number): Promise<ScoreReference | null>;
  };
  readonly ecosystem: () => Promise<Ecosystem>;
  readonly distribution: () => Promise<ScoreDistribution>;
  readonly agentNames: (
    wallets: readonly Address[],
  ) => Promise<ReadonlyMap<Address, readonly RegisteredAgent[]>>;
};

export type BuyReportPorts = {
  /** What an API key bought or is buying under any of these Idempotency-Keys. */
  readonly keptPurchase: (query: PurchaseQuery) => Promise<KeptPurchase>;
};

/** What the page reads: what anybody who knows the id may. */
export type VerdictPagePorts = VerdictPorts;

export type StatusPagePorts = {
  /** How the service stands; never throws, and is read every few seconds at most. */
  readonly status: () => Promise<StatusReading>;
  /** Where programs read it. */
  readonly machineStatus: "/readyz" | "/health";
};

/** What the leaderboard shows. */
export type LeaderboardPorts = {
  readonly leaderboard: LeaderboardReader;
  readonly distribution: () => Promise<ScoreDistribution>;
  /** The first agents that each wallet acts for, by their names. */
  readonly agentNames: (
    wallets: readonly Address[],
  ) => Promise<ReadonlyMap<Address, readonly RegisteredAgent[]>>;
  /** Those of the wallets that stand on a sanctions list at the newest indexed block. */
  readonly sanctionedAmong: (wallets: readonly Address[]) => Promise<ReadonlySet<Address>>;
};

export type AccountPagePorts = {
  readonly account: {
    /** Whether wallets can buy keys here. */
    readonly sellsKeys: boolean;
    /** Attempts to sign in, counted by address, beside what counts every request. */
    readonly signInLimit: IpLimit;
    readonly socketAddress: (context: ApiContext) => string | null;
    /** Null where there is no such key. */
    readonly standing: (keyId: string) => Promise<KeyStanding | null>;
    /** A fresh one for each form that is to count once. */
    readonly randomId: () => string;
  };
};

/** The chain that a deployment scores, and the contract that holds its scores. */
export type PageChain = { readonly chainId: number; readonly name: string; readonly oracle: Address };

/** What the dashboard shows; each remembers for a while what it read. */
export type DashboardPorts = {
  readonly chain: PageChain;
  readonly ecosystem: () => Promise<Ecosystem>;
  readonly distribution: () => Promise<ScoreDistribution>;
  readonly gradeChanges: () => Promise<readonly GradeChange[]>;
  readonly nights: () => Promise<readonly ScanNight[]>;
};

/** Everything that the pages take from outside; what they charge for they ask of the interface itself. */
export type PagePorts = AccountPagePorts &
  DashboardPorts &
  LeaderboardPorts &
  StatusPagePorts &
  VerdictPagePorts &
  WalletPagePorts &
  LoadedAssets;
