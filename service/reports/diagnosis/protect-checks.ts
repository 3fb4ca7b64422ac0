import type { Address } from "viem";
import { countText, ofText, usdText } from "../phrases.ts";
import {
  circleWords,
  failingWords,
  ownShareWords,
  type ProtectionFindings,
  type ProtectionStep,
  STEP_FLOOR_MICRO_USD,
  savingSteps,
  signalsOf,
} from "./protect.ts";
import { sumMoney } from "./report-facts.ts";

/** One thing that was examined. */
export type ProtectionCheck = {
  readonly name: (typeof CHECKS)[number];
  /** Null if the facts are not known. */
  readonly passed: boolean | null;
  /** Findings; null if they are not known. */
  readonly found: number | null;
  /** One sentence with the result. */
  readonly result: string;
};

export const CHECKS = [
  "sanctions",
  "threat_lists",
  "listed_counterparties",
  "failing_calls",
  "self_dealing",
  "approvals",
  "delegation",
  "retries",
  "gas_costs",
  "acquired_tokens",
  "circular_transfers",
] as const;

type Findings = ProtectionFindings<{ readonly kind: "ready" | "refused" }>;

/** Everything that a protection examines, in the order of `CHECKS`. */
export function listChecks(findings: Findings): readonly ProtectionCheck[] {
  const { risk, wash } = findings;
  const threats = signalsOf(risk.signals, "threats");
  return [
    check("sanctions", risk.sanctions.length, {
      passed: "The wallet is on no sanctions list.",
      failed: `The wallet is on a sanctions list: ${risk.sanctions.join(", ")}.`,
    }),
    check("threat_lists", threats.length, {
      passed: "The wallet is on no list of phishing, scam, mixer or exploit addresses.",
      failed: `The wallet is on ${countText(threats.length, "list")} of phishing, scam, mixer or exploit addresses.`,
    }),
    listedCheck(findings),
    failingCheck(findings),
    selfDealingCheck(findings),
    approvalsCheck(findings),
    delegationCheck(findings),
    retriesCheck(findings),
    gasCheck(findings),
    tokensCheck(findings),
    check(
      "circular_transfers",
      wash.selfDealing.circles.reduce((sum, { own, times }) => (own ? sum + times : sum), 0),
      {
        passed: "No transfer to an account of the same owner came back within 7 days.",
        failed: circleWords(wash) ?? "",
      },
    ),
  ];
}

/** Passed if nothing was found. */
function check(
  name: ProtectionCheck["name"],
  found: number,
  words: { readonly passed: string; readonly failed: string },
): ProtectionCheck {
  const passed = found === 0;
  return { name, passed, found, result: passed ? words.passed : words.failed };
}

function unknown(name: ProtectionCheck["name"], result: string): ProtectionCheck {
  return { name, passed: null, found: null, result };
}

function listedCheck({ risk, health }: Findings): ProtectionCheck {
  const advice = health.advice.find(({ kind }) => kind === "leave_listed_accounts");
  const signals = signalsOf(risk.signals, "listed_counterparties");
  return check("listed_counterparties", advice === undefined ? signals.length : 1, {
    passed: "No outgoing transaction to a sanctioned account or a mixer is known.",
    failed: advice === undefined ? "The wallet dealt with sanctioned accounts or mixers." : advice.reason,
  });
}

/** More failures than this share of the calls fail the check, whatever the score says. */
const NOTABLE_FAILURES = 0.1;

function failingCheck(findings: Findings): ProtectionCheck {
  const { risk, health, facts } = findings;
  const { calls, failures } = health;
  if (calls === 0) return unknown("failing_calls", "No outgoing transaction is known.");
  const signals = signalsOf(risk.signals, "failing_calls").filter(({ severity }) => severity !== "info");
  const passed = signals.length === 0 && failures <= NOTABLE_FAILURES * calls;
  return {
    name: "failing_calls",
    passed,
    found: failures,
    result: passed
      ? `${calls - failures} of ${countText(calls, "call")} succeeded in ${facts.policy.window.days} days.`
      : failingWords(findings),
  };
}

function selfDealingCheck({ wash, health }: Findings): ProtectionCheck {
  if (wash.selfDealing.share === null || health.calls === 0)
    return unknown("self_dealing", "No outgoing transaction is known.");
  const { isPattern } = wash.selfDealing;
  return { name: "self_dealing", passed: !isPattern, found: Number(isPattern), result: ownShareWords(wash) };
}

function approvalsCheck({ health: { approvals }, revocations }: Findings): ProtectionCheck {
  if (approvals === null) return unknown("approvals", "The approvals of the wallet were not read yet.");
  const exposed = atStake(
    revocations.map(({ finding, valueMicroUsd }) => ({ token: finding.approval.token, valueMicroUsd })),
  );
  return check("approvals", revocations.length, {
    passed:
      approvals.length === 0
        ? "No open unlimited approval."
        : `None of ${countText(approvals.length, "open unlimited approval")} is at risk.`,
    failed: `${ofText(revocations.length, approvals.length, "open unlimited approval")} at risk${exposed === null ? "" : `, to ${exposed}`}.`,
  });
}

function delegationCheck({ facts: { rows }, health }: Findings): ProtectionCheck {
  if (rows.delegation === null)
    return unknown("delegation", "Whether the wallet has an EIP-7702 delegation was not read yet.");
  const advice = health.advice.find(({ kind }) => kind === "revoke_delegation");
  return check("delegation", advice === undefined ? 0 : 1, {
    passed:
      rows.delegation.to === null
        ? "No EIP-7702 delegation."
        : "The EIP-7702 delegation is to code that is established and used by others.",
    failed: advice === undefined ? "" : advice.reason,
  });
}

function retriesCheck({ failuresFound, retries }: Findings): ProtectionCheck {
  const failed = `${countText(failuresFound, "failed transaction")} in 30 days`;
  return check("retries", retries.length, {
    passed:
      failuresFound === 0
        ? "No failed transaction in 30 days."
        : `${failed}; none is worth repeating, see not_retried.`,
    failed: `${failed}; ${retries.length} can be repeated now.`,
  });
}

function gasCheck(findings: Findings): ProtectionCheck {
  const all = sumMoney(findings.savings.map(({ monthly }) => monthly));
  const { microUsd } = all;
  const steps = savingSteps(findings).length;
  const worth = microUsd === null ? "an unknown amount" : usdText(microUsd);
  const floor = usdText(STEP_FLOOR_MICRO_USD);
  return check("gas_costs", steps, {
    passed:
      findings.savings.length === 0
        ? "No gas saving was found."
        : `All gas savings together are ${worth} a month, below the floor of ${floor}.`,
    failed: `${countText(findings.savings.length, "gas saving")} of ${microUsd === null ? worth : `at most ${worth}`} a month.`,
  });
}

function tokensCheck({ wash }: Findings): ProtectionCheck {
  const { portfolio } = wash;
  switch (portfolio.kind) {
    case "unread":
      return unknown("acquired_tokens", portfolio.reason);
    case "none":
      return check("acquired_tokens", 0, { passed: portfolio.reason, failed: "" });
    case "held": {
      const unrecognised = portfolio.positions.filter(({ recognised }) => !recognised).length;
      return check("acquired_tokens", unrecognised, {
        passed: "All tokens that the wallet acquired are listed or used by others.",
        failed: `${ofText(unrecognised, portfolio.positions.length, "acquired token")} neither listed nor used by others.`,
      });
    }
  }
}

/** The plan in two or three sentences: what to sign, what blocks the wallet, what else was checked. */
export function summarize(
  steps: readonly ProtectionStep<{ readonly kind: "ready" | "refused" }>[],
  checks: readonly ProtectionCheck[],
): string {
  const ready = steps.filter((step) => step.ready?.kind === "ready");
  const exposed = atStake(ready);
  const passed = checks.filter((one) => one.passed === true).length;
  const unread = checks.filter((one) => one.passed === null).length;
  const signing =
    ready.length === 0
      ? "There is nothing to sign."
      : `${countText(ready.length, "transaction")} can be signed now${exposed === null ? "" : `; ${exposed} are at stake`}.`;
  const rest = steps.filter((step) => step.ready?.kind !== "ready");
  const [first] = rest;
  const others =
    rest.length > 1 ? ` ${countText(rest.length - 1, "more step follows", "more steps follow")}.` : "";
  const advice = first === undefined ? "" : ` ${first.action}${others}`;
  const open = unread === 0 ? "" : `, ${unread} ${unread === 1 ? "has" : "have"} no data`;
  return `${signing}${advice} ${passed} of ${checks.length} checks passed${open}.`;
}

/** The tokens that others may take with their value, each token once; null if none has a known value. */
function atStake(
  approvals: readonly { readonly token: Address | null; readonly valueMicroUsd: number | null }[],
): string | null {
  const values = new Map(
    approvals.flatMap(({ token, valueMicroUsd }) => (token === null ? [] : [[token, valueMicroUsd]])),
  );
  const known = [...values.values()].filter((value) => value !== null);
  const sum = known.reduce((total, value) => total + value, 0);
  if (sum === 0) return null;
  return `tokens worth ${known.length < values.size ? "at least " : ""}${usdText(sum)}`;
}
