import { ANSWER_SHAPES } from "./answer-schemas.ts";
import { canonicalJson } from "./canonical-json.ts";
import { hashText } from "./hash-text.ts";
import { THRESHOLD_HUNDREDTHS } from "./policy.ts";
import type { Domain } from "./thresholds.ts";
import { ROLE_NAMES, type RoleName } from "./types.ts";

/** Everything that the panel says to its models, but for the texts of a case. */
export type Prompts = {
  /** What holds for all roles. */
  readonly rules: string;
  /** What holds for the four generators. */
  readonly ballot: string;
  /** What a score means, for those who give one and who attack it. */
  readonly score: string;
  readonly roles: Readonly<Record<RoleName, string>>;
  readonly domains: Readonly<Record<Domain, string>>;
  /** What goes before the faults of an answer that has to be given again. */
  readonly repair: string;
  /** keccak256 over all of it and the schemas of the answers: 0x and 64 hexadecimal digits. */
  readonly hash: string;
};

/** Reads the prompts by their file names; whatever `read` throws is passed on. */
export function readPrompts(read: (file: string) => string): Prompts {
  const texts = {
    rules: read("rules.md"),
    ballot: read("ballot.md"),
    score: read("score.md"),
    roles: readEach(ROLE_NAMES, (role) => read(`${role}.md`)),
    domains: readEach(DOMAINS, (domain) => read(`domains/${domain}.md`)),
    repair: read("repair.md"),
  };
  return { ...texts, hash: hashText(canonicalJson({ texts, schemas: ANSWER_SHAPES })) };
}

// Object.keys loses the names that the table has.
const DOMAINS = Object.keys(THRESHOLD_HUNDREDTHS) as Domain[];

function readEach<Name extends string>(names: readonly Name[], read: (name: Name) => string) {
  // Every name is there, since each is read.
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, string>;
}
