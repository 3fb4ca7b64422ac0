import { setTimeout as sleep } from "node:timers/promises";
import { answerQuestion } from "./answer-question.ts";
import type { createCallCounts, NextCall } from "./behaviour.ts";
import { type CompletionRequest, completionOf, errorBody } from "./completion.ts";

import { findCommand } from "./find-command.ts";
import type { createOperatorPrompts } from "./operator-prompts.ts";
import type { Question } from "./read-question.ts";
import { isGenerator, type Role } from "./roles.ts";

type Call = { request: CompletionRequest; question: Question; behaviour: NextCall };

type Deps = {
  readonly randomId: () => string;
  readonly now: () => Date;
  readonly prompts: ReturnType<typeof createOperatorPrompts>;
  readonly counts: ReturnType<typeof createCallCounts>;
  /** Aborted once the caller is gone. */
  readonly signal: AbortSignal;
};

/** Answers one question of the panel, or fails as the server is set to. */
export async function completeChat({ request, question, behaviour }: Call, deps: Deps): Promise<Response> {
  const { role } = question;
  if (behaviour.hang === true) return untilGone(deps.signal);
  if (behaviour.slow_ms !== undefined) await sleep(behaviour.slow_ms);
  if (behaviour.fail !== undefined) return failure(behaviour.fail, behaviour.retry_after);
  const misfit = formatFault(request, role, behaviour);
  if (misfit !== null) {
    return Response.json(errorBody(misfit, "invalid_request", "response_format"), { status: 400 });
  }
  const created = { id: deps.randomId(), seconds: Math.floor(deps.now().getTime() / 1_000) };
  if (behaviour.refuse === true) {
    return Response.json(completionOf(request, { refusal: "I'm sorry, I can't help with that." }, created));
  }
  const answer = behaviour.breaksSchema ? OFF_SCHEMA : answerOf({ request, question, behaviour }, deps);
  const reply = { content: JSON.stringify(answer), truncate: behaviour.truncate === true };
  return Response.json(completionOf(request, reply, created));
}

const OFF_SCHEMA = { verdict: "probably fine", score: "high" };

function answerOf({ request, question, behaviour }: Call, { prompts, counts }: Deps) {
  const { role, outside, instructions } = question;
  const kind = `${role} ${request.response_format?.type ?? "text"}`;
  const command = findCommand(outside.join("")) ?? prompts.commandIn(kind, instructions);
  if (command !== null) counts.obeyed(role);
  return answerQuestion(question, { command, disagrees: behaviour.disagree === true });
}

/** Why the answer's form cannot be given; null where it can. */
function formatFault(
  { response_format: format }: CompletionRequest,
  role: Role,
  behaviour: NextCall,
): string | null {
  if (format?.type !== "json_schema") return null;
  if (behaviour.json_schema_unsupported === true) {
    return "response_format of type json_schema is not supported by this model; use json_object.";
  }
  const expected = isGenerator(role) ? "ballot" : role === "critic" ? "critique" : "synthesis";
  const { name } = format.json_schema;
  return name === expected ? null : `Expected the schema ${expected} of ${role}, got ${name}.`;
}

/** Answers nothing for as long as the caller stays. */
async function untilGone(signal: AbortSignal): Promise<Response> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  return new Response(null, { status: 499 });
}

function failure(status: number, retryAfter: number | undefined): Response {
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return Response.json(errorBody(`Told to fail with ${status}.`, "told_to_fail"), { status, headers });
}
