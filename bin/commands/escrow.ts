import { parseArgs } from "node:util";
import { type Address, encodeFunctionData, isAddress, isAddressEqual, zeroAddress } from "viem";
import { verdictEvaluatorAbi } from "../../service/chain/abi/verdict-evaluator.ts";
import { createAdapter } from "../../service/chain/deploy.ts";
import { type Deployment, requireNewFile, writeNewDeployment } from "../../service/chain/deployments.ts";
import { type Escrow, requireEscrow } from "../../service/chain/describe-escrow.ts";
import type { Config, Invocation } from "../config.ts";
import { escrowOption } from "../deploy-options.ts";
import { accountFromConfig } from "../keys/open-accounts.ts";
import { openWallet } from "../process.ts";
import { makeOwnerCall, openOwnerChain } from "../roles/owner-call.ts";

export const USAGE = `Usage: ahs escrow list
       ahs escrow allow GENERATION:ADDRESS:BLOCK --out FILE [--adapter ADDRESS] [--send]
       ahs escrow renew ADDRESS --out FILE [--send]

Escrows of the deployment's evaluator, which stays as it is: jobs that name it go on. Read an escrow's code before you allow it or
renew it. allow adds an escrow: GENERATION is G1, G3 or V3, BLOCK the first block whose jobs are followed. renew writes down the code
that an escrow has now, after an upgrade. Both write a new deployment file; restart the processes with it.

Where the evaluator needs a call as well, the owner's call is printed, for an owner that is a multisig, and tried at the newest
block; with --send the key of OWNER_… sends it. An adapter, which reads jobs of one generation, is taken from an escrow of the
same generation, from --adapter, or deployed by that key.`;

type Context = Awaited<ReturnType<typeof openContext>>;

/** `ahs escrow`: shows the escrows whose jobs the evaluator settles, allows another, or writes down an upgraded one's code. */
export async function run({ config, args, out }: Invocation): Promise<void> {
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
  await allow(context, described, { adapter: addressOf(values.adapter), send: values.send, out });
  writeNewDeployment(values.out, withEscrow(context.deployment, described));
  out(`written to ${values.out}: restart the processes with it`);
}

async function openContext(config: Config) {
  const chain = await openOwnerChain(config);
  if (chain.deployment.verdictEvaluator === null)
    throw new Error("the deployment has no evaluator: ahs deploy with --escrow makes one");
  return { ...chain, evaluator: chain.deployment.verdictEvaluator.address };
}

async function list(context: Context, out: Invocation["out"]): Promise<void> {
  const { deployment, evaluator } = context;
  out(`evaluator ${evaluator}`);
  if (deployment.escrows.length === 0) out("no escrows");
  for (const known of deployment.escrows) {
    const { adapter } = await readAllowed(context, known.address);
    const words = adapter === null ? "NOT ALLOWED by the evaluator" : `read by the adapter ${adapter}`;
    out(`${known.generation} ${known.address} from block ${known.startBlock}: ${words}`);
    out(`  ${await describeCode(context, known)}`);
  }
}

async function describeCode({ client }: Context, known: Escrow): Promise<string> {
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

async function describeNew({ client, deployment }: Context, given: string): Promise<Escrow> {
  const wish = escrowOption.safeParse(given);
  if (!wish.success)
    throw new Error(`${wish.error.issues[0]?.message ?? "malformed"}, got "${given}"\n${USAGE}`);
  const { address } = wish.data;
  if (deployment.escrows.some((known) => isAddressEqual(known.address, address)))
    throw new Error(`${address} is in the deployment already: ahs escrow renew writes down its new code`);
  return requireEscrow(client, wish.data);
}

async function describeAgain({ client, deployment }: Context, given: string): Promise<Escrow> {
  const known = deployment.escrows.find(({ address }) => address.toLowerCase() === given.toLowerCase());
  if (known === undefined)
    throw new Error(`${given} is no escrow of the deployment: ahs escrow allow adds one`);
  return requireEscrow(client, known);
}

/** Has the evaluator's owner allow the escrow with the code hash that it has now, where it does not yet. */
async function allow(
  context: Context,
  wanted: Escrow,
  { adapter, ...sending }: Parameters<typeof makeOwnerCall>[2] & { readonly adapter: Address | null },
): Promise<void> {
  const { evaluator } = context;
  const { address, codeHash } = wanted;
  const allowed = await readAllowed(context, address);
  if (allowed.adapter !== null && allowed.codeHash === codeHash) {
    sending.out(`the evaluator ${evaluator} allows ${address} already`);
    return;
  }
  const reader = adapter ?? allowed.adapter ?? (await findAdapter(context, wanted, sending));
  const from = await context.client.readContract({
    address: evaluator,
    abi: verdictEvaluatorAbi,
    functionName: "owner",
  });
  const args = [address, reader] as const;
  const data = encodeFunctionData({ abi: verdictEvaluatorAbi, functionName: "setEscrow", args });
  const words = `evaluator: setEscrow(${address}, ${reader})`;
  await makeOwnerCall(context, { words, from, to: evaluator, data }, sending);
}

/** An adapter that reads another escrow of the same generation, or a new one. */
async function findAdapter(
  context: Context,
  { generation }: Escrow,
  { send, out }: Parameters<typeof makeOwnerCall>[2],
): Promise<Address> {
  const { config, chainId, rpcUrl, client } = context;
  for (const known of context.deployment.escrows) {
    if (known.generation !== generation) continue;
    const { adapter } = await readAllowed(context, known.address);
    if (adapter !== null) return adapter;
  }
  if (!send)
    throw new Error(
      `no escrow of generation ${generation} is allowed yet, so there is no adapter: name one with --adapter, or have one deployed with --send`,
    );
  const account = await accountFromConfig(config, chainId, "owner");
  const walletClient = openWallet(rpcUrl, account);
  const adapter = await createAdapter({ walletClient, publicClient: client }, generation);
  out(`adapter of generation ${generation} deployed at ${adapter}`);
  return adapter;
}

async function readAllowed({ client, evaluator }: Context, escrowAddress: Address) {
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
