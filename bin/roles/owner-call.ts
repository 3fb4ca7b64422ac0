import { type Address, type Hex, isAddressEqual } from "viem";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { type Config, type Invocation, requireNodeSettings } from "../config.ts";
import { accountFromConfig } from "../keys/open-accounts.ts";
import { openChainClient, openWallet } from "../process.ts";

/** One call of a contract's owner, not yet sent. */
export type OwnerCall = {
  /** One line for the operator. */
  readonly words: string;
  readonly to: Address;
  /** The account that the contract takes the call from. */
  readonly from: Address;
  readonly data: Hex;
};

export type OwnerChain = Awaited<ReturnType<typeof openOwnerChain>>;

/** The deployment and its chain as the node shows it; throws if the node is of another chain. */
export async function openOwnerChain(config: Config) {
  const { rpcUrl, deploymentFile } = requireNodeSettings(config);
  const deployment = loadDeployment(deploymentFile);
  const client = openChainClient(rpcUrl);
  const chainId = await client.getChainId();
  if (chainId !== deployment.chainId)
    throw new Error(`the deployment is of chain ${deployment.chainId}, and the node of chain ${chainId}`);
  return { config, chainId, client, rpcUrl, deployment };
}

const MINED_WITHIN_MS = 120_000;

/**
 * Tries a call at the newest block, then sends it with the key of OWNER_…, or prints it for an owner that is a multisig. Throws what
 * the contract would, before anything is paid; throws when the key is not the owner's, or when the transaction reverts.
 */
export async function makeOwnerCall(
  chain: OwnerChain,
  call: OwnerCall,
  { send, out }: { readonly send: boolean; readonly out: Invocation["out"] },
): Promise<void> {
  const { from, to, data, words } = call;
  out(words);
  await chain.client.call({ account: from, to, data });
  if (send) await sendCall(chain, call, out);
  else for (const line of describe(call)) out(line);
}

function describe({ from, to, data }: OwnerCall): string[] {
  return [
    "not sent; it would pass at the newest block. Transaction to send:",
    `  from   ${from}`,
    `  to     ${to}`,
    "  value  0",
    `  data   ${data}`,
  ];
}

async function sendCall(
  { config, chainId, client, rpcUrl }: OwnerChain,
  { from, to, data }: OwnerCall,
  out: Invocation["out"],
): Promise<void> {
  const account = await accountFromConfig(config, chainId, "owner");
  if (!isAddressEqual(account.address, from))
    throw new Error(`the key of OWNER_… is that of ${account.address}, and the contract asks for ${from}`);
  const wallet = openWallet(rpcUrl, account);
  const hash = await wallet.sendTransaction({ to, data, chain: null });
  out(`sent as ${hash}`);
  const receipt = await client.waitForTransactionReceipt({ hash, timeout: MINED_WITHIN_MS });
  if (receipt.status !== "success") throw new Error(`${hash} reverted in block ${receipt.blockNumber}`);
  out(`mined in block ${receipt.blockNumber}`);
}
