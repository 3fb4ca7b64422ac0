import type { Address } from "viem";
import { constantProductPoolAbi } from "../abi/constant-product-pool.ts";
import { localTokenAbi } from "../abi/local-token.ts";
import { spamTokenAbi } from "../abi/spam-token.ts";
import { wrappedCoinAbi } from "../abi/wrapped-coin.ts";
import { type DeedOf, deed, encode } from "./deed.ts";
import type { Deed } from "./plan-types.ts";
import type { Pool, Token } from "./world.ts";

/** Measured on the contracts; a test holds the population to them. */
const GAS = {
  transfer: { least: 21_000, most: 21_000 },
  tokenTransfer: { least: 29_000, most: 52_500 },
  approve: { least: 26_000, most: 47_000 },
  swap: { least: 52_000, most: 112_000 },
  wrap: { least: 24_000, most: 66_500 },
  unwrap: { least: 26_000, most: 45_000 },
} as const;

const MORE_THAN_ANYONE_HOLDS = 10n ** 30n;
const SLIPPAGE_PERCENT = 90n;

/** Sends native coin, in wei. */
export function sendCoin(to: Address, value: bigint): Deed {
  return { to, data: "0x", value, gas: GAS.transfer, outcome: "success", creates: null, needs: null };
}

/** Sends a token; the failing form sends more than the sender holds. */
export function sendToken(token: Address, to: Address, amount: bigint): DeedOf {
  return (outcome) => {
    const args = [to, outcome === "revert" ? MORE_THAN_ANYONE_HOLDS : amount];
    return deed(token, encode(localTokenAbi, "transfer", args), GAS.tokenTransfer, outcome);
  };
}

/** Allows a spender so much of a token, in its smallest unit. */
export function approveToken(token: Address, spender: Address, amount: bigint): Deed {
  return deed(token, encode(localTokenAbi, "approve", [spender, amount]), GAS.approve, "success");
}

/** Allows a spender as much of a token as it likes. */
export function approveForever(token: Address, spender: Address): Deed {
  return approveToken(token, spender, 2n ** 256n - 1n);
}

/** Creates tokens, as the token's owner. */
export function mintToken(token: Address, to: Address, amount: bigint): Deed {
  return deed(token, encode(localTokenAbi, "mint", [to, amount]), GAS.tokenTransfer, "success");
}

/** Turns native coin, in wei, into its wrapped form. */
export function wrapCoin(weth: Address, amount: bigint): Deed {
  return { ...deed(weth, encode(wrappedCoinAbi, "deposit", []), GAS.wrap, "success"), value: amount };
}

/** Turns wrapped coin back into native coin; the failing form asks for more than anyone holds. */
export function unwrapCoin(weth: Address, amount: bigint): DeedOf {
  return (outcome) => {
    const args = [outcome === "revert" ? MORE_THAN_ANYONE_HOLDS : amount];
    return deed(weth, encode(wrappedCoinAbi, "withdraw", args), GAS.unwrap, outcome);
  };
}

/** Sells dollars' worth of one token of a pool for the other; the failing form asks for more than the pool pays. */
export function swap(pool: Pool, trader: Address, trade: { dollars: bigint; sellFirst: boolean }): DeedOf {
  const [first, second] = pool.tokens;
  const [tokenIn, tokenOut]: readonly [Token, Token] = trade.sellFirst ? [first, second] : [second, first];
  return (outcome) => {
    const fair = (trade.dollars * tokenOut.perDollar * SLIPPAGE_PERCENT) / 100n;
    const least = outcome === "revert" ? 2n * fair : fair;
    const args = [tokenIn.address, trade.dollars * tokenIn.perDollar, least, trader];
    return deed(pool.address, encode(constantProductPoolAbi, "swap", args), GAS.swap, outcome);
  };
}

/** Drops a worthless token on wallets. */
export function airdropSpam(token: Address, victims: readonly Address[]): Deed {
  const gas = { least: 25_000 + 5_000 * victims.length, most: 30_000 + 32_000 * victims.length };
  return deed(token, encode(spamTokenAbi, "airdrop", [victims, 777n * 10n ** 18n]), gas, "success");
}
