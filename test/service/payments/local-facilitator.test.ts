import { randomBytes, randomUUID } from "node:crypto";
import { authorizationTypes } from "@x402/evm";
import { pino } from "pino";
import { Registry } from "prom-client";
import { type Address, bytesToHex, createPublicClient, encodeFunctionData, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { privateKeyOf } from "../../../bin/up/start-services.ts";
import { roleAccounts } from "../../../devnet/accounts.ts";
import { createContractPayers, isSignedByPayer } from "../../../service/api/access/payment-payer.ts";
import { usdCoinAbi } from "../../../service/chain/abi/usd-coin.ts";
import { createSenderMetrics } from "../../../service/chain/send-metrics.ts";
import { senderPolicy } from "../../../service/chain/send-policy.ts";
import { createSenderRpc } from "../../../service/chain/send-rpc.ts";
import { runSender } from "../../../service/chain/sender-loop.ts";
import { createLocalFacilitator } from "../../../service/payments/local-facilitator.ts";
import { createPaymentMetrics } from "../../../service/payments/metrics.ts";
import { createPaymentChain } from "../../../service/payments/payment-chain.ts";
import type { PresentedPayment } from "../../../service/payments/presented-payment.ts";
import { reconcilePayments } from "../../../service/payments/run-reconciliation.ts";
import { createTokenDomain } from "../../../service/payments/token-domain.ts";
import type { Database } from "../../../service/store/database.ts";
import { createPaymentStore } from "../../../service/store/payments.ts";
import { enqueueSettlement, readSettlement } from "../../../service/store/payments-sender.ts";
import { startTestChain, type TestChain } from "../../support/anvil-testkit/chain.ts";
import { createTestDatabase, openMigrated, type TestDatabase } from "../../support/test-database.ts";

const { payer, payee, facilitator: sender } = roleAccounts();
const NETWORK = "eip155:31337";
const AMOUNT = 10_000n;

let chain: TestChain;
let database: TestDatabase;
let db: Database;
let mining: NodeJS.Timeout;
let stop: AbortController | null = null;
let ended: Promise<void> = Promise.resolve();
let offsetMs = 0;
const now = () => new Date(Date.now() + offsetMs);

beforeAll(async () => {
  [chain, database] = await Promise.all([startTestChain(600), createTestDatabase()]);
  db = await openMigrated(database.url);
  await chain.toWallClock();
  mining = setInterval(() => void chain.tick(), 200);
}, 60_000);

afterEach(async () => {
  stop?.abort();
  stop = null;
  await ended;
  offsetMs = 0;
});

afterAll(async () => {
  clearInterval(mining);
  await db.$client.end();
  await Promise.all([chain.stop(), database.drop()]);
});

describe("the facilitator in this process", () => {
  it("reads the token's own domain", async () => {
    const domain = createTokenDomain(client(), usdc());
    expect(domain.known()).toBeNull();
    expect(await domain.read()).toEqual({ name: "USD Coin", version: "2" });
    expect(domain.known()).toEqual({ name: "USD Coin", version: "2" });
  });

  it("finds good what can be carried out, and bad what cannot", async () => {
    const good = await sign({});
    expect(await facilitator().verify(good)).toEqual({ kind: "valid" });
    expect(await facilitator().verify({ ...good, payload: forged(good.payload) })).toMatchObject({
      kind: "invalid",
    });
  });

  it("says that it cannot be asked while the node does not answer", async () => {
    const gone = facilitator({ url: "http://127.0.0.1:9" });
    expect(await gone.verify(await sign({}))).toMatchObject({ kind: "unavailable" });
    expect(await gone.settle(await sign({}))).toMatchObject({ kind: "unavailable" });
  });

  it("settles through the one sender: the money arrives, and asking three times sends once", async () => {
    startSender();
    const before = await received();
    const payment = await sign({});
    const outcomes = await Promise.all([1, 2, 3].map(() => facilitator().settle(payment)));
    expect(outcomes.some(({ kind }) => kind === "settled")).toBe(true);
    expect((await received()) - before).toBe(AMOUNT);
    expect(await orders(payment)).toEqual([{ state: "mined" }]);
  });

  it("does not know while the sender is away, and sends once when that is back", async () => {
    const before = await received();
    const payment = await sign({});
    expect(await facilitator({ settleDeadlineMs: 300 }).settle(payment)).toMatchObject({ kind: "unknown" });
    startSender();
    expect(await facilitator().settle(payment)).toMatchObject({ kind: "settled" });
    expect((await received()) - before).toBe(AMOUNT);
  });

  it("refuses what was withdrawn before it was sent, and sends it when asked anew after all", async () => {
    startSender();
    const payment = await sign({ value: 10n ** 15n });
    expect(await facilitator().settle(payment)).toMatchObject({ kind: "refused" });
    expect(await orders(payment)).toEqual([{ state: "failed" }]);
    await mint(10n ** 15n);
    expect(await facilitator().settle(payment)).toMatchObject({ kind: "settled" });
  });
});

describe("a contract wallet", () => {
  it("pays by the signature of its owner, which nobody else can give", async () => {
    startSender();
    const wallet = chain.contracts.smartWallet;
    await mint(AMOUNT, wallet);
    const before = await received();
    const payment = await sign({ from: wallet });
    const { signature } = payment.payload.payload as { signature: Hex };
    const contracts = createContractPayers(client());
    expect(await isSignedByPayer(payment, signature, contracts)).toBe(true);
    expect(await isSignedByPayer({ ...payment, amount: 1n }, signature, contracts)).toBe(false);
    const stranger: Address = "0x00000000000000000000000000000000000000ff";
    expect(await isSignedByPayer({ ...payment, payer: stranger }, signature, contracts)).toBe(false);
    expect(await facilitator().verify(payment)).toEqual({ kind: "valid" });
    expect(await facilitator().settle(payment)).toMatchObject({ kind: "settled" });
    expect((await received()) - before).toBe(AMOUNT);
  });
});

describe("the chain, asked about an authorization", () => {
  it("tells by which transaction it paid us, whoever sent that", async () => {
    const payment = await sign({});
    expect(await paymentChain().isUsed(payment)).toBe(false);
    const hash = await carryOutAsStranger(payment);
    expect(await paymentChain().isUsed(payment)).toBe(true);
    expect(await paymentChain().findTransfer(payment, new Date(Date.now() - 60_000))).toBe(hash);
  });

  it("takes no other transfer of the same transaction for it, nor another amount", async () => {
    const payment = await sign({});
    await carryOutAsStranger(payment);
    const since = new Date(Date.now() - 60_000);
    const stranger: Address = "0x00000000000000000000000000000000000000ff";
    expect(await paymentChain().findTransfer({ ...payment, payTo: stranger }, since)).toBeNull();
    expect(await paymentChain().findTransfer({ ...payment, amount: 1n }, since)).toBeNull();
  });

  it("does not take a withdrawn one for a payment", async () => {
    const payment = await sign({});
    await cancel(payment);
    expect(await paymentChain().isUsed(payment)).toBe(true);
    expect(await paymentChain().findTransfer(payment, new Date(0))).toBeNull();
  });
});

/** What a process left that died between two steps of a payment, and what becomes of it. */
describe("a server killed", () => {
  it("after it reserved: the authorization is free again, and nothing was charged", async () => {
    const { payment, id } = await reserved();
    expect(await afterDeadline(id)).toBe("released");
    expect(await paymentChain().isUsed(payment)).toBe(false);
  });

  it("after it noted that it would settle: free again, since nothing was queued", async () => {
    const { id } = await reserved();
    await store().askSettlement(id);
    expect(await afterDeadline(id)).toBe("released");
  });

  it("after it queued the settlement: charged once, and owed", async () => {
    const before = await received();
    const { payment, id } = await reserved();
    await store().askSettlement(id);
    await facilitator({ settleDeadlineMs: 1 }).settle(payment);
    expect(await afterDeadline(id)).toBe("reserved");
    startSender();
    await expect.poll(() => paymentChain().isUsed(payment), { timeout: 10_000 }).toBe(true);
    expect(await afterDeadline(id)).toBe("settled");
    expect((await received()) - before).toBe(AMOUNT);
  });

  it("after the money moved, before it said so: owed", async () => {
    startSender();
    const { payment, id } = await reserved();
    await store().askSettlement(id);
    expect((await facilitator().settle(payment)).kind).toBe("settled");
    expect(await afterDeadline(id)).toBe("settled");
  });

  it("after it said so, before the answer: owed to one repeat, which is answered without a charge", async () => {
    startSender();
    const { payment, id } = await reserved();
    await store().askSettlement(id);
    const settled = await facilitator().settle(payment);
    if (settled.kind !== "settled") throw new Error("not settled");
    await store().settle(id, settled.transaction);
    expect(await store().reopen(id, null)).toBe(false);
    expect(await afterDeadline(id)).toBe("settled");
    expect(await store().reopen(id, null)).toBe(true);
    expect(await store().reopen(id, null)).toBe(false);
    expect(await store().answer(id, { contentType: "text/plain", body: "here" })).toBe(true);
  });

  it("while another carried out a released authorization: the money is owed, not lost", async () => {
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 100);
    const { payment, id } = await reserved(await sign({ validBefore }));
    await store().release(id, "the work failed");
    await carryOutAsStranger(payment);
    expect(await afterDeadline(id)).toBe("settled");
  });

  it("before anybody carried it out: a released authorization is forgotten once it has expired", async () => {
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 7);
    const { id } = await reserved(await sign({ validBefore }));
    await store().release(id, "the work failed");
    await chain.moveTime(60);
    await chain.mine(40, 1);
    expect(await afterDeadline(id)).toBeNull();
  });
});

/** The state of a row once its deadline has passed and it was compared with the chain; null when it is gone. */
async function afterDeadline(id: string): Promise<string | null> {
  offsetMs += 200_000;
  await reconcilePayments({
    db,
    chainId: 31_337,
    chain: paymentChain(),
    ownSender: true,
    metrics: createPaymentMetrics(new Registry()),
    logger: pino({ level: "silent" }),
    now,
  });
  const { rows } = await db.$client.query<{ state: string }>("select state from ahs.payment where id = $1", [
    id,
  ]);
  return rows[0]?.state ?? null;
}

async function reserved(payment?: PresentedPayment) {
  const presented = payment ?? (await sign({}));
  const id = await store().reserve({
    payment: presented,
    endpoint: "GET /cheap/{id}",
    resource: "/cheap/1",
    fingerprint: "f",
    settlement: "after",
    claimHash: "c",
    idempotencyKeyHash: null,
    paymentIdentifierHash: null,
  });
  if (id === null) throw new Error("not reserved");
  return { payment: presented, id };
}

function store() {
  return createPaymentStore({ db, chainId: 31_337, now, randomUuid: randomUUID });
}

function usdc(): Address {
  return chain.contracts.usdc;
}

function client(url = chain.rpcUrl) {
  return createPublicClient({ transport: http(url, { timeout: 2_000, retryCount: 0 }) });
}

function paymentChain() {
  return createPaymentChain(client(), chain.deployment.finalityBlocks);
}

function facilitator({ url, settleDeadlineMs }: { url?: string; settleDeadlineMs?: number } = {}) {
  const key = { chainId: 31_337, sender: sender.address };
  return createLocalFacilitator({
    sender: sender.address,
    network: NETWORK,
    client: client(url),
    queue: {
      enqueue: (order) => enqueueSettlement(db, key, order),
      read: (id) => readSettlement(db, id),
    },
    monotonicMs: () => performance.now(),
    ...(settleDeadlineMs === undefined ? {} : { settleDeadlineMs }),
  });
}

function startSender(): void {
  stop = new AbortController();
  ended = runSender(
    {
      chainId: 31_337,
      account: privateKeyToAccount(privateKeyOf(sender)),
      rpc: createSenderRpc({ url: chain.rpcUrl, timeoutMs: 5_000, retries: 1 }),
      policy: senderPolicy(chain.deployment),
      metrics: createSenderMetrics(new Registry()),
      logger: pino({ level: "silent" }),
      now: () => new Date(),
      databaseUrl: database.url,
    },
    stop.signal,
  );
}

async function sign({
  value = AMOUNT,
  validBefore,
  from = payer.address,
}: {
  value?: bigint;
  validBefore?: bigint;
  from?: Address;
}): Promise<PresentedPayment> {
  const message = {
    from,
    to: payee.address,
    value,
    validAfter: 0n,
    validBefore: validBefore ?? BigInt(Math.floor(Date.now() / 1000) + 3_600),
    nonce: bytesToHex(randomBytes(32)),
  };
  const domain = { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: usdc() };
  const primaryType = "TransferWithAuthorization";
  const signature = await payer.signTypedData({ domain, types: authorizationTypes, primaryType, message });
  const requirements = {
    scheme: "exact",
    network: NETWORK,
    asset: usdc(),
    amount: String(value),
    payTo: payee.address,
    maxTimeoutSeconds: 300,
    extra: { name: "USD Coin", version: "2" },
  } as const;
  const authorization = {
    ...message,
    value: String(value),
    validAfter: "0",
    validBefore: String(message.validBefore),
  };
  return {
    payer: lower(from),
    asset: lower(usdc()),
    payTo: lower(payee.address),
    nonce: message.nonce,
    amount: value,
    validAfter: 0n,
    validBefore: message.validBefore,
    payload: { x402Version: 2, accepted: requirements, payload: { signature, authorization } },
    requirements,
  };
}

function lower<Text extends Hex>(text: Text): Text {
  // Lower-case hexadecimal is hexadecimal.
  return text.toLowerCase() as Text;
}

function forged(payload: PresentedPayment["payload"]): PresentedPayment["payload"] {
  return { ...payload, payload: { ...payload.payload, signature: `0x${"11".repeat(64)}1b` } };
}

async function orders({ nonce }: PresentedPayment): Promise<{ state: string }[]> {
  const { rows } = await db.$client.query<{ state: string }>(
    "select state from ahs.sender_transaction where reference like $1",
    [`%${nonce}`],
  );
  return rows;
}

async function received(): Promise<bigint> {
  return client().readContract({
    address: usdc(),
    abi: usdCoinAbi,
    functionName: "balanceOf",
    args: [payee.address],
  });
}

async function mint(amount: bigint, to: Address = payer.address): Promise<void> {
  const { deployer } = roleAccounts();
  await sendCall(deployer.address, "mint", [to, amount]);
}

async function carryOutAsStranger(payment: PresentedPayment): Promise<Hex> {
  const { payload } = payment.payload as { payload: { signature: Hex } };
  return sendCall(roleAccounts().relayer.address, "transferWithAuthorization", [
    payment.payer,
    payment.payTo,
    payment.amount,
    payment.validAfter,
    payment.validBefore,
    payment.nonce,
    payload.signature,
  ]);
}

async function cancel(payment: PresentedPayment): Promise<void> {
  const signature = await payer.signTypedData({
    domain: { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: usdc() },
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message: { authorizer: payment.payer, nonce: payment.nonce },
  });
  await sendCall(payer.address, "cancelAuthorization", [payment.payer, payment.nonce, signature]);
}

/** Sends a call of the token and waits for its block. */
async function sendCall(from: Address, functionName: string, args: readonly unknown[]): Promise<Hex> {
  // Overloads and their arguments are the test's own business.
  const data = encodeFunctionData({ abi: usdCoinAbi, functionName, args } as never);
  const { hash, status } = await chain.send({ from, to: usdc(), data });
  if (status !== "success") throw new Error(`${functionName} reverted`);
  return hash;
}
