// The rules of a structured form: what may stand in its controls, and the exact
// JSON that is sent for it. The server checks by the same rules; nothing here
// touches a page.

const MAX_TEXT = 10_000; // characters
const MAX_NUMBER = 64; // characters that may be entered
const MAX_PLAIN = 400; // characters that a number takes without an exponent

/**
 * Checks what stands in the controls of a form.
 *
 * @param {{fields: object[]}} form fields in the API's Form shape; bounds may be
 *   numbers or, so that no digit is lost, text
 * @param {Object<string, string|boolean>} entries text as typed, a box on or off,
 *   the value of the chosen option; undefined where there is nothing
 * @returns {{errors: Object<string, string>, members: [string, string][], submission: ?string}}
 *   messages by key; the members of the answer, each as JSON; and the answer as
 *   JSON, null if there is an error
 */
export function check(form, entries) {
  const errors = Object.create(null);
  const members = [];
  for (const field of form.fields) {
    const entry = Object.hasOwn(entries, field.key) ? entries[field.key] : undefined;
    const { error, json } = checkField(field, entry);
    if (error) errors[field.key] = error;
    else if (json) members.push([quote(field.key), json]);
  }
  const isValid = Object.keys(errors).length === 0;
  return { errors, members, submission: isValid ? `{${members.map((member) => member.join(":"))}}` : null };
}

/** Checks one field: its value as json, an error, or neither if it is left out. */
export function checkField(field, entry) {
  const { kind, required } = field;
  if (kind === "boolean") return { json: String(entry === true) };
  if (isEmpty(field, entry)) return required ? { error: "Required" } : {};
  if (kind === "text") return checkText(field, foldLines(entry));
  if (kind !== "choice") return checkNumber(field, entry.trim());
  return offers(field, entry) ? { json: quote(entry) } : { error: "Choose one of the options" };
}

// White space alone answers no question, but an optional text may hold it.
function isEmpty(field, entry) {
  if (entry === undefined) return true;
  if (field.kind === "choice") return entry === "" && !offers(field, "");
  return (field.kind === "text" && !field.required ? entry : entry.trim()) === "";
}

const offers = (field, value) => field.options.some((option) => option.value === value);

function checkText({ minLength = 0, maxLength = MAX_TEXT }, text) {
  const count = countCharacters(text);
  const most = Math.min(maxLength, MAX_TEXT);
  if (count < minLength) return { error: `At least ${minLength} characters` };
  return count > most ? { error: `At most ${most} characters` } : { json: quote(text) };
}

const foldLines = (text) => text.replace(/\r\n?/g, "\n");

/** Counts the characters of a text: Unicode code points, one for a line end. */
export const countCharacters = (text) => Array.from(foldLines(text)).length;

function checkNumber({ kind, minimum, maximum }, typed) {
  const number = typed.length <= MAX_NUMBER && parse(typed);
  if (!number) return { error: "Enter a number" };
  if (kind === "integer" && number.digits.length > number.point) return { error: "Enter a whole number" };
  const least = parse(minimum);
  if (least && compare(number, least) < 0) return { error: `At least ${write(least)}` };
  const most = parse(maximum);
  if (most && compare(number, most) > 0) return { error: `At most ${write(most)}` };
  return { json: write(number) };
}

// Takes a number apart: ±0.digits × 10^point, the digits without zeros at either
// end. Zero has none and is never negative. An exponent may be longer than a
// number holds, so the point is a BigInt.
function parse(text) {
  const [, sign, whole, fraction, exponent = "0"] = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  if (!whole && !fraction) return null;
  const significant = (whole + fraction).replace(/^0+/, "");
  const digits = significant.replace(/0+$/, "");
  if (!digits) return { sign: 0, digits, point: 0n };
  // As far as the server follows.
  if (!Number.isFinite(Number(text)) || /[1-9]\d{18}/.test(exponent)) return null;
  const point = BigInt(exponent.replace("+", "")) + BigInt(significant.length - fraction.length);
  return { sign: sign === "-" ? -1 : 1, digits, point };
}

function compare(a, b) {
  return order(a.sign, b.sign) || a.sign * (order(a.point, b.point) || order(a.digits, b.digits));
}

const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

function write({ sign, digits, point }) {
  if (!digits) return "0";
  const minus = sign < 0 ? "-" : "";
  const count = BigInt(digits.length);
  const length = point <= 0 ? count - point + 2n : point < count ? count + 1n : point;
  if (BigInt(minus.length) + length > MAX_PLAIN) return `${minus}${digits}e${point - count}`;
  const at = Number(point);
  if (at <= 0) return `${minus}0.${"0".repeat(-at)}${digits}`;
  if (at < digits.length) return `${minus}${digits.slice(0, at)}.${digits.slice(at)}`;
  return minus + digits.padEnd(at, "0");
}

// Escapes what JSON demands and no more; half a surrogate pair is no character.
function quote(text) {
  const escapes = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t" };
  const escape = (unit) => escapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `"${text.replace(/\p{Surrogate}/gu, "\ufffd").replace(/["\\\0-\x1f]/g, escape)}"`;
}
