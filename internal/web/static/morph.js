// Changes an element of the page into another with the fewest steps, so that
// nothing under a person's hands is lost: what is focused or changed stays as it
// is, what is folded open stays open, and what only moves keeps its state.

/** Changes from, which is on the page, into to, which is not. */
export function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.localName !== to.localName) return from.replaceWith(to);
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  if (isUntouchable(from, to)) return;
  copyAttributes(from, to);
  morphChildren(from, to);
  if (from.localName === "textarea" || from.localName === "input") from.value = to.value;
}

// A form of the same question, a control in use, and a time that is the same in
// other words.
function isUntouchable(from, to) {
  switch (from.localName) {
    case "structured-form":
      return from.id === to.id;
    case "time":
      return from.dateTime === to.dateTime;
    case "input":
    case "select":
    case "textarea":
      return from === document.activeElement || isChanged(from);
  }
  return false;
}

/** Reports whether a control holds something else than the page gave it. */
export function isChanged(control) {
  if (control.localName === "select") {
    const options = [...control.options];
    if (control.multiple) return options.some((option) => option.selected !== option.defaultSelected);
    const given = options.findLastIndex((option) => option.defaultSelected);
    return control.selectedIndex !== Math.max(0, given);
  }
  if (control.type === "checkbox" || control.type === "radio") return control.checked !== control.defaultChecked;
  return control.type !== "hidden" && control.value !== control.defaultValue;
}

function copyAttributes(from, to) {
  const isTheirs = (name) => name === "open" && (from.localName === "details" || from.localName === "dialog");
  for (const { name, value } of to.attributes) {
    if (!isTheirs(name) && from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  for (const name of from.getAttributeNames()) {
    if (!isTheirs(name) && !to.hasAttribute(name)) from.removeAttribute(name);
  }
}

function morphChildren(from, to) {
  const wanted = new Set(Array.from(to.children, (child) => child.id));
  const present = new Map();
  for (const child of [...from.children]) {
    if (!child.id) continue;
    if (wanted.has(child.id)) present.set(child.id, child);
    else remove(child);
  }
  let place = from.firstChild;
  for (const child of [...to.childNodes]) {
    while (place?.dataset?.gone === "kept") place = place.nextSibling;
    const match = child.id ? present.get(child.id) : isLike(place, child) ? place : null;
    if (!match) {
      from.insertBefore(child, place);
      continue;
    }
    if (match === place) place = place.nextSibling;
    else move(from, match, place);
    morph(match, child);
  }
  while (place) {
    const next = place.nextSibling;
    remove(place);
    place = next;
  }
}

// Elements with an ID are only ever matched by it.
const isLike = (node, other) => node?.nodeType === other.nodeType && node.localName === other.localName && !node.id;

// A move by moveBefore keeps focus and what is playing; the older way does not.
function move(parent, node, place) {
  if (parent.moveBefore) parent.moveBefore(node, place);
  else parent.insertBefore(node, place);
}

// Removes a node, unless a form in it holds something that a person typed: that
// is closed, and stays for as long as the page does.
function remove(node) {
  if (node.nodeType === Node.ELEMENT_NODE) {
    const reason = node.closest("[data-reason]")?.dataset.reason ?? "";
    const forms = node.localName === "structured-form" ? [node] : [...node.querySelectorAll("structured-form")];
    if (forms.filter((form) => form.close?.(reason)).length > 0) {
      node.dataset.gone = "kept";
      return;
    }
    if (node.contains(document.activeElement)) document.getElementById("main")?.focus({ preventScroll: true });
  }
  node.remove();
}
