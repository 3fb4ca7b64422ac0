/** One fault of a request, in the form of FastAPI with pydantic v2. */
export type ValidationFault = {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
};

/** A request whose path, query or body does not fit the schema: answered 422 with every fault in field order. */
export class ValidationFailed extends Error {
  override readonly name = "ValidationFailed";
  readonly faults: readonly ValidationFault[];

  constructor(faults: readonly ValidationFault[]) {
    super(`request refused for ${faults.length} fault(s)`);
    this.faults = faults;
  }

  /** The 422 body. */
  render(): { readonly detail: readonly ValidationFault[] } {
    return { detail: this.faults };
  }
}
