// Drafts of forms, kept in this browser until they are sent. Storage may be
// full, switched off, or hold something odd: then there is no draft.

import { whose } from "../person.js";

const PREFIX = `taskbay.draft.${whose}`;
const KEPT = 30 * 24 * 60 * 60 * 1000; // milliseconds

/** Returns what was saved for a form, {states, key}, or null; also for what is odd. */
export const loadDraft = (id) =>
  quietly(() => {
    const draft = JSON.parse(localStorage.getItem(PREFIX + id));
    const isKey = ["string", "undefined"].includes(typeof draft?.key);
    return isKey && draft.states && typeof draft.states === "object" ? draft : null;
  });

/**
 * @param {string} id of the form
 * @param {Object<string, string|boolean>} states of its fields, by key
 * @param {string} [key] of a send whose outcome is not known
 */
export function saveDraft(id, states, key) {
  quietly(() => localStorage.setItem(PREFIX + id, JSON.stringify({ states, key, at: Date.now() })));
}

export function dropDraft(id) {
  quietly(() => localStorage.removeItem(PREFIX + id));
}

/** Drops drafts that nobody has touched for a month. */
export function dropOldDrafts() {
  const names = quietly(() => Object.keys(localStorage)) ?? [];
  for (const name of names.filter((name) => name.startsWith(PREFIX))) {
    const id = name.slice(PREFIX.length);
    if (!(Date.now() - loadDraft(id)?.at < KEPT)) dropDraft(id);
  }
}

function quietly(action) {
  try {
    return action();
  } catch {
    return null;
  }
}
