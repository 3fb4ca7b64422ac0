import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { SanctionsFlag } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { chainLabels, type KnownAccounts } from "../../reports/labels/chain-labels.ts";
import type { ProviderAnswer, ReadLabels } from "../../reports/labels/label-reader.ts";
import type { AccountDetail } from "../../reports/network/wallet-network-accounts.ts";
import { profitAndLoss } from "../../reports/profit-and-loss/pnl.ts";
import { addressParams } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { freshStanding, noteInterest } from "../wallet-ports.ts";
import { notIndexed, type ReportPorts, readReport } from "../wallet-report.ts";
import { answerRisk, type RiskPorts } from "./answer-risk.ts";
import {
  RISK_PREMIUM_EXAMPLE,
  type RiskPremiumAnswer,
  riskPremiumSchema,
} from "./get-risk-premium-schema.ts";
import { renderPnl } from "./render-pnl.ts";

export type GetRiskPremiumPorts = ReportPorts &
  RiskPorts & {
    /** Of third parties. */
    readonly readLabels: ReadLabels;
    readonly knownAccounts: KnownAccounts;
    readonly describeAccounts: (
      addresses: readonly Address[],
    ) => Promise<ReadonlyMap<Address, AccountDetail>>;
    readonly policy: Pick<Policy, "window">;
  };

/** GET /risk/premium/{address}. */
export const getRiskPremium = definePaid({
  method: "get",
  path: "/risk/premium/{address}",
  price: 50,
  tag: "Risk",
  summary: "Risk of a wallet with its labels and its profit and loss",
  description:
    "The answer of `GET /risk/{address}`, with what the chain and third-party providers call the wallet, and what it gained and lost by trading. A provider that does not answer is no error: `labels_available` is false then, and `label_providers` says why; so it is where none is configured, which `labels_unavailable_reason` tells apart. What no price or cost is known of is no zero: `pnl` names the share that is missing.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: {
    schema: riskPremiumSchema,
    example: RISK_PREMIUM_EXAMPLE,
    description: "The risk and what is behind it",
  },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  async check({ params: { address } }, { deps, now }: { deps: GetRiskPremiumPorts; now: Date }) {
    const standing = await freshStanding(address, deps, now);
    if (!standing.followed) throw notIndexed(address);
    return standing;
  },
  async work({ params: { address } }, standing, { deps, now }): Promise<RiskPremiumAnswer> {
    const [risk, report, providers, accounts] = await Promise.all([
      answerRisk({ address, standing, now }, deps),
      readReport(address, deps),
      deps.readLabels(address),
      deps.describeAccounts([address]),
    ]);
    noteInterest(address, deps);
    const { days } = deps.policy.window;
    const detail = accounts.get(address) ?? { agents: [], hasCode: null };
    const labels = [
      ...standing.sanctions.map(sanctionLabel),
      ...chainLabels(address, deps.knownAccounts, detail),
      ...providers.flatMap(providedLabels),
    ];
    return {
      ...risk,
      labels,
      ...availabilityOf(providers),
      label_providers: providers.map(renderProvider),
      pnl: renderPnl(profitAndLoss(report, days), report, days),
    };
  },
});

type Label = RiskPremiumAnswer["labels"][number];

function availabilityOf(
  providers: readonly ProviderAnswer[],
): Pick<RiskPremiumAnswer, "labels_available" | "labels_unavailable_reason"> {
  if (providers.length === 0) {
    return { labels_available: false, labels_unavailable_reason: "no_provider_configured" };
  }
  return providers.every(({ available }) => available)
    ? { labels_available: true, labels_unavailable_reason: null }
    : { labels_available: false, labels_unavailable_reason: "provider_failed" };
}

function sanctionLabel({ source }: SanctionsFlag): Label {
  return { label: "Sanctioned", category: "sanctioned", source };
}

function providedLabels(answer: ProviderAnswer): readonly Label[] {
  if (!answer.available) return [];
  return answer.labels.map((label) => ({ ...label, source: answer.provider }));
}

function renderProvider(answer: ProviderAnswer): RiskPremiumAnswer["label_providers"][number] {
  const { provider } = answer;
  return answer.available
    ? { provider, available: true, reason: null, read_at: answer.readAt.toISOString() }
    : { provider, available: false, reason: answer.reason, read_at: null };
}
