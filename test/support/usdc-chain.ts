import { randomBytes } from "node:crypto";
import { authorizationTypes, createPermit2ApprovalTx } from "@x402/evm";
import { pino } from "pino";
import { Registry } from "prom-client";
import {
  type Address,
  bytesToHex,
  createPublicClient,
  encodeFunctionData,
  type Hex,
  http,
  type PublicClient,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { privateKeyOf, roleAccounts } from "../../devnet/accounts.ts";
import type { PresentedPayment } from "../../service/access/access.ts";
import type { Facilitator } from "../../service/access/payments/facilitator.ts";
import {
  createLocalFacilitator,
  type LocalFacilitatorDeps,
} from "../../service/access/payments/local-facilitator.ts";
import { createPaymentChain } from "../../service/access/payments/payment-chain.ts";
import type { PaymentScheme } from "../../service/access/schemes/scheme.ts";
import { SCHEMES } from "../../service/access/schemes/schemes.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import { allowedCalls } from "../../service/sender/allowed-calls.ts";
import { enqueueSettlement, readSettlement } from "../../service/sender/payments-sender.ts";
import { createSenderMetrics } from "../../service/sender/send-metrics.ts";
import { senderPolicy } from "../../service/sender/send-policy.ts";
import { createSenderRpc } from "../../service/sender/send-rpc.ts";
import { runSender } from "../../service/sender/sender-loop.ts";
import { startTestChain, type TestChain } from "./anvil-testkit/chain.ts";
import { createTestDatabase, openMigrated } from "./test-database.ts";

const { payer, payee, facilitator: sender, deployer, relayer } = roleAccounts();
const NETWORK = "eip155:31337";
/** Default amount of a payment. */
export const CENT = 10_000n;
const BLOCK_MS = 200;

export type UsdcChain = Awaited<ReturnType<typeof openUsdcChain>>;

type Signing = {
  readonly value?: bigint;
  readonly validBefore?: bigint;
  readonly from?: Address;
  readonly payTo?: Address;
  readonly nonce?: Hex;
};
type FacilitatorOptions = Partial<Pick<LocalFacilitatorDeps, "settleDeadlineMs" | "spending" | "queue">> & {
  readonly url?: string;
};

/** A chain with USDC that mines by itself, a database, and a facilitator whose sender runs when the test says so. */
export async function openUsdcChain(schemes: readonly PaymentScheme[] = SCHEMES) {
  const [chain, database] = await Promise.all([startTestChain(600), createTestDatabase()]);
  const db = openMigrated(database.url);
  await chain.toWallClock();
  let isMining = true;
  const mining = setInterval(() => isMining && void chain.tick(), BLOCK_MS);
  let stop: AbortController | null = null;
  let ended: Promise<void> = Promise.resolve();
  const client = clientOf(chain.rpcUrl);
  const stopSender = async (): Promise<void> => {
    stop?.abort();
    stop = null;
    await ended;
  };
  return {
    chain,
    db,
    client,
    usdc: chain.contracts.usdc,
    paymentChain: createPaymentChain(client, {
      finalityBlocks: chain.deployment.finalityBlocks,
      schemes,
    }),
    sign: (signing: Signing = {}) => sign(chain.contracts.usdc, signing),
    facilitator: ({ url = chain.rpcUrl, ...options }: FacilitatorOptions = {}): Facilitator =>
      createLocalFacilitator({
        sender: sender.address,
        network: NETWORK,
        client: clientOf(url),
        schemes,
        queue: {
          enqueue: (order) => enqueueSettlement(db, { chainId: 31_337, sender: sender.address }, order),
          read: (id) => readSettlement(db, id),
        },
        monotonicMs: () => performance.now(),
        ...options,
      }),
    startSender: (): void => {
      stop = new AbortController();
      ended = sendUntil(chain, database.url, stop.signal);
    },
    stopSender,
    /** Leaves what is sent in the pool, or goes on with a block every 200 ms. */
    setMining: (on: boolean): void => {
      isMining = on;
    },
    ...tokenActions(chain, client),
    close: async () => {
      clearInterval(mining);
      await stopSender();
      await db.$client.end();
      await Promise.all([chain.stop(), database.drop()]);
    },
  };
}

function clientOf(url: string): PublicClient {
  return createPublicClient({ transport: http(url, { timeout: 2_000, retryCount: 0 }) });
}

/** Sends what is queued for the facilitator until the signal fires. */
export function sendUntil(chain: TestChain, databaseUrl: string, signal: AbortSignal): Promise<void> {
  return runSender(
    {
      chainId: 31_337,
      account: privateKeyToAccount(privateKeyOf(sender)),
      refuses: allowedCalls(["facilitator"], { ...chain.deployment, maxRequestFeeWei: 0n }),
      rpc: createSenderRpc({ url: chain.rpcUrl, timeoutMs: 5_000, retries: 1 }),
      policy: senderPolicy(chain.deployment),
      metrics: createSenderMetrics(new Registry()),
      logger: pino({ level: "silent" }),
      now: () => new Date(),
      databaseUrl,
    },
    signal,
  );
}

function tokenActions(chain: TestChain, client: PublicClient) {
  const { usdc } = chain.contracts;
  const send = async (from: Address, to: Address, data: Hex): Promise<Hex> => {
    const { hash, status } = await chain.send({ from, to, data });
    if (status !== "success") throw new Error("the transaction reverted");
    return hash;
  };
  return {
    /** Sends from any address and waits for the block. */
    send,
    received: () =>
      client.readContract({
        address: usdc,
        abi: usdCoinAbi,
        functionName: "balanceOf",
        args: [payee.address],
      }),
    mint: (amount: bigint, to: Address = payer.address) =>
      send(
        deployer.address,
        usdc,
        encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [to, amount] }),
      ),
    /** Lets Permit2 move the payer's USDC, as the official client's `createPermit2ApprovalTx` says. */
    approvePermit2: () => {
      const { to, data } = createPermit2ApprovalTx(usdc);
      return send(payer.address, to, data);
    },
    /** Offers a payment, without waiting for a block. */
    offer: (payment: PresentedPayment): Promise<Hex> =>
      chain.submit({ from: relayer.address, to: usdc, data: carryingOut(payment) }),
    /** Carries a payment out. Every third party that has the authorization can do so. */
    carryOut: (payment: PresentedPayment) => send(relayer.address, usdc, carryingOut(payment)),
    cancel: async (payment: PresentedPayment) => {
      const signature = await payer.signTypedData({
        domain: domainOf(usdc),
        types: {
          CancelAuthorization: [
            { name: "authorizer", type: "address" },
            { name: "nonce", type: "bytes32" },
          ],
        },
        primaryType: "CancelAuthorization",
        message: { authorizer: payment.payer, nonce: payment.nonce },
      });
      const args = [payment.payer, payment.nonce, signature] as const;
      const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "cancelAuthorization", args });
      return send(payer.address, usdc, data);
    },
  };
}

/** The token's call that carries an authorization out. */
export function carryingOut({ payload, ...payment }: PresentedPayment): Hex {
  const { signature } = payload.payload as { signature: Hex };
  const { payer: from, payTo, amount, validAfter, validBefore, nonce } = payment;
  return encodeFunctionData({
    abi: usdCoinAbi,
    functionName: "transferWithAuthorization",
    args: [from, payTo, amount, validAfter, validBefore, nonce, signature],
  });
}

/** A payment of a cent by the payer of the local chain, or by a wallet that it owns. */
async function sign(
  usdc: Address,
  { value = CENT, validBefore, from = payer.address, payTo = payee.address, nonce }: Signing,
): Promise<PresentedPayment> {
  const message = {
    from,
    to: payTo,
    value,
    validAfter: 0n,
    validBefore: validBefore ?? BigInt(Math.floor(Date.now() / 1000) + 3_600),
    nonce: nonce ?? bytesToHex(randomBytes(32)),
  };
  const signature = await payer.signTypedData({
    domain: domainOf(usdc),
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message,
  });
  const { name, version } = domainOf(usdc);
  const requirements = {
    scheme: "exact",
    network: NETWORK,
    asset: usdc,
    amount: String(value),
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name, version },
  } as const;
  const texts = { value: String(value), validAfter: "0", validBefore: String(message.validBefore) };
  const authorization = { ...message, ...texts };
  return {
    scheme: "exact",
    payer: lower(from),
    asset: lower(usdc),
    payTo: lower(payTo),
    nonce: message.nonce,
    amount: value,
    validAfter: 0n,
    validBefore: message.validBefore,
    payload: { x402Version: 2, accepted: requirements, payload: { signature, authorization } },
    requirements,
  };
}

function domainOf(usdc: Address) {
  return { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: usdc } as const;
}

function lower<Text extends Hex>(text: Text): Text {
  // Lower-case hexadecimal is hexadecimal.
  return text.toLowerCase() as Text;
}
