import pino from "pino";
import { Counter, Gauge, Registry } from "prom-client";
import { expect, test } from "vitest";
import { whileLeader } from "../../../service/db/leader-lock.ts";
import { useDatabase } from "../../support/test-database.ts";
import { until } from "../../support/until.ts";

const db = useDatabase();

/** A process that would lead, with what its work shows. */
function contender(lag: number) {
  const registry = new Registry();
  const registers = [registry];
  const metrics = {
    lag: new Gauge({ name: "lag", help: "-", registers }),
    held: new Gauge({ name: "held", help: "-", labelNames: ["kind"], registers }),
    done: new Counter({ name: "done", help: "-", registers }),
  };
  const stopping = new AbortController();
  const options = { db, name: "leader-lock-test", chainId: 1, logger: pino({ level: "silent" }), metrics };
  const running = whileLeader({ ...options, signal: stopping.signal }, async (led) => {
    metrics.lag.set(lag);
    metrics.held.set({ kind: "open" }, lag);
    metrics.done.inc();
    await new Promise((resolve) => led.addEventListener("abort", resolve, { once: true }));
  });
  return {
    shown: async () =>
      (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#")),
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

test("gauges have values where the lead is alone; counters stay", async () => {
  const first = contender(400);
  const leads = ["lag 400", 'held{kind="open"} 400', "done 1"];
  const shows = (one: typeof first, wanted: readonly string[]) =>
    until({ what: wanted.join() }, async () => ((await one.shown()).join() === wanted.join() ? true : null));
  await shows(first, leads);
  const second = contender(3);
  await shows(second, ["done 0"]);
  await first.stop();
  expect(await first.shown()).toEqual(["done 1"]);
  await shows(second, ["lag 3", 'held{kind="open"} 3', "done 1"]);
  await second.stop();
  expect(await second.shown()).toEqual(["done 1"]);
});
