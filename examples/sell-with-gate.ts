import { parseArgs } from "node:util";
import { x402Client } from "@x402/core/client";
import { decodePaymentRequiredHeader } from "@x402/core/http";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment } from "@x402/fetch";
import type { Hono } from "hono";
import { type Address, createPublicClient, erc20Abi, formatUnits, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
// In a project of your own: agent-health-client/gate
import { trustGate } from "../client/src/gate.ts";
import { localFacilitator, openShop } from "./gated-shop.ts";
import { contractOf, readUpFile, type UpFile } from "./up-file.ts";

/**
 * Sells over x402 on a running `npm start`, with a gate that refuses payers by their score. Two wallets buy: one
 * with a good score, and one without a history, which keeps its money unless escrows pass.
 *
 *   npx node examples/sell-with-gate.ts [--pass-escrow] [--base-url URL] [--on-unavailable refuse|allow] [--data-dir .ahs]
 *
 * A --base-url without a service shows what --on-unavailable does.
 */

/** Last account of every development node, which pays the gas of settlements: everybody knows its key, and it is worth nothing. */
const GAS_KEY: Hex = "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6";
/** The account before it, which is paid. */
const SELLER: Address = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f";

try {
  const { up, gate } = readArguments();
  const network = `eip155:${up.chain_id}` as const;
  const usdc = contractOf(up, "usdc");
  const facilitator = localFacilitator({ rpcUrl: up.rpc_url, id: up.chain_id, gasKey: GAS_KEY });
  const shop = openShop({ gate, facilitator, network, usdc, payTo: SELLER });
  await buy({ shop, up, network, usdc, name: "a wallet with a good score", key: up.provider.private_key });
  await buy({ shop, up, network, usdc, name: "a wallet without a history", key: up.payer.private_key });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      "pass-escrow": { type: "boolean", default: false },
      "base-url": { type: "string" },
      "on-unavailable": { type: "string", default: "refuse" },
      "data-dir": { type: "string", default: ".ahs" },
    },
  });
  const up = readUpFile(values["data-dir"]);
  const gate = trustGate({
    baseUrl: values["base-url"] ?? up.base_url,
    apiKey: up.api_key,
    // The gate itself refuses any other word.
    onUnavailable: values["on-unavailable"] as "refuse" | "allow",
    pass: values["pass-escrow"] ? ["instant_settle", "escrow"] : ["instant_settle"],
    log: (check) => say(`  gate: ${JSON.stringify(check)}`),
  });
  return { up, gate };
}

/** Buys by the official client, and prints what came of it and of the buyer's money. */
async function buy(purchase: {
  readonly shop: Hono;
  readonly up: UpFile;
  readonly network: `eip155:${number}`;
  readonly usdc: Address;
  readonly name: string;
  readonly key: Hex;
}): Promise<void> {
  const { shop, up, network, usdc, name, key } = purchase;
  const account = privateKeyToAccount(key);
  say(`${account.address}, ${name}, buys:`);
  const chain = createPublicClient({ transport: http(up.rpc_url) });
  const balance = () =>
    chain.readContract({ address: usdc, abi: erc20Abi, functionName: "balanceOf", args: [account.address] });
  const before = await balance();
  const buyer = new x402Client().register(network, new ExactEvmScheme(account)).setSpendControls(false);
  const response = await wrapFetchWithPayment(
    async (input, init) => shop.request(new Request(input, init)),
    buyer,
  )("http://shop.example/forecast");
  const terms = response.headers.get("payment-required");
  const reason = terms === null ? await response.text() : decodePaymentRequiredHeader(terms).error;
  say(`  ${response.status} ${reason}`);
  say(`  paid: ${formatUnits(before - (await balance()), 6)} USDC`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
