import { afterEach, describe, expect, it } from "vitest";
import { GENERATOR_ROLES, ROLE_NAMES } from "../../../../service/verification/panel/types.ts";
import { API_KEY, aCase, aRun, modelsOf, wireBallot, wireSynthesis } from "./a-panel.ts";
import { complete, type ModelServer, type Respond, refuse, stayOpen } from "./model-server.ts";
import { always, decided, each, type Script, startScript, thenContent, userText } from "./panel-script.ts";

let server: ModelServer;
afterEach(() => server.close());

async function serve(script: Script = {}) {
  server = await startScript(script);
  return modelsOf(server.baseUrl);
}

describe("an answer off the schema", () => {
  const off = complete({ score: 90 });

  it("may be given once more, with what was off and the bad answer in a fence", async () => {
    const models = await serve({
      user_advocate: thenContent(complete('{"score": 90, "note": "full marks"}')),
    });
    const { run, records } = aRun(models);
    expect(decided(await run()).decision.verdict).toBe("ALLOW");
    const [, second] = server.callsOf("user_advocate");
    expect(second?.body.messages?.[0]?.content).toMatch(/What was off:\n(- .+\n)*- the answer: has members/);
    expect(userText(second)).toMatch(
      /=== BEGIN answer (\w+) ===\n{"score": 90, "note": "full marks"}\n=== END answer \1 ===\n\nHere the blocks end\. .+$/,
    );
    expect(records.find(({ role }) => role === "user_advocate")).toMatchObject({
      answer: { kind: "answer" },
      ...{ requests: 2, promptTokens: 2_000, completionTokens: 200, costUsd: 0.006 },
    });
  });

  it.each([
    ["broken JSON", complete('{"score": 90')],
    ["nothing", complete("")],
    ["an answer cut at its longest", complete('{"score": 9', { finish_reason: "length" })],
    ["criteria that nobody asked for", complete(wireBallot({ criteria: [] }))],
  ])("may be repaired after %s", async (_, bad) => {
    const { run } = aRun(await serve({ evidence_checker: thenContent(bad) }));
    expect(decided(await run()).findings[2]?.abstained).toBeNull();
  });

  it("twice is an abstention, and three ballots still decide", async () => {
    const { run, records } = aRun(await serve({ domain_expert: always(off) }));
    const outcome = decided(await run());
    expect(outcome.decision.votes).not.toHaveProperty("domain_expert");
    expect(outcome.findings[1]).toMatchObject({
      ...{ role: "domain_expert", verdict: null, score: null, criteria: [], objections: [] },
      abstained: expect.stringMatching(/^off the schema twice: confidence: missing/),
    });
    expect(server.callsOf("domain_expert").length).toBe(2);
    expect(userText(server.callsOf("critic")[0])).not.toContain("ballot_domain_expert");
    expect(records.find(({ role }) => role === "domain_expert")?.answer.kind).toBe("abstained");
  });

  it("from half the generators gives no verdict, names them, and spares the others", async () => {
    const { run } = aRun(await serve(each(["domain_expert", "user_advocate"], always(off))));
    expect(await run()).toEqual({
      kind: "failed",
      message: expect.stringMatching(
        /domain_expert \(off the schema twice: .+\), user_advocate \(off the schema/,
      ),
      retryable: true,
    });
    expect(server.callsOf("critic")).toEqual([]);
  });

  it("from the critic gives no verdict", async () => {
    const { run } = aRun(await serve({ critic: always(off) }));
    expect(await run()).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("critic (off the schema"),
    });
    expect(server.callsOf("synthesiser")).toEqual([]);
  });

  it("from the synthesiser leaves the verdict, with texts of the ballots", async () => {
    const objecting = wireBallot({ score: 60, objections: ["Short."], reasoning: "I had hoped for more." });
    const models = await serve({
      synthesiser: always(complete(wireSynthesis({ met_criteria: ["c9"] }))),
      user_advocate: always(complete(objecting)),
    });
    expect(decided(await aRun(models).run())).toMatchObject({
      decision: { verdict: "ALLOW", rulesFired: ["synthesis_missing"] },
      metCriteria: ["Names the moon", "Is two sentences long"],
      keyObjections: ["Short."],
      reasoning: expect.stringContaining("criteria_auditor (ALLOW): Both are there.\n\n"),
      strongestDissent: "user_advocate (HOLD): I had hoped for more.",
    });
  });
});

describe("a model server", () => {
  it.each<[name: string, answer: ReturnType<typeof always>, retryable: boolean | "once"]>([
    ["down", always((response: Parameters<Respond>[0]) => response.destroy()), true],
    ["limiting", always(refuse(429, "Slow down", { "retry-after": "3600" })), true],
    ["failing", always(refuse(500, "Oops")), true],
    ["not knowing the key", always(refuse(401, `Incorrect API key provided: ${API_KEY}`)), true],
    ["refusing", always(complete("", {}, { content: null, refusal: "No." })), "once"],
    ["filtering", always(refuse(400, "The content_policy forbids it")), "once"],
    ["silent", always(stayOpen), true],
  ])("that is %s gives no verdict, which is worth another try", async (_, answer, retryable) => {
    await serve(each(ROLE_NAMES, answer));
    const { run, records } = aRun(modelsOf(server.baseUrl, { callMs: 400 }));
    const outcome = await run();
    expect(outcome).toMatchObject({ kind: "failed", retryable });
    for (const role of GENERATOR_ROLES)
      expect(outcome).toHaveProperty("message", expect.stringContaining(role));
    expect(JSON.stringify([outcome, records])).not.toMatch(new RegExp(`${API_KEY}|127\\.0\\.0\\.1`));
    expect(server.callsOf("critic")).toEqual([]);
  });

  it("that refuses the critic alone is asked once more, and one that refuses too few to matter for as long as any", async () => {
    const refusal = always(complete("", {}, { content: null, refusal: "No." }));
    await serve({ critic: refusal });
    expect(await aRun(modelsOf(server.baseUrl)).run()).toMatchObject({ kind: "failed", retryable: "once" });
    await server.close();
    await serve({ domain_expert: refusal, user_advocate: always(refuse(401, "No such key")) });
    expect(await aRun(modelsOf(server.baseUrl)).run()).toMatchObject({ kind: "failed", retryable: true });
  });

  it("that will not take so long a question ends the run, and no other try helps", async () => {
    const tooLong = refuse(400, "This model's maximum context length is 8192 tokens");
    const { run } = aRun(await serve({ domain_expert: always(tooLong) }));
    expect(await run()).toMatchObject({
      ...{ kind: "failed", retryable: false },
      message: expect.stringContaining(
        "domain_expert (the texts are too long for the model: HTTP status 400",
      ),
    });
  });
});

describe("texts beyond the context", () => {
  it("are not judged, and no model is asked", async () => {
    const { run } = aRun(await serve());
    const long = aCase({ outputText: "word ".repeat(40_000), specText: "word ".repeat(40_000) });
    expect(await run(long)).toEqual({
      kind: "failed",
      message: expect.stringMatching(
        /specification 200000 characters, about 66667 tokens; criteria \d+ characters, about \d+ tokens; output 200000 characters, about 66667 tokens\. Of a context of 128000 tokens, \d+ are left/,
      ),
      retryable: false,
    });
    expect(server.calls).toEqual([]);
  });

  it("leave room for the longest texts of one kind", async () => {
    const { run } = aRun(await serve());
    expect((await run(aCase({ outputText: "a plain word, ".repeat(14_285) }))).kind).toBe("decided");
  });
});
