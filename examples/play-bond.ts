import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  formatUnits,
  type Hex,
  http,
  parseAbi,
} from "viem";
import { connectChain } from "./chain.ts";
import { deliverJob, type Job } from "./deliver-job.ts";
import { OUTPUTS } from "./job-texts.ts";
import { request } from "./request.ts";
import { contractOf, readUpFile } from "./up-file.ts";
import { awaitVerdict, post } from "./verification.ts";

/**
 * Plays a bond against a running `npm start`: a deposit, a job to which the provider commits a part, the client's payment from the
 * bond after a REJECT, and what routing shows of it.
 *
 *   npx node examples/play-bond.ts [--data-dir .ahs]
 *
 * Takes about a minute, and then waits for routing: a bond counts once its blocks are final, and within five minutes. Ends with 1
 * where anything is not as it should be.
 */

const bondAbi = parseAbi([
  "struct Account { uint96 available; uint96 locked; uint64 unbondedAt; uint96 unbonding; uint96 paidOut; }",
  "struct Commitment { address wallet; uint64 expiry; uint8 state; address client; uint96 amount; address adapter; }",
  "function depositAssuranceFor(address wallet, uint256 amount)",
  "function commitToJob(address escrow, uint256 jobId, uint256 amount)",
  "function slash(address escrow, uint256 jobId)",
  "function getAssuranceAccount(address wallet) view returns (Account)",
  "function commitmentOf(address escrow, uint256 jobId) view returns (Commitment)",
  "error NotRejected(address escrow, uint256 jobId, uint8 decision, uint8 status)",
  "error NotCommitted(address escrow, uint256 jobId, uint8 state)",
]);

/** In the smallest unit of USDC. */
const DEPOSIT = 40_000_000n;
const COMMITTED = 30_000_000n;
const BUDGET = 1_000_000n;
const POLL_MS = 5_000;
const PATIENCE_MS = 420_000;

const { values } = parseArgs({ options: { "data-dir": { type: "string", default: ".ahs" } } });

try {
  await play(values["data-dir"]);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function play(dataDir: string): Promise<void> {
  const up = readUpFile(dataDir);
  const chain = connectChain(up);
  const client = createPublicClient({ transport: http(up.rpc_url) });
  const [bonds, usdc] = [contractOf(up, "assuranceAccounts"), contractOf(up, "usdc")];
  const { payer, provider } = up;
  const account = () =>
    client.readContract({
      ...{ address: bonds, abi: bondAbi, functionName: "getAssuranceAccount" },
      args: [provider.address],
    });
  const balance = (of: Address) =>
    client.readContract({ address: usdc, abi: erc20Abi, functionName: "balanceOf", args: [of] });
  const slashing = ({ escrow, jobId }: Job) =>
    ({ address: bonds, abi: bondAbi, functionName: "slash", args: [escrow, jobId] }) as const;
  /** Why the contract refuses to slash; throws if it does not refuse. */
  const refusalOf = async (job: Job): Promise<string> => {
    try {
      await client.simulateContract({ ...slashing(job), account: payer.address });
    } catch (error) {
      const cause = error instanceof BaseError ? error.walk(isRevert) : null;
      if (cause instanceof ContractFunctionRevertedError) return cause.data?.errorName ?? cause.message;
      throw error;
    }
    throw new Error(`Job ${job.jobId} could be slashed.`);
  };

  say(`the provider ${provider.address} has ${usd((await account()).available)} USDC available of its bond`);
  await pay({ amount: DEPOSIT, from: payer.private_key });
  const deposited = (await account()).available;
  say(`the client added ${usd(DEPOSIT)} USDC to it: ${usd(deposited)} USDC are available`);

  const job = await deliverJob({
    ...{ up, chain, generation: "G1", budget: BUDGET, outputText: OUTPUTS.reject, say },
  });
  const commitment = { abi: bondAbi, functionName: "commitToJob" } as const;
  await chain.send(provider.private_key, {
    to: bonds,
    data: encodeFunctionData({ ...commitment, args: [job.escrow, job.jobId, COMMITTED] }),
  });
  const { client: payee, amount } = await client.readContract({
    ...{ address: bonds, abi: bondAbi, functionName: "commitmentOf" },
    args: [job.escrow, job.jobId],
  });
  say(`the provider committed ${usd(amount)} USDC to job ${job.jobId}, for its client ${payee}`);
  say(`before a verdict the bond refuses to pay: ${await refusalOf(job)}`);

  const submitted = await post<{ readonly verdict_id: string }>(up, "/v1/outputs", {
    ...{ spec_id: job.specId, output_text: OUTPUTS.reject, submitted_by: "client" },
    ...{ submitter_addr: payer.address, provider_addr: provider.address },
  });
  const verdict = await awaitVerdict(up, submitted.verdict_id, (one) => one.settlement?.status === "settled");
  say(`verdict ${verdict.verdict_id}: ${verdict.final_verdict}, settled by ${verdict.settlement?.tx_hash}`);

  const before = await balance(payer.address);
  await chain.send(payer.private_key, { to: bonds, data: encodeFunctionData(slashing(job)) });
  const paid = (await balance(payer.address)) - before;
  say(`the bond paid ${usd(paid)} USDC to the client; again it refuses: ${await refusalOf(job)}`);
  if (paid !== COMMITTED) throw new Error(`The bond paid ${usd(paid)} USDC, not ${usd(COMMITTED)}.`);
  await awaitRouting((await account()).available);

  async function pay({ amount: value, from }: { readonly amount: bigint; readonly from: Hex }) {
    const approval = { abi: erc20Abi, functionName: "approve", args: [bonds, value] } as const;
    await chain.send(from, { to: usdc, data: encodeFunctionData(approval) });
    const args = [provider.address, value] as const;
    const data = encodeFunctionData({ abi: bondAbi, functionName: "depositAssuranceFor", args });
    await chain.send(from, { to: bonds, data });
  }

  /** Waits until routing counts the bond as it is on chain. */
  async function awaitRouting(available: bigint): Promise<void> {
    say(`waiting until routing counts ${usd(available)} USDC`);
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const headers = { "x-api-key": up.api_key };
      const answer = await request(`${up.base_url}/ahs/route/${provider.address}`, { headers });
      const { backing } = (await answer.json()) as Routed;
      if (backing?.bond_usd === Number(usd(available)))
        return say(
          `routing: safe amount ${backing.safe_amount_usd} USD, of it ${backing.bond_usd} by the bond`,
        );
      if (performance.now() > deadline)
        throw new Error(`Routing still counts ${backing?.bond_usd} USD after ${PATIENCE_MS / 1_000} s.`);
      await sleep(POLL_MS);
    }
  }
}

type Routed = { readonly backing: { readonly safe_amount_usd: number; readonly bond_usd: number } | null };

function isRevert(error: unknown): boolean {
  return error instanceof ContractFunctionRevertedError;
}

function usd(amount: bigint): string {
  return formatUnits(amount, 6);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
