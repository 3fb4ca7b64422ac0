import {
  type Address,
  BaseError,
  type Chain,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
  type Log,
  type PublicClient,
  parseAbi,
  parseEventLogs,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { ESCROW_CALLS, type Generation, getJobCall, type Status } from "./escrow-calls.ts";
import type { UpFile } from "./up-file.ts";

const paymentEvents = parseAbi([
  "event PaymentReleased(uint256 indexed jobId, address indexed to, uint256 amount)",
  "event Refunded(uint256 indexed jobId, address indexed to, uint256 amount)",
]);

const hookAbi = parseAbi([
  "function requireAcceptable(address provider) view",
  "error ProviderSanctioned(address provider)",
  "error ProviderUnscored(address provider)",
  "error ScoreStale(address provider, uint64 asOfTime, uint256 maxAge)",
  "error ProviderBelowThreshold(address provider, uint8 score, uint8 minScore)",
]);

/** Chain client of the example. */
export type LocalChain = {
  /** Sends a call and waits until it is in a block; throws with the reason where it is refused. */
  readonly send: (from: Hex, call: { readonly to: Address; readonly data: Hex }) => Promise<readonly Log[]>;
  /** The first of several calls that passes; where none does, throws why the contract refuses the first that it knows. */
  readonly passing: (from: Address, to: Address, calls: readonly Hex[]) => Promise<Hex>;
  /** Null where the gate lets the provider's job be funded, else why it does not. */
  readonly refusalOf: (hook: Address, provider: Address) => Promise<string | null>;
  readonly statusOf: (generation: Generation, escrow: Address, jobId: bigint) => Promise<Status>;
  /** Payment of an escrow for a job, to provider or client. */
  readonly paymentsOf: (
    escrow: Address,
    jobId: bigint,
  ) => Promise<readonly { readonly to: Address; readonly amount: bigint }[]>;
  /** Unix seconds of the newest block: a local chain keeps its own time. */
  readonly now: () => Promise<number>;
};

/** Connects to the node of a running service. */
export function connectChain(up: UpFile): LocalChain {
  const chain = defineChain({
    id: up.chain_id,
    name: "local",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [up.rpc_url] } },
  });
  const client = createPublicClient({ chain, transport: http(), pollingInterval: 200 });
  return {
    send: (from, call) => sendFrom({ chain, client }, from, call),
    passing: async (from, to, calls) => {
      const refusals: BaseError[] = [];
      for (const data of calls) {
        try {
          await client.call({ account: from, to, data });
          return data;
        } catch (error) {
          if (!(error instanceof BaseError)) throw error;
          refusals.push(error);
        }
      }
      // A contract without the method reverts with no data.
      throw refusals.find(hasRevertData) ?? refusals.at(-1) ?? new Error("There is no call to try.");
    },
    refusalOf: async (hook, provider) => {
      try {
        await client.readContract({
          address: hook,
          abi: hookAbi,
          functionName: "requireAcceptable",
          args: [provider],
        });
        return null;
      } catch (error) {
        if (error instanceof BaseError) return reasonOf(error);
        throw error;
      }
    },
    statusOf: async (generation, escrow, jobId) => {
      const { data } = await client.call({ to: escrow, data: getJobCall(jobId) });
      if (data === undefined) throw new Error(`${escrow} answers nothing about its jobs.`);
      return ESCROW_CALLS[generation].statusOf(data);
    },
    paymentsOf: async (escrow, jobId) => {
      const logs = await client.getLogs({ address: escrow, events: paymentEvents, fromBlock: 0n });
      const own = parseEventLogs({ abi: paymentEvents, logs, args: { jobId } });
      return own.map(({ args: { to, amount } }) => ({ to, amount }));
    },
    now: async () => Number((await client.getBlock()).timestamp),
  };
}

async function sendFrom(
  { chain, client }: { readonly chain: Chain; readonly client: PublicClient },
  from: Hex,
  call: { readonly to: Address; readonly data: Hex },
): Promise<readonly Log[]> {
  const wallet = createWalletClient({ account: privateKeyToAccount(from), chain, transport: http() });
  const hash = await wallet.sendTransaction(call);
  const receipt = await client.waitForTransactionReceipt({ hash });
  if (receipt.status !== "success") throw new Error(`Transaction ${hash} to ${call.to} failed.`);
  return receipt.logs;
}

function hasRevertData(error: BaseError): boolean {
  const cause = error.walk((one) => "data" in Object(one));
  return cause !== null && "data" in cause && typeof cause.data === "string" && cause.data.length > 2;
}

/** The contract's own error with its values; any other failure is thrown on. */
function reasonOf(error: BaseError): string {
  const revert = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (!(revert instanceof ContractFunctionRevertedError) || revert.data === undefined) throw error;
  return `${revert.data.errorName}(${(revert.data.args ?? []).join(", ")})`;
}
