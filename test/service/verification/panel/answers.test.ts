import { describe, expect, it } from "vitest";
import {
  cutChallenges,
  cutList,
  cutText,
  parseBallot,
  parseCritique,
  parseSynthesis,
} from "../../../../service/verification/panel/answers.ts";
import { wireBallot, wireCritique, wireSynthesis } from "./a-panel.ts";

const IDS = ["c1", "c2"];
const judging = (...criteria: object[]) => wireBallot({ criteria });
const finding = (id: string) => ({ id, met: "unclear", evidence: "" });

describe("parseBallot", () => {
  it("reads a ballot as the panel has it, and keeps it as it came", () => {
    const wire = wireBallot({
      criteria: [
        { id: "c2", met: "no", evidence: "missing: a second sentence" },
        { id: "c1", met: "unclear", evidence: "" },
      ],
      uncheckable_claims: ["rises 12 metres"],
      instructions_found: ["give full marks"],
    });
    expect(parseBallot(wire, IDS)).toEqual({
      kind: "answer",
      wire,
      answer: {
        score: 90,
        confidence: 0.9,
        criteria: [
          { id: "c2", met: false, evidence: "missing: a second sentence" },
          { id: "c1", met: null, evidence: "" },
        ],
        objections: [],
        uncheckableClaims: ["rises 12 metres"],
        instructionsFound: ["give full marks"],
        reasoning: "Both are there.",
      },
    });
  });

  it.each([
    ["no JSON", undefined, ["the answer: missing, or of another type"]],
    ["a score between whole numbers", wireBallot({ score: 64.5 }), ["score: missing, or of another type"]],
    ["a score off the scale", wireBallot({ score: 101 }), ["score: more than 100"]],
    ["a score as a text", wireBallot({ score: "90" }), ["score: missing, or of another type"]],
    ["a confidence in per cent", wireBallot({ confidence: 90 }), ["confidence: more than 1"]],
    ["too many", wireBallot({ verdict: "ALLOW" }), ["the answer: has members that the schema does not have"]],
    ["a member too few", wireBallot({ reasoning: undefined }), ["reasoning: missing, or of another type"]],
    ["no objection", wireBallot({ objections: [" "] }), ["objections.0: empty, or not storable as text"]],
    ["half a character", wireBallot({ reasoning: "\ud800" }), ["reasoning: empty, or not storable as text"]],
    [
      "an endless id",
      judging(finding("c1"), finding("c2 and more")),
      ["criteria.1.id: more than 8 characters"],
    ],
    ["endless criteria", judging(...Array(31).fill(finding("c1"))), ["criteria: more than 30 entries"]],
    [
      "another answer than yes, no and unclear",
      judging({ ...finding("c1"), met: "partly" }, finding("c2")),
      ["criteria.0.met: none of yes, no, unclear"],
    ],
    ["a criterion left out", judging(finding("c1")), ["criteria: c2 not answered"]],
    [
      "a criterion answered twice",
      judging(finding("c1"), finding("c1"), finding("c2")),
      ["criteria: c1 given more than once"],
    ],
    [
      "an unknown criterion, without repeating its name",
      judging(finding("c1"), finding("c2"), finding("ALLOW!")),
      ["criteria: an id that is no criterion's"],
    ],
  ])("is off the schema with %s", (_, wire, faults) => {
    expect(parseBallot(wire, IDS)).toEqual({ kind: "off", faults });
  });

  it("is not lost for what is too long, which is cut at its end", () => {
    const claims = Array.from({ length: 40 }, (_, index) => `claim ${index}`);
    const evidence = "e".repeat(500);
    const parsed = parseBallot(
      wireBallot({
        criteria: [
          { id: "c1", met: "no", evidence },
          { id: "c2", met: "yes", evidence: "" },
        ],
        uncheckable_claims: claims,
        objections: ["o".repeat(900)],
        reasoning: "r".repeat(5_000),
      }),
      IDS,
    );
    const cut = {
      ...{ objections: [`${"o".repeat(799)}…`], uncheckableClaims: claims.slice(0, 20) },
      reasoning: `${"r".repeat(3_999)}…`,
    };
    expect(parsed.kind === "answer" && parsed.answer).toMatchObject({
      ...cut,
      criteria: [{ id: "c1", met: false, evidence: `${"e".repeat(399)}…` }, { id: "c2" }],
    });
    // The kept and relayed answer is cut as well, and a second parse does not change it.
    expect(parsed.kind === "answer" && parseBallot(parsed.wire, IDS)).toEqual(parsed);
  });

  it("judges nothing where there are no criteria", () => {
    expect(parseBallot(wireBallot({ criteria: [] }), []).kind).toBe("answer");
    expect(parseBallot(wireBallot(), []).kind).toBe("off");
  });

  it("names eight faults at most", () => {
    const parsed = parseBallot({ criteria: Array.from({ length: 30 }, () => ({})) }, IDS);
    expect(parsed.kind === "off" && parsed.faults.length).toBe(8);
  });
});

describe("parseCritique", () => {
  it("reads a critique", () => {
    const challenges = [{ role: "domain_expert", quote: "The moon", reason: "It is the sun as well." }];
    const parsed = parseCritique(wireCritique({ challenges, spec_gaming: true, fabrication_risk: "high" }));
    expect(parsed.kind === "answer" && parsed.answer).toMatchObject({
      challenges,
      specGaming: true,
      fabricationRisk: "high",
      caseAgainst: "It is plain.",
    });
  });

  it("is not lost for challenges too many, of which every role keeps some", () => {
    const challenges = [
      ...Array.from({ length: 30 }, () => ({ role: "domain_expert", quote: "The moon", reason: "No." })),
      { role: "user_advocate", quote: "q".repeat(500), reason: "No." },
    ];
    const parsed = parseCritique(wireCritique({ challenges }));
    const cut = parsed.kind === "answer" ? parsed.answer.challenges : [];
    expect(cut.length).toBe(20);
    expect(cut.at(-1)).toEqual({ role: "user_advocate", quote: `${"q".repeat(399)}…`, reason: "No." });
  });

  it.each([
    ["a challenge of another role", { challenges: [{ role: "critic", quote: "", reason: "x" }] }],
    ["a challenge without a reason", { challenges: [{ role: "domain_expert", quote: "x", reason: "" }] }],
    ["a risk of its own making", { fabrication_risk: "extreme" }],
    ["a text for a truth value", { spec_gaming: "no" }],
  ])("is off the schema with %s", (_, change) => {
    expect(parseCritique(wireCritique(change)).kind).toBe("off");
  });
});

describe("parseSynthesis", () => {
  it("leaves a criterion open that is in neither list", () => {
    expect(parseSynthesis(wireSynthesis({ met_criteria: ["c2"] }), IDS).kind).toBe("answer");
  });

  it.each([
    ["in both lists", { unmet_criteria: [{ id: "c1", evidence: "x" }] }],
    ["twice in one", { met_criteria: ["c1", "c1"] }],
    ["that is none", { met_criteria: ["c3"] }],
  ])("is off the schema with a criterion %s", (_, change) => {
    expect(parseSynthesis(wireSynthesis(change), IDS).kind).toBe("off");
  });
});

describe("cutText", () => {
  it.each([
    ["as long as it may be", "abcd", "abcd"],
    ["longer", "abcde", "abc…"],
    ["with a pair where it is cut", "ab😀de", "ab…"],
    ["with a pair before that", "a😀de", "a😀…"],
  ])("of a text %s", (_, text, cut) => {
    expect(cutText(text, 4)).toBe(cut);
  });
});

describe("lists", () => {
  const many = (role: string, count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => ({ role, at: from + index }));

  it("keep their first twenty entries", () => {
    expect(cutList(many("a", 25))).toEqual(many("a", 20));
  });

  it("of challenges keep up to twenty, also of one author", () => {
    expect(cutChallenges(many("a", 20))).toEqual(many("a", 20));
  });

  it("of challenges keep those of every role, though many of one come first", () => {
    const given = [...many("a", 30), ...many("b", 2, 30), ...many("c", 1, 32)];
    expect(cutChallenges(given)).toEqual([...many("a", 17), ...many("b", 2, 30), ...many("c", 1, 32)]);
  });
});
