import { SCORING_INTERFACE } from "../../../service/api/create-app.ts";
import { memberOf, openApiDocument, operationsOf } from "../../../service/api/kit/openapi-document.ts";

const OPERATIONS = operationsOf(openApiDocument(SCORING_INTERFACE));

/** The example of an answer in the document of the scoring interface. */
export function exampleAnswer(path: string, method = "GET"): unknown {
  const found = OPERATIONS.find((one) => one.path === path && one.method === method);
  if (found === undefined) throw new Error(`${method} ${path} is not described`);
  return memberOf(found.operation.responses?.["200"]?.content?.["application/json"], "example");
}
