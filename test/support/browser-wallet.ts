import type { Page } from "playwright-core";
import type { Address, Hex, PrivateKeyAccount } from "viem";
import { jsonRpc } from "../../devnet/json-rpc.ts";

/** How an injected wallet behaves. By default it signs and changes its chain. */
export type WalletBehaviour = {
  /** The page finds none. */
  readonly absent?: boolean;
  /** The method that its user says no to. */
  readonly refuses?: string;
  /** The chain that it is on at first; 31337 unless given. */
  readonly chainId?: number;
  /** Whether it knows the chain 31337. */
  readonly knowsOwnChain?: boolean;
  readonly account?: Pick<PrivateKeyAccount, "address" | "signTypedData" | "signMessage">;
  /** The address that it shows; the account's unless given. */
  readonly address?: Address;
};

type Wallet = WalletBehaviour & {
  readonly rpcUrl: string;
  readonly account: Pick<PrivateKeyAccount, "address" | "signTypedData" | "signMessage">;
};

type Asked = { readonly method: string; readonly params?: readonly unknown[] };
type Answered =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

const OWN_CHAIN = 31_337;

/** Gives a page an EIP-1193 provider, as a wallet's extension does, that signs here with viem and reads from a real node. */
export async function injectWallet(page: Page, wallet: Wallet): Promise<void> {
  if (wallet.absent === true) return;
  let chainId = wallet.chainId ?? OWN_CHAIN;
  await page.exposeFunction("askWallet", async ({ method, params = [] }: Asked): Promise<Answered> => {
    if (method === wallet.refuses) return { error: { code: 4001, message: "User rejected the request." } };
    switch (method) {
      case "eth_requestAccounts":
        return { result: [wallet.address ?? wallet.account.address] };
      case "eth_chainId":
        return { result: `0x${chainId.toString(16)}` };
      case "wallet_switchEthereumChain":
        if (wallet.knowsOwnChain === false) return { error: { code: 4902, message: "Unrecognized chain." } };
        chainId = OWN_CHAIN;
        return { result: null };
      case "personal_sign":
        // Wallets are handed hexadecimal.
        return { result: await wallet.account.signMessage({ message: { raw: params[0] as Hex } }) };
      case "eth_signTypedData_v4":
        return { result: await wallet.account.signTypedData(JSON.parse(String(params[1]))) };
      default:
        return { result: await jsonRpc(wallet.rpcUrl).request(method, ...params) };
    }
  });
  await page.addInitScript(`
    window.ethereum = {
      request: async (asked) => {
        const { result, error } = await window.askWallet(asked);
        if (error !== undefined) throw Object.assign(new Error(error.message), error);
        return result;
      },
    };`);
}
