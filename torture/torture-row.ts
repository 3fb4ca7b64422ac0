/** Faults injected by one scenario, with the outcome of everything sent, asked and paid meanwhile. */
export type TortureRow = {
  readonly name: string;
  /** How many of `of`. */
  readonly injected: number;
  readonly of: string;
  readonly lost: number;
  readonly doubled: number;
  /** From the end of the last injection to everything working again, or agreeing; null where nothing is taken away. */
  readonly recovery_s: number | null;
  /** Nothing lost, nothing doubled, no fault, and recovered in time. */
  readonly holds: boolean;
  /** Faulty answers and processes, each kind once. */
  readonly faults: readonly string[];
  /** Other remarks. */
  readonly notes: readonly string[];
};

/** On-chain state equals the database's within a minute. */
const RECOVERY_BAR_S = 60;

/** A row with its verdict. */
export function tortureRow(measured: Omit<TortureRow, "holds">): TortureRow {
  const { lost, doubled, faults, recovery_s } = measured;
  const inTime = recovery_s === null || recovery_s <= RECOVERY_BAR_S;
  return {
    ...measured,
    recovery_s: recovery_s === null ? null : Math.round(recovery_s * 10) / 10,
    holds: lost === 0 && doubled === 0 && faults.length === 0 && inTime,
  };
}

/** Whether a run must be called failed: a recovery that took too long is shown, and says little on a busy machine. */
export function isBroken({ lost, doubled, faults }: TortureRow): boolean {
  return lost > 0 || doubled > 0 || faults.length > 0;
}

/** A table in Markdown, and below it what is to be said of single rows. */
export function renderRows(rows: readonly TortureRow[], machine: string): string {
  const lines = rows.map(
    ({ name, injected, of, lost, doubled, recovery_s, holds }) =>
      `| ${name} | ${injected} ${of} | ${lost} | ${doubled} | ${recovery_s ?? ""} | ${recovery_s === null ? "" : RECOVERY_BAR_S} | ${holds ? "holds" : "MISSES"} |`,
  );
  const remarks = rows.flatMap(({ name, faults, notes }) => [
    ...faults.map((fault) => `- ${name}: FAULT ${fault}`),
    ...notes.map((note) => `- ${name}: ${note}`),
  ]);
  return [
    machine,
    "",
    "| What | Injected | Lost | Doubled | Recovery, s | Bar, s | |",
    "|---|---|---|---|---|---|---|",
    ...lines,
    ...(remarks.length === 0 ? [] : ["", ...remarks]),
  ].join("\n");
}
