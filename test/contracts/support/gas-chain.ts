import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createPublicClient, createTestClient, createWalletClient, http } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { anvil } from "viem/chains";
import { freePort } from "../../../bin/up/free-port.ts";

/** Heights and times with as many non-zero bytes as those of a live chain: calldata is priced by them. */
export const genesis = { number: 45_000_000n, timestamp: 1_790_000_000n };

/** Anvil's first two default keys, public by design. */
const deployerKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const publisherKey = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

export type GasChain = Awaited<ReturnType<typeof startGasChain>>;

/** A chain whose every transaction costs the same gas in every run; stop() ends its process. */
export async function startGasChain() {
  const port = await freePort();
  const node = spawnAnvil(port);
  const transport = http(`http://127.0.0.1:${port}`);
  const wallet = (account: PrivateKeyAccount) => createWalletClient({ account, chain: anvil, transport });
  await listening(node);
  return {
    deployer: wallet(privateKeyToAccount(deployerKey)),
    publisher: wallet(privateKeyToAccount(publisherKey)),
    publicClient: createPublicClient({ chain: anvil, transport, pollingInterval: 20 }),
    testClient: createTestClient({ chain: anvil, mode: "anvil", transport }),
    stop: async (): Promise<void> => {
      node.kill("SIGTERM");
      if (node.exitCode === null) await once(node, "exit");
    },
  };
}

function spawnAnvil(port: number): ChildProcess {
  const args = ["--port", `${port}`, "--number", `${genesis.number}`, "--timestamp", `${genesis.timestamp}`];
  const binary = join(import.meta.dirname, "../../../node_modules/.bin/anvil");
  return spawn(binary, args, { stdio: ["ignore", "pipe", "inherit"] });
}

async function listening(node: ChildProcess): Promise<void> {
  if (node.stdout === null) throw new Error("anvil was started without a pipe");
  let output = "";
  for await (const chunk of node.stdout) {
    output += String(chunk);
    if (output.includes("Listening on")) break;
  }
  if (!output.includes("Listening on")) throw new Error(`anvil did not start: ${output}`);
}
