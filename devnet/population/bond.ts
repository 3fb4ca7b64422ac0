import type { Address } from "viem";
import { assuranceAccountsAbi } from "../../service/chain/abi/assurance-accounts.ts";
import { habitsOf, planned } from "./agent.ts";
import { deed, encode } from "./deed.ts";
import type { PlannedCall } from "./plan-types.ts";
import { seededRandom } from "./random.ts";
import { approveToken, mintToken } from "./token-deeds.ts";
import type { World } from "./world.ts";

/** 50 USDC. */
const BOND = 50_000_000n;
/** A first deposit writes two slots and an allowance. */
const GAS = { least: 60_000, most: 130_000 } as const;

/** Calls by which the minter of the test coins deposits a bond for a wallet. */
export function planBond(world: World, wallet: Address, time: number): readonly PlannedCall[] {
  const minter = {
    address: world.sanctionsOwner,
    habits: habitsOf(seededRandom(`${world.seed}/bond/${wallet}`)),
  };
  const { assuranceAccounts } = world.contracts;
  const usdc = world.usdc.address;
  const deposit = encode(assuranceAccountsAbi, "depositAssuranceFor", [wallet, BOND]);
  return [
    mintToken(usdc, minter.address, BOND),
    approveToken(usdc, assuranceAccounts, BOND),
    deed(assuranceAccounts, deposit, GAS, "success"),
  ].map((one) => planned(minter, time, one));
}
