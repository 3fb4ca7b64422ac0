import type { Address } from "viem";
import type { Owner } from "../../access/access.ts";
import type { Market } from "../../model/features/market.ts";
import { ownApprovalTest, vouchedTokenTest } from "../../reports/diagnosis/approvals.ts";
import { diagnoseHealth, type Health } from "../../reports/diagnosis/health.ts";
import { oneCallName } from "../../reports/diagnosis/health-advice.ts";
import { findSavings } from "../../reports/diagnosis/optimize.ts";
import { isInUse, type ProtectionFindings, rankApprovals } from "../../reports/diagnosis/protect.ts";
import { gatherReportFacts, type ReportFacts } from "../../reports/diagnosis/report-facts.ts";
import { dayText } from "../../reports/phrases.ts";
import type { Recovery } from "../../reports/recovery/open-recovery.ts";
import { recoverFailures } from "../../reports/recovery/recover-failures.ts";
import type { RecoveryNode } from "../../reports/recovery/recovery-node.ts";
import {
  readOpenApprovals,
  settleRevocations,
  tryRevocations,
} from "../../reports/recovery/revoke-approvals.ts";
import type { UnsignedTransaction } from "../../reports/recovery/unsigned-transaction.ts";
import { washWallet } from "../../reports/wash/wash.ts";
import type { TransferNeeds } from "../kit/report-preview.ts";
import { foundFailures } from "../kit/report-preview.ts";
import type { ReportNeeds, WalletNeeds } from "../kit/wallet-report.ts";
import { freshSnapshot, ninetyDays, readReport } from "../kit/wallet-report.ts";
import type { AccountNeeds } from "../schemas/report-parts.ts";
import type { RecoveryNeeds } from "../schemas/retries.ts";
import { openNode, requireRecovery, withNode } from "../schemas/retries.ts";
import type { RiskNeeds } from "../schemas/risk.ts";
import { answerRisk } from "../schemas/risk.ts";
import type { TurnNeeds } from "./get-retry.ts";
import { ratingOf, readExchanged } from "./post-wash.ts";

/** Services that find what protects a wallet. */
export type FindingNeeds = WalletNeeds &
  ReportNeeds &
  RiskNeeds &
  RecoveryNeeds &
  TransferNeeds &
  Pick<AccountNeeds, "knownAccounts"> &
  TurnNeeds;

/** The transactions to sign of a step, or the reason for their absence. */
export type Ready =
  | {
      readonly kind: "ready";
      readonly transaction: UnsignedTransaction;
      readonly gas: bigint;
      readonly maxCost: bigint;
    }
  | { readonly kind: "refused"; readonly detail: string };

export function findingsOf(protection: Protection): ProtectionFindings<Ready> {
  const { facts, risk, health, wash, recovery, approvals, revocations, recovered } = protection;
  const at = recovery.block.timestamp;
  return {
    risk: {
      level: risk.risk_level,
      signals: risk.signals,
      sanctions: risk.sanctions_flags.map(
        ({ source, detected_at }) => `${source} since ${detected_at.slice(0, 10)}`,
      ),
    },
    health,
    wash,
    facts,
    savings: findSavings(facts.paid, facts.policy),
    revocations: revocations.list.flatMap(({ outcome }, place) => {
      const known = approvals[place];
      return known === undefined ? [] : [{ ...known, ready: outcome }];
    }),
    retries: recovered.offers.map(({ call, intent, cause, transaction, gas, maxCost }) => {
      const called = { contract: call.to, selector: call.selector };
      const reason = cause.reason === null ? "" : `: ${cause.reason}`;
      return {
        action: `Repeat the failed ${oneCallName(called)}.`,
        reason: `It failed on ${dayText(call.timestamp)} (${CAUSES[cause.kind]}${reason}). No later transaction did the same, and it passes a simulation now.`,
        called,
        failedHash: call.hash,
        valueMicroUsd: sentWorth({ value: call.value, spends: intent.spends, at }, facts.market),
        ready: { kind: "ready", transaction, gas, maxCost },
      };
    }),
    failuresFound: foundFailures(recovery.outcomes),
  };
}

const CAUSES = { out_of_gas: "out of gas", slippage: "slippage", reverted: "reverted" } as const;

/** Micro-USD that a call sends; null if it sends nothing or something without a price. */
function sentWorth(
  {
    value,
    spends,
    at,
  }: {
    readonly value: bigint;
    readonly spends: readonly { readonly token: Address; readonly amount: bigint }[];
    readonly at: number;
  },
  market: Market,
): number | null {
  const worths = spends.map(({ token, amount }) => market.tokenWorth(token, amount, at));
  if (value > 0n) worths.push(market.nativeWorth(value, at));
  if (worths.length === 0) return null;
  return worths.reduce((sum, worth) => (sum === null || worth === null ? null : sum + worth), 0);
}

/** Findings about a wallet from which its protection is planned. */
export type Protection = Awaited<ReturnType<typeof findProtection>>;

/** Runs all services on one read of the rows and at one block. Throws the 503 problems of its sources. */
export async function findProtection(
  { address, owner, now }: { readonly address: Address; readonly owner: Owner; readonly now: Date },
  deps: FindingNeeds,
) {
  const [snapshot, source] = await Promise.all([
    freshSnapshot(address, deps, now),
    readReport(address, deps),
  ]);
  return deps.recoveryTurns.take(owner, async () => {
    const recovery = await requireRecovery(address, deps);
    const [risk, exchanged, drawnTokens] = await Promise.all([
      answerRisk({ address, snapshot, now }, deps),
      readExchanged(source, deps),
      deps.walletTransfers.drawnTokens(ninetyDays(address, source)),
    ]);
    const facts = gatherReportFacts(source, deps.policy);
    const health = diagnoseHealth(facts, { drawnTokens });
    const wash = washWallet(facts, { ...exchanged, drawnTokens, rating: ratingOf(snapshot) });
    const planned = await withNode(() => planTransactions({ facts, recovery, health }, openNode(deps)));
    return { facts, risk, health, wash, recovery, known: deps.knownAccounts, ...planned };
  });
}

/** Revocations come first: a retry must not use a revoked approval. */
async function planTransactions({ facts, recovery, health }: Planning, node: RecoveryNode) {
  const approvals = await rankOpenApprovals({ facts, recovery, health }, node);
  const tried = await tryRevocations(
    recovery,
    node,
    approvals.map(({ finding }) => finding.approval),
  );
  const revocations = await settleRevocations(recovery, node, tried);
  const { transactions, cost, list, simulatedInOrder } = revocations;
  const ready = list.filter(({ outcome }) => outcome.kind === "ready");
  const revoked = new Set(ready.map(({ approval }) => approval.spender));
  const before = { transactions, cost, revoked };
  const recovered = await recoverFailures(recovery, node, { before, policy: facts.policy });
  // False: not all pass one after the other, or the node cannot simulate it.
  return {
    approvals,
    revocations,
    recovered,
    simulatedInOrder: simulatedInOrder && recovered.simulatedInOrder,
  };
}

type Planning = {
  readonly facts: ReportFacts;
  readonly recovery: Recovery;
  readonly health: Health;
};

/** The wallet's open approvals at risk, the most urgent first. All are ranked before the list is cut. */
async function rankOpenApprovals({ facts, recovery, health }: Planning, node: RecoveryNode) {
  const isOwn = ownApprovalTest(facts);
  const isVouched = vouchedTokenTest(facts);
  const risky = new Map(
    (health.approvals ?? [])
      .filter(({ risks, approval }) => risks.length > 0 && isOwn(approval))
      .toSorted((a, b) => Number(isVouched(b.approval.token)) - Number(isVouched(a.approval.token)))
      .map((finding) => [finding.approval, finding]),
  );
  const open = await readOpenApprovals(recovery, node, [...risky.keys()]);
  const now = recovery.block.timestamp;
  return rankApprovals(
    open.flatMap(({ approval, exposed }) => {
      const finding = risky.get(approval);
      if (finding === undefined) return [];
      return [
        {
          finding,
          valueMicroUsd: exposed === null ? null : facts.market.tokenWorth(approval.token, exposed, now),
          isInUse: isInUse(finding, now),
          isVouched: isVouched(approval.token),
        },
      ];
    }),
  );
}
