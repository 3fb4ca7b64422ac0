import { type Address, encodeFunctionData, getAddress, keccak256 } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentLaunchpadAbi } from "../../../devnet/abi/agent-launchpad.ts";
import { serviceRegistryL2Abi } from "../../../devnet/abi/service-registry-l2.ts";
import type { AhsRecord } from "../../../service/api/schemas/ahs-record.ts";
import { identityRegistryAbi } from "../../../service/chain/abi/identity-registry.ts";
import { startServer, startWorker } from "../../support/anvil-testkit/services.ts";
import { bootTestkit, type Testkit } from "../../support/anvil-testkit/testkit.ts";
import { createTestKey, readBalance } from "../../support/test-keys.ts";
import { until } from "../../support/until.ts";
import { serveHttp, type TestServer } from "../net/hostile-server.ts";
import { dataUri, service } from "./probes/scan-world.ts";

const WALLET: Address = `0x${"a1".repeat(20)}`;
/** Blocks after which the local index takes a block as final. */
const FINALITY = 30;
const BALANCE = 50_000;
const CONFIG_HASH = keccak256("0x01");
const SERVICE_PATH = `/ipfs/f01701220${CONFIG_HASH.slice(2)}`;

let kit: Testkit;
let agent: TestServer;
let isUp = true;

beforeAll(async () => {
  kit = await bootTestkit();
  agent = await serveHttp(({ url }, response) => {
    if (url !== SERVICE_PATH) return response.writeHead(isUp ? 401 : 503).end();
    const services = [service(`http://127.0.0.1:${agent.port}/service`)];
    return response.end(JSON.stringify({ name: "Olas Trader", services }));
  });
});
afterAll(async () => {
  await kit.close();
  await agent.close();
});

test("the worker reads what real agents declare and visits it, and the service answers with it", async () => {
  const { chain, db } = kit;
  const endpoint = `http://127.0.0.1:${agent.port}/agent`;
  await chain.register(WALLET);
  const uri = dataUri({ name: "local", services: [service(endpoint)] });
  const data = encodeFunctionData({ abi: identityRegistryAbi, functionName: "setAgentURI", args: [0n, uri] });
  await chain.send({ from: WALLET, to: chain.contracts.identityRegistry, data, gas: 2_000_000n });
  const { serviceRegistry, agentLaunchpad } = chain.contracts;
  const create = encodeFunctionData({
    abi: serviceRegistryL2Abi,
    functionName: "create",
    args: [CONFIG_HASH],
  });
  await chain.send({ from: WALLET, to: serviceRegistry, data: create });
  const launch = encodeFunctionData({ abi: agentLaunchpadAbi, functionName: "launch" });
  await chain.send({ from: WALLET, to: agentLaunchpad, data: launch });
  await chain.mine(FINALITY + 5, 0);
  const indexer = await kit.startIndexer();
  await indexer.reach(await chain.head());
  const options = {
    ...kit,
    rpcUrl: chain.rpcUrl,
    env: {
      ...{ PROBE_LOOPBACK: "1", HISTORY_SOURCE: "none" },
      IPFS_GATEWAY_URL: `http://127.0.0.1:${agent.port}`,
    },
  };
  const worker = startWorker(options);
  kit.onClose(worker.stop);
  const visited = await until({ what: "the endpoint is visited" }, async () => {
    const { rows } = await db.$client.query("select outcome, status from ahs.probe where endpoint = $1", [
      endpoint,
    ]);
    return rows[0] ?? null;
  });
  expect(visited).toEqual({ outcome: "ok", status: 401 });
  await until({ what: "the wallet can be scored" }, async () => {
    const { rows } = await db.$client.query(
      "select 1 from ahs.enrich_cursor join ahs.enrich_wallet using (chain_id) where past_next is null",
    );
    return rows[0] ?? null;
  });
  await until({ what: "the agents of further registries are read", timeoutMs: 100_000 }, async () => {
    const { rows } = await db.$client.query(
      `select name, document_state from ahs.registry_agent where wallet = $1 order by uri nulls last`,
      [WALLET],
    );
    return rows.length === 2 && rows[0].document_state === "current" ? rows : null;
  });
  await worker.stop();

  const server = await startServer({ ...options, env: { ...options.env, MAX_INDEX_AGE_SECONDS: "600" } });
  kit.onClose(server.stop);
  const key = await createTestKey(db, BALANCE);
  const ask = (query: string) =>
    fetch(`${server.baseUrl}/ahs/${WALLET}?${query}`, { headers: { "X-API-Key": key.secret } });

  const refused = await ask(`agent_url=${encodeURIComponent("https://10.0.0.1/")}`);
  expect([refused.status, await readBalance(db, key.id)]).toEqual([422, BALANCE]);

  isUp = false;
  const elsewhere = `http://127.0.0.1:${agent.port}/other`;
  const answer = await ask(`include=infrastructure&agent_url=${encodeURIComponent(elsewhere)}`);
  expect([answer.status, await readBalance(db, key.id)]).toEqual([200, BALANCE - 1_000]);
  const { mode, d3_score, infrastructure } = (await answer.json()) as AhsRecord;
  expect([mode, d3_score, infrastructure?.reason]).toEqual([
    "2D",
    null,
    expect.stringMatching(/^[12] of at least 20 probes, over 0 of at least 24 hours$/),
  ]);
  expect(infrastructure?.endpoints).toMatchObject([
    { url: endpoint, probes: 1, availability: 1 },
    { url: `http://127.0.0.1:${agent.port}/service`, services: [{ registry: getAddress(serviceRegistry) }] },
  ]);
  const search = await fetch(`${server.baseUrl}/agents?name=olas`);
  expect(await search.json()).toMatchObject({
    agents: [{ name: "Olas Trader", agent_id: "1", registry: { name: "Olas services" } }],
  });
  expect(infrastructure?.agent_url).toMatchObject({
    url: elsewhere,
    bound: false,
    probe: { outcome: "error", status: 503 },
  });
});
