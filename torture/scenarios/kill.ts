import { setTimeout as sleep } from "node:timers/promises";
import { pick } from "../random.ts";
import { type Injection, NEVER_RESTARTS, type ScenarioContext } from "./scenario.ts";

const PAUSE_MS = { least: 700, most: 2_300 };

/** kill -9 of every process of ours, and then of any, again and again under load; a supervisor starts it again. */
export async function kill({ stand, extent }: ScenarioContext): Promise<Injection> {
  const random = stand.random("kills");
  const killed = new Map<string, number>();
  for (let kills = 0; kills < extent.kills; ) {
    const victim = stand.services.all()[kills] ?? pick(random, stand.services.all());
    if (victim.kill()) {
      kills += 1;
      killed.set(victim.name, (killed.get(victim.name) ?? 0) + 1);
    }
    if (kills === extent.kills) break;
    await sleep(PAUSE_MS.least + random() * (PAUSE_MS.most - PAUSE_MS.least));
  }
  const victims = [...killed].toSorted().map(([name, times]) => `${name} × ${times}`);
  return {
    injected: extent.kills,
    of: "kills",
    recovery: "agreed",
    mayRestart: NEVER_RESTARTS,
    notes: [`killed: ${victims.join(", ")}`],
  };
}

const TERMINATION_PAUSE_MS = 1_500;

/** Ends connections to PostgreSQL in the middle of whatever they carry. */
export async function connections({ stand, extent }: ScenarioContext): Promise<Injection> {
  const random = stand.random("connections");
  let terminated = 0;
  for (let round = 0; round < extent.terminations; round += 1) {
    const { rows } = await stand.db.$client.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and application_name <> 'ahs-torture'`,
    );
    for (const { pid } of rows.filter(() => random() < 0.3)) {
      await stand.db.$client.query("select pg_terminate_backend($1)", [pid]);
      terminated += 1;
    }
    await sleep(TERMINATION_PAUSE_MS);
  }
  return {
    injected: terminated,
    of: "connections",
    recovery: "agreed",
    // It gives its lock up with the connection that holds it, and starts over.
    mayRestart: (process) => (process === "index" ? extent.terminations : 0),
    notes: [],
  };
}
