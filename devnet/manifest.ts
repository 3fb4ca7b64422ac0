import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { z } from "zod";
import { contractAddresses } from "./contract-list.ts";
import type { JsonRpc } from "./json-rpc.ts";

const hash = z.custom<Hex>(
  (value) => typeof value === "string" && /^0x[0-9a-f]{64}$/.test(value),
  "expected a hash",
);

const mark = z.object({ number: z.int(), hash, timestamp: z.int() });

const manifestSchema = z.object({
  seed: z.string(),
  wallets: z.int(),
  days: z.number(),
  /** First block with a contract. */
  firstBlock: z.int(),
  genesis: mark,
  /** The last block of the built history. */
  built: mark,
});

/** A block by which a chain is known again; time in unix seconds. */
export type BlockMark = z.infer<typeof mark>;

/** Contents of a data folder, and the blocks that identify its chain. */
export type Manifest = z.infer<typeof manifestSchema>;

const MANIFEST_FILE = "devnet.json";
const STATE_FILE = "anvil-state.json";
const NODE_FILE = "anvil-process.json";

/** The manifest kept in a folder, or null; throws when the file is not one. */
export function readManifest(dataDir: string): Manifest | null {
  const path = join(dataDir, MANIFEST_FILE);
  if (!existsSync(path)) return null;
  const parsed = manifestSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (!parsed.success) throw new Error(`${path} is not a manifest: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Keeps the manifest in the folder, which it creates. */
export function writeManifest(dataDir: string, manifest: Manifest): void {
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Forgets a chain: its manifest and its state. */
export function forgetChain(dataDir: string): void {
  rmSync(join(dataDir, MANIFEST_FILE), { force: true });
  rmSync(join(dataDir, STATE_FILE), { force: true });
}

/** Where the node keeps the chain between two runs. */
export function stateFileIn(dataDir: string): string {
  return join(dataDir, STATE_FILE);
}

/** Where the running node is noted. */
export function nodeFileIn(dataDir: string): string {
  return join(dataDir, NODE_FILE);
}

/** Names the difference between a chain and the manifest, in one sentence; null when it is the chain that was built. */
export async function chainFault(rpc: JsonRpc, manifest: Manifest): Promise<string | null> {
  for (const expected of [manifest.genesis, manifest.built]) {
    const found = await markOf(rpc, expected.number);
    if (found?.hash !== expected.hash) {
      return `block ${expected.number} is ${found?.hash ?? "missing"}, expected ${expected.hash}`;
    }
  }
  return null;
}

/** The marks of the genesis and the newest block; throws when the node has neither. */
export async function marksOf(rpc: JsonRpc): Promise<{ genesis: BlockMark; built: BlockMark }> {
  const genesis = await markOf(rpc, 0);
  const built = await markOf(rpc, Number(await rpc.request("eth_blockNumber")));
  if (genesis === null || built === null)
    throw new Error(`the node at ${rpc.url} lacks its genesis or its head`);
  return { genesis, built };
}

async function markOf(rpc: JsonRpc, number: number): Promise<BlockMark | null> {
  const found = await rpc.request("eth_getBlockByNumber", `0x${number.toString(16)}`, false);
  const block = found as { readonly hash: Hex; readonly timestamp: Hex } | null;
  return block === null ? null : { number, hash: block.hash, timestamp: Number(block.timestamp) };
}

/** Names the contracts of the local chain that a chain lacks, in one sentence; null when it has code at every address. */
export async function findMissingContract(rpc: JsonRpc): Promise<string | null> {
  const contracts = Object.entries(contractAddresses());
  const codes = await rpc.batch(
    contracts.map(([, address]) => ({ method: "eth_getCode", params: [address, "latest"] })),
  );
  const missing = contracts.find((_, i) => codes[i] === "0x");
  return missing === undefined ? null : `there is no ${missing[0]} at ${missing[1]}`;
}
