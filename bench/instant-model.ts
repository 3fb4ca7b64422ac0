import { createServer } from "node:http";

/** A model server that reads a question and answers it at once, always the same: what is left of a verdict's time is ours. */
const ANSWERS: Readonly<Record<string, object>> = {
  ballot: {
    score: 85,
    confidence: 0.9,
    criteria: [{ id: "c1", met: "yes", evidence: "line 1" }],
    objections: [],
    uncheckable_claims: [],
    instructions_found: [],
    reasoning: "It does what was asked for.",
  },
  critique: {
    challenges: [],
    missed_issues: [],
    fabrication_risk: "none",
    fabrication_reason: "",
    spec_gaming: false,
    spec_gaming_reason: "",
    case_for: "It does what was asked for.",
    case_against: "",
    confidence: 0.9,
  },
  synthesis: {
    met_criteria: ["c1"],
    unmet_criteria: [],
    key_objections: [],
    reasoning: "It does what was asked for.",
    strongest_dissent: "",
  },
};
const NAME = /"json_schema":\{"name":"(ballot|critique|synthesis)"/;

createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  // The name is behind the texts, or before them; the texts themselves are not parsed.
  const shape = NAME.exec(body.subarray(-20_000).toString())?.[1] ?? NAME.exec(body.toString())?.[1];
  const content = shape === undefined ? "" : JSON.stringify(ANSWERS[shape]);
  response.setHeader("content-type", "application/json").end(
    JSON.stringify({
      id: "instant",
      object: "chat.completion",
      created: 0,
      model: "instant",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content, refusal: null } }],
      usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
    }),
  );
}).listen(Number(process.env.PORT), "127.0.0.1");
