import { pino } from "pino";
import { Registry } from "prom-client";
import type { Address } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEnrichMetrics } from "../../../../service/ingest/enrich/context.ts";
import { runEnrich } from "../../../../service/ingest/enrich/run-enrich.ts";
import { type CuttableProxy, startCuttableProxy } from "../../../support/anvil-testkit/cuttable-proxy.ts";
import { until } from "../../../support/until.ts";
import { createEnrichWorld, type EnrichWorld, rowsOf } from "./enrich-world.ts";

const WALLET: Address = `0x${"a1".repeat(20)}`;

let world: EnrichWorld;
let proxy: CuttableProxy;

beforeAll(async () => {
  world = await createEnrichWorld();
  proxy = await startCuttableProxy(world.chain.rpcUrl);
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

async function cursorAt(block: number): Promise<true | null> {
  const [cursor] = await rowsOf(world, "enrich_cursor");
  return Number(cursor?.block) === block ? true : null;
}

test("waits for a node that is gone, resumes when it is back, follows the index, and ends on the signal", async () => {
  await world.follow(WALLET);
  await world.chain.succeed(WALLET);
  const head = await world.index();
  const metrics = createEnrichMetrics(new Registry());
  const stop = new AbortController();
  proxy.cut();
  const running = runEnrich(
    {
      db: world.db,
      deployment: world.chain.deployment,
      rpcUrl: proxy.url,
      factSource: null,
      warms: false,
      metrics,
      logger: pino({ level: "silent" }),
    },
    stop.signal,
  );
  await until({ what: "the failure is counted" }, async () => {
    const { values } = await metrics.failures.get();
    return values.find(({ labels, value }) => labels.kind === "unreachable" && value > 0) ?? null;
  });
  expect(await rowsOf(world, "enrich_cursor")).toEqual([]);

  proxy.restore();
  await until({ what: "the cursor reaches the head" }, () => cursorAt(head));
  await world.chain.succeed(WALLET);
  await world.index();
  await until({ what: "the cursor follows" }, () => cursorAt(head + 1));
  expect(await rowsOf(world, "own_call")).toHaveLength(2);

  stop.abort();
  await running;
});
