import { castBallot, obeyWithBallot, opposeBallot } from "./cast-ballot.ts";
import { criticise, obeyWithCritique, opposeAll } from "./criticise.ts";
import type { Command } from "./find-command.ts";
import { readCase } from "./read-case.ts";
import type { Question } from "./read-question.ts";
import { isGenerator } from "./roles.ts";
import { obeyWithSynthesis, synthesise } from "./synthesise.ts";

/** The answer to a role's question: as commanded, else opposed where that is wanted of it, else honest. */
export function answerQuestion(
  { role, blocks }: Question,
  { command, disagrees }: { readonly command: Command | null; readonly disagrees: boolean },
) {
  const reading = readCase(blocks);
  if (isGenerator(role)) {
    if (command !== null) return obeyWithBallot(command, reading);
    const ballot = castBallot(role, reading);
    return disagrees ? opposeBallot(ballot) : ballot;
  }
  if (role === "critic") {
    if (command !== null) return obeyWithCritique();
    return disagrees ? opposeAll(reading) : criticise(blocks, reading);
  }
  return command === null ? synthesise(blocks, reading) : obeyWithSynthesis(command, reading);
}
