/** Shows the moments of a part of the page in the reader's time zone, and the UTC time as their title. */
export function showLocalTimes(part) {
  const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
  for (const time of part.querySelectorAll("time[data-local]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = time.textContent;
    // British English shortens September to four letters, all other months to three, as the server's texts do.
    time.textContent = format.format(at).replace(" Sept ", " Sep ");
  }
}
