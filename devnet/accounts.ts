import { type HDAccount, mnemonicToAccount } from "viem/accounts";

/** The mnemonic of every development node: its keys are public, so it is for local chains only. */
const DEVELOPMENT_MNEMONIC = "test test test test test test test test test test test junk";

export type RoleAccounts = {
  /** Owns the oracle, the sanctions list and the tokens. */
  readonly deployer: HDAccount;
  readonly publisher: HDAccount;
  readonly signer: HDAccount;
  /** Holds test USDC. */
  readonly payer: HDAccount;
  /** Sends signed verdicts to escrows. */
  readonly relayer: HDAccount;
  readonly facilitator: HDAccount;
  /** Is paid for calls of the local service; sends nothing. */
  readonly payee: HDAccount;
  /** Signs verdicts for the evaluator; sends nothing. */
  readonly verdictSigner: HDAccount;
};

/** The first eight accounts of the development mnemonic, in the roles they have on the local chain. */
export function roleAccounts(): RoleAccounts {
  const account = (addressIndex: number): HDAccount =>
    mnemonicToAccount(DEVELOPMENT_MNEMONIC, { addressIndex });
  return {
    deployer: account(0),
    publisher: account(1),
    signer: account(2),
    payer: account(3),
    relayer: account(4),
    facilitator: account(5),
    payee: account(6),
    verdictSigner: account(7),
  };
}
