import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type Address,
  createPublicClient,
  createTestClient,
  type Hex,
  http,
  keccak256,
  parseAbi,
  publicActions,
  stringToHex,
  walletActions,
} from "viem";
import { request } from "./request.ts";
import { contractOf, readUpFile, type UpFile } from "./up-file.ts";

/**
 * Asks the ERC-8004 registries of a running `npm start` about an agent: reads the service's feedback, and requests a validation as the
 * agent's owner. Compares each document with its hash on chain.
 *
 *   npx node examples/ask-registries.ts [--wallet 0x…] [--data-dir .ahs]
 *
 * The wallet is that of an agent with a score, by default the sample that always fails. Takes about a minute: requests are answered
 * from final blocks. Ends with 1 where anything is not as it should be.
 */

const registryAbi = parseAbi([
  "function publisher() view returns (address)",
  "function getLastIndex(uint256 agentId, address clientAddress) view returns (uint64)",
  "function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex) view returns (int128 value, uint8 valueDecimals, string tag1, string tag2, bool isRevoked)",
  "event NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)",
  "function validationRequest(address validatorAddress, uint256 agentId, string requestURI, bytes32 requestHash)",
  "event ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag)",
]);

const POLL_MS = 2_000;
const PATIENCE_MS = 180_000;

const { values } = parseArgs({
  options: { wallet: { type: "string" }, "data-dir": { type: "string", default: ".ahs" } },
});

try {
  const up = readUpFile(values["data-dir"]);
  const wallet = (values.wallet ?? up.samples["always-failing"]) as Address;
  const agentId = await agentOf(up, wallet);
  say(`${wallet} is the wallet of agent ${agentId}`);
  const validator = await publisherOf(up);
  await showFeedback(up, { agentId, client: validator });
  await requestValidation(up, { agentId, owner: wallet, validator });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** The wallet's first agent in the identity registry. */
async function agentOf(up: UpFile, wallet: Address): Promise<bigint> {
  const answer = await request(`${up.base_url}/owner-cluster/${wallet}`);
  const { wallets = [] } = (await answer.json()) as { readonly wallets?: readonly Listed[] };
  const registry = contractOf(up, "identityRegistry");
  const found = wallets
    .find(({ address }) => address === wallet)
    ?.agents.find((agent) => agent.registry.address === registry);
  if (found === undefined) throw new Error(`${wallet} is the wallet of no agent in ${registry}.`);
  return BigInt(found.agent_id);
}

type Listed = {
  readonly address: Address;
  readonly agents: readonly { readonly agent_id: string; readonly registry: { readonly address: Address } }[];
};

/** The account that publishes scores, leaves feedback and answers validation requests. */
function publisherOf(up: UpFile): Promise<Address> {
  const oracle = { address: contractOf(up, "oracle"), abi: registryAbi } as const;
  return clientOf(up).readContract({ ...oracle, functionName: "publisher" });
}

/** Prints the entry of a client about an agent, and throws if its document is another one. */
async function showFeedback(
  up: UpFile,
  { agentId, client }: { readonly agentId: bigint; readonly client: Address },
): Promise<void> {
  const chain = clientOf(up);
  const registry = { address: contractOf(up, "reputationRegistry"), abi: registryAbi } as const;
  const index = await chain.readContract({
    ...registry,
    functionName: "getLastIndex",
    args: [agentId, client],
  });
  if (index === 0n) return say("no feedback on it yet: bad grades go first, some minutes after the start");
  const [value, , tag, version, isRevoked] = await chain.readContract({
    ...registry,
    functionName: "readFeedback",
    args: [agentId, client, index],
  });
  const logs = await chain.getContractEvents({
    ...registry,
    eventName: "NewFeedback",
    args: { agentId, clientAddress: client },
    fromBlock: 0n,
  });
  const given = logs.find(({ args }) => args.feedbackIndex === index)?.args;
  const state = isRevoked ? ", revoked" : "";
  say(`feedback ${index} of ${client}: ${value}, tags ${tag} and ${version}${state}`);
  await compare(given?.feedbackURI, given?.feedbackHash);
}

/** Requests a validation as the agent's owner, whose transactions a local chain takes unsigned; waits for the answer and prints it. */
async function requestValidation(
  up: UpFile,
  { agentId, owner, validator }: { agentId: bigint; owner: Address; validator: Address },
): Promise<void> {
  const chain = createTestClient({ mode: "anvil", transport: http(up.rpc_url) })
    .extend(publicActions)
    .extend(walletActions);
  const registry = { address: contractOf(up, "validationRegistry"), abi: registryAbi } as const;
  const agentRegistry = `eip155:${up.chain_id}:${contractOf(up, "identityRegistry")}`;
  const body = JSON.stringify({
    type: "ahs",
    agentRegistry,
    agentId: Number(agentId),
    salt: crypto.randomUUID(),
  });
  const uri = `data:application/json;base64,${Buffer.from(body).toString("base64")}`;
  const requestHash = keccak256(stringToHex(body));
  await chain.impersonateAccount({ address: owner });
  const hash = await chain.writeContract({
    ...registry,
    functionName: "validationRequest",
    account: owner,
    chain: null,
    args: [validator, agentId, uri, requestHash],
  });
  await chain.waitForTransactionReceipt({ hash });
  say(`request ${requestHash}: waiting for the answer`);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const [answer] = await chain.getContractEvents({
      ...registry,
      eventName: "ValidationResponse",
      args: { requestHash },
      fromBlock: 0n,
    });
    if (answer !== undefined) {
      say(`answer: ${answer.args.response}, tag ${answer.args.tag}`);
      return compare(answer.args.responseURI, answer.args.responseHash);
    }
    if (performance.now() > deadline) throw new Error(`No answer came within ${PATIENCE_MS / 1_000} s.`);
    await sleep(POLL_MS);
  }
}

/** Fetches a document and throws unless its keccak256 is the hash on chain. */
async function compare(uri: string | undefined, hash: Hex | undefined): Promise<void> {
  if (uri === undefined) throw new Error("The entry has no document.");
  const text = await (await request(uri)).text();
  if (keccak256(stringToHex(text)) !== hash) throw new Error(`${uri} is not what was hashed: ${text}`);
  say(`its document has the hash on chain: ${uri}\n${text}`);
}

function clientOf(up: UpFile) {
  return createPublicClient({ transport: http(up.rpc_url) });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
