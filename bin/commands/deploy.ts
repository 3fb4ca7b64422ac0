import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createWalletClient, getAddress, http, isAddress } from "viem";
import { z } from "zod";
import { deployOracle } from "../../service/chain/deploy.ts";
import { type Deployment, loadDeployment } from "../../service/chain/deployments.ts";
import { accountFromConfig } from "../account-from-config.ts";
import type { Invocation } from "../ahs.ts";
import { openChainClient } from "../process.ts";

const USAGE = `Usage: ahs deploy --registry ADDRESS --registry-block N --sanctions ADDRESS --sanctions-block N --out FILE
       [--owner ADDRESS] [--publisher ADDRESS] [--signer ADDRESS]... [--usdc ADDRESS] [--request-fee WEI]
       [--finality BLOCKS] [--name NAME]
The key of PUBLISHER_PRIVATE_KEY pays, and has every role that is not named.`;

/** ERC-4337 entry points 0.6, 0.7 and 0.8, at one address on every chain that has them. */
const ENTRY_POINTS = [
  "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789",
  "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
  "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108",
] as const;

const address = z.custom<`0x${string}`>(
  (value) => typeof value === "string" && isAddress(value),
  "expected an address",
);
const block = z.coerce.number().int().nonnegative();

const options = z.object({
  registry: address,
  "registry-block": block,
  sanctions: address,
  "sanctions-block": block,
  out: z.string().min(1),
  owner: address.optional(),
  publisher: address.optional(),
  signer: z.array(address).optional(),
  usdc: address.optional(),
  "request-fee": z.coerce.bigint().nonnegative().default(0n),
  finality: z.coerce.number().int().positive().default(30),
  name: z.string().optional(),
});

/** `ahs deploy`: deploys the oracle on the chain of the RPC URL and writes the deployment file that all commands read. */
export async function deploy({ config, args, out }: Invocation): Promise<void> {
  const wanted = parseOptions(args);
  if (existsSync(wanted.out)) throw new Error(`${wanted.out} exists: a deployment is never overwritten`);
  if (config.rpcUrl === null) throw new Error("missing settings: RPC_URL (or --rpc-url)");
  const publicClient = openChainClient(config.rpcUrl);
  const chainId = await publicClient.getChainId();
  const account = accountFromConfig(config, chainId, "PUBLISHER_PRIVATE_KEY");
  const oracle = await deployOracle({
    walletClient: createWalletClient({ account, transport: http(config.rpcUrl) }),
    publicClient,
    owner: wanted.owner ?? account.address,
    publisher: wanted.publisher ?? account.address,
    signers: wanted.signer ?? [account.address],
    identityRegistry: wanted.registry,
    requestFee: wanted["request-fee"],
  });
  const startBlock = Number(oracle.startBlock);
  const usdc = wanted.usdc === undefined ? null : getAddress(wanted.usdc);
  const deployment: Deployment = {
    chainId,
    name: wanted.name ?? `chain-${chainId}`,
    startBlock,
    finalityBlocks: wanted.finality,
    identityRegistry: { address: getAddress(wanted.registry), startBlock: wanted["registry-block"] },
    sanctionsList: { address: getAddress(wanted.sanctions), startBlock: wanted["sanctions-block"] },
    oracle: { address: oracle.address, startBlock },
    verdictEvaluator: null,
    escrows: [],
    usdc,
    market: {
      native: { symbol: "ETH", decimals: 18, feed: null },
      wrappedNative: null,
      tokens: usdc === null ? [] : [{ address: usdc, symbol: "USDC", decimals: 6, feed: null }],
    },
    accounts: { entryPoints: [...ENTRY_POINTS], publicFunders: [], mixers: [] },
    staticWallets: [],
  };
  writeFileSync(wanted.out, `${JSON.stringify(deployment, null, 2)}\n`, { flag: "wx" });
  loadDeployment(wanted.out);
  out(`oracle ${oracle.address} on chain ${chainId} from block ${startBlock}, written to ${wanted.out}`);
}

function parseOptions(args: readonly string[]): z.infer<typeof options> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      registry: text,
      "registry-block": text,
      sanctions: text,
      "sanctions-block": text,
      out: text,
      owner: text,
      publisher: text,
      signer: { type: "string", multiple: true },
      usdc: text,
      "request-fee": text,
      finality: text,
      name: text,
    },
  });
  const parsed = options.safeParse(values);
  if (!parsed.success) throw new Error(`${z.prettifyError(parsed.error)}\n${USAGE}`);
  return parsed.data;
}
