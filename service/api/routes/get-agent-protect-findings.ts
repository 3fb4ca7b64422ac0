import type { Address } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import {
  type ApprovalFinding,
  ownApprovalTest,
  vouchedTokenTest,
} from "../../reports/diagnosis/approvals.ts";
import { diagnoseHealth } from "../../reports/diagnosis/health.ts";
import { optimizeGas } from "../../reports/diagnosis/optimize.ts";
import {
  avoidableWei,
  chooseServices,
  isInUse,
  type ProtectionFindings,
  type ProtectService,
  rankApprovals,
} from "../../reports/diagnosis/protect.ts";
import { gatherReportFacts, type ReportFacts } from "../../reports/diagnosis/report-facts.ts";
import type { Recovery } from "../../reports/recovery/open-recovery.ts";
import { type Recovered, recoverFailures } from "../../reports/recovery/recover-failures.ts";
import type { RecoveryNode } from "../../reports/recovery/recovery-node.ts";
import {
  type Revocations,
  readOpenApprovals,
  settleRevocations,
  tryRevocations,
} from "../../reports/recovery/revoke-approvals.ts";
import { type Wash, washWallet } from "../../reports/wash/wash.ts";
import type { WalletSnapshot } from "../../scores/scores.ts";
import { freshStanding, ninetyDays, type ReportSource, readReport } from "../kit/wallet-report.ts";
import { answerRisk, type RiskAnswer } from "../schemas/risk.ts";
import type { Services } from "../services.ts";
import { foundFailures, openNode, requireRecovery, withNode } from "./get-retry.ts";

/** An open approval at risk, and the amount that it exposes. */
type ApprovalAtRisk = {
  readonly finding: ApprovalFinding;
  /** Micro-USD; null if unknown. */
  readonly valueMicroUsd: number | null;
  readonly isInUse: boolean;
};

/** Findings about a wallet from which its protection is planned. */
export type Protection = {
  readonly facts: ReportFacts;
  readonly risk: RiskAnswer;
  readonly health: ProtectionFindings<never>["health"];
  readonly wash: Wash | null;
  readonly optimization: ProtectionFindings<never>["optimization"];
  readonly services: ReturnType<typeof chooseServices>;
  readonly recovery: Recovery;
  readonly approvals: readonly ApprovalAtRisk[];
  readonly revocations: Revocations;
  /** Null if retries were not searched. */
  readonly recovered: Recovered | null;
  /** Whether all transactions pass one after the other; false if the node cannot simulate it. */
  readonly rehearsed: boolean;
};

/** Runs the services that the risk requires, on one read of the rows and at one block. Throws the 503 problems of its sources. */
export async function findProtection(
  { address, now }: { readonly address: Address; readonly now: Date },
  deps: Services,
): Promise<Protection> {
  const [standing, source] = await Promise.all([
    freshStanding(address, deps, now),
    readReport(address, deps),
  ]);
  return deps.recoveryTurns.take(() => findRecovery({ address, now, standing, source }, deps));
}

async function findRecovery(
  {
    address,
    now,
    standing,
    source,
  }: {
    readonly address: Address;
    readonly now: Date;
    readonly standing: WalletSnapshot;
    readonly source: ReportSource;
  },
  deps: Services,
): Promise<Protection> {
  const recovery = await requireRecovery(address, deps);
  const [risk, drawnTokens] = await Promise.all([
    answerRisk({ address, standing, now }, deps),
    deps.walletTransfers.drawnTokens(ninetyDays(address, source)),
  ]);
  const facts = gatherReportFacts(source, deps.policy);
  const health = diagnoseHealth(facts, { drawnTokens });
  const services = chooseServices({
    level: risk.risk_level,
    health,
    avoidable: avoidableWei(facts.paid),
    failures: foundFailures(recovery.outcomes),
  });
  const runs = (name: ProtectService) => services.some((service) => service.name === name && service.run);
  const wash = runs("wash") ? washWallet(facts, await readWash({ source, drawnTokens }, deps)) : null;
  const planned = await withNode(() =>
    planTransactions({ facts, recovery, health, retries: runs("retry") }, openNode(deps)),
  );
  const optimization = runs("optimize") ? optimizeGas(facts) : null;
  return { facts, risk, health, wash, optimization, services, recovery, ...planned };
}

async function readWash(
  {
    source,
    drawnTokens,
  }: { readonly source: ReportSource; readonly drawnTokens: ReadonlySet<Address> | null },
  { walletTransfers, policy }: Pick<Services, "walletTransfers" | "policy">,
) {
  const { rows, asOf } = source;
  const since = asOf.timestamp - policy.window.days * SECONDS_PER_DAY;
  const query = { wallet: rows.wallet, throughBlock: asOf.blockNumber, since };
  const [exchanges, received] = await Promise.all([
    walletTransfers.exchanges(query),
    walletTransfers.received(query),
  ]);
  return { exchanges, received, drawnTokens };
}

type TransactionPlan = {
  readonly facts: ReportFacts;
  readonly recovery: Recovery;
  readonly health: Protection["health"];
  readonly retries: boolean;
};

/** Revocations come first: a retry must not use a revoked approval. */
async function planTransactions(
  { facts, recovery, health, retries }: TransactionPlan,
  node: RecoveryNode,
): Promise<Pick<Protection, "approvals" | "revocations" | "recovered" | "rehearsed">> {
  const approvals = await rankStanding({ facts, recovery, health }, node);
  const tried = await tryRevocations(
    recovery,
    node,
    approvals.map(({ finding }) => finding.approval),
  );
  const revocations = await settleRevocations(recovery, node, tried);
  const { transactions, cost, list, rehearsed } = revocations;
  if (!retries) return { approvals, revocations, recovered: null, rehearsed };
  const ready = list.filter(({ outcome }) => outcome.kind === "ready");
  const revoked = new Set(ready.map(({ approval }) => approval.spender));
  const before = { transactions, cost, revoked };
  const recovered = await recoverFailures(recovery, node, { before, policy: facts.policy });
  return { approvals, revocations, recovered, rehearsed: rehearsed && recovered.rehearsed };
}

/** The wallet's open approvals at risk, the most urgent first. All are ranked before the list is cut. */
async function rankStanding(
  { facts, recovery, health }: Omit<TransactionPlan, "retries">,
  node: RecoveryNode,
): Promise<readonly ApprovalAtRisk[]> {
  const isOwn = ownApprovalTest(facts);
  const isVouched = vouchedTokenTest(facts);
  const risky = new Map(
    (health.approvals ?? [])
      .filter(({ risks, approval }) => risks.length > 0 && isOwn(approval))
      .toSorted((a, b) => Number(isVouched(b.approval.token)) - Number(isVouched(a.approval.token)))
      .map((finding) => [finding.approval, finding]),
  );
  const standing = await readOpenApprovals(recovery, node, [...risky.keys()]);
  const now = recovery.block.timestamp;
  return rankApprovals(
    standing.flatMap(({ approval, exposed }) => {
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
