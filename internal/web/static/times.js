// Times in words, in the zone of whoever looks, with the exact one on hover.

const STEP = 20_000; // milliseconds between two updates
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const date = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const dateWithYear = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

/**
 * Returns how long before or after now a moment is, or its date if that is over a week.
 * The clock of whoever looks may be behind: what is less than two minutes ahead is now.
 */
export function inWords(moment, now = new Date()) {
  const ago = (now - moment) / 1000;
  const seconds = Math.abs(ago);
  const inUnits = (size, unit) => relative.format(-Math.sign(ago) * Math.max(1, Math.round(seconds / size)), unit);
  if (ago < 45 && ago > -2 * MINUTE) return "just now";
  if (seconds < HOUR) return inUnits(MINUTE, "minute");
  if (seconds < DAY) return inUnits(HOUR, "hour");
  if (seconds < 7 * DAY) return inUnits(DAY, "day");
  return (moment.getFullYear() === now.getFullYear() ? date : dateWithYear).format(moment);
}

/** Writes every time of the page anew. */
export function refreshTimes() {
  for (const element of document.querySelectorAll("time[datetime]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    const words = inWords(moment);
    if (element.textContent !== words) element.textContent = words;
    if (element.title !== exact.format(moment)) element.title = exact.format(moment);
  }
}

/** Writes them now, and again as time goes by. */
export function keepTimes() {
  refreshTimes();
  setInterval(() => document.visibilityState === "visible" && refreshTimes(), STEP);
  document.addEventListener("visibilitychange", refreshTimes);
}
