import type { Address } from "viem";
import type { DaySpending, KeySummary } from "../../access/api-keys.ts";
import type { PurchaseQuery, StoredPurchase } from "../../access/idempotent-answers.ts";
import type { OwedPayment } from "../../access/payments/payments-due.ts";
import type { IpLimit } from "../../access/rate-limits.ts";
import type { Delivery } from "../../alerts/webhook-log.ts";
import type { readAgentCards } from "../../registries/documents/agent-cards.ts";
import type { RegisteredAgent } from "../../registries/documents/registered-agent.ts";
import type { ScanNight } from "../../registries/nightly/service-records.ts";
import type { Comparison } from "../../reports/comparison.ts";
import type { AvailableBacking } from "../../scores/backing/available-backing.ts";
import type { GradeChange } from "../../scores/ecosystem.sql.ts";
import type { Ecosystem, ScoreDistribution } from "../../scores/ecosystem.ts";
import type { createLeaderboardReader } from "../../scores/leaderboard.ts";
import type { ScoreHistory } from "../../scores/score-history.ts";
import type { PublishedScore, ScoreReference, WalletSnapshot } from "../../scores/stored-score.ts";
import type { WalletActivity } from "../../scores/wallet-activity.ts";
import type { SettledVerdict } from "../../verification/escrow/settled-verdicts.ts";
import type { OwnedVerdict } from "../../verification/verdicts/verdict-view.ts";
import type { ApiContext } from "../kit/api-env.ts";
import type { AgentNeeds } from "../kit/registered-agent.ts";
import type { CardView } from "../report-card/draw-card.ts";
import type { PreviewView } from "../report-card/draw-preview.ts";
import type { OwnerClusterAnswer } from "../routes/get-owner-cluster.ts";
import type { VerdictNeeds } from "../verification/require-verdict.ts";
import type { loadPageAssets } from "./assets.ts";
import type { Fragment } from "./prose.ts";
import type { StatusReading } from "./status-reading.ts";

/** Balance of a key; unknown if it could not be read. */
export type Funds =
  | { readonly kind: "left"; readonly usd: number }
  | { readonly kind: "unlimited" }
  | { readonly kind: "unknown" };

type Paid = Funds | { readonly kind: "free" } | { readonly kind: "before"; readonly until: Date };

/**
 * State of the paid report for a signed-in visitor. offer: a form with the offer buys it, and a free preview says in a sentence how much it finds. bought: charged now, with the
 * remaining balance, or before, and shown again until then. outdated: the same, of an earlier version of the service. refused: nothing was charged. pending: a charge may still
 * happen, once; the same form fetches the answer.
 */
export type ReportState =
  | { readonly kind: "offer"; readonly offer: string; readonly funds: Funds; readonly preview: string | null }
  | { readonly kind: "bought"; readonly shown: Fragment; readonly body: string; readonly paid: Paid }
  | { readonly kind: "outdated"; readonly body: string; readonly paid: Paid }
  | {
      readonly kind: "refused" | "pending";
      readonly status: number;
      readonly reason: string;
      readonly offer: string;
    };

/** Ports of the pages; those of public data cache it for a while. Priced data comes through the interface itself. */
export type PagePorts = AgentNeeds &
  VerdictNeeds &
  ReturnType<typeof loadPageAssets> & {
    readonly scoreHistory: ScoreHistory;
    readonly compare: (wallets: readonly Address[]) => Promise<Comparison>;
    readonly owed: (payers: readonly Address[]) => Promise<readonly OwedPayment[]>;
    /** The scored chain and its oracle contract. */
    readonly chain: {
      readonly chainId: number;
      readonly name: string;
      readonly oracle: Address;
      /** Base URL of the block explorer; null without one. */
      readonly explorer: string | null;
    };
    readonly wallets: {
      snapshot(address: Address): Promise<WalletSnapshot>;
      published(address: Address): Promise<PublishedScore | null>;
      /** Null while it is unknown. */
      backing(address: Address): Promise<AvailableBacking | null>;
      /** How a stored score was made, by the id of its row. */
      reference(scoreId: number): Promise<ScoreReference | null>;
      activity(address: Address, now: Date): Promise<WalletActivity>;
      /** The agents that the wallet acts for, by their registration documents; none while the index has no tables. */
      agents(address: Address): ReturnType<typeof readAgentCards>;
    };
    /** The owner cluster of a followed wallet. Throws a 503 problem if too many of them are being read. */
    readonly ownerCluster: (address: Address) => Promise<OwnerClusterAnswer>;
    /** Draws the picture of a link preview; rejects with CardsOverloaded where too many are drawn. */
    readonly drawPreview: (view: CardView | PreviewView) => Promise<Uint8Array>;
    readonly leaderboard: ReturnType<typeof createLeaderboardReader>;
    readonly ecosystem: () => Promise<Ecosystem>;
    readonly distribution: () => Promise<ScoreDistribution>;
    readonly gradeChanges: () => Promise<readonly GradeChange[]>;
    /** The newest verdicts that an escrow carried out; empty while the index has no tables. */
    readonly settledVerdicts: () => Promise<readonly SettledVerdict[]>;
    readonly nights: () => Promise<readonly ScanNight[]>;
    /** The first agents of each wallet, by name. */
    readonly agentNames: (
      wallets: readonly Address[],
    ) => Promise<ReadonlyMap<Address, readonly RegisteredAgent[]>>;
    /** The wallets that are sanctioned at the newest indexed block. */
    readonly sanctionedAmong: (wallets: readonly Address[]) => Promise<ReadonlySet<Address>>;
    /** The purchase of an API key under any of these Idempotency-Keys. */
    readonly storedPurchase: (query: PurchaseQuery) => Promise<StoredPurchase>;
    /** State of the service; never throws. */
    readonly status: () => Promise<StatusReading>;
    readonly machineStatus: "/readyz" | "/health";
    readonly account: {
      /** Asset and recipient of payments for keys; null if none are sold. */
      readonly payment: {
        /** CAIP-2. */
        readonly network: `eip155:${number}`;
        /** EIP-55, as is payTo. */
        readonly asset: Address;
        readonly payTo: Address;
      } | null;
      /** Limit of sign-in attempts by address, in addition to the general limit. */
      readonly signInLimit: IpLimit;
      readonly socketAddress: (context: ApiContext) => string | null;
      /** Null if the key does not exist. */
      readonly keySummary: (keyId: string) => Promise<KeySummary | null>;
      /** The newest deliveries of a subscription. */
      readonly deliveries: (subscriptionId: string) => Promise<readonly Delivery[]>;
      /** The newest verdicts that a key submitted. */
      readonly verdicts: (keyId: string) => Promise<readonly OwnedVerdict[]>;
      /** Charges of a key by UTC day, oldest first. */
      readonly usage: (keyId: string, since: Date) => Promise<readonly DaySpending[]>;
      /** A new id for each form that must take effect once. */
      readonly randomId: () => string;
    };
  };
