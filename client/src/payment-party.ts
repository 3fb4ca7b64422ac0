/** The part of a payment that hooks of x402 pass on; nothing of its packages is imported. */
export type GatedPayment = {
  /** As the buyer sent it. */
  readonly paymentPayload: { readonly payload: unknown };
  /** As the seller offered them. */
  readonly requirements: {
    readonly scheme: string;
    /** CAIP-2. */
    readonly network: string;
    readonly asset: string;
    /** In the asset's smallest unit. */
    readonly amount: string;
    readonly payTo: string;
  };
  /** There once the facilitator verified the payment. */
  readonly result?: { readonly isValid: boolean; readonly payer?: string | undefined };
};

export type PartyName = "payer" | "payee";

/** The account to check: by address where Agent Health can know it, else why it cannot be checked. */
export type Party =
  | { readonly kind: "wallet"; readonly address: string }
  /** An account of a chain without EVM addresses. */
  | { readonly kind: "foreign" }
  | { readonly kind: "unknown" }
  /** Members of the payload contradict each other, or the facilitator: it is not clear whose money moves. */
  | { readonly kind: "ambiguous" };

/**
 * Members of payloads that name the account whose money moves: EIP-3009, Permit2 (`exact`, `upto`, `auth-capture`) and a channel of
 * `batch-settlement`. Their signatures cover them.
 */
const PAYER_MEMBERS = [
  ["authorization", "from"],
  ["permit2Authorization", "from"],
  ["channelConfig", "payer"],
] as const;

/** Schemes that put money into an escrow or a channel first. */
const HOLDING: ReadonlySet<string> = new Set(["auth-capture", "batch-settlement"]);

/**
 * Whether a payment moves what an earlier, checked payment put into an escrow or a channel: its payload holds nothing that a payer
 * signs. The `type` of a payload decides nothing, since the buyer writes it.
 */
export function movesHeldMoney({ paymentPayload: { payload }, requirements }: GatedPayment): boolean {
  return (
    HOLDING.has(requirements.scheme) &&
    PAYER_MEMBERS.every(([outer]) => memberOf(payload, outer) === undefined)
  );
}

/** The payer by the signed payload and the verification's answer, which have to agree; the payee by the seller's terms. */
export function partyOf(
  { paymentPayload: { payload }, requirements, result }: GatedPayment,
  name: PartyName,
): Party {
  if (name === "payee") return oneOf([requirements.payTo]);
  const signed = PAYER_MEMBERS.map(([outer, inner]) => memberOf(memberOf(payload, outer), inner));
  return oneOf([...signed, result?.payer]);
}

function oneOf(names: readonly unknown[]): Party {
  const given = names.filter((name) => name !== undefined && name !== "");
  const [first, ...others] = new Set(given.map((name) => (isAddress(name) ? name.toLowerCase() : name)));
  if (typeof first !== "string") return { kind: "unknown" };
  if (others.length > 0) return { kind: "ambiguous" };
  return isAddress(first) ? { kind: "wallet", address: first } : { kind: "foreign" };
}

function isAddress(name: unknown): name is string {
  return typeof name === "string" && /^0x[0-9a-f]{40}$/i.test(name);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
