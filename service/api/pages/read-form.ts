import { Problem } from "../../access/problems.ts";
import type { ApiContext } from "../api-env.ts";
import { readBody } from "../validation/read-body.ts";

/** The fields of a form as browsers send it; throws a 400 for a body of another type. */
export async function readForm(context: ApiContext): Promise<URLSearchParams> {
  const [type = ""] = (context.req.header("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/x-www-form-urlencoded")
    throw new Problem("request-malformed", "A form of one of these pages was expected.");
  return new URLSearchParams(await readBody(context.req));
}
