/** A list that must not take the place of the last one; the message says what is wrong with it. */
export class RefusedList extends Error {
  override readonly name = "RefusedList";
}
