import { createPublicClient, createWalletClient, type Hex, http } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { anvil as anvilChain } from "viem/chains";
import { freePort } from "../../../bin/supervisor/child-process.ts";
import { startAnvil } from "../../../devnet/anvil-process.ts";
import { deployOracle } from "../../../service/chain/deploy.ts";

/** Times are taken from here and not from the clock: their zero bytes would change the price. */
const genesisTime = 1_790_000_001;
/** Two non-zero bytes of as-of: calldata is priced by them. Mining more takes anvil minutes. */
const height = 0x01_11;
/** Anvil's default accounts, public by design. */
const mnemonic = "test test test test test test test test test test test junk";

export type GasChain = Awaited<ReturnType<typeof startGasChain>>;

/** A chain with an oracle on which every transaction costs the same gas in every run; stop() ends its process. */
export async function startGasChain() {
  const node = await startAnvil({
    port: await freePort(),
    chainId: anvilChain.id,
    stateFile: null,
    genesisTime,
  });
  await node.rpc.request("anvil_mine", `0x${height.toString(16)}`);
  await node.rpc.request("evm_setAutomine", true);
  const transport = http(node.rpcUrl);
  const wallet = (addressIndex: number) =>
    createWalletClient({
      account: mnemonicToAccount(mnemonic, { addressIndex }),
      chain: anvilChain,
      transport,
    });
  const [deployer, publisher, signer, owner, registry] = [
    wallet(0),
    wallet(1),
    wallet(2),
    wallet(3),
    wallet(4),
  ];
  const publicClient = createPublicClient({ chain: anvilChain, transport, pollingInterval: 20 });
  await node.rpc.request("anvil_setCode", registry.account.address, "0x00");
  const roles = {
    owner: owner.account.address,
    publisher: publisher.account.address,
    signers: [signer.account.address],
    identityRegistry: registry.account.address,
    requestFee: 0n,
  };
  const oracle = await deployOracle({ ...roles, walletClient: deployer, publicClient });
  const number = await publicClient.getBlockNumber();
  const gasOf = async (hash: Hex): Promise<number> => {
    const receipt = await publicClient.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`transaction ${hash} reverted`);
    return Number(receipt.gasUsed);
  };
  const timestamp = BigInt(genesisTime);
  return { ...node, oracle, roles, number, timestamp, deployer, publisher, signer, publicClient, gasOf };
}
