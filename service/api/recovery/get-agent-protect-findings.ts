import type { Address } from "viem";
import type { ApprovalFinding } from "../../diagnose/approvals.ts";
import { diagnoseHealth } from "../../diagnose/health.ts";
import { gatherReportFacts, type ReportFacts } from "../../diagnose/health-facts.ts";
import { optimizeGas } from "../../diagnose/optimize.ts";
import {
  chooseServices,
  type ProtectionFindings,
  type ProtectService,
  rankApprovals,
  type ServiceChoice,
} from "../../diagnose/protect.ts";
import { type Wash, washWallet } from "../../diagnose/wash.ts";
import { SECONDS_PER_DAY } from "../../features/time.ts";
import type { Recovery } from "../../recover/open-recovery.ts";
import { type Recovered, recoverFailures } from "../../recover/recover-failures.ts";
import type { RecoveryNode } from "../../recover/recovery-node.ts";
import { planRevocations, type Revocations, tryRevocations } from "../../recover/revoke-approvals.ts";
import type { TransferReader } from "../../store/wallet-transfers.ts";
import { ninetyDays } from "../diagnosis/get-health.ts";
import type { PostWashPorts } from "../diagnosis/post-wash.ts";
import { answerRisk, type RiskPorts } from "../risk/answer-risk.ts";
import type { RiskAnswer } from "../risk/risk-schema.ts";
import { freshStanding } from "../wallet-ports.ts";
import { type ReportPorts, type ReportSource, readReport } from "../wallet-report.ts";
import { openNode, type RecoverPorts, requireRecovery, withNode } from "./get-retry-node.ts";
import { listedOf } from "./get-retry-render.ts";

export type ProtectPorts = ReportPorts &
  RecoverPorts &
  Pick<PostWashPorts, "walletTransfers" | "policy"> &
  Pick<RiskPorts, "riskFacts" | "chainId">;

/** An approval at risk that still stands, and what could be taken by it. */
type ApprovalAtRisk = {
  readonly finding: ApprovalFinding;
  /** Of a US dollar; null where it is not known. */
  readonly valueMicroUsd: number | null;
};

/** Everything found of a wallet that its protection is planned from. */
export type Protection = {
  readonly facts: ReportFacts;
  readonly risk: RiskAnswer;
  readonly health: ProtectionFindings<never>["health"];
  readonly wash: Wash | null;
  readonly optimization: ProtectionFindings<never>["optimization"];
  readonly services: readonly ServiceChoice[];
  readonly recovery: Recovery;
  readonly approvals: readonly ApprovalAtRisk[];
  readonly revocations: Revocations;
  /** Null where no retry was looked for. */
  readonly recovered: Recovered | null;
};

/** Runs what the risk calls for, from one reading of the rows and at one block; throws the 503 problems of its sources. */
export async function findProtection(
  { address, now }: { readonly address: Address; readonly now: Date },
  deps: ProtectPorts,
): Promise<Protection> {
  const [standing, source, recovery] = await Promise.all([
    freshStanding(address, deps, now),
    readReport(address, deps),
    requireRecovery(address, deps),
  ]);
  const [risk, drawnTokens] = await Promise.all([
    answerRisk({ address, standing, now }, deps),
    deps.walletTransfers.drawnTokens(ninetyDays(address, source)),
  ]);
  const facts = gatherReportFacts(source, deps.policy);
  const health = diagnoseHealth(facts, { drawnTokens });
  const services = chooseServices({
    level: risk.risk_level,
    health,
    failures: recovery.outcomes.failures.length,
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
  { walletTransfers, policy }: { readonly walletTransfers: TransferReader } & Pick<ProtectPorts, "policy">,
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

/** Revocations go first: what is taken back cannot be used by a retry. */
async function planTransactions(
  { facts, recovery, health, retries }: TransactionPlan,
  node: RecoveryNode,
): Promise<Pick<Protection, "approvals" | "revocations" | "recovered">> {
  const risky = (health.approvals ?? []).filter(({ risks }) => risks.length > 0);
  const tried = await tryRevocations(
    recovery,
    node,
    risky.map(({ approval }) => approval),
  );
  const approvals = rankApprovals(
    tried.flatMap((one) => {
      const finding = risky.find(({ approval }) => approval === one.approval);
      if (finding === undefined) return [];
      const { exposed, approval } = one;
      const at = recovery.block.timestamp;
      const worth = exposed === null ? null : facts.market.tokenWorth(approval.token, exposed, at);
      return [{ finding, valueMicroUsd: worth, tried: one }];
    }),
  );
  const revocations = planRevocations(
    recovery,
    approvals.map((approval) => approval.tried),
  );
  if (!retries) return { approvals, revocations, recovered: null };
  const { transactions, cost, list } = revocations;
  const ready = list.filter(({ outcome }) => outcome.kind === "ready");
  const revoked = new Set(ready.map(({ approval }) => approval.spender));
  const before = { transactions, cost, revoked };
  return {
    approvals,
    revocations,
    recovered: await recoverFailures(recovery, node, { before, listed: listedOf(facts.rows) }),
  };
}
