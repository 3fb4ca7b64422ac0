import {
  type Address,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
} from "viem";
import { foundry } from "viem/chains";
import { deployOracle } from "../service/chain/deploy.ts";
import type { Deployment } from "../service/chain/deployments.ts";
import { constantProductPoolAbi } from "./abi/constant-product-pool.ts";
import { localTokenAbi } from "./abi/local-token.ts";
import { roleAccounts } from "./accounts.ts";
import { putCanonicalContracts } from "./canonical-contracts.ts";
import { type Contracts, codesAfterOracle, contractAddresses, creationCodes } from "./contract-list.ts";
import type { JsonRpc } from "./json-rpc.ts";
import { BAZAAR_NAME, LAUNCHPAD_NAME, SERVICES_NAME } from "./population/further-agents.ts";
import { localEscrows, verificationCalls } from "./verification-contracts.ts";

const CHAIN_ID = 31_337;
/** Ponder counts blocks of a local chain as final at this depth. */
const FINALITY_BLOCKS = 30;
const PAYER_USDC = 10_000_000_000n;
const USDC_PER_WETH = 2_000n;
const POOL_WETH = 5_000n * 10n ** 18n;
/** In a pool of a token that nothing prices: a dollar for a hundred of it. */
const JUNK_POOL_USDC = 2_000_000n * 10n ** 6n;
const JUNK_POOL_TOKENS = 200_000_000n * 10n ** 18n;
const GAS_LIMIT = "0x4c4b40";
const PRIORITY_FEE_WEI = 100_000_000n;

/**
 * Deploys every contract from the deployer's first nonce on, fills the pools and gives the payer 10,000 test USDC, a block a
 * second. Throws when the deployer has already sent something, or when a deployment fails.
 */
export async function deployContracts(
  rpc: JsonRpc,
): Promise<{ deployment: Deployment; contracts: Contracts }> {
  const { deployer } = roleAccounts();
  const sent = await rpc.request("eth_getTransactionCount", deployer.address, "latest");
  if (sent !== "0x0") {
    throw new Error(`deployer ${deployer.address} has nonce ${sent}, expected 0x0: addresses would differ`);
  }
  const contracts = contractAddresses();
  await putCanonicalContracts(rpc);
  await create(rpc, creationCodes());
  const firstBlock = (await deployTheOracle(rpc, contracts)) - creationCodes().length;
  await create(rpc, codesAfterOracle());
  for (const { to, data } of openingCalls(contracts)) await send(rpc, { from: deployer.address, to, data });
  return { deployment: await localDeployment(rpc, { firstBlock, exchanges: [] }), contracts };
}

/** Creates contracts in order; throws when one comes to lie elsewhere than expected. */
async function create(rpc: JsonRpc, codes: ReturnType<typeof creationCodes>): Promise<void> {
  const contracts = contractAddresses();
  for (const { name, data } of codes) {
    const address = await send(rpc, { from: roleAccounts().deployer.address, to: null, data });
    if (address !== contracts[name].toLowerCase()) {
      throw new Error(`${name} lies at ${address}, expected ${contracts[name]}`);
    }
  }
}

/** The deployment of a chain with these contracts, with the exchanges that fund its population and its escrows' code. */
export async function localDeployment(
  rpc: JsonRpc,
  { firstBlock, exchanges }: { firstBlock: number; exchanges: readonly Address[] },
): Promise<Deployment> {
  const contracts = contractAddresses();
  const contract = (address: Address) => ({ address, startBlock: firstBlock });
  return {
    chainId: CHAIN_ID,
    name: "local",
    startBlock: isOwnChain(firstBlock) ? 1 : firstBlock,
    finalityBlocks: FINALITY_BLOCKS,
    identityRegistry: contract(contracts.identityRegistry),
    sanctionsList: contract(contracts.sanctionsList),
    oracle: contract(contracts.oracle),
    verdictEvaluator: contract(contracts.verdictEvaluator),
    assuranceAccounts: contract(contracts.assuranceAccounts),
    escrows: await Promise.all(
      localEscrows(contracts).map(async ({ generation, escrow }) => ({
        ...contract(escrow),
        generation,
        codeHash: keccak256((await rpc.request("eth_getCode", escrow, "latest")) as Hex),
        implementation: null,
      })),
    ),
    registries: [
      { name: BAZAAR_NAME, kind: "erc8004", ...contract(contracts.agentBazaar) },
      { name: SERVICES_NAME, kind: "olas-service-registry-l2", ...contract(contracts.serviceRegistry) },
      { name: LAUNCHPAD_NAME, kind: "virtuals-agent-factory", ...contract(contracts.agentLaunchpad) },
    ],
    reputationRegistry: contracts.reputationRegistry,
    validationRegistry: contract(contracts.validationRegistry),
    usdc: contracts.usdc,
    market: {
      native: { symbol: "ETH", decimals: 18, feed: contracts.ethUsdFeed },
      wrappedNative: contracts.weth,
      tokens: [
        { address: contracts.usdc, symbol: "USDC", decimals: 6, feed: contracts.usdcUsdFeed },
        { address: contracts.weth, symbol: "WETH", decimals: 18, feed: contracts.ethUsdFeed },
        { address: contracts.dai, symbol: "DAI", decimals: 18, feed: contracts.daiUsdFeed },
      ],
    },
    accounts: {
      entryPoints: [contracts.entryPoint],
      publicFunders: [roleAccounts().deployer.address, ...exchanges],
      mixers: [contracts.mixer],
      venues: [],
      vettedServices: [],
    },
    staticWallets: [],
    sample: { everyBlocks: 1, blocks: 1 },
  };
}

/** A chain that begins with our contracts is indexed whole, so that what a wallet did is covered from its first block on. */
function isOwnChain(firstBlock: number): boolean {
  return firstBlock <= 2;
}

/** Returns the block it lies in. */
async function deployTheOracle(rpc: JsonRpc, contracts: Contracts): Promise<number> {
  const { deployer, publisher, signer } = roleAccounts();
  const transport = http(rpc.url);
  const { timestamp } = await newestBlock(rpc);
  await rpc.request("evm_setNextBlockTimestamp", Number(timestamp) + 1);
  await rpc.request("evm_setAutomine", true);
  const oracle = await deployOracle({
    walletClient: createWalletClient({ account: deployer, chain: foundry, transport }),
    publicClient: createPublicClient({ chain: foundry, transport, pollingInterval: 50 }),
    owner: deployer.address,
    publisher: publisher.address,
    signers: [signer.address],
    identityRegistry: contracts.identityRegistry,
    requestFee: 0n,
  });
  await rpc.request("evm_setAutomine", false);
  if (oracle.address.toLowerCase() !== contracts.oracle.toLowerCase()) {
    throw new Error(`the oracle lies at ${oracle.address}, expected ${contracts.oracle}`);
  }
  return oracle.startBlock;
}

function openingCalls(contracts: Contracts) {
  const { deployer, payer } = roleAccounts();
  const { usdc, weth, dai, moonToken, frogToken, smartWallet } = contracts;
  const poolUsdc = (POOL_WETH * USDC_PER_WETH) / 10n ** 12n;
  const poolDai = POOL_WETH * USDC_PER_WETH;
  return [
    mint(usdc, payer.address, PAYER_USDC),
    mint(usdc, smartWallet, PAYER_USDC),
    mint(usdc, deployer.address, 2n * poolUsdc + 2n * JUNK_POOL_USDC),
    mint(weth, deployer.address, 2n * POOL_WETH),
    mint(dai, deployer.address, 2n * poolDai),
    mint(moonToken, deployer.address, JUNK_POOL_TOKENS),
    mint(frogToken, deployer.address, JUNK_POOL_TOKENS),
    ...fill(contracts.usdcWethPool, [usdc, poolUsdc], [weth, POOL_WETH]),
    ...fill(contracts.daiWethPool, [dai, poolDai], [weth, POOL_WETH]),
    ...fill(contracts.usdcDaiPool, [usdc, poolUsdc], [dai, poolDai]),
    ...fill(contracts.usdcMoonPool, [usdc, JUNK_POOL_USDC], [moonToken, JUNK_POOL_TOKENS]),
    ...fill(contracts.usdcFrogPool, [usdc, JUNK_POOL_USDC], [frogToken, JUNK_POOL_TOKENS]),
    ...verificationCalls(contracts),
  ];
}

function mint(token: Address, to: Address, amount: bigint) {
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: "mint", args: [to, amount] });
  return { to: token, data };
}

/** Calls that fill a pool with the deployer's tokens, in the pool's own order. */
function fill(pool: Address, ...amounts: readonly [readonly [Address, bigint], readonly [Address, bigint]]) {
  const approvals = amounts.map(([token, amount]) => {
    const data = encodeFunctionData({ abi: localTokenAbi, functionName: "approve", args: [pool, amount] });
    return { to: token, data };
  });
  const args = [amounts[0][1], amounts[1][1]] as const;
  const data = encodeFunctionData({ abi: constantProductPoolAbi, functionName: "addLiquidity", args });
  return [...approvals, { to: pool, data }];
}

async function newestBlock(rpc: JsonRpc) {
  const block = await rpc.request("eth_getBlockByNumber", "latest", false);
  return block as { readonly timestamp: Hex; readonly baseFeePerGas: Hex };
}

/** Sends and mines one transaction; returns the address of a created contract. */
async function send(
  rpc: JsonRpc,
  transaction: { readonly from: Address; readonly to: Address | null; readonly data: Hex },
): Promise<Address | null> {
  const block = await newestBlock(rpc);
  const fees = {
    gas: GAS_LIMIT,
    maxPriorityFeePerGas: `0x${PRIORITY_FEE_WEI.toString(16)}`,
    maxFeePerGas: `0x${(2n * BigInt(block.baseFeePerGas) + PRIORITY_FEE_WEI).toString(16)}`,
  };
  const hash = await rpc.request("eth_sendTransaction", { ...transaction, ...fees });
  await rpc.request("evm_mine", { timestamp: Number(block.timestamp) + 1 });
  const receipt = (await rpc.request("eth_getTransactionReceipt", hash)) as {
    readonly status: Hex;
    readonly contractAddress: Address | null;
  } | null;
  if (receipt?.status !== "0x1")
    throw new Error(`transaction ${hash} to ${transaction.to ?? "a new contract"} failed`);
  return receipt.contractAddress;
}
