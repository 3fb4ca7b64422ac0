import { parseArgs } from "node:util";
import { type Address, encodeFunctionData, isAddress, isAddressEqual, zeroAddress } from "viem";
import { verdictEvaluatorAbi } from "../../service/chain/abi/verdict-evaluator.ts";
import { createAdapter } from "../../service/chain/deploy.ts";
import {
  type Deployment,
  loadDeployment,
  requireNewFile,
  writeNewDeployment,
} from "../../service/chain/deployments.ts";
import { type Escrow, requireEscrow } from "../../service/chain/describe-escrow.ts";
import { type Invocation, requireNodeSettings } from "../config.ts";
import { escrowOption } from "../deploy-options.ts";
import { accountFromConfig } from "../keys/open-accounts.ts";
import { openChainClient, openWallet } from "../process.ts";
import { makeOwnerCall, type OwnerChain } from "../roles/owner-call.ts";

export const USAGE = `Usage: ahs escrow list
       ahs escrow allow GENERATION:ADDRESS:BLOCK --out FILE [--adapter ADDRESS] [--send]
       ahs escrow renew ADDRESS --out FILE [--send]

Escrows of the deployment's evaluator, which stays as it is: jobs that name it go on. Read an escrow's code before you allow it or
renew it. allow adds an escrow: GENERATION is G1, G3 or V3, BLOCK the first block whose jobs are followed. renew writes down the code
that an escrow has now, after an upgrade. Both write a new deployment file; restart the processes with it.

Where the evaluator needs a call as well, the owner's call is printed, for an owner that is a multisig, and tried at the newest
block; with --send the key of OWNER_… sends it. An adapter, which reads jobs of one generation, is taken from an escrow of the
same generation, from --adapter, or deployed by that key.`;

type Context = {
  readonly chain: OwnerChain;
  readonly deployment: Deployment;
  readonly evaluator: Address;
};

/** `ahs escrow`: shows the escrows whose jobs the evaluator settles, allows another, or writes down an upgraded one's code. */
export async function escrow({ config, args, out }: Invocation): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      out: { type: "string" },
      adapter: { type: "string" },
      send: { type: "boolean", default: false },
    },
  });
  const [action, given, ...more] = positionals;
  if (action === undefined || more.length > 0) throw new Error(USAGE);
  const context = await openContext(config);
  if (action === "list" && given === undefined) return list(context, out);
  if (given === undefined || values.out === undefined) throw new Error(USAGE);
  requireNewFile(values.out);
  const described =
    action === "allow"
      ? await describeNew(context, given)
      : action === "renew"
        ? await describeAgain(context, given)
        : null;
  if (described === null) throw new Error(`unknown action "${action}"\n${USAGE}`);
  const change = { escrow: described, adapter: addressOf(values.adapter), send: values.send, out };
  await allow(context, change);
  writeNewDeployment(values.out, withEscrow(context.deployment, described));
  out(`written to ${values.out}: restart the processes with it`);
}

async function openContext(config: Invocation["config"]): Promise<Context> {
  const { rpcUrl, deploymentFile } = requireNodeSettings(config);
  const deployment = loadDeployment(deploymentFile);
  const client = openChainClient(rpcUrl);
  const chainId = await client.getChainId();
  if (chainId !== deployment.chainId)
    throw new Error(`the deployment is of chain ${deployment.chainId}, and the node of chain ${chainId}`);
  if (deployment.verdictEvaluator === null)
    throw new Error("the deployment has no evaluator: ahs deploy with --escrow makes one");
  const evaluator = deployment.verdictEvaluator.address;
  return { chain: { config, chainId, client, rpcUrl }, deployment, evaluator };
}

async function list({ chain, deployment, evaluator }: Context, out: Invocation["out"]): Promise<void> {
  out(`evaluator ${evaluator}`);
  if (deployment.escrows.length === 0) out("no escrows");
  for (const known of deployment.escrows) {
    const { adapter } = await readAllowed(chain, evaluator, known.address);
    const words = adapter === null ? "NOT ALLOWED by the evaluator" : `read by the adapter ${adapter}`;
    out(`${known.generation} ${known.address} from block ${known.startBlock}: ${words}`);
    out(`  ${await describeCode(chain, known)}`);
  }
}

async function describeCode({ client }: OwnerChain, known: Escrow): Promise<string> {
  try {
    const now = await requireEscrow(client, known);
    return isSameCode(now, known) ? "code as it was allowed" : "CODE CHANGED: its jobs are suspended";
  } catch (error) {
    return `CODE CHANGED: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function isSameCode(one: Escrow, other: Escrow): boolean {
  return (
    one.codeHash === other.codeHash &&
    one.implementation?.address.toLowerCase() === other.implementation?.address.toLowerCase() &&
    one.implementation?.codeHash === other.implementation?.codeHash
  );
}

async function describeNew({ chain, deployment }: Context, given: string): Promise<Escrow> {
  const wish = escrowOption.safeParse(given);
  if (!wish.success)
    throw new Error(`${wish.error.issues[0]?.message ?? "malformed"}, got "${given}"\n${USAGE}`);
  const { address } = wish.data;
  if (deployment.escrows.some((known) => isAddressEqual(known.address, address)))
    throw new Error(`${address} is in the deployment already: ahs escrow renew writes down its new code`);
  return requireEscrow(chain.client, wish.data);
}

async function describeAgain({ chain, deployment }: Context, given: string): Promise<Escrow> {
  const known = deployment.escrows.find(({ address }) => address.toLowerCase() === given.toLowerCase());
  if (known === undefined)
    throw new Error(`${given} is no escrow of the deployment: ahs escrow allow adds one`);
  return requireEscrow(chain.client, known);
}

type Allowing = {
  readonly escrow: Escrow;
  /** Null where none was named. */
  readonly adapter: Address | null;
  readonly send: boolean;
  readonly out: Invocation["out"];
};

/** Has the evaluator's owner allow the escrow with the code hash that it has now, where it does not yet. */
async function allow(context: Context, { escrow: wanted, adapter, send, out }: Allowing): Promise<void> {
  const { chain, evaluator } = context;
  const { address, codeHash } = wanted;
  const allowed = await readAllowed(chain, evaluator, address);
  if (allowed.adapter !== null && allowed.codeHash === codeHash) {
    out(`the evaluator ${evaluator} allows ${address} already`);
    return;
  }
  const reader = adapter ?? allowed.adapter ?? (await findAdapter(context, wanted, { send, out }));
  const from = await chain.client.readContract({
    address: evaluator,
    abi: verdictEvaluatorAbi,
    functionName: "owner",
  });
  const args = [address, reader] as const;
  const data = encodeFunctionData({ abi: verdictEvaluatorAbi, functionName: "setEscrow", args });
  const words = `evaluator: setEscrow(${address}, ${reader})`;
  await makeOwnerCall(chain, { words, from, to: evaluator, data }, { send, out });
}

/** An adapter that reads another escrow of the same generation, or a new one. */
async function findAdapter(
  { chain, deployment, evaluator }: Context,
  { generation }: Escrow,
  { send, out }: Pick<Allowing, "send" | "out">,
): Promise<Address> {
  for (const known of deployment.escrows) {
    if (known.generation !== generation) continue;
    const { adapter } = await readAllowed(chain, evaluator, known.address);
    if (adapter !== null) return adapter;
  }
  if (!send)
    throw new Error(
      `no escrow of generation ${generation} is allowed yet, so there is no adapter: name one with --adapter, or have one deployed with --send`,
    );
  const account = await accountFromConfig(chain.config, chain.chainId, "owner");
  const walletClient = openWallet(chain.rpcUrl, account);
  const adapter = await createAdapter({ walletClient, publicClient: chain.client }, generation);
  out(`adapter of generation ${generation} deployed at ${adapter}`);
  return adapter;
}

async function readAllowed({ client }: OwnerChain, evaluator: Address, escrowAddress: Address) {
  const { adapter, codeHash } = await client.readContract({
    address: evaluator,
    abi: verdictEvaluatorAbi,
    functionName: "escrowOf",
    args: [escrowAddress],
  });
  return { adapter: adapter === zeroAddress ? null : adapter, codeHash };
}

function addressOf(given: string | undefined): Address | null {
  if (given === undefined) return null;
  if (!isAddress(given)) throw new Error(`--adapter: expected an address, got "${given}"`);
  return given;
}

function withEscrow(deployment: Deployment, described: Escrow): Deployment {
  const isDescribed = ({ address }: Escrow) => isAddressEqual(address, described.address);
  const escrows = deployment.escrows.some(isDescribed)
    ? deployment.escrows.map((known) => (isDescribed(known) ? described : known))
    : [...deployment.escrows, described];
  return { ...deployment, escrows };
}
