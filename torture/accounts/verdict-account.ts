import type { Load } from "../load/load.ts";
import type { Output } from "../load/outputs.ts";
import type { Delivery } from "../stand/receiver.ts";
import type { Stand } from "../stand/stand.ts";
import { doubled, type Finding, lost } from "./finding.ts";

type VerdictRow = {
  readonly id: string;
  readonly output_hash: string;
  readonly status: string;
  readonly runs: number;
  readonly decisions: number;
  readonly events: number;
};

/** Compares what was handed in with the verdicts, decisions and events that there are, and with what was delivered. */
export async function accountVerdicts(stand: Stand, { outputs, outputKey }: Load): Promise<Finding[]> {
  const { rows } = await stand.db.$client.query<VerdictRow>(
    `select v.id, v.output_hash, v.status, v.runs,
            (select count(*)::int from ahs.verdict_run r where r.verdict_id = v.id) as decisions,
            (select count(*)::int from ahs.webhook_event e where e.endpoint_id = v.endpoint_id) as events
     from ahs.verdict v where v.owner = $1`,
    [`key:${outputKey.id}`],
  );
  const deliveries = deliveriesByVerdict(stand.receiver.deliveries());
  const known = new Set(outputs.operations.map(({ verdictId }) => verdictId));
  return [
    ...outputs.operations.flatMap((output) => accountOutput(output, rows, deliveries)),
    ...rows.filter(({ id }) => !known.has(id)).map(({ id }) => doubled(`verdict ${id} is of no output`)),
  ];
}

function accountOutput(
  output: Output,
  rows: readonly VerdictRow[],
  deliveries: ReadonlyMap<string, readonly Delivery[]>,
): Finding[] {
  const name = `output ${output.hash}`;
  const own = rows.filter((row) => row.output_hash === output.hash);
  const [row] = own;
  if (own.length > 1) return [doubled(`${name} has ${own.length} verdicts`)];
  if (row === undefined || row.id !== output.verdictId) return [lost(`${name} has no verdict`)];
  const received = new Set((deliveries.get(row.id) ?? []).map(({ id }) => id));
  const bodies = new Set((deliveries.get(row.id) ?? []).map(({ body }) => body));
  const findings: Finding[] = [];
  if (row.status !== "completed" || row.decisions < 1) findings.push(lost(`${name} is ${row.status}`));
  if (row.decisions > 1 || row.runs > 1) findings.push(doubled(`${name} was decided ${row.decisions} times`));
  if (row.events < 1 || received.size < 1) findings.push(lost(`${name} has no delivered event`));
  if (row.events > 1 || received.size > 1 || bodies.size > 1)
    findings.push(doubled(`${name} has ${row.events} events, of which ${received.size} were delivered`));
  return findings;
}

function deliveriesByVerdict(deliveries: readonly Delivery[]): ReadonlyMap<string, readonly Delivery[]> {
  const byVerdict = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    const { data } = JSON.parse(delivery.body) as { data?: { verdict_id?: string } };
    if (data?.verdict_id === undefined) continue;
    byVerdict.set(data.verdict_id, [...(byVerdict.get(data.verdict_id) ?? []), delivery]);
  }
  return byVerdict;
}
