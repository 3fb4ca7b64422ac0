import type { PaymentRequirements } from "@x402/core/types";
import type { JWK } from "jose";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Address, Hex } from "viem";
import type { Owner, PaidRequest, PayingCaller } from "../access/access.ts";
import type { KeyAccess } from "../access/api-key-access.ts";
import type {
  ApiKey,
  buyApiKey,
  KeyWithSecret,
  RotationRight,
  Spending,
  topUpApiKey,
} from "../access/api-keys.ts";
import type { CallSource } from "../access/client-address.ts";
import type { Access } from "../access/create-access.ts";
import type { RepeatStore } from "../access/idempotent-answers.ts";
import type { readOwed } from "../access/payments/payments-due.ts";
import type { ByteBudgets, IpLimit } from "../access/rate-limits.ts";
import type { OwnerAccess } from "../access/sign-in.ts";
import type { listSubscriptions, StoredSubscription } from "../alerts/alert-subscriptions.ts";
import type { Replay, rotate, Subscribe, SubscribeRequest } from "../alerts/subscriptions.ts";
import type { Delivery, DeliveryPage } from "../alerts/webhook-log.ts";
import type { AsOf, OwnerLink, WalletRows } from "../model/features/types.ts";
import type { Policy } from "../model/score/policy-shape.ts";
import type { UrlVisitor } from "../registries/probes/probe-endpoint.ts";
import type { createInfrastructureReader } from "../registries/probes/probes-of-wallet.ts";
import type { createAgentFinder } from "../registries/readers/find-agent.ts";
import type { createComparison } from "../reports/comparison.ts";
import type { KnownAccounts } from "../reports/labels/chain-labels.ts";
import type { createLabelReader } from "../reports/labels/label-reader.ts";
import type { TokenReader } from "../reports/labels/token-reader.ts";
import type { OwnerCluster } from "../reports/network/owner-cluster.ts";
import type {
  AccountLinks,
  createAccountReader,
  Neighbourhood,
} from "../reports/network/wallet-network-graph.ts";
import type { TransferReader } from "../reports/profit-and-loss/wallet-transfers.ts";
import type { RecoveryPorts } from "../reports/recovery/open-recovery.ts";
import type { RiskFacts, RiskKey } from "../reports/risk/risk-facts.ts";
import type { SourceWatch } from "../sanctions/sources.ts";
import type { createPromisedAmounts } from "../scores/backing/promised-amounts.ts";
import type { createDistributionReader } from "../scores/ecosystem.ts";
import type { createLeaderboardReader } from "../scores/leaderboard.ts";
import type { StoredPolicy, writePolicy } from "../scores/routing-policies.ts";
import type { createScoreHistory } from "../scores/score-history.ts";
import type { scoreNow, scoreOnDemand } from "../scores/score-on-demand.ts";
import type { createScoreReader, StoredScore } from "../scores/scores.ts";
import type { createWalletLifeReader } from "../scores/wallet-reads.ts";
import type { AppealFigures } from "../verification/escrow/appeal-rows.ts";
import type { Intake } from "../verification/intake.ts";
import type { acceptEvidence } from "../verification/verdicts/accept-evidence.ts";
import type { noteAppeal, offerAppeal, openAppeal } from "../verification/verdicts/appeals.ts";
import type { requestErasure } from "../verification/verdicts/erase-texts.ts";
import type { ReceiptKeys } from "../verification/verdicts/receipt.ts";
import type { recordReview } from "../verification/verdicts/review.ts";
import type {
  readStoredEvidence,
  readStoredTexts,
  VerdictView,
} from "../verification/verdicts/verdict-view.ts";
import type { ApiContext, Clock } from "./kit/api-env.ts";
import type { keepDealings } from "./kit/dealings-cache.ts";
import type { FairTurns, ReportTurns } from "./kit/report-turns.ts";
import type { ServerLife } from "./kit/server-life.ts";
import type { createCardRenderer } from "./report-card/render-pool.ts";
import type { Attestation } from "./schemas/ahs-record.ts";
import type { HealthReport } from "./verification/check-health.ts";

/** Everything that endpoints use. `bin/serve/create-services.ts` builds it from the configuration. */
export type Services = ServerServices & ScoringServices & CallerServices & VerificationServices;

type ServerServices = {
  readonly access: Access;
  readonly clock: Clock;
  /** Seconds by which this machine's date is ahead of the clock; negative if it is behind. */
  readonly clockAheadSeconds: () => number;
  readonly logger: Logger;
  /** A new id for requests without one. */
  readonly randomId: () => string;
  /** Registry of the request metrics, printed by /metrics; it must not contain them already. */
  readonly registry: Registry;
  /** loopback: this port serves /metrics to local callers. elsewhere: another port does. */
  readonly metricsPage: "loopback" | "elsewhere";
  /** Origins whose pages may read answers. */
  readonly allowedOrigins: readonly string[] | "*";
  readonly life: ServerLife;
  readonly ipLimit: IpLimit;
  /** Address of the socket of a request; null for requests made in process. */
  readonly socketAddress: (context: ApiContext) => string | null;
  /** Milliseconds that preparing and doing the work of a request may take together. */
  readonly deadlineMs: number;
  readonly discovery: {
    /** Scheme, host and port of the service. */
    readonly origin: string;
    /** The `accepts` of a price in thousandths of a US dollar; null if the deployment takes no payments. */
    readonly paymentTerms:
      | ((priced: Pick<PaidRequest, "units" | "isMetered" | "isCaptured">) => readonly PaymentRequirements[])
      | null;
    /** A wallet that the index follows, or any wallet if it follows none. */
    readonly sampleWallet: () => Promise<Address>;
    /** An agent with a wallet, or agent 1 of the identity registry, known or not. */
    readonly sampleAgent: () => Promise<{ readonly registry: Address; readonly agentId: bigint }>;
    /** Contracts that settle escrows by verdicts, in EIP-55; null if none do. */
    readonly evaluation: {
      readonly chainId: number;
      readonly evaluator: Address;
      readonly escrows: readonly { readonly address: Address; readonly generation: string }[];
    } | null;
    /** The service's own entry in the identity registry, whose address is in CAIP-10; null if it names none. */
    readonly registration: { readonly agentId: number; readonly agentRegistry: string } | null;
    /** Addresses of the deployment's contracts by name, in EIP-55; null for one that it does not have. */
    readonly contracts: Readonly<Record<string, Address | null>>;
    /** mailto: or https: URI for vulnerability reports; null if none is set. */
    readonly securityContact: string | null;
  };
  /** Public keys of receipts (RFC 7517), the current one first; empty if no receipts are signed. */
  readonly publicKeys: { readonly keys: readonly JWK[] };
};

type ScoringServices = {
  readonly chainId: number;
  readonly chainName: string;
  readonly oracle: Address;
  readonly policy: Policy;
  readonly scores: ReturnType<typeof createScoreReader>;
  /** Agents of all registries by number or by a part of their name. */
  readonly agents: Pick<ReturnType<typeof createLeaderboardReader>, "byAgentId" | "byName">;
  /** Finds an agent by its registry and number. */
  readonly findAgent: ReturnType<typeof createAgentFinder>;
  /** Compares wallets (lower-case and distinct) by stored data. */
  readonly compare: ReturnType<typeof createComparison>;
  /** Backing of wallets, and the ledger of amounts that routing promised of it. */
  readonly backing: ReturnType<typeof createPromisedAmounts>;
  /** Seconds after which the newest indexed block counts as too old to answer from. */
  readonly maxIndexAgeSeconds: number;
  readonly sanctionsSources: SourceWatch;
  /** Records that the wallet was read; the on-chain heartbeat depends on it. */
  readonly recordInterest: (address: Address) => Promise<void>;
  readonly scoreNow: (address: Address) => ReturnType<typeof scoreNow>;
  /** Null without a source of history: then wallets outside the index are not scored. */
  readonly scoreOnDemand:
    | ((address: Address, caller: PayingCaller) => ReturnType<typeof scoreOnDemand>)
    | null;
  /** Whether an account has sent transactions of its own, by the node; null without a node. Rejects if it does not answer. */
  readonly hasSent: ((address: Address) => Promise<boolean>) | null;
  /**
   * Asks to follow wallets that a caller paid for, in one transaction with the capture of the debit that pays; null for a payment that
   * was settled before, or a key without a limit.
   */
  readonly enrol: (
    wallets: readonly Address[],
    paid: { readonly caller: PayingCaller; readonly debitId: string | null },
  ) => Promise<void>;
  /** Signs a stored score for the oracle. */
  readonly attest: (row: StoredScore) => Promise<Attestation>;
  /** The file of an inputs hash; undefined without one. */
  readonly inputFile: (hash: Hex) => Promise<unknown>;
  /** The document behind feedback or an answer to a validation request by its hash, as it was hashed; null for an unknown hash. */
  readonly evidence: (kind: "feedback" | "validation", hash: Hex) => Promise<string | null>;
  /** The rendered list of one night; null without one. */
  readonly epochList: (epoch: number) => Promise<{ readonly root: string; readonly json: Uint8Array } | null>;
  readonly infrastructure: ReturnType<typeof createInfrastructureReader> & UrlVisitor;
  /** Limits how many reports a process reads at once. */
  readonly reportTurns: Pick<ReportTurns, "hasRoom">;
  /** Rows of a wallet at the newest finalized and enriched block; null while no such block exists. */
  readonly readWallet: (
    address: Address,
  ) => Promise<{ readonly rows: WalletRows; readonly asOf: AsOf } | "unknown" | null>;
  readonly walletLife: ReturnType<typeof createWalletLifeReader>;
  readonly walletTransfers: TransferReader;
  readonly knownAccounts: KnownAccounts;
  /** Symbols and decimals that token contracts report, unverified; tokens that could not be read have no entry. */
  readonly readTokens: TokenReader;
  /** A wallet's dealings at the newest finalized and enriched block, or at an earlier one that is pinned. */
  readonly readDealings: ReturnType<typeof keepDealings>;
  readonly describeAccounts: ReturnType<typeof createAccountReader>;
  /** Links of accounts to the wallet's owner; accounts without a link are left out. */
  readonly readOwnerLinks: (
    wallet: Address,
    accounts: readonly Address[],
  ) => Promise<ReadonlyMap<Address, OwnerLink>>;
  /** The followed wallets of a wallet's owner cluster. Throws a 503 problem if too many of them are being read. */
  readonly readOwnerCluster: (wallet: Address) => Promise<OwnerCluster>;
  /** Accounts that create no links, lower-case. */
  readonly publicFunders: ReadonlySet<Address>;
  /** Neighbours of a wallet and of its most frequent peers. */
  readonly readNeighbourhood: (wallet: Address, peers: readonly Address[]) => Promise<Neighbourhood>;
  /** Links between the wallet and given accounts. */
  readonly readAccountLinks: (wallet: Address, accounts: readonly Address[]) => Promise<AccountLinks>;
  readonly scoreDistribution: ReturnType<typeof createDistributionReader>;
  readonly scoreHistory: ReturnType<typeof createScoreHistory>;
  readonly cards: Pick<ReturnType<typeof createCardRenderer>, "hasRoom" | "render">;
  readonly recovery: RecoveryPorts;
  /** A queue of free previews, so that they do not delay paid reports. */
  readonly previewTurns: ReportTurns;
  /** A queue of its own, so that a slow node does not delay other reports. */
  readonly recoveryTurns: FairTurns;
  /**
   * Facts of a risk, and the share, 0 to 1, of what own calls tried to send that was for listed accounts; null where they cannot
   * be read now.
   */
  readonly riskFacts: (key: RiskKey) => Promise<RiskFacts & { readonly listedShare: number | null }>;
  /** Labels of third parties. */
  readonly readLabels: ReturnType<typeof createLabelReader>;
};

type CallerServices = {
  readonly owners: OwnerAccess;
  readonly repeats: RepeatStore;
  readonly keys: {
    readonly identify: KeyAccess["identify"];
    /** As `identify`, for a free call, which counts against the key's rate: also throws a 429. */
    readonly enter: KeyAccess["identify"];
    /** The key that a payment bought: one for each creditId, with a new secret at every call. */
    buy(purchase: Omit<Parameters<typeof buyApiKey>[1], "ratePerMinute">): Promise<KeyWithSecret>;
    /** Credits a key, once for each creditId; null if the key is no longer live. */
    topUp(topUp: Parameters<typeof topUpApiKey>[1]): Promise<ApiKey | null>;
    /** Null if that right no longer exists. */
    rotate(right: RotationRight, now: Date): Promise<KeyWithSecret | null>;
    find(id: string): Promise<ApiKey | null>;
    /** Ids of live keys, newest first. */
    boughtBy(wallet: Address, now: Date): Promise<readonly string[]>;
    spending(keyId: string, since: Date): Promise<readonly Spending[]>;
  };
  /** The newest settled payments of wallets (lower-case) whose answers are owed. */
  readonly owed: (payers: readonly Address[]) => ReturnType<typeof readOwed>;
  readonly policies: {
    /** The policy of an owner (see `ownerText`); null while the default table applies. */
    of(owner: string): Promise<StoredPolicy | null>;
    /** Null if the stored version matches none of `ifVersion`; then nothing is written. */
    write(write: Parameters<typeof writePolicy>[1]): Promise<StoredPolicy | null>;
    /** The owner's wallets: itself, or the buyer of the key; lower-case. */
    ownWallets(owner: Owner): Promise<readonly Address[]>;
  };
  /** Buys 30 days of monitoring, or extends it by 30 days. */
  readonly subscribe: Subscribe;
  /** Whether an owner's running subscription for a wallet and URL has thresholds. */
  readonly hasThresholds: (
    place: Pick<SubscribeRequest, "wallet" | "owner" | "webhookUrl">,
  ) => Promise<boolean>;
  readonly subscriptions: {
    /** Counts a call by manage token against the subscription's rate; throws a 429. */
    count(id: string): Promise<void>;
    find(id: string): Promise<StoredSubscription | null>;
    /** Of an owner (see `ownerText`), newest first. */
    list(
      page: Omit<Parameters<typeof listSubscriptions>[1], "chainId">,
    ): ReturnType<typeof listSubscriptions>;
    end(id: string): Promise<void>;
    /** Returns the id of the event as well. */
    test(subscription: StoredSubscription): Promise<{ readonly id: string; readonly outcome: Replay }>;
    rotate(subscription: StoredSubscription, tokens: "keep-token" | "new-token"): ReturnType<typeof rotate>;
    /** Newest first. */
    deliveries(id: string, page: DeliveryPage): Promise<readonly Delivery[]>;
    replay(subscription: StoredSubscription, deliveryId: string): Promise<Replay>;
  };
};

export type VerificationServices = Pick<
  Intake,
  "outputs" | "retryVerdict" | "isOfJob" | "panelBudget" | "describeEvidenceOverflow"
> & {
  readonly specs: Intake["specs"] & {
    /** Counts a registration against its address. */
    readonly limit: IpLimit;
    /** Address that a request is counted for; null for a request without a socket. */
    readonly addressOf: (source: CallSource) => string | null;
    /** Bytes that may be registered per day. */
    readonly budgets: ByteBudgets;
    /** Units that a key was charged since a moment. */
    readonly chargedUnits: (keyId: string, since: Date) => Promise<number>;
  };
  /** Returns why the guard refuses a URL; null if it does not. */
  readonly refuseUrl: UrlVisitor["refusal"];
  readonly verdicts: {
    find(id: string): Promise<VerdictView | null>;
    /** Evidence of the decision with this number, or of the newest if it is null. */
    evidence(id: string, run: number | null): ReturnType<typeof readStoredEvidence>;
    /** Texts of an existing verdict. */
    texts(id: string): ReturnType<typeof readStoredTexts>;
  };
  /** Events of a verdict for the webhook_url of its output, newest first. */
  readonly verdictDeliveries: (id: string, page: DeliveryPage) => Promise<readonly Delivery[]>;
  readonly acceptEvidence: (offer: Parameters<typeof acceptEvidence>[1]) => ReturnType<typeof acceptEvidence>;
  readonly appeals: {
    /** Longest time to appeal, and the model of the second panel; null if there are no appeals. */
    readonly terms: { readonly windowSeconds: number; readonly model: string } | null;
    offer(request: Parameters<typeof offerAppeal>[1]): ReturnType<typeof offerAppeal>;
    note(purchase: Parameters<typeof noteAppeal>[1]): ReturnType<typeof noteAppeal>;
    open(verdictId: string): ReturnType<typeof openAppeal>;
    withdraw(verdictId: string): Promise<void>;
    figures(): Promise<AppealFigures>;
  };
  readonly eraseTexts: (request: Parameters<typeof requestErasure>[1]) => ReturnType<typeof requestErasure>;
  readonly recordReview: (review: Parameters<typeof recordReview>[1]) => ReturnType<typeof recordReview>;
  readonly verificationHealth: () => Promise<HealthReport>;
  /** Null if no receipts are signed. */
  readonly receiptKeys: Pick<ReceiptKeys, "signing"> | null;
};
