import { ROLES, type Role } from "./roles.ts";

type RoleCounts = {
  /** Calls that named the role, answered or not. */
  readonly calls: number;
  /** Answers that followed a command found outside the fences. */
  readonly obeyed: number;
};

/** Requests to the server since it started or was reset. */
export function createCallCounts() {
  const counts = new Map<Role, RoleCounts>();
  const of = (role: Role): RoleCounts => counts.get(role) ?? { calls: 0, obeyed: 0 };
  return {
    called: (role: Role): void => {
      counts.set(role, { ...of(role), calls: of(role).calls + 1 });
    },
    obeyed: (role: Role): void => {
      counts.set(role, { ...of(role), obeyed: of(role).obeyed + 1 });
    },
    reset: (): void => counts.clear(),
    byRole: (): Readonly<Record<Role, RoleCounts>> =>
      Object.fromEntries(ROLES.map((role) => [role, of(role)])) as Record<Role, RoleCounts>,
  };
}
