/** An error in the form of OpenAI's API. */
export function errorBody(message: string, code: string, param: string | null = null) {
  return { error: { message, type: "invalid_request_error", param, code } };
}
