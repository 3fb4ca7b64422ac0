import type { RoutingDecision } from "./api-types.ts";
import { AgentHealthError, ValidationError } from "./errors.ts";

/** The part of Hono's context that the guard needs; nothing of Hono is imported. */
export type GuardContext = {
  readonly req: { header(name: string): string | undefined };
  header(name: string, value: string): void;
  json(body: unknown, status: 403 | 503 | 400): Response;
  set(name: "agentHealth", decision: RoutingDecision | null): void;
};

/** Answers instead of the guarded handler, or lets it run by answering undefined. */
type Decide<Context> = (context: Context, decision: RoutingDecision) => unknown;

export type GuardOptions<Context extends GuardContext> = {
  /**
   * The wallet that the request proved to hold, or that is to be paid: from your session, your database or a signature, and never
   * from a header that the caller writes at will.
   */
  readonly address: (context: Context) => string | undefined;
  /**
   * US dollars of the payment, with at most 6 decimals: from your prices, and never from a header that the caller writes at will.
   * A payment above what is safe with the wallet is an escrow. Without this option no amount is asked about.
   */
  readonly amountUsd?: (context: Context) => number | string | undefined;
  /** By default 403. */
  readonly onReject?: Decide<Context>;
  /** By default the handler runs, and the answer carries X-Agent-Health-Action: escrow. */
  readonly onEscrow?: Decide<Context>;
  /** The service gave no decision: by default 503, since silence is no approval. */
  readonly onUnavailable?: (context: Context, error: AgentHealthError) => unknown;
};

/** Asks for a decision. */
export type AskRoute = (
  address: string,
  query: { readonly amount_usd?: number | string },
) => Promise<RoutingDecision>;

/**
 * A Hono middleware that lets only wallets through that payments may go to; the decision is `context.get("agentHealth")`.
 * Without an address or amount, or with a malformed one, it answers 400.
 */
export function guard<Context extends GuardContext>(route: AskRoute, options: GuardOptions<Context>) {
  return async (context: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    const address = options.address(context);
    if (address === undefined || address === "") {
      return context.json({ error: "The request names no agent's wallet." }, 400);
    }
    const amount = options.amountUsd?.(context);
    if (options.amountUsd !== undefined && amount === undefined) {
      return context.json({ error: "The request names no amount." }, 400);
    }
    const decision = await decide(route, address, amount);
    if (decision instanceof ValidationError) {
      return context.json({ error: misfitOf(decision) }, 400);
    }
    const answered = asResponse(
      decision instanceof AgentHealthError
        ? await (options.onUnavailable ?? refuseUnavailable)(context, decision)
        : await act(context, decision, options),
    );
    if (answered !== undefined) return answered;
    context.set("agentHealth", decision instanceof AgentHealthError ? null : decision);
    await next();
    return undefined;
  };
}

async function decide(
  route: AskRoute,
  address: string,
  amount: number | string | undefined,
): Promise<RoutingDecision | AgentHealthError> {
  try {
    return await route(address, amount === undefined ? {} : { amount_usd: amount });
  } catch (error) {
    if (error instanceof AgentHealthError) return error;
    throw error;
  }
}

function misfitOf({ faults }: ValidationError): string {
  const isAmount = faults.some(({ loc }) => loc.includes("amount_usd"));
  return isAmount
    ? "The amount is no decimal of at most 6 decimals, or out of range."
    : "The agent's wallet is no address.";
}

function act<Context extends GuardContext>(
  context: Context,
  decision: RoutingDecision,
  { onReject = refuseRejected, onEscrow = markEscrow }: GuardOptions<Context>,
): unknown {
  switch (decision.action) {
    case "instant_settle":
      return undefined;
    case "escrow":
      return onEscrow(context, decision);
    case "reject":
      return onReject(context, decision);
  }
}

function refuseRejected(context: GuardContext, { address, reason, grade }: RoutingDecision): Response {
  return context.json({ error: "The agent's wallet is not to be paid.", address, reason, grade }, 403);
}

function markEscrow(context: GuardContext): undefined {
  context.header("X-Agent-Health-Action", "escrow");
  return undefined;
}

function refuseUnavailable(context: GuardContext): Response {
  return context.json({ error: "The agent's wallet cannot be checked now." }, 503);
}

function asResponse(answered: unknown): Response | undefined {
  return answered instanceof Response ? answered : undefined;
}
