import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { concat, type Hex, hexToBytes, pad, toHex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { run as runEscrow } from "../../../bin/commands/escrow.ts";
import { parseConfig } from "../../../bin/config.ts";
import { roleAccounts } from "../../../devnet/accounts.ts";
import { verdictEvaluatorAbi } from "../../../service/chain/abi/verdict-evaluator.ts";
import { type Deployment, loadDeployment } from "../../../service/chain/deployments.ts";
import { describeEscrow } from "../../../service/chain/describe-escrow.ts";
import { startVerdictChain, type VerdictChain } from "../../contracts/support/verdict-chain.ts";
import { useFolder } from "../../support/use-folder.ts";

const IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
/** Delegates every call to the implementation of that slot. */
const PROXY = concat([
  "0x363d3d373d3d363d7f",
  IMPLEMENTATION_SLOT,
  "0x545af43d6000803e6038573d6000fd5b3d6000f3",
]);
const ESCROW: Hex = "0x0000000000000000000000000000000000008183";

const { deployer } = roleAccounts();
let chain: VerdictChain;
const folder = useFolder();
let files = 0;
beforeAll(async () => {
  chain = await startVerdictChain();
  await chain.rpc.request("anvil_setCode", ESCROW, PROXY);
});
afterAll(async () => {
  await chain.stop();
});
beforeEach(() => pointTo(chain.contracts.jobEscrowG3));

const pointTo = (target: Hex) =>
  chain.rpc.request("anvil_setStorageAt", ESCROW, IMPLEMENTATION_SLOT, pad(target));

function fileOf(deployment: Deployment): string {
  files += 1;
  const file = join(folder, `deployment-${files}.json`);
  writeFileSync(file, JSON.stringify(deployment));
  return file;
}

async function run(deployment: Deployment, ...args: readonly string[]): Promise<readonly string[]> {
  const { privateKey } = deployer.getHdKey();
  if (privateKey === null) throw new Error("the development account has a key");
  const config = parseConfig({
    RPC_URL: chain.rpcUrl,
    AHS_DEPLOYMENT: fileOf(deployment),
    OWNER_PRIVATE_KEY: toHex(privateKey),
  });
  const lines: string[] = [];
  await runEscrow({ config, args, out: (line) => lines.push(line) });
  return lines;
}

/** Runs a command that writes a deployment; answers that as well. */
async function change(deployment: Deployment, ...args: readonly string[]) {
  files += 1;
  const file = join(folder, `out-${files}.json`);
  const lines = await run(deployment, ...args, "--out", file);
  return { lines, deployment: loadDeployment(file) };
}

test("allows an escrow at the evaluator that jobs name already, with the adapter of its generation", async () => {
  const { publicClient, deployment: before } = chain;
  const allowed = await change(before, "allow", `G3:${ESCROW}:5`, "--send");
  const wish = { address: ESCROW, startBlock: 5, generation: "G3" } as const;
  expect(allowed.deployment).toEqual({
    ...before,
    escrows: [...before.escrows, await describeEscrow(publicClient, wish)],
  });
  const reading = { address: chain.contracts.verdictEvaluator, abi: verdictEvaluatorAbi } as const;
  const read = (address: Hex) =>
    publicClient.readContract({ ...reading, functionName: "escrowOf", args: [address] });
  expect((await read(ESCROW)).adapter).toBe((await read(chain.contracts.jobEscrowG3)).adapter);
  expect((await run(allowed.deployment, "list")).join("\n")).not.toMatch(/CHANGED|NOT ALLOWED/);
});

test("prints the owner's call without --send, and sends nothing", async () => {
  const before = await chain.publicClient.getTransactionCount({ address: deployer.address });
  const other: Hex = "0x0000000000000000000000000000000000008184";
  await chain.rpc.request("anvil_setCode", other, PROXY);
  await chain.rpc.request("anvil_setStorageAt", other, IMPLEMENTATION_SLOT, pad(chain.contracts.jobEscrow));
  const { lines } = await change(chain.deployment, "allow", `G1:${other}:5`);
  expect(lines.join("\n")).toContain(`to     ${chain.contracts.verdictEvaluator}`);
  expect(await chain.publicClient.getTransactionCount({ address: deployer.address })).toBe(before);
});

test("renews the code of an upgraded escrow, and leaves evaluator and other escrows as they are", async () => {
  const { publicClient, deployment } = chain;
  const wish = { address: ESCROW, startBlock: 5, generation: "G3" } as const;
  const known = { ...deployment, escrows: [...deployment.escrows, await describeEscrow(publicClient, wish)] };
  const upgraded: Hex = "0x0000000000000000000000000000000000008185";
  const code = (await publicClient.getCode({ address: chain.contracts.jobEscrowG3 })) ?? "0x";
  await chain.rpc.request("anvil_setCode", upgraded, concat([code, "0x00"]));
  await pointTo(upgraded);
  expect((await run(known, "list")).join("\n")).toContain("CODE CHANGED");
  const renewed = await change(known, "renew", ESCROW);
  expect(renewed.lines[0]).toContain("allows");
  expect(renewed.deployment.verdictEvaluator).toEqual(deployment.verdictEvaluator);
  expect(renewed.deployment.escrows).toEqual([
    ...deployment.escrows,
    await describeEscrow(publicClient, wish),
  ]);
  expect(hexToBytes(renewed.deployment.escrows.at(-1)?.implementation?.address ?? "0x")).toEqual(
    hexToBytes(upgraded),
  );
});

test.each([
  ["renew 0x0000000000000000000000000000000000000001", "is no escrow of the deployment"],
  ["allow G2:0x0000000000000000000000000000000000000001:1", "expected GENERATION:ADDRESS:BLOCK"],
  ["forbid 0x0000000000000000000000000000000000000001", 'unknown action "forbid"'],
])("refuses %s", async (line, message) => {
  await expect(change(chain.deployment, ...line.split(" "))).rejects.toThrow(message);
});
