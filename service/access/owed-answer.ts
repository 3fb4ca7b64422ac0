/** Paid work that failed after the money had moved: whoever shows the claim may ask for it again without paying. */
export class OwedAnswer extends Error {
  override readonly name = "OwedAnswer";
  /** 32 random bytes in hexadecimal. */
  readonly claim: string;

  constructor(claim: string, cause: unknown) {
    super("paid work failed after its settlement", { cause });
    this.claim = claim;
  }
}
