import { Hono } from "hono";
import { z } from "zod";
import { errorBody } from "./completion.ts";

/** Files kept, the oldest deleted first. */
const MOST_FILES = 100;

const line = z.object({
  custom_id: z.string(),
  method: z.literal("POST"),
  url: z.literal("/v1/chat/completions"),
  body: z.unknown(),
});

const batchRequest = z.object({
  input_file_id: z.string(),
  endpoint: z.literal("/v1/chat/completions"),
  completion_window: z.literal("24h"),
});

type Batch = { id: string; status: "in_progress" | "completed" | "failed"; output_file_id?: string };

/** Files and batches as OpenAI's API has them; `complete` answers the body of one question. */
export function createBatches(deps: {
  readonly randomId: () => string;
  readonly complete: (body: unknown) => Promise<Response>;
}): Hono {
  const app = new Hono();
  const files = new Map<string, string>();
  const batches = new Map<string, Batch>();
  const keep = (text: string) => {
    const id = `file-${deps.randomId()}`;
    files.set(id, text);
    for (const oldest of [...files.keys()].slice(0, -MOST_FILES)) files.delete(oldest);
    return id;
  };
  const run = async (batch: Batch, input: string) => {
    const answers: string[] = [];
    for (const text of input.trim().split("\n")) {
      const { custom_id, body } = line.parse(JSON.parse(text));
      const response = await deps.complete(body);
      const answer = { status_code: response.status, request_id: custom_id, body: await response.json() };
      answers.push(`${JSON.stringify({ id: deps.randomId(), custom_id, response: answer, error: null })}\n`);
    }
    batch.output_file_id = keep(answers.join(""));
    batch.status = "completed";
  };

  app.post("/files", async (c) => {
    const { file, purpose } = await c.req.parseBody();
    if (!(file instanceof File) || purpose !== "batch")
      return c.json(errorBody("Expected a file and the purpose batch.", "invalid_request"), 400);
    const id = keep(await file.text());
    return c.json({
      id,
      object: "file",
      purpose,
      filename: file.name,
      bytes: file.size,
      status: "processed",
    });
  });
  app.get("/files/:id/content", (c) => {
    const text = files.get(c.req.param("id"));
    return text === undefined ? c.json(errorBody("No such file.", "not_found"), 404) : c.text(text);
  });
  app.delete("/files/:id", (c) => {
    const id = c.req.param("id");
    return c.json({ id, object: "file", deleted: files.delete(id) });
  });
  app.post("/batches", async (c) => {
    const parsed = batchRequest.safeParse(await c.req.json().catch(() => null));
    const input = files.get(parsed.data?.input_file_id ?? "");
    if (input === undefined)
      return c.json(errorBody("Expected a file of questions.", "invalid_request"), 400);
    const batch: Batch = { id: `batch_${deps.randomId()}`, status: "in_progress" };
    batches.set(batch.id, batch);
    run(batch, input).catch(() => {
      batch.status = "failed";
    });
    return c.json({ object: "batch", ...parsed.data, ...batch });
  });
  app.get("/batches/:id", (c) => {
    const batch = batches.get(c.req.param("id"));
    if (batch === undefined) return c.json(errorBody("No such batch.", "not_found"), 404);
    return c.json({ object: "batch", ...batch });
  });
  return app;
}
