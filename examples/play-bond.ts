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
  http,
  parseAbi,
} from "viem";
import { connectChain } from "./chain.ts";
import { deliverJob, type Job } from "./deliver-job.ts";
import { OUTPUTS } from "./job-texts.ts";
import { request } from "./request.ts";
import { contractOf, readUpFile, type UpFile } from "./up-file.ts";
import { awaitVerdict, post } from "./verification.ts";

/**
 * Plays a bond against a running `npm start`: a deposit, a job to which the provider commits a part, the client's payment from the
 * bond after a REJECT, and a routing answer that shows it beside the safe amount.
 *
 *   npx node examples/play-bond.ts [--data-dir .ahs]
 *
 * Takes up to seven minutes, most of them for routing: a bond is shown once its blocks are final, and within five minutes. Ends with 1 if
 * anything is not as it should be.
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
  const { send } = chain;
  const bonds = openBonds(up);
  const { payer, provider } = up;

  say(`the provider ${provider.address} has ${usd(await bonds.available())} USDC available of its bond`);
  await send(payer.private_key, bonds.approve(DEPOSIT));
  await send(payer.private_key, bonds.deposit(DEPOSIT));
  say(`the client added ${usd(DEPOSIT)} USDC to it: ${usd(await bonds.available())} USDC are available`);

  const job = await deliverJob({
    up,
    chain,
    generation: "G1",
    budget: BUDGET,
    outputText: OUTPUTS.reject,
    say,
  });
  await send(provider.private_key, bonds.commit(job, COMMITTED));
  const { client, amount } = await bonds.commitment(job);
  say(`the provider committed ${usd(amount)} USDC to job ${job.jobId}, for its client ${client}`);
  say(`before a verdict the bond refuses to pay: ${await bonds.refusalToSlash(job)}`);

  const submitted = await post<{ readonly verdict_id: string }>(up, "/v1/outputs", {
    spec_id: job.specId,
    output_text: OUTPUTS.reject,
    submitted_by: "client",
    submitter_addr: payer.address,
    provider_addr: provider.address,
  });
  const verdict = await awaitVerdict(up, submitted.verdict_id, (one) => one.settlement?.status === "settled");
  say(`verdict ${verdict.verdict_id}: ${verdict.final_verdict}, settled by ${verdict.settlement?.tx_hash}`);

  const before = await bonds.balance(payer.address);
  await send(payer.private_key, bonds.slash(job));
  const paid = (await bonds.balance(payer.address)) - before;
  say(`the bond paid ${usd(paid)} USDC to the client; again it refuses: ${await bonds.refusalToSlash(job)}`);
  if (paid !== COMMITTED) throw new Error(`The bond paid ${usd(paid)} USDC, not ${usd(COMMITTED)}.`);
  await awaitRouting(up, await bonds.available());
}

/** Reads of the provider's bond, and the calls that change it. */
function openBonds(up: UpFile) {
  const client = createPublicClient({ transport: http(up.rpc_url) });
  const [to, usdc] = [contractOf(up, "assuranceAccounts"), contractOf(up, "usdc")];
  const wallet = up.provider.address;
  const contract = { address: to, abi: bondAbi } as const;
  return {
    available: async () => {
      const read = { ...contract, functionName: "getAssuranceAccount", args: [wallet] } as const;
      return (await client.readContract(read)).available;
    },
    balance: (of: Address) =>
      client.readContract({ address: usdc, abi: erc20Abi, functionName: "balanceOf", args: [of] }),
    commitment: ({ escrow, jobId }: Job) =>
      client.readContract({ ...contract, functionName: "commitmentOf", args: [escrow, jobId] }),
    approve: (amount: bigint) => {
      const approval = { abi: erc20Abi, functionName: "approve", args: [to, amount] } as const;
      return { to: usdc, data: encodeFunctionData(approval) };
    },
    deposit: (amount: bigint) => {
      const deposit = { abi: bondAbi, functionName: "depositAssuranceFor", args: [wallet, amount] } as const;
      return { to, data: encodeFunctionData(deposit) };
    },
    commit: ({ escrow, jobId }: Job, amount: bigint) => {
      const args = [escrow, jobId, amount] as const;
      return { to, data: encodeFunctionData({ abi: bondAbi, functionName: "commitToJob", args }) };
    },
    slash: ({ escrow, jobId }: Job) => {
      const args = [escrow, jobId] as const;
      return { to, data: encodeFunctionData({ abi: bondAbi, functionName: "slash", args }) };
    },
    /** Why the contract refuses to slash; throws if it does not refuse. */
    async refusalToSlash({ escrow, jobId }: Job): Promise<string> {
      const slash = { ...contract, functionName: "slash", args: [escrow, jobId] } as const;
      try {
        await client.simulateContract({ ...slash, account: up.payer.address });
      } catch (error) {
        const cause = error instanceof BaseError ? error.walk(isRevert) : null;
        if (cause instanceof ContractFunctionRevertedError) return cause.data?.errorName ?? cause.message;
        throw error;
      }
      throw new Error(`Job ${jobId} could be slashed.`);
    },
  };
}

/** Waits until routing shows the provider's bond as it is on chain. */
async function awaitRouting(up: UpFile, available: bigint): Promise<void> {
  say(`waiting until routing shows ${usd(available)} USDC`);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const headers = { "x-api-key": up.api_key };
    const answer = await request(`${up.base_url}/ahs/route/${up.provider.address}`, { headers });
    const { backing } = (await answer.json()) as Routed;
    if (backing?.bond_usd === Number(usd(available)))
      return say(
        `routing: safe amount ${backing.safe_amount_usd} USD, and beside it a bond of ${backing.bond_usd} USD for jobs that commit it`,
      );
    if (performance.now() > deadline)
      throw new Error(`Routing still shows ${backing?.bond_usd} USD after ${PATIENCE_MS / 1_000} s.`);
    await sleep(POLL_MS);
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
