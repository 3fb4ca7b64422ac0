/** The generators of the panel whose server this is, by the names that its system messages give. */
export const GENERATORS = ["criteria_auditor", "domain_expert", "evidence_checker", "user_advocate"] as const;

export type Generator = (typeof GENERATORS)[number];

/** Every role that is answered. */
export const ROLES = [...GENERATORS, "critic", "synthesiser"] as const;

export type Role = (typeof ROLES)[number];

/** Whether a role is one of the four that vote. */
export function isGenerator(role: Role): role is Generator {
  return GENERATORS.some((name) => name === role);
}
