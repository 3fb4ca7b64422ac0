import { afterEach, describe, expect, test } from "vitest";
import { parseConfig } from "../../bin/config.ts";
import { historyReaderFromConfig } from "../../bin/from-config.ts";
import { isList, startExplorerStandIn, wireRow } from "../service/ingest/history/explorer-stand-in.ts";
import { startOtterscanStandIn } from "../service/ingest/history/otterscan-stand-in.ts";
import { hashOfBlock, WALLET } from "../service/ingest/history/simulated-chain.ts";

const LOCAL = 31_337;
const BASE = 8_453;
const asOf = { blockNumber: 3, blockHash: hashOfBlock(3), timestamp: 1_700_000_036 };
const request = { wallet: WALLET, asOf, edge: { kind: "since", timestamp: 0 } } as const;
const rows = [1, 2, 3].map((block) => wireRow(block));

const running: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((standIn) => standIn.close()));
});

async function started<StandIn extends { readonly close: () => Promise<void> }>(
  standIn: Promise<StandIn>,
): Promise<StandIn> {
  const one = await standIn;
  running.push(one);
  return one;
}

const node = (counted = rows) => started(startOtterscanStandIn({ rows: counted, hashOf: hashOfBlock }));

describe("the history source", () => {
  test.each([
    ["without a word on a public chain", { RPC_URL: "http://127.0.0.1:1" }, BASE],
    ["without a node on the local chain", {}, LOCAL],
    ["where it is switched off", { RPC_URL: "http://127.0.0.1:1", HISTORY_SOURCE: "none" }, LOCAL],
  ])("is null %s", (_name, env, chainId) => {
    expect(historyReaderFromConfig(parseConfig(env), chainId)).toBeNull();
  });

  test.each([
    ["of the local chain is its node, where nothing is said", {}, LOCAL],
    ["is the node of RPC_URL, where another is not named", { HISTORY_SOURCE: "otterscan" }, BASE],
  ])("%s", async (_name, env, chainId) => {
    const { url } = await node();
    const reader = historyReaderFromConfig(parseConfig({ ...env, RPC_URL: url }), chainId);
    expect(await reader?.read(request)).toMatchObject({ coverage: { source: "otterscan", complete: true } });
  });

  test("may be an explorer, asked with its key and page size, and checked against the node's count", async () => {
    const explorer = await started(startExplorerStandIn(rows));
    const env = {
      ...{ HISTORY_SOURCE: "explorer", HISTORY_URL: explorer.url, HISTORY_API_KEY: "k" },
      HISTORY_PAGE_SIZE: "7",
    };
    const read = async (counted: typeof rows) => {
      const { url } = await node(counted);
      return historyReaderFromConfig(parseConfig({ ...env, RPC_URL: url }), BASE)?.read(request);
    };
    expect(await read(rows)).toMatchObject({ coverage: { source: "explorer", complete: true } });
    const page = explorer.asked.find(isList);
    expect([page?.get("apikey"), page?.get("offset")]).toEqual(["k", "7"]);
    const explorerMissesOne = await started(startExplorerStandIn(rows.slice(0, 2)));
    env.HISTORY_URL = explorerMissesOne.url;
    expect(await read(rows)).toMatchObject({ kind: "failed", reason: "inconsistent" });
  });
});
