import { parseArgs } from "node:util";
import {
  type Address,
  createPublicClient,
  type Hex,
  http,
  keccak256,
  type Log,
  parseAbi,
  parseEventLogs,
} from "viem";
import { canonicalJson } from "./canonical-json.ts";
import { request } from "./request.ts";
import { readUpFile } from "./up-file.ts";

/**
 * Shows that what an escrow was given as `reason` is the hash of the evidence that is served for a verdict. It trusts neither the
 * service's hashes nor its code: the bytes are hashed here, and the reason is read from the chain.
 *
 *   npx node examples/check-reason.ts VERDICT_ID [--data-dir .ahs | --base-url URL --rpc-url URL] [--from-block NUMBER]
 *
 * Ends with 0 where they are the same, and with 1 and a sentence where they are not, or there is nothing to compare.
 */

/** Public nodes answer about no more blocks at once. */
const BLOCKS_AT_ONCE = 2_000n;
const DECISIONS = { JobCompleted: "ALLOW", JobRejected: "REJECT" } as const;

const events = parseAbi([
  "event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason)",
  "event JobRejected(uint256 indexed jobId, address indexed rejector, bytes32 reason)",
]);

type Evidence = {
  readonly decision: string;
  readonly chainId: number;
  readonly escrow: Address;
  readonly jobId: bigint;
};
type Terminal = {
  readonly name: keyof typeof DECISIONS;
  readonly reason: Hex;
  readonly transaction: Hex | null;
};

try {
  process.stdout.write(`${await check()}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** The sentence that says what agrees; throws one that says what does not. */
async function check(): Promise<string> {
  const { verdictId, baseUrl, rpcUrl, fromBlock } = readArguments();
  const bytes = await download(`${baseUrl}/v1/verdicts/${verdictId}/evidence`);
  const hash = keccak256(bytes);
  const { decision, chainId, escrow, jobId } = readEvidence(new TextDecoder().decode(bytes), verdictId);
  const client = createPublicClient({ transport: http(rpcUrl) });
  const nodesChain = await client.getChainId();
  if (nodesChain !== chainId)
    throw new Error(`The job is on chain ${chainId}, and the node is of chain ${nodesChain}.`);
  const terminal = await findTerminal({
    jobId,
    fromBlock,
    newest: await client.getBlockNumber(),
    logs: (range) => client.getLogs({ address: escrow, events, ...range }),
  });
  const job = `job ${jobId} at ${escrow}`;
  if (terminal === null)
    throw new Error(`The evidence says ${decision}, and ${job} was neither completed nor rejected yet.`);
  const { name, reason, transaction } = terminal;
  if (reason !== hash) {
    throw new Error(
      `They differ: ${name} of ${job} carries the reason ${reason}, and the evidence served hashes to ${hash}.`,
    );
  }
  if (DECISIONS[name] !== decision)
    throw new Error(`The evidence says ${decision}, and the chain has ${name} for ${job}.`);
  return `They agree: the evidence of verdict ${verdictId} (${bytes.length} bytes, ${decision}) hashes to ${hash}, which is the reason of ${name} of ${job} in transaction ${transaction}.`;
}

function readArguments() {
  const { values, positionals } = parseArgs({
    options: {
      "data-dir": { type: "string", default: ".ahs" },
      "base-url": { type: "string" },
      "rpc-url": { type: "string" },
      "from-block": { type: "string", default: "0" },
    },
    allowPositionals: true,
  });
  const [verdictId] = positionals;
  if (verdictId === undefined)
    throw new Error("Name the verdict: npx node examples/check-reason.ts VERDICT_ID");
  const fromBlock = values["from-block"];
  if (!/^\d+$/.test(fromBlock)) throw new Error(`--from-block is the number of a block, not ${fromBlock}.`);
  const given = { baseUrl: values["base-url"], rpcUrl: values["rpc-url"] };
  const up =
    given.baseUrl === undefined || given.rpcUrl === undefined ? readUpFile(values["data-dir"]) : null;
  return {
    verdictId,
    baseUrl: given.baseUrl ?? up?.verify_base_url ?? "",
    rpcUrl: given.rpcUrl ?? up?.rpc_url ?? "",
    fromBlock: BigInt(fromBlock),
  };
}

async function download(url: string): Promise<Uint8Array> {
  const answer = await request(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** The job that the evidence names; throws where it is of another verdict, of no job, or not in its canonical form. */
function readEvidence(text: string, verdictId: string): Evidence {
  const evidence = JSON.parse(text);
  if (canonicalJson(evidence) !== text)
    throw new Error("The evidence served is not in the form of RFC 8785.");
  const { verdict_id, final_verdict, chain_id, escrow, erc8183_job_id } = evidence;
  if (verdict_id !== verdictId)
    throw new Error(`The evidence served is of verdict ${verdict_id}, not of ${verdictId}.`);
  if (escrow === null) throw new Error("The verdict is bound to no job: it has no reason on chain.");
  return { decision: final_verdict, chainId: chain_id, escrow, jobId: BigInt(erc8183_job_id) };
}

type Search = {
  readonly jobId: bigint;
  readonly fromBlock: bigint;
  readonly newest: bigint;
  readonly logs: (range: { fromBlock: bigint; toBlock: bigint }) => Promise<Log[]>;
};

/** The event that ended the job, of which an escrow emits one once; newest blocks first, null without one. */
async function findTerminal({ jobId, fromBlock, newest, logs }: Search): Promise<Terminal | null> {
  for (let toBlock = newest; toBlock >= fromBlock; toBlock -= BLOCKS_AT_ONCE) {
    const first = toBlock - BLOCKS_AT_ONCE + 1n;
    const found = await logs({ fromBlock: first > fromBlock ? first : fromBlock, toBlock });
    const [event] = parseEventLogs({ abi: events, logs: found, args: { jobId } });
    if (event !== undefined) {
      return { name: event.eventName, reason: event.args.reason, transaction: event.transactionHash };
    }
  }
  return null;
}
