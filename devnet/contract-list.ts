import { type Abi, type Address, encodeDeployData, getContractAddress, type Hex } from "viem";
import bytecodes from "../contracts/bytecode.json" with { type: "json" };
import { assuranceAccountsAbi } from "../service/chain/abi/assurance-accounts.ts";
import { identityRegistryAbi } from "../service/chain/abi/identity-registry.ts";
import { reputationRegistryAbi } from "../service/chain/abi/reputation-registry.ts";
import { sanctionsListAbi } from "../service/chain/abi/sanctions-list.ts";
import { usdCoinAbi } from "../service/chain/abi/usd-coin.ts";
import { validationRegistryAbi } from "../service/chain/abi/validation-registry.ts";
import { agentLaunchpadAbi } from "./abi/agent-launchpad.ts";
import { constantProductPoolAbi } from "./abi/constant-product-pool.ts";
import { entryPointAbi } from "./abi/entry-point.ts";
import { gasBurnerAbi } from "./abi/gas-burner.ts";
import { jobEscrowAbi } from "./abi/job-escrow.ts";
import { keeperTargetAbi } from "./abi/keeper-target.ts";
import { localTokenAbi } from "./abi/local-token.ts";
import { mixerAbi } from "./abi/mixer.ts";
import { operatedWalletAbi } from "./abi/operated-wallet.ts";
import { priceFeedAbi } from "./abi/price-feed.ts";
import { repairableTargetAbi } from "./abi/repairable-target.ts";
import { revertOnDemandAbi } from "./abi/revert-on-demand.ts";
import { safeAccountAbi } from "./abi/safe-account.ts";
import { serviceRegistryL2Abi } from "./abi/service-registry-l2.ts";
import { smartWalletAbi } from "./abi/smart-wallet.ts";
import { spamTokenAbi } from "./abi/spam-token.ts";
import { wrappedCoinAbi } from "./abi/wrapped-coin.ts";
import { roleAccounts } from "./accounts.ts";
import { VERIFICATION_NAMES, verificationSpecs } from "./verification-contracts.ts";

const FEEDS = {
  ethUsdFeed: ["ETH / USD", 2_000_00000000n],
  btcUsdFeed: ["BTC / USD", 64_000_00000000n],
  eurUsdFeed: ["EUR / USD", 1_08000000n],
  linkUsdFeed: ["LINK / USD", 14_00000000n],
  daiUsdFeed: ["DAI / USD", 1_00000000n],
  xauUsdFeed: ["XAU / USD", 2_400_00000000n],
  usdcUsdFeed: ["USDC / USD", 1_00000000n],
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
type ContractName =
  | "identityRegistry"
  | "sanctionsList"
  | "usdc"
  | "weth"
  | "dai"
  | "spamToken"
  | "moonToken"
  | "frogToken"
  | `${"usdcWeth" | "daiWeth" | "usdcDai" | "usdcMoon" | "usdcFrog"}Pool`
  | "jobEscrow"
  | "revertOnDemand"
  | "gasBurner"
  | "repairableTarget"
  | "smartWallet"
  | "mixer"
  | "entryPoint"
  | "safeAccount"
  | "oracle"
  | "agentBazaar"
  | (typeof VERIFICATION_NAMES)[number]
  | "reputationRegistry"
  | "validationRegistry"
  | "assuranceAccounts"
  | "serviceRegistry"
  | "agentLaunchpad"
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

/** Addresses of the contracts that the deployer's first transactions create in order. */
export function contractAddresses(): Contracts {
  const deployer = roleAccounts().deployer.address;
  const names = [
    ...contractSpecs().map((spec) => spec.name),
    "oracle" as const,
    ...VERIFICATION_NAMES,
    "agentBazaar" as const,
    "reputationRegistry" as const,
    "validationRegistry" as const,
    "assuranceAccounts" as const,
    "serviceRegistry" as const,
    "agentLaunchpad" as const,
  ];
  const entries = names.map((name, nonce) => [
    name,
    getContractAddress({ from: deployer, nonce: BigInt(nonce) }),
  ]);
  return Object.fromEntries(entries) as Contracts;
}

/** Creation code of a pool of two tokens. */
export function poolCreationCode(tokens: readonly [Address, Address]): Hex {
  const bytecode = bytecodes.ConstantProductPool as Hex;
  return encodeDeployData({ abi: constantProductPoolAbi, bytecode, args: tokens });
}

/** Creation code of a smart account that its owner and the entry point may let act. */
export function smartAccountCreationCode(owner: Address, entryPoint: Address): Hex {
  const bytecode = bytecodes.OperatedWallet as Hex;
  return encodeDeployData({ abi: operatedWalletAbi, bytecode, args: [owner, entryPoint] });
}

/** Creation code of a keeper target. */
export function keeperTargetCreationCode(): Hex {
  return bytecodes.KeeperTarget as Hex;
}

/** Creation code with arguments for everything that comes before the oracle, in the order of deployment. */
export function creationCodes() {
  return contractSpecs().map(creationCode);
}

/** Creation code with arguments for everything that comes after the oracle, in the order of deployment. */
export function codesAfterOracle() {
  const contracts = contractAddresses();
  const others: readonly ContractSpec[] = [
    { name: "agentBazaar", bytecode: bytecodes.IdentityRegistry, abi: identityRegistryAbi, args: [] },
    {
      name: "reputationRegistry",
      bytecode: bytecodes.ReputationRegistry,
      abi: reputationRegistryAbi,
      args: [contracts.identityRegistry],
    },
    {
      name: "validationRegistry",
      bytecode: bytecodes.ValidationRegistry,
      abi: validationRegistryAbi,
      args: [contracts.identityRegistry],
    },
    {
      name: "assuranceAccounts",
      bytecode: bytecodes.AssuranceAccounts,
      abi: assuranceAccountsAbi,
      args: [contracts.usdc, contracts.verdictEvaluator],
    },
    { name: "serviceRegistry", bytecode: bytecodes.ServiceRegistryL2, abi: serviceRegistryL2Abi, args: [] },
    { name: "agentLaunchpad", bytecode: bytecodes.AgentLaunchpad, abi: agentLaunchpadAbi, args: [] },
  ];
  return [...verificationSpecs(contracts), ...others].map(creationCode);
}

function creationCode({ name, abi, bytecode, args }: ContractSpec) {
  return { name, data: encodeDeployData({ abi, bytecode: bytecode as Hex, args }) };
}

function contractSpecs(): readonly ContractSpec[] {
  const { deployer, payer } = roleAccounts();
  const owner = deployer.address;
  return [
    { name: "identityRegistry", bytecode: bytecodes.IdentityRegistry, abi: identityRegistryAbi, args: [] },
    { name: "sanctionsList", bytecode: bytecodes.SanctionsList, abi: sanctionsListAbi, args: [owner] },
    ...tokenSpecs(owner),
    ...poolSpecs(owner),
    {
      name: "jobEscrow",
      bytecode: bytecodes.JobEscrow,
      abi: jobEscrowAbi,
      args: [addressAt(owner, 2), owner, owner],
    },
    { name: "revertOnDemand", bytecode: bytecodes.RevertOnDemand, abi: revertOnDemandAbi, args: [] },
    { name: "gasBurner", bytecode: bytecodes.GasBurner, abi: gasBurnerAbi, args: [] },
    { name: "repairableTarget", bytecode: bytecodes.RepairableTarget, abi: repairableTargetAbi, args: [] },
    { name: "smartWallet", bytecode: bytecodes.SmartWallet, abi: smartWalletAbi, args: [payer.address] },
    { name: "mixer", bytecode: bytecodes.Mixer, abi: mixerAbi, args: [] },
    { name: "entryPoint", bytecode: bytecodes.EntryPoint, abi: entryPointAbi, args: [] },
    { name: "safeAccount", bytecode: bytecodes.SafeAccount, abi: safeAccountAbi, args: [payer.address] },
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

/** Third to eighth of all contracts: others get their addresses by these places. */
function tokenSpecs(owner: Address): readonly ContractSpec[] {
  const plain = (
    name: "dai" | "moonToken" | "frogToken",
    title: readonly [name: string, symbol: string],
  ): ContractSpec => ({
    name,
    bytecode: bytecodes.LocalToken,
    abi: localTokenAbi,
    args: [...title, 18, owner],
  });
  return [
    { name: "usdc", bytecode: bytecodes.UsdCoin, abi: usdCoinAbi, args: [owner] },
    { name: "weth", bytecode: bytecodes.WrappedCoin, abi: wrappedCoinAbi, args: [owner] },
    plain("dai", ["Dai Stablecoin", "DAI"]),
    { name: "spamToken", bytecode: bytecodes.SpamToken, abi: spamTokenAbi, args: [] },
    plain("moonToken", ["To The Moon", "MOON"]),
    plain("frogToken", ["Lucky Frog", "FROG"]),
  ];
}

function poolSpecs(owner: Address): readonly ContractSpec[] {
  const [usdc, weth, dai] = [addressAt(owner, 2), addressAt(owner, 3), addressAt(owner, 4)];
  const [moon, frog] = [addressAt(owner, 6), addressAt(owner, 7)];
  const pool = (name: ContractSpec["name"], args: readonly [Address, Address]): ContractSpec => ({
    name,
    bytecode: bytecodes.ConstantProductPool,
    abi: constantProductPoolAbi,
    args,
  });
  return [
    pool("usdcWethPool", [usdc, weth]),
    pool("daiWethPool", [dai, weth]),
    pool("usdcDaiPool", [usdc, dai]),
    pool("usdcMoonPool", [usdc, moon]),
    pool("usdcFrogPool", [usdc, frog]),
  ];
}

function addressAt(deployer: Address, nonce: number): Address {
  return getContractAddress({ from: deployer, nonce: BigInt(nonce) });
}
