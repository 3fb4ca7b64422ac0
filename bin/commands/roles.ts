import type { PublicClient } from "viem";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { readRoles } from "../../service/chain/read-roles.ts";
import type { Invocation } from "../command.ts";
import { type Config, requireNodeSettings } from "../config.ts";
import { ROLES } from "../keys/key-variables.ts";
import { openAccounts } from "../keys/open-accounts.ts";
import { openChainClient } from "../process.ts";
import { makeOwnerCall } from "../roles/owner-call.ts";
import { type RolesSeen, renderRoles } from "../roles/render-roles.ts";
import { ROLES_USAGE, readRoleChange } from "../roles/role-change.ts";

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
  await makeOwnerCall({ config, chainId, client, rpcUrl }, change, { send: change.send, out });
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
