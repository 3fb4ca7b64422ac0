import type { HonoRequest } from "hono";

/** Who makes a priced call, once proven. */
export type Caller = {
  readonly kind: "key";
  readonly keyId: string;
  readonly unlimited: boolean;
};

export type Purchase = {
  /** Method and path template of the endpoint, as the debit's row names it. */
  readonly endpoint: string;
  /** Thousandths of a US dollar. */
  readonly units: number;
};

/** A price taken before the work; exactly one of the two ends it. */
export type Charge = {
  /** The work succeeded: the price is kept, and the answer may be completed with a receipt. */
  keep(answer: Response): Promise<Response>;
  /** The work failed: the price goes back. Never throws. */
  giveBack(): Promise<void>;
};

/** How priced endpoints know and charge their callers. */
export type Access = {
  /** Throws a 401 problem when the request proves nobody. */
  identify(request: HonoRequest): Promise<Caller>;
  /** Takes the price; throws a 402 problem when it cannot be paid. */
  take(caller: Caller, purchase: Purchase): Promise<Charge>;
};
