import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  toHex,
  zeroAddress,
} from "viem";
import { anvil as anvilChain } from "viem/chains";
import { freePort } from "../../../bin/supervisor/child-process.ts";
import { jobEscrowAbi } from "../../../devnet/abi/job-escrow.ts";
import { roleAccounts } from "../../../devnet/accounts.ts";
import { startAnvil } from "../../../devnet/anvil-process.ts";
import { deployContracts } from "../../../devnet/deploy-contracts.ts";
import { verdictEvaluatorAbi } from "../../../service/chain/abi/verdict-evaluator.ts";
import {
  type VerdictMessage,
  verdictMessage,
  verdictTypedData,
} from "../../../service/chain/verdict-codec.ts";
import { type Call, type Generation, jobCalls } from "./job-calls.ts";

/** Times are taken from here and not from the clock: their zero bytes would change the price. */
const genesisTime = 1_790_000_001;
const jobsBegin = genesisTime + 1_000;
const life = 86_400;
const budget = 10_000_000n;

const { payer: client, facilitator: provider, relayer, verdictSigner } = roleAccounts();

export type VerdictChain = Awaited<ReturnType<typeof startVerdictChain>>;

/** The local chain's contracts, on which every transaction costs the same gas in every run; stop() ends its process. */
export async function startVerdictChain() {
  const node = await startAnvil({
    port: await freePort(),
    chainId: anvilChain.id,
    stateFile: null,
    genesisTime,
  });
  const { deployment, contracts } = await deployContracts(node.rpc);
  await node.rpc.request("evm_setAutomine", true);
  const transport = http(node.rpcUrl);
  const publicClient = createPublicClient({ chain: anvilChain, transport, pollingInterval: 20 });
  const now = async (): Promise<number> => {
    const { timestamp } = await publicClient.getBlock();
    return Math.max(jobsBegin, Number(timestamp));
  };
  /** Sends from an account that the node has the key of, a second after the block before; returns the gas used. */
  const send = async (call: Call): Promise<number> => {
    await node.rpc.request("evm_setNextBlockTimestamp", (await now()) + 1);
    const hash = (await node.rpc.request("eth_sendTransaction", { ...call, gas: "0x4c4b40" })) as Hex;
    const receipt = await publicClient.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} to ${call.to} reverted`);
    return Number(receipt.gasUsed);
  };
  return {
    ...node,
    deployment,
    contracts,
    publicClient,
    send,
    /** Takes a new job of an escrow to submitted work; returns its id. */
    submitJob: async (generation: Generation, escrow: Address, evaluator: Address): Promise<bigint> => {
      const functionName = "jobCounter";
      const last = await publicClient.readContract({ address: escrow, abi: jobEscrowAbi, functionName });
      const jobId = last + 1n;
      const parties = { client: client.address, provider: provider.address, evaluator, hook: zeroAddress };
      const terms = { usdc: contracts.usdc, expiredAt: BigInt((await now()) + life), budget };
      for (const call of jobCalls(generation, { escrow, jobId, ...parties, ...terms })) await send(call);
      return jobId;
    },
    /** Signs a verdict of the newest block's time and has the relayer bring it; returns the gas used. */
    bring: async (
      evaluator: Address,
      part: Pick<VerdictMessage, "escrow" | "jobId" | "decision">,
    ): Promise<number> => {
      const issuedAt = BigInt(await now());
      const message = verdictMessage({
        ...part,
        deliverable: keccak256(toHex("work")),
        specHash: keccak256(toHex("spec")),
        score: 84,
        confidenceBps: 8_600,
        evidenceHash: keccak256(toHex("evidence")),
        issuedAt,
        deadline: issuedAt + 3_600n,
      });
      const typed = verdictTypedData({ chainId: anvilChain.id, address: evaluator }, message);
      const signature = await verdictSigner.signTypedData(typed);
      const functionName = message.decision === 3 ? "hold" : "settle";
      const args = [message.escrow, message.jobId, message, signature] as const;
      const data = encodeFunctionData({ abi: verdictEvaluatorAbi, functionName, args });
      return send({ from: relayer.address, to: evaluator, data });
    },
  };
}
