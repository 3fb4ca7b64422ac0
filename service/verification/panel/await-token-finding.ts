import type { Logger } from "pino";
import { pauseAfter, pauseFor } from "../../db/run-loop.ts";
import type { RunPanel } from "../verdicts/run-one.ts";
import type { TokenFinding } from "./find-read-token.ts";

const RETRY_MS = { first: 2_000, longest: 60_000 };
/** Tries after which a server that answers other messages is taken to refuse those with tokens. */
const MOST_REFUSALS = 5;

/** Meaning of a finding that is not possible. */
export const NOT_KNOWN =
  "texts may open turns of their own if it reads tokens whose form the fence does not know";

/**
 * Waits until it is known whether the server of a model reads control tokens within messages, and logs that. Throws if it does, unless that
 * is allowed. A server that does not answer is asked again until the signal fires.
 */
export async function awaitTokenFinding(
  { model }: { readonly model: string },
  deps: {
    readonly logger: Pick<Logger, "info" | "warn">;
    readonly mayRead: boolean;
    readonly find: () => Promise<TokenFinding>;
    readonly retryMs?: typeof RETRY_MS;
  },
  signal: AbortSignal,
): Promise<void> {
  const { logger, find, mayRead, retryMs = RETRY_MS } = deps;
  const of = { model };
  let refusals = 0;
  for (let tries = 0; !signal.aborted; tries += 1) {
    const finding = await find();
    switch (finding.kind) {
      case "unread":
        logger.info(of, "the model's server reads no control token within messages");
        return;
      case "unknown":
        logger.warn(
          { ...of, reason: finding.detail },
          `not known if the model's server reads control tokens: ${NOT_KNOWN}`,
        );
        return;
      case "read":
        if (!mayRead) throw new Error(refusalOf(model, finding.token));
        logger.warn(
          { ...of, token: finding.token },
          "the model's server reads control tokens: the fence alone breaks them",
        );
        return;
      case "unavailable":
        refusals += finding.answersOthers ? 1 : 0;
        if (refusals < MOST_REFUSALS) break;
        logger.warn(
          { ...of, reason: finding.detail },
          `the model's server answers no message with control tokens: ${NOT_KNOWN}`,
        );
        return;
    }
    logger.warn(
      { ...of, reason: finding.detail },
      "the panel waits for the model's server, to see if it reads control tokens",
    );
    await pauseFor(pauseAfter(tries, retryMs), signal);
  }
}

/** A panel that gives no decision before `isKnown`: its runs are tried again, and give the price back in the end, as in any outage. */
export function onceKnown(isKnown: () => boolean, runPanel: RunPanel): RunPanel {
  return async (...of) => (isKnown() ? runPanel(...of) : NOT_YET);
}

const NOT_YET = {
  kind: "failed",
  message: "The model server does not answer yet.",
  retryable: true,
} as const;

function refusalOf(model: string, token: string): string {
  return `the panel does not start: the server of the model ${model} reads the control token ${token} within messages, so that a text can open a turn of its own. Choose a server that reads none, or set PANEL_ALLOW_CONTROL_TOKENS=1 (docs/panel.md)`;
}
