// What is asked of the wallet that the browser has: any that speaks EIP-1193.
import { balanceCall, chainOf, Told, tokenText, typedDataOf } from "./x402-payment.js";

const REFUSED = 4001;
const UNKNOWN_CHAIN = 4902;

/** The browser's wallet and the account that it shows; throws in words where there is none, or it shows none. */
export async function connect() {
  const wallet = globalThis.ethereum;
  if (wallet === undefined)
    throw new Told(
      "This browser has no wallet. Install one that holds USDC, or buy the key with an x402 client as described below.",
    );
  const [account] = await asked(
    wallet,
    { method: "eth_requestAccounts" },
    "You did not let the wallet show an account",
  );
  if (account === undefined) throw new Told("The wallet shows no account. Nothing was paid.");
  return { wallet, account };
}

/** Has the wallet work on the chain that is paid on. */
export async function useChain(wallet, accepted) {
  const wanted = chainOf(accepted);
  const isThere = async () => Number(await wallet.request({ method: "eth_chainId" })) === wanted;
  if (await isThere()) return;
  const params = [{ chainId: `0x${wanted.toString(16)}` }];
  try {
    await wallet.request({ method: "wallet_switchEthereumChain", params });
  } catch (error) {
    if (codeOf(error) === UNKNOWN_CHAIN)
      throw new Told(
        `Your wallet does not know the chain ${wanted}. Add it there and try again. Nothing was paid.`,
      );
    throw new Told(`The payment is on chain ${wanted}, and the wallet stayed on another. Nothing was paid.`);
  }
  if (!(await isThere())) throw new Told(`The wallet did not change to chain ${wanted}. Nothing was paid.`);
}

/** Throws in words where the account holds less than the price. */
export async function requireFunds(wallet, accepted, account) {
  const held = BigInt(
    await asked(
      wallet,
      { method: "eth_call", params: [balanceCall(accepted, account), "latest"] },
      "The wallet could not be asked what it holds",
    ),
  );
  if (held >= BigInt(accepted.amount)) return;
  throw new Told(
    `${tokenText(accepted.amount)} ${accepted.extra.name} are needed, and ${account} holds ${tokenText(held)}. Nothing was paid.`,
  );
}

/** The wallet's signature under an authorization. */
export async function sign(wallet, accepted, authorization) {
  const params = [authorization.from, JSON.stringify(typedDataOf(accepted, authorization))];
  return asked(wallet, { method: "eth_signTypedData_v4", params }, "You did not sign the payment");
}

/** The wallet's signature under a text, which moves no money. */
export async function signText(wallet, text, account) {
  const bytes = [...new TextEncoder().encode(text)]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  return asked(wallet, { method: "personal_sign", params: [`0x${bytes}`, account] }, "You did not sign in");
}

async function asked(wallet, request, refusal) {
  try {
    return await wallet.request(request);
  } catch (error) {
    if (codeOf(error) === REFUSED) throw new Told(`${refusal}. Nothing was paid.`);
    throw new Told(`The wallet failed: ${String(error?.message ?? error).slice(0, 200)}. Nothing was paid.`);
  }
}

function codeOf(error) {
  return error?.code ?? error?.data?.originalError?.code ?? null;
}
