import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  numberToHex,
  toBytes,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jobEscrowAbi } from "../../../../devnet/abi/job-escrow.ts";
import { smartWalletAbi } from "../../../../devnet/abi/smart-wallet.ts";
import { roleAccounts } from "../../../../devnet/accounts.ts";
import { bindSpec } from "../../../../service/verification/escrow/bind-spec.ts";
import {
  refuseSignature,
  specBindingDigest,
} from "../../../../service/verification/escrow/client-signature.ts";
import { EscrowFailure } from "../../../../service/verification/escrow/escrow-node.ts";
import type { JobName } from "../../../../service/verification/escrow/types.ts";
import { startTestChain, type TestChain } from "../../../support/anvil-testkit/chain.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { rowActions } from "./job-rows.ts";
import { CLIENT, jobActions, PROVIDER, type TestJob } from "./jobs-on-chain.ts";

const HASH = keccak256(toBytes("specification"));
const OTHER = keccak256(toBytes("other specification"));
/** Answers every call with nothing. */
const SILENT_CODE = "0x00";

let chain: TestChain;
const db = useDatabase();
beforeAll(async () => {
  chain = await startTestChain(7_200);
  for (const account of [PROVIDER, chain.contracts.smartWallet])
    await chain.rpc.request("anvil_setBalance", account, numberToHex(10n ** 20n));
});
afterAll(async () => {
  await chain.stop();
});

const clientAt = (url: string) =>
  createPublicClient({ transport: http(url, { timeout: 2_000, retryCount: 0 }) });
const clientAddr = CLIENT.address.toLowerCase() as Address;

const refuse = (
  signed: Partial<Parameters<typeof refuseSignature>[1]> & { readonly job: JobName; readonly signature: Hex },
  deployment = chain.deployment,
) =>
  refuseSignature({ client: clientAt(chain.rpcUrl), deployment }, { clientAddr, specHash: HASH, ...signed });

describe("a client's signature is taken", () => {
  let job: TestJob;
  let right: Hex;
  beforeAll(async () => {
    job = await jobActions(chain).openJob({ description: "Translate." });
    right = await jobActions(chain).signBinding(job, HASH);
  });

  it("for its job and hash", async () => {
    expect(await refuse({ job, signature: right })).toBeNull();
  });

  it("for nothing else", async () => {
    const { openJob, signBinding } = jobActions(chain);
    const elsewhere = await openJob({ description: "Translate.", generation: "V3" });
    const wrong = [
      await signBinding({ ...job, jobId: job.jobId + 1n }, HASH),
      await signBinding(job, OTHER),
      await signBinding({ ...job, escrow: elsewhere.escrow }, HASH),
      "0x1234",
    ] as const;
    for (const signature of wrong) {
      expect(await refuse({ job, signature })).toContain("it is not the SpecBinding of");
    }
    expect(await refuse({ job, signature: right, specHash: OTHER })).toContain(OTHER);
  });

  it("for no job that there is not, nor that of another client, nor without an evaluator", async () => {
    const unknown = { ...job, jobId: 999_999n };
    expect(await refuse({ job: unknown, signature: right })).toContain("has no job 999999");
    const provider = PROVIDER.toLowerCase() as Address;
    expect(await refuse({ job, signature: right, clientAddr: provider })).toBe(
      `the client of job ${job.jobId} is ${clientAddr}, not ${provider}`,
    );
    const bare = { ...chain.deployment, verdictEvaluator: null };
    expect(await refuse({ job, signature: right }, bare)).toContain("no evaluator");
  });

  it("by no guess where the node does not answer", async () => {
    const deps = { client: clientAt("http://127.0.0.1:9"), deployment: chain.deployment };
    const signed = { job, clientAddr, specHash: HASH, signature: right };
    await expect(refuseSignature(deps, signed)).rejects.toBeInstanceOf(EscrowFailure);
  });
});

/** A job whose client is the smart wallet, and its owner's signature for it. */
async function walletJob() {
  const { smartWallet: wallet, verdictEvaluator } = chain.contracts;
  const [escrow] = chain.deployment.escrows;
  if (escrow === undefined) throw new Error("the local chain has escrows");
  const block = (await chain.rpc.request("eth_getBlockByNumber", "latest", false)) as { timestamp: Hex };
  const expiry = BigInt(block.timestamp) + 86_400n;
  const args = [PROVIDER, verdictEvaluator, expiry, "Translate.", numberToHex(0, { size: 20 })] as const;
  const data = encodeFunctionData({ abi: jobEscrowAbi, functionName: "createJob", args });
  await jobActions(chain).send(wallet, escrow.address, data);
  const client = clientAt(chain.rpcUrl);
  const jobId = await client.readContract({
    address: escrow.address,
    abi: jobEscrowAbi,
    functionName: "jobCounter",
  });
  const job = { chainId: 31_337, escrow: escrow.address.toLowerCase() as Address, jobId };
  const owner = await client.readContract({ address: wallet, abi: smartWalletAbi, functionName: "owner" });
  const { payer, deployer } = roleAccounts();
  const signer = [payer, deployer].find(({ address }) => address === owner);
  if (signer === undefined) throw new Error("the smart wallet has another owner");
  const signature = await signer.sign({ hash: specBindingDigest(verdictEvaluator, job, HASH) });
  return { job, wallet, walletAddr: wallet.toLowerCase() as Address, signature };
}

it("a contract wallet is asked once, when its specification is registered: whatever it says later, that one is bound", async () => {
  const { job, wallet, walletAddr, signature } = await walletJob();
  const { register } = rowActions(db);
  const signed = { job, clientAddr: walletAddr, signature };
  expect(await refuse(signed)).toBeNull();
  const claim = await register({ specHash: HASH, ...signed });
  const later = await register({ specHash: OTHER, ...signed });
  const code = (await chain.rpc.request("eth_getCode", wallet, "latest")) as Hex;
  await chain.rpc.request("anvil_setCode", wallet, SILENT_CODE);
  const deps = { db, client: clientAt(chain.rpcUrl), deployment: chain.deployment };
  expect(await refuse(signed)).toContain("it is not the SpecBinding of");
  expect(await bindSpec(deps, claim)).toMatchObject({ kind: "bound", by: "signature" });
  expect(await bindSpec(deps, later)).toMatchObject({ kind: "unbound" });
  await chain.rpc.request("anvil_setCode", wallet, code);
});
