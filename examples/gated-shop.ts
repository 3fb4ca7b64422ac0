import { x402Facilitator } from "@x402/core/facilitator";
import type { FacilitatorClient } from "@x402/core/server";
import type { SupportedResponse } from "@x402/core/types";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme as ExactFacilitator } from "@x402/evm/exact/facilitator";
import { ExactEvmScheme as ExactServer } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/hono";
import { Hono } from "hono";
import { type Address, createWalletClient, defineChain, type Hex, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
// In a project of your own: agent-health-client/gate
import type { TrustGate } from "../client/src/gate.ts";

/** Millionths of a US dollar. */
export const PRICE = 10_000n;

type Shop = {
  readonly gate: TrustGate;
  readonly facilitator: FacilitatorClient;
  readonly network: `eip155:${number}`;
  readonly usdc: Address;
  readonly payTo: Address;
};

/** A shop with one good, sold over x402 by the official packages to payers that the gate lets through. */
export function openShop(shop: Shop): Hono {
  const app = new Hono();
  app.use(paymentMiddleware(...gatedSale(shop)));
  app.get("/forecast", (context) => context.json({ forecast: "rain" }));
  return app;
}

/** Arguments of `paymentMiddleware` of @x402/hono, @x402/express and the other official server packages. */
export function gatedSale({
  gate,
  facilitator,
  network,
  usdc,
  payTo,
}: Shop): Parameters<typeof paymentMiddleware> {
  const server = new x402ResourceServer(facilitator).register(network, new ExactServer());
  gate.onServer(server);
  const price = { asset: usdc, amount: String(PRICE), extra: { name: "USD Coin", version: "2" } };
  return [{ "GET /forecast": { accepts: { scheme: "exact", network, payTo, price } } }, server];
}

/** A facilitator of its own for a local chain. Elsewhere: `new HTTPFacilitatorClient({ url })` of `@x402/core/server`. */
export function localFacilitator(chain: {
  readonly rpcUrl: string;
  readonly id: number;
  readonly gasKey: Hex;
}) {
  const account = privateKeyToAccount(chain.gasKey);
  const client = createWalletClient({
    account,
    chain: defineChain({
      id: chain.id,
      name: "local",
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [chain.rpcUrl] } },
    }),
    pollingInterval: 200,
    transport: http(),
  }).extend(publicActions);
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    getCode: client.getCode,
    sendTransaction: client.sendTransaction,
    waitForTransactionReceipt: client.waitForTransactionReceipt,
    // The package types contracts and typed data more loosely than viem.
    readContract: client.readContract as Signer["readContract"],
    writeContract: client.writeContract as Signer["writeContract"],
    verifyTypedData: client.verifyTypedData as unknown as Signer["verifyTypedData"],
  });
  const facilitator = new x402Facilitator().register(`eip155:${chain.id}`, new ExactFacilitator(signer));
  return {
    verify: facilitator.verify.bind(facilitator),
    settle: facilitator.settle.bind(facilitator),
    // Networks are texts there.
    getSupported: async () => facilitator.getSupported() as SupportedResponse,
  };
}

type Signer = Parameters<typeof toFacilitatorEvmSigner>[0];
