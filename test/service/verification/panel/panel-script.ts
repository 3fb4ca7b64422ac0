import type { PanelOutcome, RoleName } from "../../../../service/verification/panel/types.ts";
import { contentAnswer } from "./a-panel.ts";
import { type Call, type Respond, startModelServer } from "./model-server.ts";

/** Answers of roles that find faults. */
export type Script = Partial<Record<RoleName, (call: Call) => Respond>>;

/** A server whose roles find nothing wrong, but for those of the script. */
export function startScript(script: Script) {
  return startModelServer((call) => (script[call.role] ?? contentAnswer)(call));
}

/** The same for each of these roles. */
export function each(roles: readonly RoleName[], answer: (call: Call) => Respond): Script {
  return Object.fromEntries(roles.map((role) => [role, answer]));
}

export function always(respond: Respond): (call: Call) => Respond {
  return () => respond;
}

/** These answers first, and content from then on. */
export function thenContent(...responses: readonly Respond[]): (call: Call) => Respond {
  return (call) => responses[call.number - 1] ?? contentAnswer(call);
}

export function decided(outcome: PanelOutcome): Extract<PanelOutcome, { kind: "decided" }> {
  if (outcome.kind === "failed") throw new Error(outcome.message);
  return outcome;
}

/** The user message of a call. */
export function userText(call: Call | undefined): string {
  const message = call?.body.messages?.[1];
  if (message === undefined) throw new Error("No such call");
  return message.content;
}
