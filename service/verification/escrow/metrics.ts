import { Counter, Gauge, type Registry } from "prom-client";
import type { WaitStatus } from "./settlement-checks.ts";

/** What became of signed verdicts, and of what was asked for in the name of held ones. */
export type EscrowOutcome =
  | "signed"
  | "confirmed"
  | "refused"
  | "expired"
  | "sent_again"
  | "rerun_asked"
  | "review_told"
  | "expired_on_hold";

export type EscrowMetrics = {
  readonly outcomes: Counter<"outcome">;
  readonly failures: Counter<"at">;
  readonly openSettlements: Gauge;
  readonly oldestOpenSeconds: Gauge;
  readonly oldestUnsignedSeconds: Gauge<"status">;
  readonly holds: Gauge<"kind">;
};

/** What decisions wait for before they are signed, each of which has a figure. */
export const WAIT_STATUSES: readonly WaitStatus[] = [
  "waiting",
  "waiting_for_submission",
  "waiting_for_finality",
  "suspended",
  "unbound",
  "refused",
];

/** Registers the metrics of settling; once per registry, since names in it are unique. */
export function createEscrowMetrics(registry: Registry): EscrowMetrics {
  const registers = [registry];
  return {
    outcomes: new Counter({
      name: "ahs_escrow_outcomes_total",
      help: "Signed verdicts by what became of them, and what held jobs asked for",
      labelNames: ["outcome"],
      registers,
    }),
    failures: new Counter({
      name: "ahs_escrow_failures_total",
      help: "Verdicts that could not be looked at, by what failed; they are looked at again",
      labelNames: ["at"],
      registers,
    }),
    openSettlements: new Gauge({
      name: "ahs_escrow_open_settlements",
      help: "Signed verdicts that no final event confirms and that may yet be carried out",
      registers,
    }),
    oldestOpenSeconds: new Gauge({
      name: "ahs_escrow_oldest_open_seconds",
      help: "Age of the oldest signed verdict that no final event confirms; 0 where there is none",
      registers,
    }),
    oldestUnsignedSeconds: new Gauge({
      name: "ahs_escrow_oldest_unsigned_seconds",
      help: "Age of the oldest decision about a bound job that waits to be signed, by what it waits for; 0 where there is none",
      labelNames: ["status"],
      registers,
    }),
    holds: new Gauge({
      name: "ahs_escrow_holds",
      help: "Jobs on HOLD: all that are open, and those whose reviewer was asked to decide",
      labelNames: ["kind"],
      registers,
    }),
  };
}
