import { createServer } from "node:http";
import {
  type Address,
  createPublicClient,
  custom,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  numberToHex,
  toBytes,
} from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { jobEscrowAbi } from "../../../../devnet/abi/job-escrow.ts";
import { smartWalletAbi } from "../../../../devnet/abi/smart-wallet.ts";
import { roleAccounts } from "../../../../devnet/accounts.ts";
import { bindSpec } from "../../../../service/verification/escrow/bind-spec.ts";
import {
  refuseSignature,
  specBindingDigest,
} from "../../../../service/verification/escrow/client-signature.ts";
import { EscrowFailure, isSignedBy } from "../../../../service/verification/escrow/escrow-node.ts";
import type { BindableSpec, JobName } from "../../../../service/verification/escrow/types.ts";
import { startTestChain, type TestChain } from "../../../support/anvil-testkit/chain.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { rowActions } from "./job-rows.ts";
import { CLIENT, jobActions, PROVIDER, type TestJob } from "./jobs-on-chain.ts";

const HASH = keccak256(toBytes("specification"));
const OTHER = keccak256(toBytes("other specification"));
/** Answers every call with nothing. */
const SILENT_CODE = "0x00";
const GIVEN_UP_MS = 2_000;

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
beforeEach(async () => {
  await db.$client.query("delete from ahs.job_spec");
});

const clientAt = (url: string) =>
  createPublicClient({ transport: http(url, { timeout: GIVEN_UP_MS, retryCount: 1 }) });
const binderAt = (url: string) => (spec: BindableSpec) =>
  bindSpec({ db, client: clientAt(url), deployment: chain.deployment }, spec);

const openJob = (description: string): Promise<TestJob> => jobActions(chain).openJob({ description });

describe("without an index", () => {
  it("a specification that the description names is bound, before and after the submission", async () => {
    const job = await openJob(`ahs-spec:${HASH}`);
    const claim = await rowActions(db).register({ specHash: HASH, job });
    const bind = binderAt(chain.rpcUrl);
    const bound = await bind(claim);
    expect(bound).toEqual({
      kind: "bound",
      by: "description",
      job: {
        chainId: 31_337,
        escrow: job.escrow,
        jobId: job.jobId,
        client: CLIENT.address.toLowerCase(),
        provider: PROVIDER.toLowerCase(),
        evaluator: chain.contracts.verdictEvaluator.toLowerCase(),
        status: "Funded",
        expiredAt: expect.any(BigInt),
        budget: 5_000_000n,
        description: `ahs-spec:${HASH}`,
      },
    });
    await jobActions(chain).submit(job, "work");
    expect(await bind(claim)).toMatchObject({ kind: "bound", job: { status: "Submitted" } });
  });

  it("a signed specification is bound before a submission, and cannot be dated after one", async () => {
    const job = await openJob("Translate.");
    const { signBinding, submit } = jobActions(chain);
    const claim = await rowActions(db).register({
      specHash: HASH,
      job,
      signature: await signBinding(job, HASH),
    });
    const bind = binderAt(chain.rpcUrl);
    expect(await bind(claim)).toMatchObject({ kind: "bound", by: "signature" });
    await submit(job, "work");
    await expect(bind(claim)).rejects.toMatchObject({ name: "EscrowFailure", reason: "index" });
  });
});

describe("a specification that another account registered before", () => {
  it("is the same specification: both registrations are bound", async () => {
    const job = await openJob(`ahs-spec:${HASH}`);
    const { register } = rowActions(db);
    const [first, again] = [await register({ specHash: HASH, job }), await register({ specHash: HASH, job })];
    const bind = binderAt(chain.rpcUrl);
    expect(await bind(first)).toMatchObject({ kind: "bound", by: "description" });
    expect(await bind(again)).toMatchObject({ kind: "bound", by: "description" });
  });

  it("and signed wins over others, each time that it is registered", async () => {
    const job = await openJob("Translate.");
    const { signBinding } = jobActions(chain);
    const { register } = rowActions(db);
    const [mine, others] = [await signBinding(job, HASH), await signBinding(job, OTHER)];
    await register({ specHash: OTHER, job });
    await register({ specHash: OTHER, job, signature: others, clientAddr: PROVIDER });
    const first = await register({ specHash: HASH, job, signature: mine });
    const second = await register({ specHash: OTHER, job, signature: others });
    const again = await register({ specHash: HASH, job, signature: mine });
    const bind = binderAt(chain.rpcUrl);
    expect(await bind(first)).toMatchObject({ kind: "bound", by: "signature" });
    expect(await bind(second)).toMatchObject({ kind: "unbound" });
    expect(await bind(again)).toMatchObject({ kind: "bound", by: "signature" });
  });
});

it("a job that the escrow does not have binds nothing", async () => {
  const job = await openJob(`ahs-spec:${HASH}`);
  const claim = await rowActions(db).register({ specHash: HASH, job: { ...job, jobId: 999_999n } });
  expect(await binderAt(chain.rpcUrl)(claim)).toMatchObject({ kind: "unbound" });
});

it.each([
  ["nobody listens", "http://127.0.0.1:9"],
  ["another protocol is spoken", "http://127.0.0.1:9/nothing"],
])("where %s, nothing is decided", async (_, url) => {
  const claim = await rowActions(db).register({ specHash: HASH, job: await openJob(`ahs-spec:${HASH}`) });
  await expect(binderAt(url)(claim)).rejects.toBeInstanceOf(EscrowFailure);
});

it("a node that never answers is given up in time", async () => {
  const claim = await rowActions(db).register({ specHash: HASH, job: await openJob(`ahs-spec:${HASH}`) });
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const address = silent.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  await expect(binderAt(`http://127.0.0.1:${address.port}`)(claim)).rejects.toMatchObject({ reason: "node" });
  silent.closeAllConnections();
  silent.close();
});

it("an escrow that answers as another generation is a failure, and no job", async () => {
  const job = await openJob(`ahs-spec:${HASH}`);
  const claim = await rowActions(db).register({ specHash: HASH, job });
  const escrows = chain.deployment.escrows.map((escrow) => ({ ...escrow, generation: "V3" as const }));
  const client = clientAt(chain.rpcUrl);
  const deps = { db, client, deployment: { ...chain.deployment, escrows } };
  await expect(bindSpec(deps, claim)).rejects.toBeInstanceOf(EscrowFailure);
});

const clientAddr = CLIENT.address.toLowerCase() as Address;

const refuse = (
  signed: Partial<Parameters<typeof refuseSignature>[1]> & { readonly job: JobName; readonly signature: Hex },
  deployment = chain.deployment,
) =>
  refuseSignature({ client: clientAt(chain.rpcUrl), deployment }, { clientAddr, specHash: HASH, ...signed });

describe("a client's signature of a specification is taken", () => {
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

const { payer, deployer } = roleAccounts();

/** The owner of the smart wallet, and an account that is not. */
async function walletSigners() {
  const of = { address: chain.contracts.smartWallet, abi: smartWalletAbi, functionName: "owner" } as const;
  const owner = await clientAt(chain.rpcUrl).readContract(of);
  return owner === payer.address ? { signer: payer, other: deployer } : { signer: deployer, other: payer };
}

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
  const { signer } = await walletSigners();
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
  const bind = binderAt(chain.rpcUrl);
  expect(await refuse(signed)).toContain("it is not the SpecBinding of");
  expect(await bind(claim)).toMatchObject({ kind: "bound", by: "signature" });
  expect(await bind(later)).toMatchObject({ kind: "unbound" });
  await chain.rpc.request("anvil_setCode", wallet, code);
});

describe("a client's signature", () => {
  const digestOf = (job: TestJob) => specBindingDigest(chain.contracts.verdictEvaluator, job, HASH);

  it("of a contract wallet is asked of the contract", async () => {
    const client = clientAt(chain.rpcUrl);
    const wallet = chain.contracts.smartWallet;
    const { signer, other } = await walletSigners();
    const digest = digestOf(await openJob("Translate."));
    const [right, wrong] = [await signer.sign({ hash: digest }), await other.sign({ hash: digest })];
    expect(await isSignedBy(client, { signer: wallet, digest, signature: right })).toBe(true);
    expect(await isSignedBy(client, { signer: wallet, digest, signature: wrong })).toBe(false);
    expect(await isSignedBy(client, { signer: wallet, digest, signature: "0x" })).toBe(false);
  });

  it("that is empty, or a stranger's, is no signature of an account", async () => {
    const client = clientAt(chain.rpcUrl);
    const digest = digestOf(await openJob("Translate."));
    const signed = await payer.sign({ hash: digest });
    const of = (signer: Hex, signature: Hex) => isSignedBy(client, { signer, digest, signature });
    expect(await of(payer.address, signed)).toBe(true);
    expect(await of(deployer.address, signed)).toBe(false);
    expect(await of(payer.address, "0x")).toBe(false);
    // The identity precompile answers every call with what it was sent.
    expect(await of("0x0000000000000000000000000000000000000004", signed)).toBe(false);
  });

  it("of a contract is not decided by a node that is out of reach", async () => {
    const refusing = createPublicClient({
      transport: custom(
        {
          request: async ({ method }: { method: string }) => {
            if (method === "eth_getCode") return "0x60";
            throw new TypeError("connection lost");
          },
        },
        { retryCount: 0 },
      ),
    });
    const digest = keccak256("0x01");
    const signature: Hex = `0x${"11".repeat(65)}`;
    await expect(isSignedBy(refusing, { signer: PROVIDER, digest, signature })).rejects.toBeInstanceOf(
      EscrowFailure,
    );
  });
});
