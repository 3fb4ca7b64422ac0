import type { Load } from "../load/load.ts";
import { AGENTS } from "../stand/chain.ts";
import type { Stand } from "../stand/stand.ts";
import { compareCounts, doubled, type Finding, lost } from "./finding.ts";

/**
 * Compares the changes of grade in each agent's scores since its subscription with the stored events, and these with
 * the deliveries: each at least once, always with one id and the same bytes.
 */
export async function accountAlerts(stand: Stand, load: Load): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const agent of AGENTS) findings.push(...(await accountAgent(stand, load, agent.toLowerCase())));
  return findings;
}

async function accountAgent(
  stand: Stand,
  { subscriptionPath }: Load,
  agent: string,
): Promise<readonly Finding[]> {
  const path = subscriptionPath(agent);
  const { rows: events } = await stand.db.$client.query<{ id: string; state: string; body: string }>(
    `select e.id, e.state, e.body from ahs.webhook_event e
     join ahs.webhook_endpoint w on w.id = e.endpoint_id where w.url = $1`,
    [stand.receiver.baseUrl + path],
  );
  const byId = new Map(events.map((event) => [event.id, event]));
  const received = stand.receiver.deliveries().filter((delivery) => delivery.path === path);
  const arrived = new Set(received.map(({ id }) => id));
  const changes = events.filter(({ body }) => typeOf(body) === "ahs.grade_changed");
  return [
    ...events.filter(({ id }) => !arrived.has(id)).map(({ id }) => lost(`event ${id} did not arrive`)),
    ...received
      .filter(({ id, body }) => byId.get(id)?.body !== body)
      .map(({ id }) => doubled(`event ${id} arrived with another body than is stored`)),
    ...compareCounts(`events of ${agent}'s grade`, {
      expected: await gradeChanges(stand, agent),
      found: changes.length,
    }),
  ];
}

function typeOf(body: string): string {
  return (JSON.parse(body) as { type: string }).type;
}

/** Changes from one score to the next, the first counting from none, since the subscription began. */
async function gradeChanges(stand: Stand, agent: string): Promise<number> {
  const { rows } = await stand.db.$client.query<{ changes: number }>(
    `select count(*)::int as changes from (
       select grade, lag(grade) over (order by id) as before, created_at from ahs.score where wallet = $1
     ) s
     where s.grade is distinct from s.before
       and s.created_at > (select min(created_at) from ahs.alert_subscription where wallet = $1)`,
    [agent],
  );
  return rows[0]?.changes ?? Number.NaN;
}
