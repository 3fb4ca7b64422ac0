import { randomUUID } from "node:crypto";
import type { PaymentRequired } from "@x402/core/types";
import { AuthCaptureEvmScheme } from "@x402/evm/auth-capture/client";
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client";
import { createPermit2ApprovalTx, ExactEvmScheme } from "@x402/evm/exact/client";
import { UptoEvmScheme } from "@x402/evm/upto/client";
import { x402Client } from "@x402/fetch";
import { type Address, encodeFunctionData, getAddress, type Hex, numberToHex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { roleAccounts } from "../../devnet/accounts.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import { AGENTS } from "../stand/chain.ts";
import type { Stand } from "../stand/stand.ts";

/** A request of one kind of buyer, each time another. */
export type EdgeRequest = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body: string | null;
};

/** A wallet that pays by one scheme, with the official client. */
export type EdgeBuyer = {
  readonly name: string;
  readonly scheme: EdgeScheme;
  readonly account: PrivateKeyAccount;
  readonly client: x402Client;
  /** Null where the buyer's preparations failed for now. */
  readonly request: () => Promise<EdgeRequest>;
  /** Requests at once: a channel has one voucher after the other. */
  readonly atOnce: number;
  /** Breaks requests off during the work and never asks again. */
  readonly cuts: boolean;
};

const NETWORK = "eip155:31337";
const FUNDS = 2_000_000_000n;
const UNKNOWN = getAddress("0x00000000000000000000000000000000000a9e99");

/** Funds one wallet for each kind of purchase. */
export async function openBuyers(
  stand: Stand,
  outputs: { readonly specId: string },
): Promise<readonly EdgeBuyer[]> {
  let accounts = 0;
  const account = () =>
    privateKeyToAccount(numberToHex(0xed9e_0000_0001n + BigInt(accounts++), { size: 32 }));
  const agent = () => AGENTS[Math.floor(accounts++ % AGENTS.length)] as Address;
  const route = async (): Promise<EdgeRequest> => get(`/ahs/route/${agent()}`);
  const batch = async (): Promise<EdgeRequest> =>
    post("/ahs/batch", {
      addresses: [AGENTS[0], agent(), UNKNOWN].filter((one, at, all) => all.indexOf(one) === at),
    });
  const buyer = (
    name: string,
    { request, scheme, cuts = false }: Pick<EdgeBuyer, "request"> & { scheme: EdgeScheme; cuts?: boolean },
  ): EdgeBuyer => {
    const own = account();
    const atOnce = scheme === "batch-settlement" ? 1 : 3;
    return { name, scheme, account: own, client: clientOf(own, scheme), request, atOnce, cuts };
  };
  const buyers = [
    buyer("exact by Permit2", { scheme: "permit2", request: route }),
    buyer("upto", { scheme: "upto", request: batch }),
    buyer("upto, broken off", { scheme: "upto", request: batch, cuts: true }),
    buyer("batch-settlement", { scheme: "batch-settlement", request: route }),
    buyer("auth-capture", { scheme: "auth-capture", request: async () => output(outputs.specId) }),
    buyer("wallets of the newest block", { scheme: "exact", request: () => freshWallet(stand) }),
  ];
  for (const { account: own } of buyers) await fundAccount(stand, own.address, FUNDS);
  return buyers;
}

type EdgeScheme = "exact" | "permit2" | "upto" | "auth-capture" | "batch-settlement";

function clientOf(account: PrivateKeyAccount, scheme: EdgeScheme): x402Client {
  const client = new x402Client().setSpendControls(false);
  switch (scheme) {
    case "exact":
      return client.register(NETWORK, new ExactEvmScheme(account));
    case "permit2":
    case "upto":
      return client
        .register(NETWORK, new ExactEvmScheme(account))
        .register(NETWORK, new UptoEvmScheme(account))
        .registerPolicy((_version, offers) =>
          offers.filter(
            (offer) =>
              offer.scheme === (scheme === "upto" ? "upto" : "exact") &&
              offer.extra.assetTransferMethod === "permit2",
          ),
        );
    case "auth-capture":
      return client.register(NETWORK, new AuthCaptureEvmScheme(account));
    case "batch-settlement":
      return client.register(NETWORK, new BatchSettlementEvmScheme(account));
  }
}

/** Gives an account USDC, coin for its own transactions, and Permit2 the right to move the USDC. */
export async function fundAccount(stand: Stand, to: Address, units: bigint): Promise<void> {
  const { alone, test } = stand.chain();
  await alone(async () => {
    const mint = encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [to, units] });
    await test.send({ from: roleAccounts().deployer.address, to: test.contracts.usdc, data: mint });
    await test.rpc.request("anvil_setBalance", to, numberToHex(10n ** 18n));
    await test.send({ from: to, ...createPermit2ApprovalTx(test.contracts.usdc) });
  });
}

/** A wallet that registers an agent in the newest block, of which no final block knows. */
async function freshWallet(stand: Stand): Promise<EdgeRequest> {
  const { alone, test } = stand.chain();
  const wallet = getAddress(`0x${randomUUID().replaceAll("-", "")}00000000` as Hex);
  await alone(() => test.register(wallet));
  return get(`/${Math.random() < 0.5 ? "report-card" : "ahs"}/${wallet}`);
}

function output(specId: string): EdgeRequest {
  const parties = { submitter_addr: AGENTS[0], provider_addr: AGENTS[1] };
  const text = `Three rivers of Europe that this names: Rhine, Elbe, Oder; note ${randomUUID()}.`;
  return post("/v1/outputs", { spec_id: specId, output_text: text, ...parties });
}

function get(path: string): EdgeRequest {
  return { method: "GET", path, body: null };
}

function post(path: string, body: unknown): EdgeRequest {
  return { method: "POST", path, body: JSON.stringify(body) };
}

/** The terms of a 402, as official clients read them. */
export function termsOf(body: string): PaymentRequired {
  return JSON.parse(body) as PaymentRequired;
}
