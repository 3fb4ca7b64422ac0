import { createWalletClient, http, isAddressEqual, type PublicClient } from "viem";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { readRoles } from "../../service/chain/read-roles.ts";
import { accountFromConfig } from "../account-from-config.ts";
import type { Invocation } from "../ahs.ts";
import { type Config, requireNodeSettings } from "../config.ts";
import { ROLES } from "../keys/key-variables.ts";
import { openAccounts } from "../keys/open-accounts.ts";
import { openChainClient } from "../process.ts";
import { type RolesSeen, renderRoles } from "../roles/render-roles.ts";
import { ROLES_USAGE, type RoleChange, readRoleChange } from "../roles/role-change.ts";

const MINED_WITHIN_MS = 120_000;

/** `ahs roles`: who may publish, sign and own; and the owner's calls that change it. */
export async function roles({ config, args, out }: Invocation): Promise<void> {
  if (args.length === 0) throw new Error(ROLES_USAGE);
  const { rpcUrl, deploymentFile } = requireNodeSettings(config);
  const deployment = loadDeployment(deploymentFile);
  const client = openChainClient(rpcUrl);
  const chainId = await client.getChainId();
  if (chainId !== deployment.chainId)
    throw new Error(`the deployment is of chain ${deployment.chainId}, and the node of chain ${chainId}`);
  const seen = await readRoles(client, deployment);
  if (args[0] === "show" && args.length === 1) {
    const { gasPriceWei, accounts } = await lookAtAccounts(config, chainId, client);
    for (const line of renderRoles({ roles: seen, accounts, gasPriceWei })) out(line);
    return;
  }
  const change = readRoleChange(args, seen);
  out(change.words);
  await tryCall(client, change);
  if (change.send) await send({ config, chainId, client, rpcUrl }, change, out);
  else for (const line of describe(change)) out(line);
}

async function lookAtAccounts(
  config: Config,
  chainId: number,
  client: PublicClient,
): Promise<Omit<RolesSeen, "roles">> {
  const opened = await openAccounts(config, { required: [], optional: ROLES }, { chainId });
  const configured = ROLES.flatMap((role) => {
    const account = opened[role];
    return account === undefined ? [] : [{ role, address: account.address }];
  });
  const accounts = await Promise.all(
    configured.map(async (one) => ({ ...one, balanceWei: await client.getBalance(one) })),
  );
  return { accounts, gasPriceWei: await client.getGasPrice() };
}

/** Throws what the contract would, before anybody pays for it. */
async function tryCall(client: PublicClient, { from, to, data }: RoleChange): Promise<void> {
  await client.call({ account: from, to, data });
}

function describe({ from, to, data }: RoleChange): string[] {
  return [
    "not sent; it would pass at the newest block. What to send:",
    `  from   ${from}`,
    `  to     ${to}`,
    "  value  0",
    `  data   ${data}`,
  ];
}

async function send(
  {
    config,
    chainId,
    client,
    rpcUrl,
  }: { config: Config; chainId: number; client: PublicClient; rpcUrl: string },
  { from, to, data }: RoleChange,
  out: Invocation["out"],
): Promise<void> {
  const account = await accountFromConfig(config, chainId, "owner");
  if (!isAddressEqual(account.address, from))
    throw new Error(`the key of OWNER_… is that of ${account.address}, and the contract asks for ${from}`);
  const wallet = createWalletClient({ account, transport: http(rpcUrl) });
  const hash = await wallet.sendTransaction({ to, data, chain: null });
  out(`sent as ${hash}`);
  const receipt = await client.waitForTransactionReceipt({ hash, timeout: MINED_WITHIN_MS });
  if (receipt.status !== "success") throw new Error(`${hash} reverted in block ${receipt.blockNumber}`);
  out(`mined in block ${receipt.blockNumber}`);
}
