import { type Address, encodeFunctionData, erc721Abi, type Hex, maxUint256 } from "viem";
import { constantProductPoolAbi } from "../../devnet/abi/constant-product-pool.ts";
import { keeperTargetAbi } from "../../devnet/abi/keeper-target.ts";
import { localTokenAbi } from "../../devnet/abi/local-token.ts";
import { repairableTargetAbi } from "../../devnet/abi/repairable-target.ts";
import { revertOnDemandAbi } from "../../devnet/abi/revert-on-demand.ts";
import type { Contracts } from "../../devnet/contract-list.ts";

/** An account without code, which may take what the agent let it. */
const DRAINER: Address = "0x0000000000000000000000000000000000d4a14e";
const FRIEND: Address = "0x00000000000000000000000000000000000f41e0";
const FAR_FUTURE = 2n ** 40n;
/** A thousand of a token with 18 decimals. */
export const TOKENS = 1_000n * 10n ** 18n;

type Sold = { readonly to: Address; readonly data: Hex };

/** Calldata of what an agent does and of what is done to it, for tests that make it fail and succeed. */
export function agentCalls(agent: Address) {
  return {
    work: encodeFunctionData({ abi: repairableTargetAbi, functionName: "work" }),
    repair: encodeFunctionData({ abi: repairableTargetAbi, functionName: "repair" }),
    breakDown: encodeFunctionData({
      abi: repairableTargetAbi,
      functionName: "breakDown",
      args: [agent, FAR_FUTURE],
    }),
    refuse: encodeFunctionData({ abi: revertOnDemandAbi, functionName: "run", args: [1, "not today"] }),
    perform: encodeFunctionData({ abi: keeperTargetAbi, functionName: "perform", args: [7n, 2n ** 63n] }),
    letDrain: approval(DRAINER, maxUint256),
    letMoveAgents: encodeFunctionData({
      abi: erc721Abi,
      functionName: "setApprovalForAll",
      args: [DRAINER, true],
    }),
    askAllowance: encodeFunctionData({
      abi: localTokenAbi,
      functionName: "allowance",
      args: [agent, DRAINER],
    }),
    pay: (amount: bigint) =>
      encodeFunctionData({ abi: localTokenAbi, functionName: "transfer", args: [FRIEND, amount] }),
    mint: (to: Address) => minting(to, TOKENS),
    approve: (spender: Address) => approval(spender, TOKENS),
    /** Half of the tokens for no less than this. */
    swap: (tokenIn: Address, least: bigint) => selling(tokenIn, { amount: TOKENS / 2n, least, to: agent }),
    cheapenWeth,
  };
}

/** Calls of a third party after which DAI buys more WETH in the pool. */
function cheapenWeth({ weth, daiWethPool }: Contracts, owner: Address): readonly Sold[] {
  const amount = 2n * TOKENS;
  return [
    { to: weth, data: minting(owner, amount) },
    { to: weth, data: approval(daiWethPool, amount) },
    { to: daiWethPool, data: selling(weth, { amount, least: 0n, to: owner }) },
  ];
}

function minting(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: localTokenAbi, functionName: "mint", args: [to, amount] });
}

function approval(spender: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: localTokenAbi, functionName: "approve", args: [spender, amount] });
}

type Sale = { readonly amount: bigint; readonly least: bigint; readonly to: Address };

function selling(tokenIn: Address, { amount, least, to }: Sale): Hex {
  return encodeFunctionData({
    abi: constantProductPoolAbi,
    functionName: "swap",
    args: [tokenIn, amount, least, to],
  });
}
