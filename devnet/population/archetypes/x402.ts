import { type Address, concat, keccak256, toHex } from "viem";
import { usdCoinAbi } from "../../../service/chain/abi/usd-coin.ts";
import { type AgentContext, type Archetype, always, favourites, planned } from "../agent.ts";
import { deed, encode } from "../deed.ts";
import type { CallData, PlannedCall } from "../plan-types.ts";
import { ALL_HOURS, atRandom, wakingHours } from "../rhythm.ts";
import { type KeyedWallet, signerOf } from "../wallets.ts";

/** Buys calls of a few services by x402. It signs every payment and sends nothing. */
export const x402Payer = always({ name: "x402-payer", share: 2, purse: "usdc" }, buy, (random, span) =>
  atRandom(random, span, { perDay: random.between(2, 2.6), hours: wakingHours(random.int(0, 23), 15) }),
);

function buy(context: AgentContext, at: number): PlannedCall[] {
  const { merchants, x402Seller } = context.world;
  const services = favourites(context, "services", { among: merchants, count: [4, 7] });
  const random = context.random.fork(`at/${at}`);
  const payee = random.pick([x402Seller, ...services]);
  const amount = BigInt(random.int(5, 300)) * 10_000n;
  return [paySigned(context, at, { payer: context.wallet, payee, amount })];
}

/**
 * Sells calls by x402. It sends nothing, and its customers are people and the payers among the agents. Its coin, which it never
 * spends, shows its first funder: for an account without any, the node is asked for traces of everything that touched it.
 */
export const x402Seller: Archetype = {
  name: "x402-seller",
  share: 2,
  purse: "coin",
  plan: (context, span, random) => {
    const { users, clients } = context.world;
    // They hold USDC from the start of the history on.
    const among = users.filter((user) => clients.includes(user.address));
    const customers = favourites(context, "customers", { among, count: [8, 12] });
    const rate = { perDay: random.between(1.4, 2), hours: ALL_HOURS };
    return atRandom(random, span, rate).map((at) => {
      const amount = BigInt(random.int(5, 300)) * 10_000n;
      return paySigned(context, at, { payer: random.pick(customers), payee: context.wallet.address, amount });
    });
  },
  // Its payers go on buying from it.
  step: null,
};

const CHAIN_ID = 31_337;
const FAR_FUTURE = 4_102_444_800n;

/** Measured on the contract; a test holds the population to it. */
const GAS = { least: 67_000, most: 86_000 } as const;

/** A payment in USDC that the payer signs and the facilitator sends (EIP-3009); the amount is in millionths. */
function paySigned(
  { habits, world }: Pick<AgentContext, "habits" | "world">,
  at: number,
  payment: { readonly payer: KeyedWallet; readonly payee: Address; readonly amount: bigint },
): PlannedCall {
  const { payer, payee: to, amount: value } = payment;
  const { address: usdc } = world.usdc;
  const nonce = keccak256(concat([payer.address, to, toHex(at, { size: 32 })]));
  const message = { from: payer.address, to, value, validAfter: 0n, validBefore: FAR_FUTURE, nonce };
  const data: CallData = async () => {
    const signature = await signerOf(payer).signTypedData({
      domain: { name: "USD Coin", version: "2", chainId: CHAIN_ID, verifyingContract: usdc },
      types: { TransferWithAuthorization: AUTHORIZATION },
      primaryType: "TransferWithAuthorization",
      message,
    });
    return encode(usdCoinAbi, "transferWithAuthorization", [...Object.values(message), signature]);
  };
  const facilitator = { address: world.facilitator.address, habits };
  return planned(facilitator, at, deed(usdc, data, GAS, "success"));
}

const AUTHORIZATION = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;
