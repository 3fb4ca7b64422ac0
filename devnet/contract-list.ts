import { type Abi, type Address, encodeDeployData, getContractAddress, type Hex } from "viem";
import bytecodes from "../contracts/bytecode.json" with { type: "json" };
import { constantProductPoolAbi } from "../service/chain/abi/constant-product-pool.ts";
import { gasBurnerAbi } from "../service/chain/abi/gas-burner.ts";
import { identityRegistryAbi } from "../service/chain/abi/identity-registry.ts";
import { jobEscrowAbi } from "../service/chain/abi/job-escrow.ts";
import { keeperTargetAbi } from "../service/chain/abi/keeper-target.ts";
import { localTokenAbi } from "../service/chain/abi/local-token.ts";
import { priceFeedAbi } from "../service/chain/abi/price-feed.ts";
import { repairableTargetAbi } from "../service/chain/abi/repairable-target.ts";
import { revertOnDemandAbi } from "../service/chain/abi/revert-on-demand.ts";
import { sanctionsListAbi } from "../service/chain/abi/sanctions-list.ts";
import { smartWalletAbi } from "../service/chain/abi/smart-wallet.ts";
import { spamTokenAbi } from "../service/chain/abi/spam-token.ts";
import { usdCoinAbi } from "../service/chain/abi/usd-coin.ts";
import { roleAccounts } from "./accounts.ts";

const FEEDS = {
  ethUsdFeed: ["ETH / USD", 2_000_00000000n],
  btcUsdFeed: ["BTC / USD", 64_000_00000000n],
  eurUsdFeed: ["EUR / USD", 1_08000000n],
  linkUsdFeed: ["LINK / USD", 14_00000000n],
  daiUsdFeed: ["DAI / USD", 1_00000000n],
  xauUsdFeed: ["XAU / USD", 2_400_00000000n],
} as const;

const KEEPER_TARGETS = [
  "keeperTarget1",
  "keeperTarget2",
  "keeperTarget3",
  "keeperTarget4",
  "keeperTarget5",
  "keeperTarget6",
] as const;

type FeedName = keyof typeof FEEDS;

/** Names of the contracts of the local chain, as `.ahs/up.json` and the tests call them. */
export type ContractName =
  | "identityRegistry"
  | "sanctionsList"
  | "usdc"
  | "weth"
  | "dai"
  | "spamToken"
  | "usdcWethPool"
  | "daiWethPool"
  | "usdcDaiPool"
  | "jobEscrow"
  | "revertOnDemand"
  | "gasBurner"
  | "repairableTarget"
  | "smartWallet"
  | "oracle"
  | (typeof KEEPER_TARGETS)[number]
  | FeedName;

export type Contracts = { readonly [name in ContractName]: Address };

type ContractSpec = {
  readonly name: Exclude<ContractName, "oracle">;
  readonly bytecode: string;
  readonly abi: Abi;
  readonly args: readonly unknown[];
};

/** The keeper targets among the contracts. */
export function keeperTargets(contracts: Contracts): readonly Address[] {
  return KEEPER_TARGETS.map((name) => contracts[name]);
}

/** The price feeds among the contracts with the answer each starts from, 8 decimals. */
export function priceFeeds(contracts: Contracts): readonly { address: Address; answer: bigint }[] {
  return (Object.keys(FEEDS) as FeedName[]).map((name) => ({
    address: contracts[name],
    answer: FEEDS[name][1],
  }));
}

/** Where every contract comes to lie when the deployer's first transactions on the chain create them in order, the oracle last. */
export function contractAddresses(): Contracts {
  const deployer = roleAccounts().deployer.address;
  const names = [...contractSpecs().map((spec) => spec.name), "oracle" as const];
  const entries = names.map((name, nonce) => [
    name,
    getContractAddress({ from: deployer, nonce: BigInt(nonce) }),
  ]);
  return Object.fromEntries(entries) as Contracts;
}

/** Creation code with arguments for everything but the oracle, in the order of deployment. */
export function creationCodes(): readonly { readonly name: ContractName; readonly data: Hex }[] {
  return contractSpecs().map((spec) => ({
    name: spec.name,
    data: encodeDeployData({ abi: spec.abi, bytecode: spec.bytecode as Hex, args: spec.args }),
  }));
}

function contractSpecs(): readonly ContractSpec[] {
  const { deployer, payer } = roleAccounts();
  const owner = deployer.address;
  const at = (nonce: number): Address => getContractAddress({ from: owner, nonce: BigInt(nonce) });
  const [usdc, weth, dai] = [at(2), at(3), at(4)];
  const pool = (
    name: "usdcWethPool" | "daiWethPool" | "usdcDaiPool",
    args: readonly Address[],
  ): ContractSpec => ({
    name,
    bytecode: bytecodes.ConstantProductPool,
    abi: constantProductPoolAbi,
    args,
  });
  return [
    { name: "identityRegistry", bytecode: bytecodes.IdentityRegistry, abi: identityRegistryAbi, args: [] },
    { name: "sanctionsList", bytecode: bytecodes.SanctionsList, abi: sanctionsListAbi, args: [owner] },
    { name: "usdc", bytecode: bytecodes.UsdCoin, abi: usdCoinAbi, args: [owner] },
    {
      name: "weth",
      bytecode: bytecodes.LocalToken,
      abi: localTokenAbi,
      args: ["Wrapped Ether", "WETH", 18, owner],
    },
    {
      name: "dai",
      bytecode: bytecodes.LocalToken,
      abi: localTokenAbi,
      args: ["Dai Stablecoin", "DAI", 18, owner],
    },
    { name: "spamToken", bytecode: bytecodes.SpamToken, abi: spamTokenAbi, args: [] },
    pool("usdcWethPool", [usdc, weth]),
    pool("daiWethPool", [dai, weth]),
    pool("usdcDaiPool", [usdc, dai]),
    { name: "jobEscrow", bytecode: bytecodes.JobEscrow, abi: jobEscrowAbi, args: [usdc, owner, owner] },
    { name: "revertOnDemand", bytecode: bytecodes.RevertOnDemand, abi: revertOnDemandAbi, args: [] },
    { name: "gasBurner", bytecode: bytecodes.GasBurner, abi: gasBurnerAbi, args: [] },
    { name: "repairableTarget", bytecode: bytecodes.RepairableTarget, abi: repairableTargetAbi, args: [] },
    { name: "smartWallet", bytecode: bytecodes.SmartWallet, abi: smartWalletAbi, args: [payer.address] },
    ...KEEPER_TARGETS.map(
      (name): ContractSpec => ({ name, bytecode: bytecodes.KeeperTarget, abi: keeperTargetAbi, args: [] }),
    ),
    ...(Object.keys(FEEDS) as FeedName[]).map(
      (name): ContractSpec => ({
        name,
        bytecode: bytecodes.PriceFeed,
        abi: priceFeedAbi,
        args: [FEEDS[name][0], 8, FEEDS[name][1]],
      }),
    ),
  ];
}
