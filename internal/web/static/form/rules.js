// The rules of a structured form: what may stand in its controls, and the exact
// JSON that is sent for it. The server checks by the same rules; nothing here
// touches a page.

const MAX_TEXT = 10_000;
const MAX_NUMBER = 64; // characters that may be entered
const MAX_PLAIN = 400; // characters that a number takes without an exponent

/**
 * Checks what stands in the controls of a form.
 *
 * @param {{fields: object[]}} form fields in the API's Form shape; bounds may be
 *   numbers or, so that no digit is lost, text
 * @param {Object<string, string|boolean>} entries text as typed, a box on or off,
 *   the value of the chosen option; undefined for a control that nothing stands in
 * @returns {{errors: Object<string, string>, members: [string, string][], submission: ?string}}
 *   messages by key; the answer's members, each as JSON; and the answer as JSON,
 *   null if there is an error
 */
export function check(form, entries) {
  const errors = Object.create(null);
  const members = [];
  for (const field of form.fields) {
    const entry = Object.hasOwn(entries, field.key) ? entries[field.key] : undefined;
    const { error, json } = checkField(field, entry);
    if (error) errors[field.key] = error;
    else if (json !== undefined) members.push([quote(field.key), json]);
  }
  const valid = Object.keys(errors).length === 0;
  const submission = valid ? `{${members.map((member) => member.join(":")).join()}}` : null;
  return { errors, members, submission };
}

/** Checks one field: its value as JSON, undefined if it is left out, or an error. */
export function checkField(field, entry) {
  if (field.kind === "boolean") return { json: String(entry === true) };
  if (isEmpty(field, entry)) return field.required ? { error: "Required" } : {};
  switch (field.kind) {
    case "text":
      return checkText(field, entry);
    case "choice":
      return offers(field, entry) ? { json: quote(entry) } : { error: "Choose one of the options" };
    default:
      return checkNumber(field, entry.trim());
  }
}

// White space alone answers no question, but an optional text may hold it.
function isEmpty(field, entry) {
  if (entry === undefined) return true;
  if (field.kind === "choice") return entry === "" && !offers(field, "");
  if (field.kind === "text" && !field.required) return entry === "";
  return entry.trim() === "";
}

const offers = (field, value) => field.options.some((option) => option.value === value);

function checkText(field, entry) {
  const text = foldLines(entry);
  const count = countCharacters(text);
  const most = Math.min(field.maxLength ?? MAX_TEXT, MAX_TEXT);
  if (count < (field.minLength ?? 0)) return { error: `At least ${field.minLength} characters` };
  if (count > most) return { error: `At most ${most} characters` };
  return { json: quote(text) };
}

const foldLines = (text) => text.replace(/\r\n?/g, "\n");

/** Counts characters as the rules do: Unicode code points, one for each line end. */
export function countCharacters(text) {
  let count = 0;
  for (const _ of foldLines(text)) count++;
  return count;
}

function checkNumber(field, typed) {
  const number = typed.length <= MAX_NUMBER ? parseDecimal(typed) : null;
  if (!number) return { error: "Enter a number" };
  if (field.kind === "integer" && !isWhole(number)) return { error: "Enter a whole number" };
  const least = parseBound(field.minimum);
  if (least && compare(number, least) < 0) return { error: `At least ${write(least)}` };
  const most = parseBound(field.maximum);
  if (most && compare(number, most) > 0) return { error: `At most ${write(most)}` };
  return { json: write(number) };
}

const parseBound = (bound) => (bound === undefined ? null : parseDecimal(String(bound)));

// A decimal is ±0.digits × 10^point. Its digits neither start nor end with a
// zero; zero has none and is never negative. The point is a BigInt because an
// exponent may be longer than a number holds.
const DECIMAL = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i;

function parseDecimal(text) {
  const [, sign, whole, fraction, exponent = "0"] = DECIMAL.exec(text) ?? [];
  if (!whole && !fraction) return null;
  const significant = (whole + fraction).replace(/^0+/, "");
  const digits = significant.replace(/0+$/, "");
  if (digits === "") return { negative: false, digits, point: 0n };
  const leadingZeros = whole.length + fraction.length - significant.length;
  const point = BigInt(exponent.replace("+", "")) + BigInt(whole.length - leadingZeros);
  if (!Number.isFinite(Number(text)) || isExtreme(exponent)) return null;
  return { negative: sign === "-", digits, point };
}

const isExtreme = (exponent) => exponent.replace(/^[+-]?0*/, "").length > 18;

const isWhole = ({ digits, point }) => digits === "" || BigInt(digits.length) <= point;

const signOf = ({ negative, digits }) => (digits === "" ? 0 : negative ? -1 : 1);

function compare(a, b) {
  const sign = signOf(a);
  if (sign !== signOf(b)) return sign - signOf(b);
  return sign * (order(a.point, b.point) || order(a.digits, b.digits));
}

const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function write({ negative, digits, point }) {
  if (digits === "") return "0";
  const sign = negative ? "-" : "";
  const count = BigInt(digits.length);
  if (BigInt(sign.length) + plainLength(count, point) > MAX_PLAIN) return `${sign}${digits}e${point - count}`;
  const at = Number(point);
  if (at <= 0) return `${sign}0.${"0".repeat(-at)}${digits}`;
  if (at < digits.length) return `${sign}${digits.slice(0, at)}.${digits.slice(at)}`;
  return sign + digits.padEnd(at, "0");
}

function plainLength(count, point) {
  if (point <= 0n) return count - point + 2n;
  return point < count ? count + 1n : point;
}

// Escapes what JSON demands and no more, and what is no character at all.
function quote(text) {
  const escaped = text
    .replace(/\p{Surrogate}/gu, "\ufffd")
    .replace(/["\\]/g, "\\$&")
    .replace(/[\0-\x1f]/g, (c) => ({ "\n": "\\n", "\t": "\\t" })[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${escaped}"`;
}
