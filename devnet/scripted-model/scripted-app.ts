import { Hono } from "hono";
import { z } from "zod";
import { createBatches } from "./batches.ts";
import { behaviourSchema, createBehaviours, createCallCounts } from "./behaviour.ts";
import { completeChat } from "./complete-chat.ts";
import { completionOf, completionRequest, errorBody, SCRIPTED_MODELS } from "./completion.ts";
import { createOperatorPrompts } from "./operator-prompts.ts";
import { readQuestion } from "./read-question.ts";

/** The one question outside of the panel that the model answers: its caller counts tokens. */
const TO_ANSWER_OK = "Answer with OK.";

/** Chat completions and batches of them as OpenAI's API has them, and below `/scripted` the settings of the model's behaviour. */
export function createScriptedApp(deps: { readonly randomId: () => string; readonly now: () => Date }): Hono {
  const app = new Hono();
  const behaviours = createBehaviours();
  const counts = createCallCounts();
  const prompts = createOperatorPrompts();

  app.get("/v1/models", (c) =>
    c.json({
      object: "list",
      data: SCRIPTED_MODELS.map((id) => ({ id, object: "model", created: 0, owned_by: "local" })),
    }),
  );
  app.post("/v1/chat/completions", async (c) => {
    const parsed = completionRequest.safeParse(await c.req.json().catch(() => null));
    if (!parsed.success) return c.json(errorBody(z.prettifyError(parsed.error), "invalid_request"), 400);
    const { messages } = parsed.data;
    const model = SCRIPTED_MODELS.find((name) => name === parsed.data.model);
    if (model === undefined) {
      const message = `The model ${parsed.data.model} does not exist; there is ${SCRIPTED_MODELS.join(" and ")} alone.`;
      return c.json(errorBody(message, "model_not_found"), 404);
    }
    const question = readQuestion(messages);
    if (question === null && messages.some(({ content }) => content.startsWith(TO_ANSWER_OK))) {
      const created = { id: deps.randomId(), seconds: Math.floor(deps.now().getTime() / 1_000) };
      return c.json(completionOf(parsed.data, { content: "OK", truncate: false }, created));
    }
    if (question === null) {
      const message = "Expected a system message with the lines `Role: …` and `Fence: …`.";
      return c.json(errorBody(message, "invalid_request"), 400);
    }
    counts.called(question.role);
    const call = { request: parsed.data, question, behaviour: behaviours.next({ ...question, model }) };
    return completeChat(call, { ...deps, prompts, counts, signal: c.req.raw.signal });
  });

  const complete = async (body: unknown) =>
    app.request("/v1/chat/completions", { method: "POST", body: JSON.stringify(body) });
  app.route("/v1", createBatches({ ...deps, complete }));

  app.post("/scripted/behaviour", async (c) => {
    const parsed = behaviourSchema.safeParse(await c.req.json().catch(() => null));
    if (!parsed.success) return c.json(errorBody(z.prettifyError(parsed.error), "invalid_request"), 400);
    behaviours.tell(parsed.data);
    return c.json(parsed.data);
  });
  app.delete("/scripted/behaviour", (c) => {
    behaviours.tell({});
    return c.body(null, 204);
  });
  app.get("/scripted/calls", (c) => c.json({ roles: counts.byRole(), system_messages: prompts.variants() }));
  app.delete("/scripted/calls", (c) => {
    counts.reset();
    return c.body(null, 204);
  });
  app.notFound((c) => c.json(errorBody(`Unknown path ${c.req.path}.`, "not_found"), 404));
  return app;
}
