import { join } from "node:path";
import { type Address, encodeDeployData, encodeFunctionData, type Hex, numberToHex } from "viem";
import { afterAll, expect, test } from "vitest";
import { freePort } from "../../bin/supervisor/child-process.ts";
import bytecodes from "../../contracts/bytecode.json" with { type: "json" };
import { privateKeyOf, roleAccounts } from "../../devnet/accounts.ts";
import { type Anvil, startAnvil } from "../../devnet/anvil-process.ts";
import { type Contracts, creationCodes } from "../../devnet/contract-list.ts";
import { identityRegistryAbi } from "../../service/chain/abi/identity-registry.ts";
import { reputationRegistryAbi } from "../../service/chain/abi/reputation-registry.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { loadNetwork, type Network } from "../../service/chain/networks.ts";
import { createScoreReader } from "../../service/scores/scores.ts";
import { runScript } from "../support/anvil-testkit/script.ts";
import { startIndexer, startServer, startWorker } from "../support/anvil-testkit/services.ts";
import { documentedMetrics } from "../support/documented-metrics.ts";
import { createTestDatabase, openMigrated } from "../support/test-database.ts";
import { until } from "../support/until.ts";
import { useFolder } from "../support/use-folder.ts";

const TIMEOUT_MS = 180_000;
const AGENT: Address = "0x00000000000000000000000000000000000ba5e1";
/** Blocks before the substitute contracts exist, and blocks until Ponder treats one as final on an unknown chain. */
const [EMPTY_BLOCKS, FINAL_BLOCKS] = [10, 70];
/** The index has to keep up on a busy machine. */
const BLOCK_MS = 500;
const RAW_KEYS = { ALLOW_RAW_KEYS: "1" } as const;
const { deployer, publisher, payee } = roleAccounts();

const folder = useFolder();
const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

function networkNamed(name: string): Network {
  return loadNetwork(new URL(`../../networks/${name}.json`, import.meta.url).pathname);
}

/** A chain of the network's id with contracts of ours at its addresses, from its newest empty block on. */
async function startStandIn({
  chainId,
  identityRegistry,
  reputationRegistry,
  sanctionsList,
  usdc,
  market,
}: Network): Promise<Anvil> {
  const chain = await startAnvil({
    ...{ port: await freePort(), chainId, stateFile: null },
    genesisTime: Math.floor(Date.now() / 1_000) - 100,
  });
  ends.push(() => chain.stop());
  await mine(chain, EMPTY_BLOCKS);
  const put = async (at: Address | undefined | null, name: keyof Contracts) => {
    if (at === null || at === undefined) return;
    const data =
      name === "reputationRegistry"
        ? reputationOf(identityRegistry.address)
        : creationCodes().find((code) => code.name === name)?.data;
    const code = await chain.rpc.request("eth_call", { from: deployer.address, data }, "latest");
    await chain.rpc.request("anvil_setCode", at, code);
  };
  await put(identityRegistry.address, "identityRegistry");
  await put(reputationRegistry, "reputationRegistry");
  await put(sanctionsList?.address, "sanctionsList");
  await put(usdc, "usdc");
  await put(market.wrappedNative, "weth");
  await put(market.native.feed, "ethUsdFeed");
  await mine(chain, 1);
  await chain.rpc.request("evm_setAutomine", true);
  return chain;
}

/** Creation code of the registry of feedback about the agents of another. */
function reputationOf(identityRegistry: Address): Hex {
  const bytecode = bytecodes.ReputationRegistry as Hex;
  return encodeDeployData({ abi: reputationRegistryAbi, bytecode, args: [identityRegistry] });
}

async function mine({ rpc }: Anvil, blocks: number): Promise<void> {
  await rpc.request("anvil_mine", numberToHex(blocks), numberToHex(1));
}

async function deployOn(chain: Anvil, args: readonly string[], file: string): Promise<string> {
  const env = { ...RAW_KEYS, RPC_URL: chain.rpcUrl, PUBLISHER_PRIVATE_KEY: privateKeyOf(publisher) };
  const script = runScript(["deploy", "--out", file, ...args], env, `${file}.log`);
  await script.exited;
  return script.log();
}

test(
  "Base is the local chain with other data: deployed by its name, indexed, scored, sold and found healthy",
  async () => {
    const network = networkNamed("base");
    const chain = await startStandIn(network);
    const deploymentFile = join(folder, "base.json");
    // The substitute chain has fewer than 41 million blocks.
    const log = await deployOn(chain, ["--network", "base", "--registry-block", "0"], deploymentFile);
    expect(log).toContain(`sanctions contract ${network.sanctionsList?.address} from block ${EMPTY_BLOCKS}`);
    const deployment = loadDeployment(deploymentFile);
    const { market, accounts, usdc, registries } = network;
    expect(deployment).toMatchObject({
      chainId: 8453,
      market,
      accounts,
      usdc,
      registries,
      finalityBlocks: 600,
    });

    const database = await createTestDatabase();
    const db = openMigrated(database.url);
    ends.push(database.drop, () => db.$client.end());
    const options = { folder, databaseUrl: database.url, rpcUrl: chain.rpcUrl, deploymentFile };
    const metricsPort = await freePort();
    const worker = startWorker({
      ...options,
      env: { ...RAW_KEYS, PUBLIC_URL: "https://health.example", METRICS_PORT: String(metricsPort) },
    });
    ends.push(worker.stop);
    const indexer = await startIndexer(options);
    ends.push(indexer.stop);
    const server = await startServer({ ...options, env: RAW_KEYS });
    ends.push(server.stop);
    await actAsAgent(chain, deployment.identityRegistry.address);
    await mine(chain, FINAL_BLOCKS);
    const ticking = setInterval(() => void chain.rpc.request("evm_mine"), BLOCK_MS);
    ends.push(async () => clearInterval(ticking));

    const scores = createScoreReader(db, 8453);
    const scored = await until({ what: "the agent is scored" }, async () => {
      const snapshot = await scores.snapshot(AGENT).catch(() => null);
      return snapshot?.score == null ? null : snapshot;
    });
    // One registration is too little to say anything of it.
    expect(scored).toMatchObject({ followed: true, sanctions: [], score: { ahsScore: null } });

    const unpaid = await fetch(`${server.baseUrl}/ahs/route/${AGENT}`);
    expect(await unpaid.json()).toMatchObject({
      accepts: [
        {
          ...{ network: "eip155:8453", asset: usdc, amount: "10000", payTo: payee.address },
          extra: { name: "USD Coin", version: "2" },
        },
      ],
    });
    await expectDocumentedMetrics([`${server.baseUrl}/metrics`, `http://127.0.0.1:${metricsPort}/metrics`]);
    await expectNoFault(options);
  },
  TIMEOUT_MS,
);

/** Server and worker show exactly the metrics of docs/operate.md, except those of escrows and of a model. */
async function expectDocumentedMetrics(urls: readonly string[]): Promise<void> {
  const pages = await Promise.all(urls.map(async (url) => (await fetch(url)).text()));
  const shown = new Set(pages.join("\n").match(/(?<=^# TYPE )ahs_\w+/gm));
  const documented = documentedMetrics();
  expect([...shown].filter((name) => !documented.has(name))).toEqual([]);
  const absent = [...documented].filter((name) => !shown.has(name));
  expect(
    absent.filter(
      (name) =>
        !/^ahs_(?:read_replica|warm|validation|escrow|panel|verdict|verdicts)_|^ahs_appeals/.test(name),
    ),
  ).toEqual([]);
}

async function expectNoFault(options: {
  databaseUrl: string;
  rpcUrl: string;
  deploymentFile: string;
}): Promise<void> {
  const env = {
    ...RAW_KEYS,
    DATABASE_URL: options.databaseUrl,
    RPC_URL: options.rpcUrl,
    AHS_DEPLOYMENT: options.deploymentFile,
    PUBLISHER_PRIVATE_KEY: privateKeyOf(publisher),
    PUBLIC_URL: "https://health.example.org",
  };
  const doctor = runScript(["doctor", "--json"], env, join(folder, "doctor.json"));
  const code = await doctor.exited;
  const { findings } = JSON.parse(doctor.log()) as { findings: { level: string; check: string }[] };
  expect(findings.filter(({ level }) => level === "fail")).toEqual([]);
  expect(code).toBe(0);
  const checked = new Set(findings.map(({ check }) => check));
  for (const check of ["rights", "index", "sanctions", "contracts", "keys", "balances"])
    expect(checked).toContain(check);
}

async function actAsAgent({ rpc }: Anvil, registry: Address): Promise<void> {
  await rpc.request("anvil_setBalance", AGENT, numberToHex(10n ** 20n));
  await rpc.request("anvil_impersonateAccount", AGENT);
  const data = encodeFunctionData({
    ...{ abi: identityRegistryAbi, functionName: "register", args: ["data:,agent"] },
  });
  const send = (to: Address, input: Hex) =>
    rpc.request("eth_sendTransaction", { from: AGENT, to, data: input, gas: numberToHex(500_000) });
  await send(registry, data);
}

test(
  "Base Sepolia, which has no sanctions contract, is served only once a list was imported",
  async () => {
    const chain = await startStandIn(networkNamed("base-sepolia"));
    const deploymentFile = join(folder, "base-sepolia.json");
    const args = ["--network", "base-sepolia", "--registry-block", "0"];
    expect(await deployOn(chain, args, deploymentFile)).toContain("no sanctions contract");
    expect(loadDeployment(deploymentFile)).toMatchObject({ chainId: 84_532, sanctionsList: null });
    const database = await createTestDatabase();
    ends.push(database.drop);
    const env = {
      ...RAW_KEYS,
      DATABASE_URL: database.url,
      AHS_DEPLOYMENT: deploymentFile,
      SIGNER_PRIVATE_KEY: privateKeyOf(publisher),
      PORT: String(await freePort()),
    };
    const server = runScript(["serve"], env, join(folder, "refused.log"));
    expect(await server.exited).toBe(1);
    expect(server.log()).toContain('Run "ahs sanctions import" first');
  },
  TIMEOUT_MS,
);
