import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  getAddress,
  type Hex,
  http,
  keccak256,
  numberToHex,
  toBytes,
  zeroAddress,
} from "viem";
import bytecodes from "../../../../contracts/bytecode.json" with { type: "json" };
import { jobEscrowAbi } from "../../../../devnet/abi/job-escrow.ts";
import { jobEscrowG3Abi } from "../../../../devnet/abi/job-escrow-g3.ts";
import { jobEscrowV3Abi } from "../../../../devnet/abi/job-escrow-v3.ts";
import { revertingHookAbi } from "../../../../devnet/abi/reverting-hook.ts";
import { roleAccounts } from "../../../../devnet/accounts.ts";
import { usdCoinAbi } from "../../../../service/chain/abi/usd-coin.ts";
import { specBindingTypedData } from "../../../../service/verification/escrow/client-signature.ts";
import type { EscrowGeneration, JobName } from "../../../../service/verification/escrow/types.ts";
import type { TestChain } from "../../../support/anvil-testkit/chain.ts";

export const CLIENT = roleAccounts().payer;
export const PROVIDER: Address = getAddress(numberToHex(0xa9e_0001, { size: 20 }));
export const STRANGER: Address = getAddress(numberToHex(0xa9e_0002, { size: 20 }));
/** Of every job, in millionths of a dollar. */
export const BUDGET = 5_000_000n;
const DAY_SECONDS = 86_400;
/** Of one transaction, by EIP-7825. */
const MOST_GAS = 16_777_216n;

const ABIS = { G1: jobEscrowAbi, G3: jobEscrowG3Abi, V3: jobEscrowV3Abi } as const;

export type TestJob = JobName & { readonly generation: EscrowGeneration };

type JobOptions = {
  readonly generation?: EscrowGeneration;
  readonly description: string;
  readonly evaluator?: Address;
  readonly lifeSeconds?: number;
  readonly hook?: Address;
};

/** The escrow of a generation on the local chain. */
function escrowOf(chain: Pick<TestChain, "deployment">, generation: EscrowGeneration): Address {
  const found = chain.deployment.escrows.find((escrow) => escrow.generation === generation);
  if (found === undefined) throw new Error(`the local chain has no escrow of ${generation}`);
  return found.address;
}

export function jobActions(chain: TestChain) {
  const { usdc } = chain.contracts;
  const send = async (from: Address, to: Address, data: Hex): Promise<number> => {
    const { status, blockNumber } = await chain.send({ from, to, data, gas: MOST_GAS });
    if (status !== "success") throw new Error("the transaction reverted");
    return blockNumber;
  };
  const fund = async ({ generation, escrow, jobId }: TestJob): Promise<void> => {
    const abi = ABIS[generation];
    const token = generation === "G3" ? [usdc] : [];
    const budget = [jobId, ...token, BUDGET, "0x"];
    await send(
      PROVIDER,
      escrow,
      encodeFunctionData({ abi, functionName: "setBudget", args: budget } as never),
    );
    const approve = { abi: usdCoinAbi, functionName: "approve", args: [escrow, BUDGET] } as const;
    await send(CLIENT.address, usdc, encodeFunctionData(approve));
    const price = generation === "G1" ? [] : [...token, BUDGET];
    const data = encodeFunctionData({ abi, functionName: "fund", args: [jobId, ...price, "0x"] } as never);
    await send(CLIENT.address, escrow, data);
  };
  return {
    send,
    /** A funded job of the client for the provider; by default with our evaluator. */
    openJob: async ({ generation = "G1", description, ...options }: JobOptions): Promise<TestJob> => {
      const escrow = escrowOf(chain, generation);
      const evaluator = options.evaluator ?? chain.contracts.verdictEvaluator;
      const block = (await chain.rpc.request("eth_getBlockByNumber", "latest", false)) as { timestamp: Hex };
      const expiredAt = BigInt(block.timestamp) + BigInt(options.lifeSeconds ?? 2 * DAY_SECONDS);
      const expiry = generation === "G3" ? Number(expiredAt) : expiredAt;
      const agent = generation === "G3" ? [0n] : [];
      const hook = options.hook ?? zeroAddress;
      const args = [PROVIDER, evaluator, expiry, description, hook, ...agent];
      const abi = ABIS[generation];
      await send(
        CLIENT.address,
        escrow,
        encodeFunctionData({ abi, functionName: "createJob", args } as never),
      );
      const client = createPublicClient({ transport: http(chain.rpcUrl) });
      const count = { address: escrow, abi: jobEscrowAbi, functionName: "jobCounter" } as const;
      const jobId = await client.readContract(count);
      const job = { chainId: 31_337, escrow: escrow.toLowerCase() as Address, jobId, generation };
      await fund(job);
      return job;
    },
    /** A hook that jobs of a generation may name, and that reverts with the data that it is given. */
    deployHook: async (generation: EscrowGeneration): Promise<Address> => {
      const { deployer } = roleAccounts();
      const from = deployer.address;
      const creation = { from, data: bytecodes.RevertingHook };
      await chain.rpc.request("anvil_impersonateAccount", from);
      const hash = await chain.rpc.request("eth_sendTransaction", creation);
      await chain.rpc.request("evm_mine");
      const { contractAddress } = (await chain.rpc.request("eth_getTransactionReceipt", hash)) as {
        contractAddress: Address;
      };
      const allow = {
        abi: jobEscrowAbi,
        functionName: "setHookWhitelist",
        args: [contractAddress, true],
      } as const;
      await send(from, escrowOf(chain, generation), encodeFunctionData(allow));
      return contractAddress;
    },
    /** The next calls of the hook revert with this data; with none they succeed. */
    setRevertData: (hook: Address, data: Hex): Promise<number> =>
      send(
        STRANGER,
        hook,
        encodeFunctionData({ abi: revertingHookAbi, functionName: "setRevertData", args: [data] }),
      ),
    /** The provider hands in a text; answers the block. */
    submit: ({ escrow, jobId }: TestJob, output: string): Promise<number> => {
      const args = [jobId, hashOf(output), "0x"] as const;
      return send(PROVIDER, escrow, encodeFunctionData({ abi: jobEscrowAbi, functionName: "submit", args }));
    },
    /** Anyone returns the money of a job whose time is over. */
    claimRefund: ({ generation, escrow, jobId }: TestJob): Promise<number> => {
      const args = generation === "G3" ? [jobId, "0x"] : [jobId];
      const abi = ABIS[generation];
      const data = encodeFunctionData({ abi, functionName: "claimRefund", args } as never);
      return send(CLIENT.address, escrow, data);
    },
    signBinding: (job: JobName, specHash: Hex): Promise<Hex> =>
      CLIENT.signTypedData(specBindingTypedData(chain.contracts.verdictEvaluator, job, specHash)),
  };
}

/** keccak256 of a text's UTF-8 bytes. */
export function hashOf(text: string): Hex {
  return keccak256(toBytes(text));
}

/** Reads balances and jobs of a chain. */
export function views(chain: TestChain) {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const balanceOf = (account: Address): Promise<bigint> =>
    client.readContract({
      address: chain.contracts.usdc,
      abi: usdCoinAbi,
      functionName: "balanceOf",
      args: [account],
    });
  return {
    balances: async () => ({ client: await balanceOf(CLIENT.address), provider: await balanceOf(PROVIDER) }),
    statusOf: async ({ generation, escrow, jobId }: TestJob): Promise<number> => {
      const abi = ABIS[generation];
      const job = await client.readContract({
        address: escrow,
        abi,
        functionName: "getJob",
        args: [jobId],
      } as never);
      return (job as { status: number }).status;
    },
  };
}
