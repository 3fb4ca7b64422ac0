/**
 * Why a remote signer gave no signature. unreachable: no answer, or one that speaks of the signer; asking again may help.
 * refused: it does not sign this. lied: what it answered is no signature of the account, and is used for nothing.
 */
type SignerFailureReason = "unreachable" | "refused" | "lied";

/** A remote signer that did not sign; the message names neither its URL nor what was to be signed. */
export class SignerFailure extends Error {
  override readonly name = "SignerFailure";
  readonly reason: SignerFailureReason;

  constructor(reason: SignerFailureReason, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}
