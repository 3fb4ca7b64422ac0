import { bytesToHex, type Hex } from "viem";
import { type HDAccount, hdKeyToAccount, mnemonicToAccount } from "viem/accounts";

/** The mnemonic of every development node: its keys are public, so it is for local chains only. */
const DEVELOPMENT_MNEMONIC = "test test test test test test test test test test test junk";

/** The first eight accounts of the development mnemonic, in the roles they have on the local chain. */
export function roleAccounts() {
  return ROLE_ACCOUNTS;
}

/** The private key of an account of the development mnemonic, which everybody knows. */
export function privateKeyOf(account: HDAccount): Hex {
  const { privateKey } = account.getHdKey();
  if (privateKey === null) throw new Error(`account ${account.address} has no private key`);
  return bytesToHex(privateKey);
}

/** Stretching the mnemonic takes 40 ms, so each account comes from the one seed: `getHdKey` is the account's parent. */
function deriveAccounts() {
  const parent = mnemonicToAccount(DEVELOPMENT_MNEMONIC, { path: "m/44'/60'/0'/0" }).getHdKey();
  // A key derives by a path below itself, which viem's type of a path from the root does not provide for.
  const account = (addressIndex: number): HDAccount =>
    hdKeyToAccount(parent, { path: `m/${addressIndex}` as `m/44'/60'/${string}` });
  return {
    /** Owns the oracle, the sanctions list and the tokens. */
    deployer: account(0),
    publisher: account(1),
    signer: account(2),
    /** Holds test USDC. */
    payer: account(3),
    /** Sends signed verdicts to escrows. */
    relayer: account(4),
    facilitator: account(5),
    /** Is paid for calls of the local service; sends nothing. */
    payee: account(6),
    /** Signs verdicts for the evaluator; sends nothing. */
    verdictSigner: account(7),
  };
}

const ROLE_ACCOUNTS = deriveAccounts();
